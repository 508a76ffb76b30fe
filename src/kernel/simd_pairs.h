/* simd_pairs.h: the product of pairs of bfloat16.
 *
 * As simd_gemm.h: a tile of rows by one panel holds its sums in registers while the pairs run; each
 * accumulator is the one chain of one element. Here the block's part of A is always copied, since
 * it must be rounded anyway: by rows, or, where the rows lie side by side, by pairs.
 * Source: Intel Architecture Instruction Set Extensions Reference, VDPBF16PS.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_PAIRS_H
#define HEED_KERNEL_SIMD_PAIRS_H

#ifndef HEED_KERNEL_VEC_WORDS
#define HEED_WITH_BF16
#include "kernel/vec_avx512.h"
#endif
#include "kernel/vec.h"

#include <string.h>

#define PAIRS_NR (2 * LANES)
enum { AHEAD_PAIRS = 12, AHEAD_ROWS = 3 }; /* of A, that are fetched while others are copied */
enum { PAIRS_ROWS = 8, PAIRS_TILES = 8, PAIRS_HEIGHT = PAIRS_ROWS * PAIRS_TILES };
enum { PAIRS_DEPTH = 256 }; /* pairs of a block */
enum { PAIRS_FEW = 3 };     /* rows whose panels are read faster without being fetched */

typedef struct {
    int64_t pairs;
    const uint32_t *a;
    int64_t a_row, a_col;
    const uint32_t *b, *soon; /* soon: what will be read as b next, to be fetched meanwhile */
    float *c;
    int64_t ldc;
    bool from_zero;
    const float *bias; /* or NULL */
} pairs_tile;

WORD vec add_pairs(vec sum, ints a, ints b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}

WORD void run_pairs(const int rows, const pairs_tile *t) {
    vec sum[2 * PAIRS_ROWS];
    UNROLL
    for (int i = 0; i < 2 * rows; i++) {
        sum[i] = t->from_zero ? v_zero() : v_load(t->c + i / 2 * t->ldc + i % 2 * LANES);
    }
    const uint32_t *a = t->a, *b = t->b, *soon = t->soon;
    for (int64_t l = t->pairs; l > 0; l--, a += t->a_col, b += PAIRS_NR, soon += PAIRS_NR) {
        v_fetch((const float *)(const void *)soon);
        ints b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + LANES);
        UNROLL
        for (int r = 0; r < rows; r++) {
            ints x = i_set(a[r * t->a_row]);
            sum[2 * r] = add_pairs(sum[2 * r], x, b0);
            sum[2 * r + 1] = add_pairs(sum[2 * r + 1], x, b1);
        }
    }
    UNROLL
    for (int i = 0; i < 2 * rows; i++) {
        vec x = sum[i];
        x = t->bias ? v_add(x, v_load(t->bias + i % 2 * LANES)) : x;
        v_store(t->c + i / 2 * t->ldc + i % 2 * LANES, x);
    }
}

#define PAIRS_TILE(rows)                                                                           \
    HEED_TARGET static void pairs_##rows(const pairs_tile *t) {                                    \
        run_pairs(rows, t);                                                                        \
    }
/* clang-format off */
PAIRS_TILE(1) PAIRS_TILE(2) PAIRS_TILE(3) PAIRS_TILE(4)
PAIRS_TILE(5) PAIRS_TILE(6) PAIRS_TILE(7) PAIRS_TILE(8)
static void (*const PAIRS_OF[PAIRS_ROWS + 1])(const pairs_tile *) = {
    NULL, pairs_1, pairs_2, pairs_3, pairs_4, pairs_5, pairs_6, pairs_7, pairs_8};
/* clang-format on */

/* A tile of the last panel, some of whose columns are not there. */
KERNEL void pairs_edge(int64_t rows, int64_t columns, const pairs_tile *t) {
    float c[PAIRS_ROWS * PAIRS_NR] = {0}, bias[PAIRS_NR] = {0};
    pairs_tile inner = *t;
    inner.c = c;
    inner.ldc = PAIRS_NR;
    size_t bytes = (size_t)columns * sizeof *c;
    for (int64_t r = 0; r < rows && !t->from_zero; r++) {
        memcpy(c + r * PAIRS_NR, t->c + r * t->ldc, bytes);
    }
    if (t->bias) {
        inner.bias = memcpy(bias, t->bias, bytes);
    }
    PAIRS_OF[rows](&inner);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(t->c + r * t->ldc, c + r * PAIRS_NR, bytes);
    }
}

/* ---- Rounding ---- */

/* LANES numbers of bfloat16, each in the low half of 32 bits. */
WORD ints rounded(vec x) {
    return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x));
}

/* LANES pairs of what lies in two rows. */
WORD ints pairs_of(vec low, vec high) {
    return _mm512_or_si512(rounded(low), _mm512_slli_epi32(rounded(high), 16));
}

/* Up to 2 LANES numbers that lie side by side, as pairs; the words hold no floats. */
WORD vec pairs_in_row(int64_t left, const float *x) {
    int64_t second = left - LANES;
    vec low = v_get(x, second < 0 ? left : LANES);
    vec high = second > 0 ? v_get(x + LANES, second) : v_zero();
    __m512i first = _mm512_castsi256_si512((__m256i)_mm512_cvtneps_pbh(low));
    return (vec)_mm512_inserti64x4(first, (__m256i)_mm512_cvtneps_pbh(high), 1);
}

/* A row of k numbers that lie side by side, as (k + 1) / 2 pairs; those at `soon` are fetched. */
WORD void round_row(int64_t k, const float *x, const float *soon, uint32_t *to) {
    for (int64_t l = 0; l < k; l += LANES, to += LANES / 2) {
        _mm_prefetch((const char *)(soon + l), _MM_HINT_T0);
        int64_t left = k - l < LANES ? k - l : LANES;
        __m256i y = (__m256i)_mm512_cvtneps_pbh(v_get(x + l, left));
        if (left == LANES) {
            _mm256_storeu_si256((__m256i *)(void *)to, y);
        } else {
            uint32_t part[LANES / 2];
            _mm256_storeu_si256((__m256i *)(void *)part, y);
            memcpy(to, part, (size_t)(left + 1) / 2 * sizeof *to);
        }
    }
}

/* n columns of two rows; high may be NULL. */
WORD void round_columns(int64_t n, const float *low, const float *high, uint32_t *to) {
    for (int64_t j = 0; j < n; j += LANES) {
        int64_t left = n - j < LANES ? n - j : LANES;
        vec x = v_get(low + j, left), y = high ? v_get(high + j, left) : v_zero();
        ints pairs = pairs_of(x, y);
        if (left == LANES) {
            _mm512_storeu_si512(to + j, pairs);
        } else {
            uint32_t part[LANES];
            _mm512_storeu_si512(part, pairs);
            memcpy(to + j, part, (size_t)left * sizeof *to);
        }
    }
}

/* One pair, where numbers lie in no order that helps. */
WORD uint32_t one_pair(float low, float high) {
    uint32_t lanes[LANES];
    _mm512_storeu_si512(lanes, pairs_of(v_set(low), v_set(high)));
    return lanes[0];
}

/* ---- The product ---- */

/* A block: rows [i0, i0 + rows) and pairs [l0, l0 + pairs). */
typedef struct {
    const heed_gemm *g;
    int64_t l0, pairs, i0, rows;
    int64_t a_row, a_col;
    uint32_t a[PAIRS_HEIGHT * PAIRS_DEPTH];
} pairs_block;

/* What the copy reads AHEAD_PAIRS later. */
WORD void fetch_columns(const pairs_block *k, const float *low, int64_t l) {
    if (l + AHEAD_PAIRS < k->pairs) {
        low += 2 * AHEAD_PAIRS * k->g->a_col;
        for (int64_t i = 0; i < k->rows; i += LANES) {
            _mm_prefetch((const char *)(low + i), _MM_HINT_T0);
            _mm_prefetch((const char *)(low + i - k->g->a_col), _MM_HINT_T0);
        }
    }
}

KERNEL void copy_pairs(pairs_block *k) {
    const heed_gemm *g = k->g;
    int64_t from = 2 * k->l0, numbers = 2 * k->pairs;
    numbers = from + numbers > g->k ? g->k - from : numbers;
    const float *a = g->a + k->i0 * g->a_row + from * g->a_col;
    bool side_by_side = g->a_row == 1 && g->a_col != 1;
    k->a_row = side_by_side ? 1 : PAIRS_DEPTH;
    k->a_col = side_by_side ? PAIRS_HEIGHT : 1;
    for (int64_t l = 0; side_by_side && l < k->pairs; l++) {
        const float *low = a + 2 * l * g->a_col;
        fetch_columns(k, low, l);
        round_columns(k->rows, low, 2 * l + 1 < numbers ? low + g->a_col : NULL,
                      k->a + l * PAIRS_HEIGHT);
    }
    for (int64_t r = 0; !side_by_side && r < k->rows; r++, a += g->a_row) {
        uint32_t *to = k->a + r * PAIRS_DEPTH;
        for (int64_t l = 0; g->a_col != 1 && l < k->pairs; l++) {
            const float *low = a + 2 * l * g->a_col;
            to[l] = one_pair(*low, 2 * l + 1 < numbers ? low[g->a_col] : 0);
        }
        if (g->a_col == 1) {
            round_row(numbers, a, r + AHEAD_ROWS < k->rows ? a + AHEAD_ROWS * g->a_row : a, to);
        }
    }
}

KERNEL void pairs_by_panel(const pairs_block *k, int64_t p) {
    const heed_gemm *g = k->g;
    int64_t all = (g->k + 1) / 2, tiles = (k->rows + PAIRS_ROWS - 1) / PAIRS_ROWS;
    pairs_tile t = {.pairs = k->pairs,
                    .a_row = k->a_row,
                    .a_col = k->a_col,
                    .b = (const uint32_t *)g->packed + (p * all + k->l0) * PAIRS_NR,
                    .ldc = g->ldc,
                    .from_zero = k->l0 == 0 && !g->accumulate,
                    .bias = g->bias && k->l0 + k->pairs == all ? g->bias + p * PAIRS_NR : NULL};
    for (int64_t n = 0; n < tiles; n++) {
        int64_t i = n * k->rows / tiles, rows = (n + 1) * k->rows / tiles - i;
        bool last = k->rows > PAIRS_FEW && n + 1 == tiles && (p + 1) * PAIRS_NR < g->n;
        t.soon = t.b + (last ? all * PAIRS_NR : 0);
        t.a = k->a + i * k->a_row;
        t.c = g->c + (k->i0 + i) * g->ldc + p * PAIRS_NR;
        if ((p + 1) * PAIRS_NR <= g->n) {
            PAIRS_OF[rows](&t);
        } else {
            pairs_edge(rows, g->n - p * PAIRS_NR, &t);
        }
    }
}

KERNEL void gemm_pairs(const heed_gemm *g) {
    pairs_block k;
    k.g = g;
    int64_t all = (g->k + 1) / 2;
    k.l0 = 0;
    do { /* once for k = 0 too: C becomes 0 or stays, + bias */
        k.pairs = all - k.l0 < PAIRS_DEPTH ? all - k.l0 : PAIRS_DEPTH;
        for (k.i0 = 0; k.i0 < g->m; k.i0 += PAIRS_HEIGHT) {
            k.rows = g->m - k.i0 < PAIRS_HEIGHT ? g->m - k.i0 : PAIRS_HEIGHT;
            copy_pairs(&k);
            for (int64_t p = g->panel0; p < g->panel1; p++) {
                pairs_by_panel(&k, p);
            }
        }
        k.l0 += k.pairs;
    } while (k.l0 < all);
}

/* ---- Packing ---- */

/* LANES columns of a panel from columns of B: b_row = 1. */
WORD void pack_column_pairs(int64_t k, int64_t columns, const float *b, int64_t b_col,
                            uint32_t *to) {
    for (int64_t l = 0; l < k; l += 2 * LANES, to += LANES * PAIRS_NR) {
        int64_t left = k - l < 2 * LANES ? k - l : 2 * LANES;
        vec x[LANES];
        UNROLL
        for (int j = 0; j < LANES; j++) {
            x[j] = j < columns ? pairs_in_row(left, b + j * b_col + l) : v_zero();
        }
        v_transpose(x);
        for (int64_t i = 0; i < (left + 1) / 2; i++) {
            v_store((float *)(void *)(to + i * PAIRS_NR), x[i]);
        }
    }
}

KERNEL void pack_pairs(int64_t k, int64_t n, const float *b, int64_t b_row, int64_t b_col,
                       int64_t panel0, int64_t panel1, uint32_t *packed) {
    int64_t pairs = (k + 1) / 2;
    for (int64_t p = panel0; p < panel1; p++) {
        int64_t columns = n - p * PAIRS_NR < PAIRS_NR ? n - p * PAIRS_NR : PAIRS_NR;
        const float *from = b + p * PAIRS_NR * b_col;
        uint32_t *to = packed + p * pairs * PAIRS_NR;
        if (columns < PAIRS_NR) {
            memset(to, 0, (size_t)(pairs * PAIRS_NR) * sizeof *to);
        }
        if (b_row == 1 && b_col != 1) {
            pack_column_pairs(k, columns, from, b_col, to);
            pack_column_pairs(k, columns - LANES, from + LANES * b_col, b_col, to + LANES);
            continue;
        }
        for (int64_t l = 0; l < pairs; l++) {
            const float *low = from + 2 * l * b_row, *high = 2 * l + 1 < k ? low + b_row : NULL;
            for (int64_t j = 0; b_col != 1 && j < columns; j++) {
                to[l * PAIRS_NR + j] = one_pair(low[j * b_col], high ? high[j * b_col] : 0);
            }
            if (b_col == 1) {
                round_columns(columns, low, high, to + l * PAIRS_NR);
            }
        }
    }
}

/* ---- How many such products a core can do ---- */

enum { PAIR_CHAINS = 12 };

/* Method as in simd_probe.h. */
KERNEL double probe_pairs(int64_t rounds) {
    vec sum[PAIR_CHAINS];
    ints pair = pairs_of(v_set(0.5f), v_set(0.25f));
    UNROLL
    for (int i = 0; i < PAIR_CHAINS; i++) {
        sum[i] = v_set((float)i);
    }
    for (int64_t r = 0; r < rounds; r++) {
        UNROLL
        for (int i = 0; i < PAIR_CHAINS; i++) {
            sum[i] = add_pairs(sum[i], pair, pair);
        }
    }
    float total = 0;
    UNROLL
    for (int i = 0; i < PAIR_CHAINS; i++) {
        total += v_total(sum[i]);
    }
    return total > 0 ? 4.0 * LANES * PAIR_CHAINS * (double)rounds : 0;
}

static inline void use_pairs(heed_kernels *k) {
    k->pack_pairs = pack_pairs;
    k->gemm_pairs = gemm_pairs;
    k->fast_pairs = true;
    k->pairs_nr = PAIRS_NR;
    k->probe[HEED_PROBE_BF16] = probe_pairs;
}

#endif
