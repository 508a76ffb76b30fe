/* simd_attention.h: attention of one head of one sequence: blocks of queries by pieces of keys,
 * with a running maximum and sum for each query.
 *
 * Source: Vaswani et al. 2017 eq. 1; Milakov and Gimelshein 2018, alg. 3; Dao et al. 2022, alg. 1.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_ATTENTION_H
#define HEED_KERNEL_SIMD_ATTENTION_H

#include "kernel/ref.h"
#include "kernel/simd_attend.h"

#include <float.h>

enum { FEW = 4 }; /* queries that do not repay a tile of their own */

/* What the queries of a block have seen so far, and the factor that brings it to the maximum that
 * the piece at hand has raised. */
typedef struct {
    float max[QUERIES], sum[QUERIES], was[QUERIES];
} running;

typedef struct {
    const heed_attention *a;
    piece p;
    bool begun; /* something was seen: out holds sums */
    running r;
    _Alignas(64) tile score;                  /* then weights */
    _Alignas(64) float q[MAX_HEAD * QUERIES]; /* turned; of few queries: copied */
    _Alignas(64) float row[MAX_HEAD * PIECE]; /* of keys, then of values */
} attending;

/* ---- Scores ---- */

/* Of few queries: by rows of queries, then turned. */
KERNEL void score_few(attending *t) {
    const piece *p = &t->p;
    float s[FEW][PIECE];
    _Alignas(64) float turned[MAX_HEAD * PIECE];
    int64_t keys = p->to - p->from, width = t->a->width;
    copy_rows(p->k, p->v, p->from, p->to, width, t->row);
    turn_queries(keys, width, t->row, row_step(width), 1, turned);
    gemm(&(heed_gemm){.m = p->queries,
                      .n = keys,
                      .k = width,
                      .a = t->q,
                      .a_row = row_step(width),
                      .a_col = 1,
                      .packed = turned,
                      .panel1 = heed_panels(keys, NR),
                      .c = s[0],
                      .ldc = PIECE});
    for (int64_t j = 0; j < keys; j++) {
        v_store(t->score[p->from + j], v_zero());
        for (int64_t i = 0; i < fewer(p->queries, FEW); i++) {
            t->score[p->from + j][i] = s[i][j];
        }
    }
}

KERNEL void score_piece(attending *t) {
    const piece *p = &t->p;
    if (p->queries <= FEW) {
        score_few(t);
    } else {
        copy_rows(p->k, p->v, p->from, p->to, t->a->width, t->row);
        dots(p, t->a->width, t->row, t->q, t->score);
    }
    finish_scores(t->a, p, t->score, NULL);
}

/* Scores to where somebody watches. */
static inline void watch_scores(const attending *t) {
    const piece *p = &t->p;
    for (int64_t i = 0; i < p->queries; i++) {
        float *w = t->a->weights + (p->i0 + i) * t->a->weights_stride + p->key0;
        for (int64_t j = p->from; j < p->to; j++) {
            w[j] = t->score[j][i];
        }
    }
}

/* ---- Weights ---- */

/* 0 instead of -infinity, so that exp(score - it) is 0 there and NaN stays NaN. */
WORD vec finite_max(vec max) {
    return v_if_less(max, v_set(-FLT_MAX), v_zero(), max);
}

/* The largest scores of queries [x, x + LANES), and of what they saw before. */
WORD vec raise_max(const attending *t, int64_t x) {
    vec max[4] = {v_load(t->r.max + x), v_set(-INFINITY), v_set(-INFINITY), v_set(-INFINITY)};
    int64_t j = t->p.from;
    for (; j + 4 <= t->p.to; j += 4) {
        UNROLL
        for (int s = 0; s < 4; s++) {
            max[s] = v_max(v_load(t->score[j + s] + x), max[s]);
        }
    }
    for (; j < t->p.to; j++) {
        max[0] = v_max(v_load(t->score[j] + x), max[0]);
    }
    return v_max(v_max(max[0], max[1]), v_max(max[2], max[3]));
}

/* Score to weight, which dropout takes away after it was counted. */
WORD vec weigh(attending *t, int64_t j, int64_t x, vec base, const uint64_t *kept) {
    vec e = v_exp(v_sub(v_load(t->score[j] + x), base));
    vec rest = kept ? v_if_bit(kept[j] >> x, v_mul(e, v_set(t->a->keep_scale)), v_zero()) : e;
    v_store(t->score[j] + x, rest);
    return e;
}

/* Weights of queries [x, x + LANES); returns their sums. A sum is LANES chains, one for each place
 * of a key among LANES, then a tree. */
WORD vec weigh_keys(attending *t, int64_t x, vec base, const uint64_t *kept) {
    vec sum[LANES];
    UNROLL
    for (int s = 0; s < LANES; s++) {
        sum[s] = v_zero();
    }
    for (int64_t j = t->p.from / LANES * LANES; j < t->p.to; j += LANES) {
        UNROLL
        for (int s = 0; s < LANES; s++) {
            if (j + s >= t->p.from && j + s < t->p.to) {
                sum[s] = v_add(sum[s], weigh(t, j + s, x, base, kept));
            }
        }
    }
    UNROLL
    for (int half = LANES / 2; half > 0; half /= 2) {
        UNROLL
        for (int s = 0; s < half; s++) {
            sum[s] = v_add(sum[s], sum[s + half]);
        }
    }
    return sum[0];
}

/* Scores to weights, against the largest score so far. */
WORD void weigh_block(attending *t, const uint64_t *kept) {
    running *r = &t->r;
    for (int64_t x = 0; x < t->p.queries; x += LANES) {
        vec max = raise_max(t, x), base = finite_max(max);
        vec was = v_exp(v_sub(v_load(r->max + x), base));
        vec sum = weigh_keys(t, x, base, kept);
        v_store(r->max + x, max);
        v_store(r->was + x, was);
        v_store(r->sum + x, v_fma(v_load(r->sum + x), was, sum));
    }
}

KERNEL void weigh_all(attending *t) {
    weigh_block(t, NULL);
}
KERNEL void weigh_some(attending *t) {
    uint64_t kept[PIECE];
    find_kept(t->a, &t->p, kept);
    weigh_block(t, kept);
}

/* ---- Values ---- */

KERNEL void scale_out(const heed_attention *a, int64_t i, float by) {
    float *out = a->out + i * a->out_stride;
    vec factor = v_set(by);
    EACH(a->value_width, v_put(out + at, left, v_mul(v_get(out + at, left), factor)););
}

KERNEL void add_values(attending *t) {
    const heed_attention *a = t->a;
    const piece *p = &t->p;
    for (int64_t i = 0; t->begun && i < p->queries; i++) {
        if (t->r.was[i] != 1) {
            scale_out(a, p->i0 + i, t->r.was[i]);
        }
    }
    summands s = summands_of(p->v, p->next, p->from, p->to, a->value_width, t->row);
    sum_rows(&(heed_gemm){.m = p->queries,
                          .n = a->value_width,
                          .a = t->score[p->from],
                          .a_row = 1,
                          .a_col = QUERIES,
                          .panel1 = heed_panels(a->value_width, NR),
                          .c = a->out + p->i0 * a->out_stride,
                          .ldc = a->out_stride,
                          .accumulate = t->begun},
             &s, p->open, p->sees);
    t->begun = true;
}

/* ---- A block ---- */

/* Scores to weights of query i, 0 where not allowed. */
KERNEL void finish_weights(const heed_attention *a, int64_t i, float lse) {
    float *w = a->weights + i * a->weights_stride;
    vec low = v_set(lse);
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        uint64_t allowed = lse != -INFINITY ? heed_allowed_keys(a, i, key0) : 0;
        EACH(fewer(a->keys - key0, PIECE), {
            vec e = v_exp(v_sub(v_get(w + key0 + at, left), low));
            v_put(w + key0 + at, left, v_if_bit(allowed >> at, e, v_zero()));
        });
    }
}

/* Query i0 + i, by the sum of its weights. */
KERNEL void finish_query(const attending *t, int64_t i0, int64_t i) {
    const heed_attention *a = t->a;
    float sum = t->r.sum[i], lse = -INFINITY;
    if (!t->begun || sum == 0) {
        memset(a->out + (i0 + i) * a->out_stride, 0, (size_t)a->value_width * sizeof *a->out);
    } else {
        scale_out(a, i0 + i, 1 / sum);
        lse = a->lse || a->weights ? t->r.max[i] + (float)log((double)sum) : 0;
    }
    if (a->lse) {
        a->lse[i0 + i] = lse;
    }
    if (a->weights) {
        finish_weights(a, i0 + i, lse);
    }
}

KERNEL void begin_block(const heed_attention *a, int64_t i0, attending *t) {
    const float *q = a->q + i0 * a->q_stride;
    int64_t queries = fewer(a->queries - i0, QUERIES);
    t->a = a;
    t->begun = false;
    for (int64_t i = 0; i < QUERIES; i++) {
        t->r.max[i] = -INFINITY;
        t->r.sum[i] = 0;
    }
    if (queries > FEW) {
        turn_queries(queries, a->width, q, a->q_stride, a->scale, t->q);
        return;
    }
    vec scale = v_set(a->scale);
    for (int64_t i = 0; i < queries; i++) {
        float *to = t->q + i * row_step(a->width);
        EACH(a->width, v_store(to + at, v_mul(v_get(q + i * a->q_stride + at, left), scale)););
    }
}

KERNEL void attend_block(const heed_attention *a, int64_t i0) {
    attending t;
    begin_block(a, i0, &t);
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        if (!open_piece(a, i0, key0, false, &t.p)) {
            continue;
        }
        score_piece(&t);
        if (a->weights) {
            watch_scores(&t);
        }
        if (a->keep) {
            weigh_some(&t);
        } else {
            weigh_all(&t);
        }
        add_values(&t);
    }
    for (int64_t i = 0; i < fewer(a->queries - i0, QUERIES); i++) {
        finish_query(&t, i0, i);
    }
}

KERNEL void attention(const heed_attention *a) {
    if (a->width > MAX_HEAD || a->value_width > MAX_HEAD) {
        heed_ref_attend(a);
        return;
    }
    for (int64_t i0 = 0; i0 < a->queries; i0 += QUERIES) {
        attend_block(a, i0);
    }
}

static inline void use_attention(heed_kernels *k) {
    k->attention = attention;
}

#endif
