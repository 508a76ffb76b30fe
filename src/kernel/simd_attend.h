/* simd_attend.h: what attention is made of, forward and backward: a piece of keys against a block
 * of queries, as products of small matrices.
 *
 * Scores lie as keys x queries: a vector holds one key's scores for LANES queries, so that maxima
 * and sums over keys need no sum across lanes. Both sides are copied into the forms that the
 * product of simd_gemm.h reads, rows that nobody may see as zeros; what a query may not see gets
 * the weight 0, and where that would not be enough, since a number is not finite, a query is
 * multiplied alone with its own rows.
 * Invariant: each element is one chain, as in every product: over the width in a score, over keys
 * or queries in a sum. So a query alone gives the bits that it gives among many.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_ATTEND_H
#define HEED_KERNEL_SIMD_ATTEND_H

#include "kernel/attend.h"
#include "kernel/simd_gemm.h"
#include "kernel/simd_math.h"

#include <string.h>

/* A block of queries; heads wider than MAX_HEAD are left to the reference. */
enum { PIECE = HEED_KEY_PIECE, QUERIES = 64, MAX_HEAD = 256 };

typedef float tile[PIECE][QUERIES]; /* keys x queries */

/* Queries [i0, i0 + queries) against keys [key0 + from, key0 + to). */
typedef struct {
    int64_t i0, queries, key0, from, to;
    bool open;                        /* every query may see each of these keys */
    uint64_t sees[QUERIES];           /* keys that each query may see, from bit 0 at key0 */
    uint64_t seen[PIECE];             /* queries that may see each key; read where not open */
    const float *k[PIECE], *v[PIECE]; /* rows; NULL: nobody sees it */
    const float *next[PIECE];         /* rows of keys of the piece behind it, or NULL */
} piece;

static inline int64_t fewer(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Finds the rows of the keys in `any`. */
static inline void find_rows(const heed_attention *a, uint64_t any, piece *p) {
    p->from = heed_lowest_bit(any);
    p->to = heed_highest_bit(any) + 1;
    for (int64_t j = p->from; j < p->to; j++) {
        bool seen = any >> j & 1;
        int64_t row = seen ? heed_key_row(a, p->key0 + j) : 0;
        p->k[j] = seen ? a->k + row * a->k_stride : NULL;
        p->v[j] = seen ? a->v + row * a->v_stride : NULL;
        int64_t next = p->key0 + PIECE + j;
        p->next[j] = next < a->keys ? a->k + heed_key_row(a, next) * a->k_stride : NULL;
    }
}

/* Finds out what the block may see of the piece; false where that is nothing. With `only_live`,
 * queries that saw no key at all, as their lse says, are left out. */
static inline bool open_piece(const heed_attention *a, int64_t i0, int64_t key0, bool only_live,
                              piece *p) {
    uint64_t any = 0, all = ~UINT64_C(0);
    p->i0 = i0;
    p->queries = fewer(a->queries - i0, QUERIES);
    p->key0 = key0;
    for (int64_t i = 0; i < p->queries; i++) {
        bool live = !only_live || a->lse[i0 + i] != -INFINITY;
        p->sees[i] = live ? heed_allowed_keys(a, i0 + i, key0) : 0;
        any |= p->sees[i];
        all &= p->sees[i];
    }
    if (!any) {
        return false;
    }
    find_rows(a, any, p);
    p->open = all == heed_bits_between(p->from, p->to);
    if (!p->open) {
        memcpy(p->seen, p->sees, (size_t)p->queries * sizeof *p->seen);
        memset(p->seen + p->queries, 0, (size_t)(PIECE - p->queries) * sizeof *p->seen);
        heed_turn_bits(p->seen);
    }
    return true;
}

/* ---- Forms that a product reads ---- */

/* Distance of rows that were copied. */
static inline int64_t row_step(int64_t width) {
    return (width + LANES - 1) / LANES * LANES;
}

/* Asks for a row to be brought near. */
WORD void fetch_row(const float *row, int64_t width) {
    for (int64_t at = 0; row && at < width; at += 2 * LANES) {
        v_fetch(row + at);
    }
}

/* Rows [from, to) of `width` numbers, row_step(width) apart; zeros for NULL. Those of `soon` are
 * brought near. */
KERNEL void copy_rows(const float *const *row, const float *const *soon, int64_t from, int64_t to,
                      int64_t width, float *copy) {
    for (int64_t l = from; l < to; l++, copy += row_step(width)) {
        fetch_row(soon[l], width);
        EACH(width, v_store(copy + at, row[l] ? v_get(row[l] + at, left) : v_zero()););
    }
}

/* LANES numbers of a row, of which `left` are there. */
WORD vec part_of_row(const float *row, int64_t at, int64_t left) {
    return !row || left <= 0 ? v_zero() : v_get(row + at, left < LANES ? left : LANES);
}

/* The same rows as panels, (l, j) = row[from + l][j]. True where all numbers are finite. */
KERNEL bool panel_rows(const float *const *row, const float *const *soon, int64_t from, int64_t to,
                       int64_t width, float *panels) {
    vec nothing = v_zero(); /* x - x is 0, or NaN */
    for (int64_t at = 0; at < width; at += NR) {
        for (int64_t l = from; l < to; l++, panels += NR) {
            vec x = part_of_row(row[l], at, width - at);
            vec y = part_of_row(row[l], at + LANES, width - at - LANES);
            v_store(panels, x);
            v_store(panels + LANES, y);
            nothing = v_add(nothing, v_add(v_sub(x, x), v_sub(y, y)));
            if (soon && soon[l]) {
                v_fetch(soon[l] + at);
            }
        }
    }
    return v_all_finite(nothing);
}

/* Queries as the columns of a product: (l, i) = scale * number l of query i. */
KERNEL void turn_queries(int64_t queries, int64_t width, const float *q, int64_t stride,
                         float scale, float *panels) {
    int64_t count = heed_panels(queries, NR);
    pack(width, queries, q, 1, stride, 0, count, panels);
    for (int64_t at = 0; scale != 1 && at < count * NR * width; at += LANES) {
        v_store(panels + at, v_mul(v_load(panels + at), v_set(scale)));
    }
}

/* ---- Products ---- */

/* What a weighted sum of rows reads: the rows that were made into panels. */
typedef struct {
    const float *const *row; /* `from` is the first */
    int64_t from, to;
    float *panels;
    bool finite;
} summands;

KERNEL summands summands_of(const float *const *row, const float *const *soon, int64_t from,
                            int64_t to, int64_t width, float *panels) {
    return (summands){row, from, to, panels, panel_rows(row, soon, from, to, width, panels)};
}

/* Row r of a product alone, without the rows of B that are not in `bits`. */
KERNEL void sum_alone(const heed_gemm *g, const summands *s, int64_t r, uint64_t bits) {
    const float *mine[PIECE];
    for (int64_t l = s->from; l < s->to; l++) {
        mine[l] = bits >> l & 1 ? s->row[l] : NULL;
    }
    panel_rows(mine, NULL, s->from, s->to, g->n, s->panels);
    heed_gemm one = *g;
    one.m = 1;
    one.a += r * g->a_row;
    one.c += r * g->ldc;
    gemm(&one);
}

/* C = (accumulate ? C : 0) + A B, where row r of C sees the rows of B in bits[r] alone: where not
 * open, A has zeros for the others. */
KERNEL void sum_rows(heed_gemm *g, const summands *s, bool open, const uint64_t *bits) {
    g->k = s->to - s->from;
    g->packed = s->panels;
    if (open || s->finite) {
        gemm(g);
        return;
    }
    for (int64_t r = 0; r < g->m; r++) {
        sum_alone(g, s, r, bits[r]);
    }
    panel_rows(s->row, NULL, s->from, s->to, g->n, s->panels);
}

/* s[j][i] = column i . row j: columns of turn_queries, rows of copy_rows from p->from on. */
KERNEL void dots(const piece *p, int64_t width, const float *rows, const float *columns, tile s) {
    int64_t panels = heed_panels(p->queries, NR);
    gemm(&(heed_gemm){.m = p->to - p->from,
                      .n = panels * NR,
                      .k = width,
                      .a = rows,
                      .a_row = row_step(width),
                      .a_col = 1,
                      .packed = columns,
                      .panel1 = panels,
                      .c = s[p->from],
                      .ldc = QUERIES});
}

/* ---- Scores ---- */

/* Value where a query may not see a key. */
KERNEL void mask_tile(const piece *p, float value, tile t) {
    vec masked = v_set(value);
    for (int64_t j = p->from; j < p->to; j++) {
        for (int64_t x = 0; x < p->queries; x += LANES) {
            v_store(t[j] + x, v_if_bit(p->seen[j] >> x, v_load(t[j] + x), masked));
        }
    }
}

/* Scores to capped ones; how these grow goes to slope, or NULL. */
KERNEL void cap_tile(const piece *p, float size, tile s, tile slope) {
    vec cap = v_set(size), one = v_set(1.0f);
    for (int64_t j = p->from; j < p->to; j++) {
        for (int64_t x = 0; x < p->queries; x += LANES) {
            vec t = v_tanh(v_div(v_load(s[j] + x), cap));
            v_store(s[j] + x, v_mul(cap, t));
            if (slope) {
                v_store(slope[j] + x, v_fnma(t, t, one));
            }
        }
    }
}

static inline bool follow_each_other(const int32_t *position, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        if ((int64_t)position[i] - position[i - 1] != 1) {
            return false;
        }
    }
    return true;
}

/* Biases of the piece: that of query i and key j at at[j * step + i]. Where positions follow each
 * other, keys share one line of them, each one place further on. */
typedef struct {
    const float *at;
    int64_t step;
    float number[PIECE * QUERIES];
} biases;

static inline void fill_biases(const heed_attention *a, const piece *p, biases *b) {
    const int32_t *k_pos = a->k_pos + p->key0, *q_pos = a->q_pos + p->i0;
    if (!follow_each_other(k_pos + p->from, p->to - p->from) ||
        !follow_each_other(q_pos, p->queries)) {
        for (int64_t j = p->from; j < p->to; j++) {
            for (int64_t i = 0; i < p->queries; i++) {
                b->number[j * QUERIES + i] = heed_bias_of(a, p->i0 + i, p->key0 + j);
            }
        }
        b->at = b->number;
        b->step = QUERIES;
        return;
    }
    b->at = b->number + PIECE - 1;
    b->step = -1;
    memset(b->number, 0, (PIECE + QUERIES) * sizeof *b->number);
    for (int64_t j = p->from; j < p->to; j++) {
        b->number[PIECE - 1 - j] = heed_bias_of(a, p->i0, p->key0 + j);
    }
    for (int64_t i = 0; i < p->queries; i++) {
        b->number[PIECE - 1 - p->from + i] = heed_bias_of(a, p->i0 + i, p->key0 + p->from);
    }
}

KERNEL void add_biases(const heed_attention *a, const piece *p, tile s) {
    biases b;
    fill_biases(a, p, &b);
    for (int64_t j = p->from; j < p->to; j++) {
        for (int64_t x = 0; x < p->queries; x += LANES) {
            v_store(s[j] + x, v_add(v_load(s[j] + x), v_load(b.at + j * b.step + x)));
        }
    }
}

/* Scaled dot products to scores, -infinity where not allowed, in place. */
static inline void finish_scores(const heed_attention *a, const piece *p, tile s, tile slope) {
    if (a->cap != 0) {
        cap_tile(p, a->cap, s, slope);
    }
    if (heed_has_bias(a)) {
        add_biases(a, p, s);
    }
    if (!p->open) {
        mask_tile(p, -INFINITY, s);
    }
}

/* kept[j]: the queries that keep the weight of key j in dropout. */
static inline void find_kept(const heed_attention *a, const piece *p, uint64_t kept[PIECE]) {
    memset(kept, 0, PIECE * sizeof *kept);
    int64_t n = fewer(a->keys - p->key0, PIECE);
    for (int64_t i = 0; i < p->queries; i++) {
        kept[i] = heed_bits_of_bytes(a->keep + (p->i0 + i) * a->keep_stride + p->key0, n);
    }
    heed_turn_bits(kept);
}

#endif
