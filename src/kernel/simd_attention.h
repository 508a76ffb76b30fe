/* simd_attention.h: attention of one head of one sequence: blocks of queries by pieces of keys,
 * with a running maximum and sum for each query.
 *
 * Source: Vaswani et al. 2017 eq. 1; Milakov and Gimelshein 2018, alg. 3; Dao et al. 2022, alg. 1.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_ATTENTION_H
#define HEED_KERNEL_SIMD_ATTENTION_H

#include "kernel/simd_attend.h"

/* What a query has seen so far, and the factors that merge the piece at hand into it. */
typedef struct {
    float max, sum, was, now;
} running;

/* 0 instead of -infinity, so that exp(score - it) is 0 there and NaN stays NaN. */
static inline float finite_max(float max) {
    return max == -INFINITY ? 0 : max;
}

/* Dot products to scores, -infinity where not allowed, in place; the largest is returned. Scores go
 * to a->weights too where somebody watches. */
WORD float score_row(const heed_attention *a, const piece *p, int64_t i, float *score) {
    float bias[PIECE] = {0};
    if (heed_has_bias(a)) {
        gather_bias(a, p, i, bias);
    }
    if (a->cap != 0) {
        cap_row(a, p, i, score, NULL);
    }
    vec max = v_set(-INFINITY), low = max, factor = v_set(a->cap != 0 ? 1.0f : a->scale);
    for (int64_t at = 0; at < p->span[i]; at += LANES) {
        vec x = v_fma(v_load(score + at), factor, v_load(bias + at));
        x = v_if_bit(p->allowed[i] >> at, x, low);
        v_store(score + at, x);
        max = v_max(x, max);
    }
    if (a->weights) {
        float *w = a->weights + (p->i0 + i) * a->weights_stride + p->key0;
        for (int c = 0; c < p->count; c++) {
            w[p->list[c]] = score[p->list[c]];
        }
    }
    return v_greatest(max);
}

/* Scores to exp(score - max), with dropout, in place; their sum, without dropout, is returned. */
WORD float weigh_row(const heed_attention *a, const piece *p, int64_t i, float max, float *score) {
    uint8_t kept[PIECE] = {0};
    if (a->keep) {
        gather_kept(a, p, i, kept);
    }
    vec sum = v_zero(), base = v_set(finite_max(max)), factor = v_set(a->keep_scale);
    for (int64_t at = 0; at < p->span[i]; at += LANES) {
        vec e = v_exp(v_sub(v_load(score + at), base));
        sum = v_add(sum, e);
        if (a->keep) {
            e = v_mul(e, v_mul(v_load_bytes(kept + at), factor));
        }
        v_store(score + at, e);
    }
    return v_total(sum);
}

/* Scores of query i to weights, and the factors that merge them with what it has seen. */
KERNEL void merge_row(const heed_attention *a, const piece *p, int64_t i, float *score,
                      running *r) {
    float max = score_row(a, p, i, score), sum = weigh_row(a, p, i, max, score);
    float both = max > r->max ? max : r->max;
    bool first = r->max == -INFINITY;
    r->was = first ? 0 : exp_one(r->max - both);
    r->now = first ? 1 : exp_one(max - both);
    r->sum = r->sum * r->was + sum * r->now;
    r->max = both;
}

/* Adds the piece's values to the outputs, some queries at a time where they see the same keys. */
KERNEL void add_values(const heed_attention *a, const piece *p, float (*weight)[PIECE],
                       const running *r) {
    for (int64_t i = 0, next; i < p->queries; i = next) {
        sum_target t[SUM_TARGETS];
        summands s = {p->allowed[i], p->v, 1, true};
        for (next = i; next < p->queries && next < i + SUM_TARGETS; next++) {
            if (p->allowed[next] != s.bits) {
                break;
            }
            t[next - i] = (sum_target){weight[next], a->out + (p->i0 + next) * a->out_stride,
                                       r[next].was, r[next].now};
        }
        if (s.bits) {
            sum_rows(a->value_width, &s, t, (int)(next - i));
        }
    }
}

/* Scores to weights of query i, 0 where not allowed. */
KERNEL void finish_weights(const heed_attention *a, int64_t i, float lse) {
    float *w = a->weights + i * a->weights_stride;
    vec low = v_set(lse);
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        uint64_t allowed = lse != -INFINITY ? heed_allowed_keys(a, i, key0) : 0;
        EACH((a->keys - key0 < PIECE ? a->keys - key0 : PIECE), {
            vec e = v_exp(v_sub(v_get(w + key0 + at, left), low));
            v_put(w + key0 + at, left, v_if_bit(allowed >> at, e, v_zero()));
        });
    }
}

KERNEL void finish_query(const heed_attention *a, int64_t i, const running *r) {
    float *out = a->out + i * a->out_stride, lse = -INFINITY;
    if (r->sum != 0) {
        vec share = v_set(1 / r->sum);
        EACH(a->value_width, v_put(out + at, left, v_mul(v_get(out + at, left), share)););
        if (a->lse || a->weights) {
            lse = r->max + (float)log((double)r->sum);
        }
    }
    if (a->lse) {
        a->lse[i] = lse;
    }
    if (a->weights) {
        finish_weights(a, i, lse);
    }
}

KERNEL void attend_block(const heed_attention *a, int64_t i0) {
    float score[QUERIES][PIECE];
    const float *q[QUERIES];
    running r[QUERIES];
    piece p;
    int64_t queries = a->queries - i0 < QUERIES ? a->queries - i0 : QUERIES;
    for (int64_t i = 0; i < queries; i++) {
        r[i] = (running){-INFINITY, 0, 0, 0};
        q[i] = a->q + (i0 + i) * a->q_stride;
        memset(a->out + (i0 + i) * a->out_stride, 0, (size_t)a->value_width * sizeof(float));
    }
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        if (!open_piece(a, i0, key0, false, &p)) {
            continue;
        }
        dots(&p, a->width, q, p.k, score);
        for (int64_t i = 0; i < queries; i++) {
            if (p.allowed[i]) {
                merge_row(a, &p, i, score[i], r + i);
            }
        }
        add_values(a, &p, score, r);
    }
    for (int64_t i = 0; i < queries; i++) {
        finish_query(a, i0 + i, r + i);
    }
}

KERNEL void attention(const heed_attention *a) {
    for (int64_t i0 = 0; i0 < a->queries; i0 += QUERIES) {
        attend_block(a, i0);
    }
}

static inline void use_attention(heed_kernels *k) {
    k->attention = attention;
}

#endif
