/* simd_attention_back.h: gradients of attention: blocks of queries by pieces of keys, the weights
 * made again from the stored lse.
 *
 * With weight w = exp(score - lse), through dropout w' = w keep:
 *   d_v += w' d_out,             d_score = w (keep d_out.v - d_out.out),
 *   d_q += scale slope d_score k, d_k += scale slope d_score q, slope of the cap (1: none)
 * Source: Dao et al. 2022, alg. 4.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_ATTENTION_BACK_H
#define HEED_KERNEL_SIMD_ATTENTION_BACK_H

#include "kernel/ref.h"
#include "kernel/simd_attend.h"
#include "kernel/simd_rows.h"

typedef float head_rows[MAX_HEAD * QUERIES];

/* What a block of queries needs for a piece of keys. */
typedef struct {
    const heed_attention *a;
    piece p;
    float lse[QUERIES], share[QUERIES];       /* share = d_out . out */
    const float *q[QUERIES], *d_out[QUERIES]; /* rows; NULL: saw nothing */
    summands q_rows, d_out_rows;
    _Alignas(64) tile weight;  /* scores, then w' */
    _Alignas(64) tile d_score; /* d_out.v, then d_score, then what d_q wants */
    _Alignas(64) tile slope;   /* of the cap */
    _Alignas(64) head_rows turned_q, turned_d_out, panels_q, panels_d_out, row, panels_k;
} attending_back;

KERNEL void begin_back(const heed_attention *a, int64_t i0, attending_back *t) {
    const float *q = a->q + i0 * a->q_stride, *d_out = a->d_out + i0 * a->d_out_stride;
    int64_t n = fewer(a->queries - i0, QUERIES);
    t->a = a;
    memset(t->lse, 0, sizeof t->lse);
    memset(t->share, 0, sizeof t->share);
    for (int64_t i = 0; i < n; i++) {
        bool live = a->lse[i0 + i] != -INFINITY;
        t->q[i] = live ? q + i * a->q_stride : NULL;
        t->d_out[i] = live ? d_out + i * a->d_out_stride : NULL;
        if (live) {
            t->lse[i] = a->lse[i0 + i];
            t->share[i] = dot_row(a->value_width, t->d_out[i], a->out + (i0 + i) * a->out_stride);
        }
    }
    turn_queries(n, a->width, q, a->q_stride, a->scale, t->turned_q);
    turn_queries(n, a->value_width, d_out, a->d_out_stride, 1, t->turned_d_out);
    t->q_rows = summands_of(t->q, NULL, 0, n, a->width, t->panels_q);
    t->d_out_rows = summands_of(t->d_out, NULL, 0, n, a->value_width, t->panels_d_out);
}

/* Scores to w', d_out.v to factor d_score, in place. */
WORD void weigh_back(attending_back *t, float factor, const uint64_t *kept) {
    vec times = v_set(factor), keep = v_set(1.0f);
    for (int64_t j = t->p.from; j < t->p.to; j++) {
        float *w = t->weight[j], *d = t->d_score[j];
        for (int64_t x = 0; x < t->p.queries; x += LANES) {
            if (kept) {
                keep = v_if_bit(kept[j] >> x, v_set(t->a->keep_scale), v_zero());
            }
            vec e = v_exp(v_sub(v_load(w + x), v_load(t->lse + x)));
            vec grown =
                v_sub(kept ? v_mul(keep, v_load(d + x)) : v_load(d + x), v_load(t->share + x));
            v_store(w + x, kept ? v_mul(e, keep) : e);
            v_store(d + x, v_mul(times, v_mul(e, grown)));
        }
    }
}

KERNEL void weigh_all_back(attending_back *t, float factor) {
    weigh_back(t, factor, NULL);
}
KERNEL void weigh_some_back(attending_back *t, float factor) {
    uint64_t kept[PIECE];
    find_kept(t->a, &t->p, kept);
    weigh_back(t, factor, kept);
}

static inline void biases_back(const attending_back *t) {
    const heed_attention *a = t->a;
    const piece *p = &t->p;
    for (int64_t i = 0; i < p->queries; i++) {
        for (uint64_t rest = p->sees[i]; rest; rest &= rest - 1) {
            int j = heed_lowest_bit(rest);
            int64_t distance = heed_distance(a, p->i0 + i, p->key0 + j);
            a->d_bias[heed_bias_place(a, distance)] += t->d_score[j][i];
        }
    }
}

/* d_score to the gradient of the dot product. */
KERNEL void grow_tile(attending_back *t) {
    vec scale = v_set(t->a->scale);
    for (int64_t j = t->p.from; j < t->p.to; j++) {
        for (int64_t x = 0; x < t->p.queries; x += LANES) {
            vec d = v_load(t->d_score[j] + x);
            d = t->a->cap != 0 ? v_mul(v_load(t->slope[j] + x), d) : d;
            v_store(t->d_score[j] + x, v_mul(scale, d));
        }
    }
}

KERNEL void scores_back(attending_back *t) {
    const heed_attention *a = t->a;
    bool later = a->cap != 0 || a->d_bias; /* scaled when that was looked at */
    finish_scores(a, &t->p, t->weight, t->slope);
    if (a->keep) {
        weigh_some_back(t, later ? 1 : a->scale);
    } else {
        weigh_all_back(t, later ? 1 : a->scale);
    }
    if (!t->p.open) {
        mask_tile(&t->p, 0, t->weight);
        mask_tile(&t->p, 0, t->d_score);
    }
    if (a->d_bias) {
        biases_back(t);
    }
    if (later) {
        grow_tile(t);
    }
}

KERNEL void queries_back(attending_back *t) {
    const heed_attention *a = t->a;
    const piece *p = &t->p;
    summands s = summands_of(p->k, NULL, p->from, p->to, a->width, t->panels_k);
    sum_rows(&(heed_gemm){.m = p->queries,
                          .n = a->width,
                          .a = t->d_score[p->from],
                          .a_row = 1,
                          .a_col = QUERIES,
                          .panel1 = heed_panels(a->width, NR),
                          .c = a->d_q + p->i0 * a->d_q_stride,
                          .ldc = a->d_q_stride,
                          .accumulate = true},
             &s, p->open, p->sees);
}

/* Rows of keys that get sums of the queries' rows, by the numbers in `by`. */
KERNEL void keys_back(const piece *p, tile by, const summands *s, int64_t width, float *to,
                      int64_t stride) {
    sum_rows(&(heed_gemm){.m = p->to - p->from,
                          .n = width,
                          .a = by[p->from],
                          .a_row = QUERIES,
                          .a_col = 1,
                          .panel1 = heed_panels(width, NR),
                          .c = to + (p->key0 + p->from) * stride,
                          .ldc = stride,
                          .accumulate = true},
             s, p->open, p->seen + p->from);
}

KERNEL void block_back(const heed_attention *a, int64_t i0) {
    attending_back t;
    begin_back(a, i0, &t);
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        if (!open_piece(a, i0, key0, true, &t.p)) {
            continue;
        }
        copy_rows(t.p.k, t.p.v, t.p.from, t.p.to, a->width, t.row);
        dots(&t.p, a->width, t.row, t.turned_q, t.weight);
        copy_rows(t.p.v, t.p.next, t.p.from, t.p.to, a->value_width, t.row);
        dots(&t.p, a->value_width, t.row, t.turned_d_out, t.d_score);
        scores_back(&t);
        queries_back(&t);
        keys_back(&t.p, t.weight, &t.d_out_rows, a->value_width, a->d_v, a->d_v_stride);
        keys_back(&t.p, t.d_score, &t.q_rows, a->width, a->d_k, a->d_k_stride);
    }
}

KERNEL void attention_back(const heed_attention *a) {
    if (a->width > MAX_HEAD || a->value_width > MAX_HEAD) {
        heed_ref_attend_back(a);
        return;
    }
    for (int64_t i0 = 0; i0 < a->queries; i0 += QUERIES) {
        block_back(a, i0);
    }
}

static inline void use_attention_back(heed_kernels *k) {
    k->attention_back = attention_back;
}

#endif
