/* simd_gemm.h: the matrix product from packed panels.
 *
 * A tile of up to TILE_ROWS rows by one panel, or of few rows by several panels, is held in
 * registers while l runs. Each accumulator is the one chain of one element, so every tile gives the
 * same bits. l is cut into blocks of DEPTH, whose panel stays in the first cache; from block to
 * block the chain rests in C. Where rows of A lie side by side and several panels share the work, a
 * block of A is first copied, so that a tile reads its part from end to end.
 * Source: Goto and van de Geijn 2008, with B packed beforehand.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_GEMM_H
#define HEED_KERNEL_SIMD_GEMM_H

#include "kernel/simd_pack.h"

#include <string.h>

enum { DEPTH = 256, TILES = 8, HEIGHT = TILES * TILE_ROWS };
enum { MAX_PANELS = 2, FEW_ROWS = 3, MAX_SUMS = 2 * TILE_ROWS };
_Static_assert(TILE_ROWS <= LANES, "copy_block copies one vector for each tile and l");
enum { COPIED = DEPTH * TILE_ROWS + LANES }; /* numbers of a tile that are copied */
enum { COPY_PANELS = 4, AHEAD = 32 };        /* AHEAD: rows of l that are fetched meanwhile */

/* A block of l, and of rows of A and C. */
typedef struct {
    const heed_gemm *g;
    int64_t l0, depth;    /* l0 <= l < l0 + depth */
    int64_t i0, rows;     /* i0 <= i < i0 + rows */
    int64_t each, longer; /* rows of a tile; the first `longer` tiles have one more */
    const float
        *copy; /* of A, or NULL: element (r, l) of tile t at t * COPIED + l * TILE_ROWS + r */
} block;

typedef struct {
    int64_t depth;
    const float *a;
    int64_t a_row, a_col;
    const char *b;
    int64_t b_panel;  /* bytes from panel to panel */
    const char *soon; /* what will be read as b next, to be fetched meanwhile */
    float *c;
    int64_t ldc;
    bool from_zero;
    const float *bias; /* or NULL */
} tile_task;

static inline int64_t size_of_kind(heed_panel_kind kind) {
    return kind == HEED_PANELS_REAL ? (int64_t)sizeof(float) : (int64_t)sizeof(uint16_t);
}

/* LANES numbers of a panel. */
WORD vec load_kind(const heed_panel_kind kind, const void *at) {
    return kind == HEED_PANELS_REAL   ? v_load(at)
           : kind == HEED_PANELS_BF16 ? v_load_bf16(at)
                                      : v_load_halves(at);
}

/* One step of l: sum[r*vectors + v] += a of row r times vector v of b, vectors = 2 panels. */
WORD void tile_step(const heed_panel_kind kind, const int rows, const int vectors, const float *a,
                    int64_t a_row, const char *from, int64_t b_panel, vec *sum) {
    vec b[2 * MAX_PANELS];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        b[v] = load_kind(kind, from + v / 2 * b_panel + v % 2 * LANES * size_of_kind(kind));
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        vec x = v_set(a[r * a_row]);
        UNROLL
        for (int v = 0; v < vectors; v++) {
            sum[r * vectors + v] = v_fma(x, b[v], sum[r * vectors + v]);
            a = v_after(a, sum[r * vectors + v]);
        }
    }
}

WORD void run_tile(const heed_panel_kind kind, const int rows, const int vectors,
                   const tile_task *t) {
    vec sum[MAX_SUMS];
    UNROLL
    for (int i = 0; i < rows * vectors; i++) {
        sum[i] =
            t->from_zero ? v_zero() : v_load(t->c + i / vectors * t->ldc + i % vectors * LANES);
    }
    for (int r = 0; r < rows; r++) {
        v_fetch_to_write(t->c + r * t->ldc);
    }
    const float *a = t->a;
    const char *from = t->b, *soon = t->soon;
    const int64_t a_row = t->a_row, a_col = t->a_col, b_panel = t->b_panel;
    const int64_t b_row = NR * size_of_kind(kind);
    for (int64_t l = t->depth; l > 0; l--, a += a_col, from += b_row, soon += b_row) {
        v_fetch((const float *)(const void *)soon);
        tile_step(kind, rows, vectors, a, a_row, from, b_panel, sum);
    }
    UNROLL
    for (int i = 0; i < rows * vectors; i++) {
        vec x = sum[i];
        x = t->bias ? v_add(x, v_load(t->bias + i % vectors * LANES)) : x;
        v_store(t->c + i / vectors * t->ldc + i % vectors * LANES, x);
    }
}

#define TILE_OF(kind, name, rows, panels)                                                          \
    HEED_TARGET static void name##_##rows##x##panels(const tile_task *t) {                         \
        run_tile(kind, rows, 2 * panels, t);                                                       \
    }
#define TILE(rows, panels)                                                                         \
    TILE_OF(HEED_PANELS_REAL, real, rows, panels)                                                  \
    TILE_OF(HEED_PANELS_BF16, bf16, rows, panels)                                                  \
    TILE_OF(HEED_PANELS_F16, f16, rows, panels)
/* clang-format off */
TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(2, 2) TILE(3, 2)
#if TILE_ROWS > 6
TILE(7, 1) TILE(8, 1)
#define MORE_TILES(kind) kind##_7x1, kind##_8x1
#else
#define MORE_TILES(kind)
#endif
#define NARROW_TILES(kind)                                                                         \
    {NULL, kind##_1x1, kind##_2x1, kind##_3x1, kind##_4x1, kind##_5x1, kind##_6x1, MORE_TILES(kind)}
#define WIDE_TILES(kind) {NULL, NULL, kind##_2x2, kind##_3x2}
    /* clang-format on */

    /* By the kind of panels and the number of rows: by one panel, and by as many panels as keep the
 * multipliers busy in spite of their latency. */
    static void (*const NARROW[3][TILE_ROWS + 1])(const tile_task *) = {
        NARROW_TILES(real), NARROW_TILES(bf16), NARROW_TILES(f16)};
static void (*const WIDE[3][FEW_ROWS + 1])(const tile_task *) = {WIDE_TILES(real), WIDE_TILES(bf16),
                                                                 WIDE_TILES(f16)};
static const int WIDE_PANELS[FEW_ROWS + 1] = {0, 1, 2, 2};

/* A tile of the last panel, some of whose columns are not there. */
KERNEL void edge_tile(heed_panel_kind kind, int64_t rows, int64_t columns, const tile_task *t) {
    float c[TILE_ROWS * NR] = {0}, bias[NR] = {0};
    tile_task inner = *t;
    inner.c = c;
    inner.ldc = NR;
    size_t bytes = (size_t)columns * sizeof *c;
    for (int64_t r = 0; r < rows && !t->from_zero; r++) {
        memcpy(c + r * NR, t->c + r * t->ldc, bytes);
    }
    if (t->bias) {
        inner.bias = memcpy(bias, t->bias, bytes);
    }
    NARROW[kind][rows](&inner);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(t->c + r * t->ldc, c + r * NR, bytes);
    }
}

/* Rows are shared out evenly, so that no tile is left with one row while others have six. */
static inline int64_t tile_start(const block *k, int64_t tile) {
    return tile * k->each + (tile < k->longer ? tile : k->longer);
}

/* A tile of the block by `panels` panels from p on; returns where the next tile starts. */
KERNEL int64_t one_tile(const block *k, int64_t tile, int64_t p, int panels) {
    const heed_gemm *g = k->g;
    int64_t i = tile_start(k, tile), next = tile_start(k, tile + 1), rows = next - i;
    const int64_t row = NR * size_of_kind(g->kind);
    const char *b = (const char *)g->packed + (p * g->k + k->l0) * row;
    bool more = k->rows > FEW_ROWS && panels == 1 && next == k->rows && (p + 1) * NR < g->n;
    tile_task t = {
        .depth = k->depth,
        .a = k->copy ? k->copy + tile * COPIED : g->a + (k->i0 + i) * g->a_row + k->l0 * g->a_col,
        .a_row = k->copy ? 1 : g->a_row,
        .a_col = k->copy ? TILE_ROWS : g->a_col,
        .b = b,
        .b_panel = g->k * row,
        .soon = more ? b + g->k * row : b,
        .c = g->c + (k->i0 + i) * g->ldc + p * NR,
        .ldc = g->ldc,
        .from_zero = k->l0 == 0 && !g->accumulate,
        .bias = g->bias && k->l0 + k->depth == g->k ? g->bias + p * NR : NULL,
    };
    if (panels > 1) {
        WIDE[g->kind][rows](&t);
    } else if ((p + 1) * NR <= g->n) {
        NARROW[g->kind][rows](&t);
    } else {
        edge_tile(g->kind, rows, g->n - p * NR, &t);
    }
    return next;
}

/* The rows of a block by all panels; a panel's part of B is read while it is in the first cache. */
KERNEL void one_block(const block *k) {
    int64_t whole = k->g->n / NR, end = k->g->panel1;
    int most = k->rows <= FEW_ROWS ? WIDE_PANELS[k->rows] : 1, step = 1;
    for (int64_t p = k->g->panel0; p < end; p += step) {
        step = p + most <= (whole < end ? whole : end) ? most : 1;
        for (int64_t tile = 0, i = 0; i < k->rows; tile++) {
            i = one_tile(k, tile, p, step);
        }
    }
}

/* Copies the block's part of A to `to`, each vector that holds some of it once. */
KERNEL void copy_block(block *k, float *to) {
    const heed_gemm *g = k->g;
    const float *a = g->a + k->i0 + k->l0 * g->a_col;
    for (int64_t l = 0; l < k->depth; l++, a += g->a_col) {
        const float *soon = l + AHEAD < k->depth ? a + AHEAD * g->a_col : a;
        for (int64_t tile = 0, i = 0; i < k->rows; tile++) {
            int64_t there = g->m - k->i0 - i;
            v_fetch(soon + i);
            vec x = v_get(a + i, there < LANES ? there : LANES);
            v_store(to + tile * COPIED + l * TILE_ROWS, x); /* the next l takes what is more */
            i = tile_start(k, tile + 1);
        }
    }
    k->copy = to;
}

/* Few rows or panels do not repay the copy. */
static inline bool needs_copy(const heed_gemm *g) {
    return g->a_row == 1 && g->a_col != 1 && g->m > TILE_ROWS &&
           g->panel1 - g->panel0 >= COPY_PANELS;
}

KERNEL void gemm(const heed_gemm *g) {
    float copy[TILES * COPIED];
    int64_t blocks = g->k > DEPTH ? (g->k + DEPTH - 1) / DEPTH : 1;
    for (int64_t n = 0; n < blocks; n++) { /* once for k = 0 too: C becomes 0 or stays, + bias */
        int64_t l0 = n * g->k / blocks, depth = (n + 1) * g->k / blocks - l0;
        for (int64_t i0 = 0; i0 < g->m; i0 += HEIGHT) {
            int64_t rows = g->m - i0 < HEIGHT ? g->m - i0 : HEIGHT;
            int64_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
            block k = {g, l0, depth, i0, rows, rows / tiles, rows % tiles, NULL};
            if (needs_copy(g)) {
                copy_block(&k, copy);
            }
            one_block(&k);
        }
    }
}

static inline void use_gemm(heed_kernels *k) {
    k->mr = TILE_ROWS;
    k->nr = NR;
    k->pack = pack;
    k->pack_half = pack_half;
    k->gemm = gemm;
}

#endif
