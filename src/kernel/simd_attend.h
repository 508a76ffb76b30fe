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

enum { PIECE = HEED_KEY_PIECE, QUERIES = 16 };

/* Queries [i0, i0 + queries) against keys [key0, key0 + PIECE). */
typedef struct {
    int64_t i0, queries, key0;
    uint64_t allowed[QUERIES], any; /* keys that each query may see, that some query may see */
    int list[PIECE], count;         /* those of `any`, in order */
    const float *k[PIECE], *v[PIECE];
} piece;

/* Finds out what the block may see of the piece; false where that is nothing. With `only_live`,
 * queries that saw no key at all, as their lse says, are left out. */
KERNEL bool open_piece(const heed_attention *a, int64_t i0, int64_t key0, bool only_live,
                       piece *p) {
    p->i0 = i0;
    p->queries = a->queries - i0 < QUERIES ? a->queries - i0 : QUERIES;
    p->key0 = key0;
    p->any = 0;
    p->count = 0;
    for (int64_t i = 0; i < p->queries; i++) {
        bool live = !only_live || a->lse[i0 + i] != -INFINITY;
        p->allowed[i] = live ? heed_allowed_keys(a, i0 + i, key0) : 0;
        p->any |= p->allowed[i];
    }
    for (uint64_t rest = p->any; rest; rest &= rest - 1) {
        int j = heed_lowest_bit(rest);
        int64_t row = heed_key_row(a, key0 + j);
        p->list[p->count++] = j;
        p->k[j] = a->k + row * a->k_stride;
        p->v[j] = a->v + row * a->v_stride;
    }
    return p->any != 0;
}

/* ---- Dot products ---- */

/* out[i][list[j]] = left_row[i] . right_row[list[j]] for LANES pairs: `rows` left rows, a constant,
 * by LANES/rows of the list, of which only `count` may be there. */
WORD void dot_tile(const int rows, int64_t width, const float *const *left_row,
                   const float *const *right_row, const int *list, int count, float (*out)[PIECE]) {
    const int columns = LANES / rows;
    const float *right[LANES];
    vec sum[LANES];
    for (int j = 0; j < columns; j++)
        right[j] = right_row[list[j < count ? j : count - 1]];
    for (int s = 0; s < LANES; s++)
        sum[s] = v_zero();
    EACH(width, {
        vec x[LANES];
        for (int i = 0; i < rows; i++)
            x[i] = v_get(left_row[i] + at, left);
        for (int j = 0; j < columns; j++) {
            vec y = v_get(right[j] + at, left);
            for (int i = 0; i < rows; i++)
                sum[i * columns + j] = v_fma(x[i], y, sum[i * columns + j]);
        }
    });
    float total[LANES];
    v_store(total, v_totals(sum));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns && j < count; j++)
            out[i][list[j]] = total[i * columns + j];
}

/* out[i][j] = left_row[i] . right_row[j] for `rows` left rows and each j of the list. */
KERNEL void dots(int64_t rows, int64_t width, const float *const *left_row,
                 const float *const *right_row, const int *list, int count, float (*out)[PIECE]) {
    enum { TOGETHER = LANES / 4 };
    int64_t i = 0;
    for (; i + TOGETHER <= rows; i += TOGETHER)
        for (int j = 0; j < count; j += 4)
            dot_tile(TOGETHER, width, left_row + i, right_row, list + j, count - j, out + i);
    for (; i < rows; i++)
        for (int j = 0; j < count; j += LANES)
            dot_tile(1, width, left_row + i, right_row, list + j, count - j, out + i);
}

/* ---- Weighted sums ---- */

/* to = (fresh ? was to + now sum : to + sum), sum over the rows in `bits`, in order, of weight
 * times row: row j at row[j], its weight at weight[j*step]. One chain, which starts from 0 where
 * fresh and from `to` otherwise. */
typedef struct {
    uint64_t bits;
    const float *const *row;
    int64_t step;
    bool fresh;
} summands;

typedef struct {
    const float *weight;
    float *to;
    float was, now; /* read where fresh */
} sum_target;

/* Columns [at, at + vectors*LANES) of one or two targets, or `left` < LANES columns of one
 * vector. */
WORD void sum_tile(const int targets, const int vectors, int64_t at, int64_t left,
                   const summands *s, const sum_target *t) {
    vec sum[2 * 8];
    for (int q = 0; q < targets; q++)
        for (int x = 0; x < vectors; x++)
            sum[q * vectors + x] = s->fresh ? v_zero() : v_get(t[q].to + at + x * LANES, left);
    for (uint64_t rest = s->bits; rest; rest &= rest - 1) {
        int j = heed_lowest_bit(rest);
        const float *row = s->row[j] + at;
        vec weight[2];
        for (int q = 0; q < targets; q++)
            weight[q] = v_set(t[q].weight[j * s->step]);
        for (int x = 0; x < vectors; x++) {
            vec y = v_get(row + x * LANES, left);
            for (int q = 0; q < targets; q++)
                sum[q * vectors + x] = v_fma(weight[q], y, sum[q * vectors + x]);
        }
    }
    for (int q = 0; q < targets; q++)
        for (int x = 0; x < vectors; x++) {
            float *to = t[q].to + at + x * LANES;
            vec y = sum[q * vectors + x];
            if (s->fresh)
                y = v_fma(v_get(to, left), v_set(t[q].was), v_mul(y, v_set(t[q].now)));
            v_put(to, left, y);
        }
}

WORD void sum_columns(const int targets, int64_t columns, const summands *s, const sum_target *t) {
    int64_t at = 0;
    if (targets == 1)
        for (; at + 8 * LANES <= columns; at += 8 * LANES)
            sum_tile(1, 8, at, LANES, s, t);
    for (; at + 4 * LANES <= columns; at += 4 * LANES)
        sum_tile(targets, 4, at, LANES, s, t);
    for (; at + LANES <= columns; at += LANES)
        sum_tile(targets, 1, at, LANES, s, t);
    if (at < columns)
        sum_tile(targets, 1, at, columns - at, s, t);
}

KERNEL void sum_rows(int64_t columns, const summands *s, const sum_target *t) {
    sum_columns(1, columns, s, t);
}

/* For two targets with the same rows: each row is loaded once, and there are chains enough. */
KERNEL void sum_rows_twice(int64_t columns, const summands *s, const sum_target t[2]) {
    sum_columns(2, columns, s, t);
}

/* ---- Scores ---- */

/* Bias of query i for the keys of the list; others keep what they hold. */
static inline void gather_bias(const heed_attention *a, const piece *p, int64_t i,
                               float bias[PIECE]) {
    for (int c = 0; c < p->count; c++) {
        int j = p->list[c];
        bias[j] = a->bias[a->k_pos[p->key0 + j] - a->q_pos[p->i0 + i]];
    }
}

/* What query i keeps of the weights in dropout: 0 or keep_scale; 1 where there is none. */
static inline void gather_kept(const heed_attention *a, const piece *p, int64_t i,
                               uint8_t kept[PIECE]) {
    int64_t n = a->keys - p->key0 < PIECE ? a->keys - p->key0 : PIECE;
    memcpy(kept, a->keep + (p->i0 + i) * a->keep_stride + p->key0, (size_t)n);
}

/* Vectors of a piece that hold the bits. */
static inline int64_t span_of(uint64_t bits) {
    int64_t last = 0;
    for (; bits; bits >>= LANES)
        last++;
    return last * LANES;
}

#endif
