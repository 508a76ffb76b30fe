/* simd_ints.h: the product with whole numbers, and rows as whole numbers.
 *
 * A tile of some rows by one panel goes through the blocks; in each, sums of whole numbers are held
 * in registers, and at its end added to the sums of floats with the scales. Where the whole column
 * is one block there is but one such end, so that a tile can be higher.
 * What a weight's zero contributes is known before the block begins: zero times the sum of A's
 * numbers, from which the sums of whole numbers start (`start` of A's rows).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_INTS_H
#define HEED_KERNEL_SIMD_INTS_H

#include "kernel/ints.h"
#include "kernel/vec.h"

#define INT_NR (2 * LANES)
/* Rows of a tile: two sums of whole numbers and two of floats for each, or two in all. */
#define BLOCK_ROWS (LANES > 8 ? 6 : 2)
#define WHOLE_ROWS (LANES > 8 ? 8 : 5)

typedef struct {
    const heed_int_gemm *g;
    int64_t blocks, steps; /* steps of a block */
    int64_t depth;
    heed_int_rows a; /* row r at a.q + r * depth, a.scale + r * blocks ... */
    const uint8_t *panel;
    float *c; /* from row to row ldc */
    int64_t ldc;
    const float *bias; /* or NULL */
} int_tile;

/* dot[2 r + v] += step `at` of row r by vector v. */
WORD void int_step(const int rows, const int bits, const int_tile *t, const int8_t *a, ints w0,
                   ints w1, ints *dot) {
    UNROLL
    for (int r = 0; r < rows; r++) {
        int32_t bytes;
        memcpy(&bytes, a + r * t->depth, sizeof bytes);
        ints four = i_hold(i_set((uint32_t)bytes));
        dot[2 * r] = bits == 8 ? i_dot(dot[2 * r], w0, four) : i_dot_small(dot[2 * r], w0, four);
        dot[2 * r + 1] =
            bits == 8 ? i_dot(dot[2 * r + 1], w1, four) : i_dot_small(dot[2 * r + 1], w1, four);
    }
}

/* All steps of a block; returns what stands behind them. */
WORD const uint8_t *int_steps(const int rows, const int bits, const int_tile *t, const int8_t *a,
                              const uint8_t *at, ints *dot) {
    const int64_t vector = LANES * HEED_INT_ROWS;
    if (bits == 8) {
        int64_t s = t->steps;
        do {
            ints w0 = i_ready(i_load(at)), w1 = i_ready(i_load(at + vector));
            int_step(rows, bits, t, a, w0, w1, dot);
            at += 2 * vector;
            a += HEED_INT_ROWS;
        } while (--s > 0);
    } else {
        for (int64_t s = t->steps; s > 0; s -= 2, at += 2 * vector, a += 2 * HEED_INT_ROWS) {
            ints w0 = i_load(at), w1 = i_load(at + vector);
            int_step(rows, bits, t, a, i_low_halves(w0), i_low_halves(w1), dot);
            int_step(rows, bits, t, a + HEED_INT_ROWS, i_high_halves(w0), i_high_halves(w1), dot);
        }
    }
    return at;
}

WORD void load_scales(const int_tile *t, const uint8_t *at, vec scale[2]) {
    if (t->g->form.half) {
        scale[0] = v_load_halves(at);
        scale[1] = v_load_halves(at + LANES * sizeof(uint16_t));
    } else {
        scale[0] = v_load((const float *)(const void *)at);
        scale[1] = v_load((const float *)(const void *)at + LANES);
    }
}

/* sum += dot times scales for block n; returns what stands behind the scales. */
WORD const uint8_t *int_scale(const int rows, const int_tile *t, int64_t n, const uint8_t *at,
                              const ints *dot, vec *sum) {
    const int64_t bytes = INT_NR * (t->g->form.half ? 2 : 4);
    vec scale[2];
    load_scales(t, at, scale);
    UNROLL
    for (int r = 0; r < rows; r++) {
        vec a = v_set(t->a.scale[r * t->blocks + n]);
        for (int v = 0; v < 2; v++) {
            vec x = v_of_ints(dot[2 * r + v]);
            sum[2 * r + v] = v_fma(x, v_mul(scale[v], a), sum[2 * r + v]);
        }
    }
    at += bytes;
    if (!t->g->form.least) {
        return at;
    }
    load_scales(t, at, scale);
    UNROLL
    for (int r = 0; r < rows; r++) {
        vec a = v_set(t->a.part[r * t->blocks + n]);
        for (int v = 0; v < 2; v++) {
            sum[2 * r + v] = v_fma(scale[v], a, sum[2 * r + v]);
        }
    }
    return at + bytes;
}

WORD void start_dots(const int rows, const int_tile *t, int64_t n, ints *dot) {
    UNROLL
    for (int r = 0; r < rows; r++) {
        dot[2 * r] = dot[2 * r + 1] = i_set((uint32_t)t->a.start[r * t->blocks + n]);
    }
}

WORD void store_sums(const int rows, const int_tile *t, const vec *sum) {
    UNROLL
    for (int r = 0; r < rows; r++) {
        for (int v = 0; v < 2; v++) {
            vec x = sum[2 * r + v];
            x = t->bias ? v_add(x, v_load(t->bias + v * LANES)) : x;
            v_store(t->c + r * t->ldc + v * LANES, x);
        }
    }
}

WORD void run_blocks(const int rows, const int bits, const int_tile *t) {
    vec sum[2 * BLOCK_ROWS];
    for (int i = 0; i < 2 * rows; i++) {
        sum[i] = v_zero();
    }
    const uint8_t *at = t->panel;
    const int8_t *a = t->a.q;
    for (int64_t n = 0; n < t->blocks; n++, a += t->steps * HEED_INT_ROWS) {
        ints dot[2 * BLOCK_ROWS];
        start_dots(rows, t, n, dot);
        at = int_steps(rows, bits, t, a, at, dot);
        at = int_scale(rows, t, n, at, dot, sum);
    }
    store_sums(rows, t, sum);
}

WORD void run_whole(const int rows, const int bits, const int_tile *t) {
    ints dot[2 * WHOLE_ROWS];
    start_dots(rows, t, 0, dot);
    const uint8_t *at = int_steps(rows, bits, t, t->a.q, t->panel, dot);
    vec sum[2 * WHOLE_ROWS];
    for (int i = 0; i < 2 * rows; i++) {
        sum[i] = v_zero();
    }
    int_scale(rows, t, 0, at, dot, sum);
    store_sums(rows, t, sum);
}

#define INT_TILE(way, bits, rows)                                                                  \
    HEED_TARGET static void way##_##bits##x##rows(const int_tile *t) {                             \
        run_##way(rows, bits, t);                                                                  \
    }
#define WHOLE_TILE(rows) INT_TILE(whole, 8, rows) INT_TILE(whole, 4, rows)
#define BLOCK_TILE(rows) INT_TILE(blocks, 8, rows) INT_TILE(blocks, 4, rows)
/* clang-format off */
BLOCK_TILE(1) BLOCK_TILE(2)
WHOLE_TILE(1) WHOLE_TILE(2) WHOLE_TILE(3) WHOLE_TILE(4) WHOLE_TILE(5)
#ifdef HEED_WITH_VNNI
BLOCK_TILE(3) BLOCK_TILE(4) BLOCK_TILE(5) BLOCK_TILE(6)
WHOLE_TILE(6) WHOLE_TILE(7) WHOLE_TILE(8)
#define WHOLE_TILES(bits)                                                                          \
    {NULL, whole_##bits##x1, whole_##bits##x2, whole_##bits##x3, whole_##bits##x4,                 \
     whole_##bits##x5, whole_##bits##x6, whole_##bits##x7, whole_##bits##x8}
#define BLOCK_TILES(bits)                                                                          \
    {NULL, blocks_##bits##x1, blocks_##bits##x2, blocks_##bits##x3, blocks_##bits##x4,             \
     blocks_##bits##x5, blocks_##bits##x6}
#else
#define WHOLE_TILES(bits)                                                                          \
    {NULL, whole_##bits##x1, whole_##bits##x2, whole_##bits##x3, whole_##bits##x4, whole_##bits##x5}
#define BLOCK_TILES(bits) {NULL, blocks_##bits##x1, blocks_##bits##x2}
#endif
/* [0] of 8 bits, [1] of 4; by the number of rows. */
static void (*const WHOLE[2][WHOLE_ROWS + 1])(const int_tile *) = {
    WHOLE_TILES(8), WHOLE_TILES(4)};
static void (*const BLOCKS[2][BLOCK_ROWS + 1])(const int_tile *) = {
    BLOCK_TILES(8), BLOCK_TILES(4)};
/* clang-format on */

KERNEL void run_int_tile(int64_t rows, const int_tile *t) {
    const heed_int_form *f = &t->g->form;
    (f->block ? BLOCKS[f->bits == 4][rows] : WHOLE[f->bits == 4][rows])(t);
}

/* A tile of the last panel, some of whose columns are not there. */
KERNEL void int_edge(int64_t rows, int64_t columns, const int_tile *t) {
    float c[WHOLE_ROWS * INT_NR], bias[INT_NR] = {0};
    int_tile inner = *t;
    inner.c = c;
    inner.ldc = INT_NR;
    size_t bytes = (size_t)columns * sizeof *c;
    if (t->bias) {
        inner.bias = memcpy(bias, t->bias, bytes);
    }
    run_int_tile(rows, &inner);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(t->c + r * t->ldc, c + r * INT_NR, bytes);
    }
}

KERNEL void int_panel(const heed_int_gemm *g, int64_t p) {
    const heed_int_form *f = &g->form;
    int64_t numbers = heed_int_block_of(f, g->k), columns = g->n - p * INT_NR;
    int_tile t = {.g = g,
                  .blocks = heed_int_blocks(f, g->k),
                  .steps = numbers / HEED_INT_ROWS,
                  .depth = heed_int_depth(g->k),
                  .panel = g->packed + p * heed_int_panel_bytes(f, g->k, INT_NR),
                  .ldc = g->ldc,
                  .bias = g->bias ? g->bias + p * INT_NR : NULL};
    int64_t most = f->block ? BLOCK_ROWS : WHOLE_ROWS, tiles = (g->m + most - 1) / most;
    for (int64_t n = 0; n < tiles; n++) {
        int64_t i = n * g->m / tiles, rows = (n + 1) * g->m / tiles - i;
        t.a = heed_int_row(&g->a, i, t.depth, t.blocks);
        t.c = g->c + i * g->ldc + p * INT_NR;
        if (columns >= INT_NR) {
            run_int_tile(rows, &t);
        } else {
            int_edge(rows, columns, &t);
        }
    }
}

KERNEL void int_gemm(const heed_int_gemm *g) {
    for (int64_t p = g->panel0; p < g->panel1; p++) {
        int_panel(g, p);
    }
}

/* ---- Rows as whole numbers ---- */

/* The greatest size among n numbers; one that is not finite wins, as its bits do. */
WORD float greatest_size(int64_t n, const float *x) {
    ints most = i_set(0);
    EACH(n, { most = i_greater(most, i_bits_of(v_abs(v_get(x + at, left)))); });
    return v_first(v_of_bits(i_set((uint32_t)i_greatest(most))));
}

/* `places` is a multiple of LANES. */
WORD int32_t put_numbers(int64_t n, const float *x, float times, int64_t places, int8_t *q) {
    ints sum = i_set(0);
    for (int64_t at = 0; at < places; at += LANES) {
        int64_t left = n - at;
        vec y = left <= 0 ? v_zero() : v_get(x + at, left < LANES ? left : LANES);
        ints z = i_nearest(v_mul(y, v_set(times)));
        i_put_bytes(q + at, z);
        sum = i_add(sum, z);
    }
    return i_total(sum);
}

KERNEL void quantize(const heed_int_form *f, int64_t k, const float *x, const heed_int_rows *row) {
    int64_t numbers = heed_int_block_of(f, k), blocks = heed_int_blocks(f, k);
    int32_t zero = f->zero - (f->bits == 8 ? DOT_ZERO : 0); /* i_dot takes DOT_ZERO off itself */
    for (int64_t i = 0; i < blocks; i++, x += numbers, k -= numbers) {
        int64_t n = k < 0 ? 0 : k < numbers ? k : numbers;
        float most = greatest_size(n, x);
        bool usual = most > HEED_INT_TINY && most <= 0x1.fffffep127f;
        /* numbers that are not finite are left out: the scale tells of them */
        int32_t sum =
            put_numbers(usual ? n : 0, x, usual ? 127 / most : 0, numbers, row->q + i * numbers);
        row->scale[i] = most <= HEED_INT_TINY ? 0 : most / 127;
        row->part[i] = row->scale[i] * (float)sum;
        row->start[i] = -zero * sum;
    }
}

/* ---- Packing ---- */

/* Where step s of a panel's first column begins. */
WORD int64_t step_place(const heed_int_form *f, int64_t k, int64_t s) {
    int64_t steps = heed_int_block_of(f, k) / HEED_INT_ROWS;
    int64_t scales = f->block ? INT_NR * (f->half ? 2 : 4) * (f->least ? 2 : 1) : 0;
    return s * INT_NR * HEED_INT_ROWS * f->bits / 8 + s / steps * scales;
}

/* LANES steps from step s on, of the LANES columns from j on, all of which are there. */
WORD void put_steps(const heed_int_form *f, const heed_int_columns *b, int64_t s, int64_t j,
                    uint8_t *panel) {
    const int64_t depth = heed_int_depth(b->k);
    const uint8_t *q = b->q + j * depth + s * HEED_INT_ROWS;
    vec x[LANES];
    for (int c = 0; c < LANES; c++) {
        x[c] =
            v_load((const float *)(const void *)(q + c * depth)); /* moved, never computed with */
    }
    v_transpose(x);
    uint8_t *to = panel + j * HEED_INT_ROWS;
    for (int64_t i = 0; i < LANES; i++) {
        if (f->bits == 8) {
            v_store((float *)(void *)(to + step_place(f, b->k, s + i)), x[i]);
        } else if (i % 2 == 0) {
            ints both = i_or_halves(i_bits_of(x[i]), i_bits_of(x[i + 1]));
            v_store((float *)(void *)(to + step_place(f, b->k, s + i)), v_of_bits(both));
        }
    }
}

/* Whole panels by vectors, their last steps and panels that lack columns one number at a time. */
KERNEL void pack_ints(const heed_int_form *f, const heed_int_columns *b, uint8_t *panel) {
    int64_t steps = heed_int_depth(b->k) / HEED_INT_ROWS, done = 0;
    if (b->columns == INT_NR) {
        for (; done + LANES <= steps; done += LANES) {
            put_steps(f, b, done, 0, panel);
            put_steps(f, b, done, LANES, panel);
        }
    }
    heed_pack_int_panel(f, b, LANES, done * HEED_INT_ROWS, panel);
}

static inline void use_ints(heed_kernels *k) {
    k->int_mr = WHOLE_ROWS;
    k->int_nr = INT_NR;
    k->pack_ints = pack_ints;
    k->quantize = quantize;
    k->int_gemm = int_gemm;
}

#endif
