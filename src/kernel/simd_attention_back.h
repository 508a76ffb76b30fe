/* simd_attention_back.h: gradients of attention: pieces of keys by blocks of queries, the weights
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

#include "kernel/simd_attend.h"
#include "kernel/simd_rows.h"

/* What a block of queries needs for a piece of keys. */
typedef struct {
    piece p;
    const float *q[QUERIES], *d_out[QUERIES];
    float weight[QUERIES][PIECE];  /* scores, then w' */
    float d_score[QUERIES][PIECE]; /* d_out.v, then scale d_score */
} back;

/* Row i of the block: from dot products to w' and scale d_score. */
KERNEL void scores_back(const heed_attention *a, back *b, int64_t i) {
    const piece *p = &b->p;
    float bias[PIECE] = {0}, *w = b->weight[i], *d = b->d_score[i];
    uint8_t kept[PIECE] = {0};
    float slope[PIECE];
    if (heed_has_bias(a)) {
        gather_bias(a, p, i, bias);
    }
    if (a->cap != 0) {
        cap_row(a, p, i, w, slope);
    }
    if (a->keep) {
        gather_kept(a, p, i, kept);
    }
    const float *out = a->out + (p->i0 + i) * a->out_stride;
    vec share = v_set(dot_row(a->value_width, b->d_out[i], out)), lse = v_set(a->lse[p->i0 + i]);
    vec factor = v_set(a->cap != 0 ? 1.0f : a->scale), keep = v_set(1.0f);
    for (int64_t at = 0; at < p->span[i]; at += LANES) {
        if (a->keep) {
            keep = v_mul(v_load_bytes(kept + at), v_set(a->keep_scale));
        }
        vec e = v_exp(v_sub(v_fma(v_load(w + at), factor, v_load(bias + at)), lse));
        v_store(w + at, v_mul(e, keep));
        v_store(d + at, v_mul(e, v_sub(v_mul(keep, v_load(d + at)), share)));
    }
    if (a->d_bias) {
        for (uint64_t rest = p->allowed[i]; rest; rest &= rest - 1) {
            int j = heed_lowest_bit(rest);
            int64_t distance = heed_distance(a, p->i0 + i, p->key0 + j);
            a->d_bias[heed_bias_place(a, distance)] += d[j];
        }
    }
    factor = v_set(a->scale);
    for (int64_t at = 0; at < p->span[i]; at += LANES) {
        vec grown = a->cap != 0 ? v_mul(v_load(slope + at), v_load(d + at)) : v_load(d + at);
        v_store(d + at, v_mul(factor, grown));
    }
}

/* d_q of the block's queries, some at a time where they see the same keys. */
KERNEL void queries_back(const heed_attention *a, const back *b) {
    const piece *p = &b->p;
    for (int64_t i = 0, next; i < p->queries; i = next) {
        sum_target t[SUM_TARGETS];
        summands s = {p->allowed[i], p->k, 1, false};
        for (next = i; next < p->queries && next < i + SUM_TARGETS; next++) {
            if (p->allowed[next] != s.bits) {
                break;
            }
            t[next - i] =
                (sum_target){b->d_score[next], a->d_q + (p->i0 + next) * a->d_q_stride, 0, 0};
        }
        if (s.bits) {
            sum_rows(a->width, &s, t, (int)(next - i));
        }
    }
}

/* Bit i: query i of the block sees key j. */
static inline uint64_t seen_by(const piece *p, int j) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < p->queries; i++) {
        bits |= (p->allowed[i] >> j & 1) << i;
    }
    return bits;
}

/* d_k and d_v of the piece, some keys at a time where the same queries see them. */
KERNEL void keys_back(const heed_attention *a, const back *b) {
    const piece *p = &b->p;
    for (int c = 0, next; c < p->count; c = next) {
        sum_target k[SUM_TARGETS], v[SUM_TARGETS];
        summands s = {seen_by(p, p->list[c]), b->q, PIECE, false};
        for (next = c; next < p->count && next < c + SUM_TARGETS; next++) {
            int j = p->list[next];
            if (next > c && seen_by(p, j) != s.bits) {
                break;
            }
            k[next - c] =
                (sum_target){b->d_score[0] + j, a->d_k + (p->key0 + j) * a->d_k_stride, 0, 0};
            v[next - c] =
                (sum_target){b->weight[0] + j, a->d_v + (p->key0 + j) * a->d_v_stride, 0, 0};
        }
        sum_rows(a->width, &s, k, next - c);
        s.row = b->d_out;
        sum_rows(a->value_width, &s, v, next - c);
    }
}

KERNEL void block_back(const heed_attention *a, int64_t i0, int64_t key0) {
    back b;
    if (!open_piece(a, i0, key0, true, &b.p)) {
        return;
    }
    for (int64_t i = 0; i < b.p.queries; i++) {
        b.q[i] = a->q + (i0 + i) * a->q_stride;
        b.d_out[i] = a->d_out + (i0 + i) * a->d_out_stride;
    }
    dots(&b.p, a->width, b.q, b.p.k, b.weight);
    dots(&b.p, a->value_width, b.d_out, b.p.v, b.d_score);
    for (int64_t i = 0; i < b.p.queries; i++) {
        if (b.p.allowed[i]) {
            scores_back(a, &b, i);
        }
    }
    queries_back(a, &b);
    keys_back(a, &b);
}

KERNEL void attention_back(const heed_attention *a) {
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        for (int64_t i0 = 0; i0 < a->queries; i0 += QUERIES) {
            block_back(a, i0, key0);
        }
    }
}

static inline void use_attention_back(heed_kernels *k) {
    k->attention_back = attention_back;
}

#endif
