/* ref_attention.c: attention of one head of one sequence, forward and backward.
 *
 * Forward: the keys of a piece give a maximum m, a sum l of exp(score - m) and sums of values o;
 * pieces merge by rescaling both sides to the larger maximum. Backward: weights are exp(score -
 * lse) again. Invariant: a key that is not allowed is never read. Source: Vaswani et al. 2017 eq.
 * 1; Milakov and Gimelshein 2018, alg. 3; Dao et al. 2022, alg. 4.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/attend.h"
#include "kernel/ref.h"

enum {
    PIECE = HEED_KEY_PIECE,
    CHUNK = 64
}; /* CHUNK: columns of a value that are summed at a time */

/* The state of one query after some pieces. */
typedef struct {
    heed_real max, sum;
} running;

/* The score of a pair, and how it grows with scale * dot. */
static heed_real score_and_slope(const heed_attention *a, int64_t i, int64_t j, heed_real *slope) {
    const heed_real *k = a->k + heed_key_row(a, j) * a->k_stride;
    heed_real s = a->scale * heed_ref_dot(a->width, a->q + i * a->q_stride, k);
    *slope = 1;
    if (a->cap != 0) {
        heed_real t = heed_ref_tanh(s / a->cap);
        s = a->cap * t;
        *slope = 1 - t * t;
    }
    return heed_has_bias(a) ? s + heed_bias_of(a, i, j) : s;
}

static heed_real score_of(const heed_attention *a, int64_t i, int64_t j) {
    heed_real unused;
    return score_and_slope(a, i, j, &unused);
}

/* 0 instead of -infinity, so that exp(score - it) is 0 there and NaN stays NaN. */
static heed_real finite_max(heed_real m) {
    return m == -INFINITY ? 0 : m;
}

/* out = out * was + sum over the piece's keys of weight * value, in order of keys, a chunk of
 * columns at a time. */
static void add_values(const heed_attention *a, int64_t i, int64_t key0, uint64_t allowed,
                       const heed_real weight[PIECE], heed_real was, heed_real now) {
    for (int64_t c = 0; c < a->value_width; c += CHUNK) {
        int64_t n = a->value_width - c < CHUNK ? a->value_width - c : CHUNK;
        heed_real sum[CHUNK] = {0}, *out = a->out + i * a->out_stride + c;
        for (uint64_t left = allowed; left; left &= left - 1) {
            int j = heed_lowest_bit(left);
            const heed_real *v = a->v + heed_key_row(a, key0 + j) * a->v_stride + c;
            for (int64_t x = 0; x < n; x++) {
                sum[x] += weight[j] * v[x];
            }
        }
        for (int64_t x = 0; x < n; x++) {
            out[x] = out[x] * was + sum[x] * now;
        }
    }
}

static heed_real kept(const heed_attention *a, int64_t i, int64_t j) {
    if (!a->keep) {
        return 1;
    }
    return a->keep[i * a->keep_stride + j] ? a->keep_scale : 0;
}

static void add_piece(const heed_attention *a, int64_t i, int64_t key0, uint64_t allowed,
                      running *r) {
    heed_real weight[PIECE], max = -INFINITY, lane[HEED_REF_LANES] = {0};
    for (uint64_t left = allowed; left; left &= left - 1) {
        int j = heed_lowest_bit(left);
        weight[j] = score_of(a, i, key0 + j);
        if (a->weights) {
            a->weights[i * a->weights_stride + key0 + j] = weight[j];
        }
        if (weight[j] > max) {
            max = weight[j];
        }
    }
    for (uint64_t left = allowed; left; left &= left - 1) {
        int j = heed_lowest_bit(left);
        weight[j] = heed_ref_exp(weight[j] - finite_max(max));
        lane[j % HEED_REF_LANES] += weight[j];
        weight[j] *= kept(a, i, key0 + j);
    }
    heed_real both = finite_max(max > r->max ? max : r->max);
    heed_real was = heed_ref_exp(r->max - both), now = heed_ref_exp(max - both);
    add_values(a, i, key0, allowed, weight, was, now);
    r->sum = r->sum * was + heed_ref_total(lane) * now;
    if (max > r->max) {
        r->max = max;
    }
}

/* Scores become weights, keys that are not allowed become 0. */
static void finish_weights(const heed_attention *a, int64_t i, heed_real lse) {
    heed_real *w = a->weights + i * a->weights_stride;
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        uint64_t allowed = heed_allowed_keys(a, i, key0);
        for (int64_t j = 0; j < PIECE && key0 + j < a->keys; j++) {
            w[key0 + j] =
                (allowed >> j & 1) && lse != -INFINITY ? heed_ref_exp(w[key0 + j] - lse) : 0;
        }
    }
}

static void attend_query(const heed_attention *a, int64_t i) {
    running r = {-INFINITY, 0};
    heed_real *out = a->out + i * a->out_stride;
    for (int64_t x = 0; x < a->value_width; x++) {
        out[x] = 0;
    }
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        uint64_t allowed = heed_allowed_keys(a, i, key0);
        if (allowed) {
            add_piece(a, i, key0, allowed, &r);
        }
    }
    heed_real lse = -INFINITY;
    if (r.sum != 0) {
        heed_real share = 1 / r.sum;
        for (int64_t x = 0; x < a->value_width; x++) {
            out[x] *= share;
        }
        lse = r.max + (heed_real)log((double)r.sum);
    }
    if (a->lse) {
        a->lse[i] = lse;
    }
    if (a->weights) {
        finish_weights(a, i, lse);
    }
}

void heed_ref_attend(const heed_attention *a) {
    for (int64_t i = 0; i < a->queries; i++) {
        attend_query(a, i);
    }
}

static void add_scaled(int64_t n, heed_real s, const heed_real *x, heed_real *sum) {
    for (int64_t i = 0; i < n; i++) {
        sum[i] += s * x[i];
    }
}

/* One pair. weight w = exp(score - lse), through dropout w' = w keep:
 *   d_v += w' d_out,   d_score = w (keep d_out.v - d_out.out),
 *   d_q += scale slope d_score k,   d_k += scale slope d_score q,   slope of the cap. */
static void pair_back(const heed_attention *a, int64_t i, int64_t j, heed_real share) {
    int64_t row = heed_key_row(a, j);
    const heed_real *d_out = a->d_out + i * a->d_out_stride;
    heed_real slope, score = score_and_slope(a, i, j, &slope);
    heed_real w = heed_ref_exp(score - a->lse[i]), keep = kept(a, i, j);
    heed_real d_w = keep * heed_ref_dot(a->value_width, d_out, a->v + row * a->v_stride);
    heed_real d_score = w * (d_w - share), d_dot = a->scale * (slope * d_score);
    add_scaled(a->value_width, w * keep, d_out, a->d_v + j * a->d_v_stride);
    add_scaled(a->width, d_dot, a->q + i * a->q_stride, a->d_k + j * a->d_k_stride);
    add_scaled(a->width, d_dot, a->k + row * a->k_stride, a->d_q + i * a->d_q_stride);
    if (a->d_bias) {
        a->d_bias[heed_bias_place(a, heed_distance(a, i, j))] += d_score;
    }
}

void heed_ref_attend_back(const heed_attention *a) {
    for (int64_t key0 = 0; key0 < a->keys; key0 += PIECE) {
        for (int64_t i = 0; i < a->queries; i++) {
            uint64_t allowed = a->lse[i] != -INFINITY ? heed_allowed_keys(a, i, key0) : 0;
            if (!allowed) {
                continue;
            }
            heed_real share = heed_ref_dot(a->value_width, a->d_out + i * a->d_out_stride,
                                           a->out + i * a->out_stride);
            for (; allowed; allowed &= allowed - 1) {
                pair_back(a, i, key0 + heed_lowest_bit(allowed), share);
            }
        }
    }
}

void heed_ref_attention(heed_kernels *k) {
    k->attention = heed_ref_attend;
    k->attention_back = heed_ref_attend_back;
}
