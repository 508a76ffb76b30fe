/* ref.c: the definition of every kernel, in plain C for float and double; what faster sets are
 * judged against.
 *
 * This file: the table and the matrix product. The rest: ref_attention.c, ref_elements.c,
 * ref_rows.c, ref_drop.c. No multiply-add is fused here (-ffp-contract=off); sums over a row run in
 * eight lanes (ref.h).
 * SPDX-License-Identifier: MIT
 */
#include "kernel/ref.h"

#include "kernel/isa.h"

enum { NR = 16, STEPS = 8, WIDE_ROWS = 8 * STEPS };

#define PACK(name, number)                                                                         \
    static void name(int64_t k, int64_t n, const number *b, int64_t b_row, int64_t b_col,          \
                     int64_t panel0, int64_t panel1, number *packed) {                             \
        for (int64_t p = panel0; p < panel1; p++) {                                                \
            for (int64_t l = 0; l < k; l++) {                                                      \
                for (int64_t j = 0; j < NR; j++) {                                                 \
                    int64_t column = p * NR + j;                                                   \
                    packed[(p * k + l) * NR + j] = column < n ? b[l * b_row + column * b_col] : 0; \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
PACK(pack, heed_real)
PACK(pack_half, uint16_t)

/* Rows of a panel, from row l on, as they are or widened. */
static const heed_real *panel_rows(const heed_gemm *g, int64_t p, int64_t l, int64_t rows,
                                   heed_real *wide) {
    int64_t at = (p * g->k + l) * NR;
    if (g->kind == HEED_PANELS_REAL) {
        return (const heed_real *)g->packed + at;
    }
    const uint16_t *half = (const uint16_t *)g->packed + at;
    for (int64_t i = 0; i < rows * NR; i++) {
        wide[i] =
            g->kind == HEED_PANELS_BF16 ? heed_f32_from_bf16(half[i]) : heed_f32_from_f16(half[i]);
    }
    return wide;
}

/* sum[j] += a row of A times column j of the panel, each a chain in order of l. Eight steps of l
 * for each pass over the columns, in this shape, is what compilers turn into vector code. */
static void add_products(int64_t k, const heed_real *a, int64_t a_col,
                         const heed_real *restrict panel, heed_real *restrict sum) {
    int64_t l = 0;
    for (; l + STEPS <= k; l += STEPS, a += STEPS * a_col, panel += STEPS * NR) {
        for (int j = 0; j < NR; j++) {
            heed_real chain = sum[j];
            for (int step = 0; step < STEPS; step++) {
                chain += a[step * a_col] * panel[step * NR + j];
            }
            sum[j] = chain;
        }
    }
    for (; l < k; l++, a += a_col, panel += NR) {
        for (int j = 0; j < NR; j++) {
            sum[j] += *a * panel[j];
        }
    }
}

static void gemm_row(const heed_gemm *g, int64_t i, int64_t p) {
    heed_real sum[NR] = {0}, *c = g->c + i * g->ldc + p * NR;
    int64_t columns = g->n - p * NR < NR ? g->n - p * NR : NR;
    if (g->accumulate) {
        for (int64_t j = 0; j < columns; j++) {
            sum[j] = c[j];
        }
    }
    const int64_t most = g->kind == HEED_PANELS_REAL ? g->k : WIDE_ROWS;
    for (int64_t l = 0; l < g->k; l += most) {
        heed_real wide[WIDE_ROWS * NR];
        int64_t rows = g->k - l < most ? g->k - l : most;
        add_products(rows, g->a + i * g->a_row + l * g->a_col, g->a_col,
                     panel_rows(g, p, l, rows, wide), sum);
    }
    for (int64_t j = 0; j < columns; j++) {
        c[j] = g->bias ? sum[j] + g->bias[p * NR + j] : sum[j];
    }
}

static void gemm(const heed_gemm *g) {
    for (int64_t p = g->panel0; p < g->panel1; p++) {
        for (int64_t i = 0; i < g->m; i++) {
            gemm_row(g, i, p);
        }
    }
}

static double probe(int64_t rounds) {
    heed_real sum[NR] = {0}, factor = (heed_real)0.5, total = 0;
    for (int64_t r = 0; r < rounds; r++) {
        for (int j = 0; j < NR; j++) {
            sum[j] = sum[j] * factor + 1;
        }
    }
    for (int j = 0; j < NR; j++) {
        total += sum[j];
    }
    return total > 0 ? 2.0 * NR * (double)rounds : 0;
}

/* ---- Pairs of bfloat16 ---- */

static uint32_t pair_of(heed_real low, heed_real high) {
    return heed_bf16_from_f32((float)low) | (uint32_t)heed_bf16_from_f32((float)high) << 16;
}

static void pack_pairs(int64_t k, int64_t n, const heed_real *b, int64_t b_row, int64_t b_col,
                       int64_t panel0, int64_t panel1, uint32_t *packed) {
    int64_t pairs = (k + 1) / 2;
    for (int64_t p = panel0; p < panel1; p++) {
        for (int64_t i = 0; i < pairs * NR; i++) {
            int64_t l = 2 * (i / NR), column = p * NR + i % NR;
            const heed_real *at = b + l * b_row + column * b_col;
            heed_real low = column < n ? at[0] : 0;
            packed[p * pairs * NR + i] = pair_of(low, column < n && l + 1 < k ? at[b_row] : 0);
        }
    }
}

static heed_real low_of(uint32_t pair) {
    return heed_f32_from_bf16((uint16_t)(pair & 0xffff));
}
static heed_real high_of(uint32_t pair) {
    return heed_f32_from_bf16((uint16_t)(pair >> 16));
}

static void pairs_row(const heed_gemm *g, int64_t i, int64_t p) {
    heed_real sum[NR] = {0}, *c = g->c + i * g->ldc + p * NR;
    int64_t columns = g->n - p * NR < NR ? g->n - p * NR : NR, pairs = (g->k + 1) / 2;
    const uint32_t *b = (const uint32_t *)g->packed + p * pairs * NR;
    for (int64_t j = 0; g->accumulate && j < columns; j++) {
        sum[j] = c[j];
    }
    for (int64_t l = 0; l < g->k; l += 2, b += NR) {
        const heed_real *at = g->a + i * g->a_row + l * g->a_col;
        uint32_t a = pair_of(at[0], l + 1 < g->k ? at[g->a_col] : 0);
        for (int j = 0; j < NR; j++) {
            sum[j] += low_of(a) * low_of(b[j]);
            sum[j] += high_of(a) * high_of(b[j]);
        }
    }
    for (int64_t j = 0; j < columns; j++) {
        c[j] = g->bias ? sum[j] + g->bias[p * NR + j] : sum[j];
    }
}

static void gemm_pairs(const heed_gemm *g) {
    for (int64_t p = g->panel0; p < g->panel1; p++) {
        for (int64_t i = 0; i < g->m; i++) {
            pairs_row(g, i, p);
        }
    }
}

const char *heed_missing_ref(void) {
    return NULL;
}

void heed_kernels_ref(heed_kernels *k) {
    k->isa = "ref";
    k->mr = 1;
    k->nr = NR;
    k->pack = pack;
    k->pack_half = pack_half;
    k->gemm = gemm;
    k->pack_pairs = pack_pairs;
    k->gemm_pairs = gemm_pairs;
    k->fast_pairs = false;
    k->pairs_nr = NR;
    heed_ref_attention(k);
    heed_ref_elements(k);
    heed_ref_rows(k);
    heed_ref_drop(k);
    for (int p = 0; p < HEED_PROBES; p++) {
        k->probe[p] = p == HEED_PROBE_F32 ? probe : NULL;
    }
    heed_ref_ints(k);
}
