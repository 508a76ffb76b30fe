/* simd_attend.h: what attention is made of, forward and backward: a block of queries against a
 * piece of keys, dot products of rows with rows, weighted sums of rows.
 *
 * A dot product is one chain in each lane over the width, then the tree of v_totals; a weighted sum
 * is one chain over its rows. Both are the same in every tile, so a query alone gives the bits that
 * it gives among many.
 * Invariant: a row that nobody may see is not read; a row that some may see goes into no other sum.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_ATTEND_H
#define HEED_KERNEL_SIMD_ATTEND_H

#include "kernel/attend.h"
#include "kernel/simd_math.h"

#include <string.h>

enum { PIECE = HEED_KEY_PIECE, QUERIES = 32 };

/* Queries [i0, i0 + queries) against keys [key0, key0 + PIECE). */
typedef struct {
    int64_t i0, queries, key0;
    uint64_t allowed[QUERIES]; /* keys of the piece that each query may see */
    int reach[QUERIES];        /* so many of the list go up to the last of these */
    int64_t span[QUERIES];     /* so many lanes, in whole vectors, hold all of these */
    int list[PIECE], count;    /* keys that some query may see, in order */
    const float *k[PIECE], *v[PIECE];
} piece;

/* Lists the keys in `any`. */
KERNEL void list_keys(const heed_attention *a, uint64_t any, piece *p) {
    int place[PIECE];
    p->count = 0;
    for (uint64_t rest = any; rest; rest &= rest - 1) {
        int j = heed_lowest_bit(rest);
        int64_t row = heed_key_row(a, p->key0 + j);
        place[j] = p->count;
        p->list[p->count++] = j;
        p->k[j] = a->k + row * a->k_stride;
        p->v[j] = a->v + row * a->v_stride;
    }
    for (int64_t i = 0; i < p->queries; i++) {
        int last = p->allowed[i] ? heed_highest_bit(p->allowed[i]) : 0;
        p->reach[i] = p->allowed[i] ? place[last] + 1 : 0;
        p->span[i] = p->allowed[i] ? last / LANES * LANES + LANES : 0;
    }
}

/* Finds out what the block may see of the piece; false where that is nothing. With `only_live`,
 * queries that saw no key at all, as their lse says, are left out. */
KERNEL bool open_piece(const heed_attention *a, int64_t i0, int64_t key0, bool only_live,
                       piece *p) {
    uint64_t any = 0;
    p->i0 = i0;
    p->queries = a->queries - i0 < QUERIES ? a->queries - i0 : QUERIES;
    p->key0 = key0;
    for (int64_t i = 0; i < p->queries; i++) {
        bool live = !only_live || a->lse[i0 + i] != -INFINITY;
        p->allowed[i] = live ? heed_allowed_keys(a, i0 + i, key0) : 0;
        any |= p->allowed[i];
    }
    if (any) {
        list_keys(a, any, p);
    }
    return any != 0;
}

/* ---- Dot products ---- */

/* out[i][list[j]] = left_row[i] . right_row[list[j]] for LANES pairs: `rows` left rows, a constant,
 * by LANES/rows of the list, of which only `count` may be there. */
WORD void dot_tile(const int rows, int64_t width, const float *const *left_row,
                   const float *const *right_row, const int *list, int count, float (*out)[PIECE]) {
    const int columns = LANES / rows;
    const float *right[LANES];
    vec sum[LANES];
    for (int j = 0; j < columns; j++) {
        right[j] = right_row[list[j < count ? j : count - 1]];
    }
    UNROLL
    for (int s = 0; s < LANES; s++) {
        sum[s] = v_zero();
    }
    EACH(width, {
        vec x[LANES];
        UNROLL
        for (int i = 0; i < rows; i++) {
            x[i] = v_get(left_row[i] + at, left);
        }
        UNROLL
        for (int j = 0; j < columns; j++) {
            vec y = v_hold(v_get(right[j] + at, left));
            UNROLL
            for (int i = 0; i < rows; i++) {
                sum[i * columns + j] = v_fma(x[i], y, sum[i * columns + j]);
            }
        }
    });
    float total[LANES];
    v_store(total, v_totals(sum));
    bool dense = count >= columns && list[columns - 1] == list[0] + columns - 1;
    for (int i = 0; i < rows; i++) {
        if (dense) {
            memcpy(out[i] + list[0], total + i * columns, (size_t)columns * sizeof *total);
            continue;
        }
        for (int j = 0; j < columns && j < count; j++) {
            out[i][list[j]] = total[i * columns + j];
        }
    }
}

/* weight[i][j] = left_row[i] . right_row[j] for the queries of the piece and each key that they may
 * see; some others are computed on the way, and are nobody's. */
KERNEL void dots(const piece *p, int64_t width, const float *const *left_row,
                 const float *const *right_row, float (*out)[PIECE]) {
    enum { TOGETHER = LANES / 4 };
    int64_t i = 0;
    for (; i + TOGETHER <= p->queries; i += TOGETHER) {
        int reach = 0;
        for (int64_t q = i; q < i + TOGETHER; q++) {
            reach = p->reach[q] > reach ? p->reach[q] : reach;
        }
        for (int j = 0; j < reach; j += 4) {
            dot_tile(TOGETHER, width, left_row + i, right_row, p->list + j, reach - j, out + i);
        }
    }
    for (; i < p->queries; i++) {
        for (int j = 0; j < p->reach[i]; j += LANES) {
            dot_tile(1, width, left_row + i, right_row, p->list + j, p->reach[i] - j, out + i);
        }
    }
}

/* ---- Weighted sums ---- */

/* The rows in `bits`, in order: row j at row[j], its weight at weight[j*step] of the target. */
typedef struct {
    uint64_t bits;
    const float *const *row;
    int64_t step;
    bool fresh;
} summands;

/* to = fresh ? was to + now sum : to + sum. The sum is one chain over the rows, which starts from 0
 * where fresh and from `to` otherwise. */
typedef struct {
    const float *weight;
    float *to;
    float was, now; /* read where fresh */
} sum_target;

enum { SUM_TARGETS = 3, MAX_SUM_VECTORS = 12 }; /* that many targets share the load of a row */

/* A tile: columns [at, at + vectors*LANES) of the targets, or `left` < LANES columns of one vector;
 * sum[q*vectors + x] is vector x of target q. */
typedef struct {
    int targets, vectors;
    int64_t at, left;
} sum_shape;

/* Adds the rows of a run of `run` neighbours, from row j on. */
WORD void sum_run(const sum_shape c, const summands *s, const sum_target *t, int j, int run,
                  vec *sum) {
    const float *weight[SUM_TARGETS];
    UNROLL
    for (int q = 0; q < c.targets; q++) {
        weight[q] = t[q].weight + j * s->step;
    }
    for (const float *const *row = s->row + j; run > 0; run--, row++) {
        vec w[SUM_TARGETS];
        UNROLL
        for (int q = 0; q < c.targets; q++) {
            w[q] = v_set(*weight[q]);
            weight[q] += s->step;
        }
        UNROLL
        for (int x = 0; x < c.vectors; x++) {
            vec y = v_hold(v_get(*row + c.at + x * LANES, c.left));
            UNROLL
            for (int q = 0; q < c.targets; q++) {
                sum[q * c.vectors + x] = v_fma(w[q], y, sum[q * c.vectors + x]);
            }
        }
    }
}

WORD void sum_to_targets(const sum_shape c, const summands *s, const sum_target *t,
                         const vec *sum) {
    UNROLL
    for (int q = 0; q < c.targets; q++) {
        UNROLL
        for (int x = 0; x < c.vectors; x++) {
            float *to = t[q].to + c.at + x * LANES;
            vec y = sum[q * c.vectors + x];
            if (s->fresh) {
                y = v_fma(v_get(to, c.left), v_set(t[q].was), v_mul(y, v_set(t[q].now)));
            }
            v_put(to, c.left, y);
        }
    }
}

WORD void sum_tile(const sum_shape c, const summands *s, const sum_target *t) {
    vec sum[MAX_SUM_VECTORS];
    UNROLL
    for (int q = 0; q < c.targets; q++) {
        UNROLL
        for (int x = 0; x < c.vectors; x++) {
            sum[q * c.vectors + x] =
                s->fresh ? v_zero() : v_get(t[q].to + c.at + x * LANES, c.left);
        }
    }
    for (uint64_t rest = s->bits; rest;) {
        int j = heed_lowest_bit(rest);
        uint64_t ended = ~(rest >> j);
        int run = ended ? heed_lowest_bit(ended) : PIECE;
        rest &= ~heed_bits_between(j, j + run);
        sum_run(c, s, t, j, run, sum);
    }
    sum_to_targets(c, s, t, sum);
}

WORD void sum_columns(const int targets, int64_t columns, const summands *s, const sum_target *t) {
    int64_t at = 0;
    for (; targets == 1 && at + 8 * LANES <= columns; at += 8 * LANES) {
        sum_tile((sum_shape){1, 8, at, LANES}, s, t);
    }
    for (; at + 4 * LANES <= columns; at += 4 * LANES) {
        sum_tile((sum_shape){targets, 4, at, LANES}, s, t);
    }
    for (; at + LANES <= columns; at += LANES) {
        sum_tile((sum_shape){targets, 1, at, LANES}, s, t);
    }
    if (at < columns) {
        sum_tile((sum_shape){targets, 1, at, columns - at}, s, t);
    }
}

KERNEL void sum_for_one(int64_t columns, const summands *s, const sum_target *t) {
    sum_columns(1, columns, s, t);
}
KERNEL void sum_for_two(int64_t columns, const summands *s, const sum_target *t) {
    sum_columns(2, columns, s, t);
}
KERNEL void sum_for_three(int64_t columns, const summands *s, const sum_target *t) {
    sum_columns(3, columns, s, t);
}

/* `targets` targets, at most SUM_TARGETS, with the same rows. */
static inline void sum_rows(int64_t columns, const summands *s, const sum_target *t, int targets) {
    if (targets == 1) {
        sum_for_one(columns, s, t);
    } else if (targets == 2) {
        sum_for_two(columns, s, t);
    } else {
        sum_for_three(columns, s, t);
    }
}

/* ---- Scores ---- */

/* Bias of query i for the keys of the list; others keep what they hold. */
static inline void gather_bias(const heed_attention *a, const piece *p, int64_t i,
                               float bias[PIECE]) {
    for (int c = 0; c < p->count; c++) {
        int j = p->list[c];
        bias[j] = heed_bias_of(a, p->i0 + i, p->key0 + j);
    }
}

/* Dot products of query i to capped scores, in place; how these grow goes to slope, or NULL. */
KERNEL void cap_row(const heed_attention *a, const piece *p, int64_t i, float *score,
                    float *slope) {
    vec factor = v_set(a->scale), cap = v_set(a->cap), one = v_set(1.0f);
    for (int64_t at = 0; at < p->span[i]; at += LANES) {
        vec t = v_tanh(v_div(v_mul(v_load(score + at), factor), cap));
        v_store(score + at, v_mul(cap, t));
        if (slope) {
            v_store(slope + at, v_fnma(t, t, one));
        }
    }
}

/* What query i keeps of the weights in dropout: 0 or keep_scale; 1 where there is none. */
static inline void gather_kept(const heed_attention *a, const piece *p, int64_t i,
                               uint8_t kept[PIECE]) {
    int64_t n = a->keys - p->key0 < PIECE ? a->keys - p->key0 : PIECE;
    memcpy(kept, a->keep + (p->i0 + i) * a->keep_stride + p->key0, (size_t)n);
}

#endif
