/* ref_ints.c: the definition of the product with whole numbers, and of how rows become such.
 *
 * A vector has eight lanes here. No multiply-add is fused, so sums differ from the faster sets' by
 * rounding.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/ref.h"

#include "kernel/ints.h"

enum { LANES = 8, NR = 2 * LANES };

static void pack_ints(const heed_int_form *f, const heed_int_columns *b, uint8_t *panel) {
    heed_pack_int_panel(f, b, LANES, 0, panel);
}

/* ---- Rows of A ---- */

/* Block i of a row: n numbers, zeros up to `places`. */
static void quantize_block(int64_t n, const heed_real *x, int64_t places, int8_t *q, int64_t i,
                           const heed_int_rows *row) {
    heed_real most = 0;
    for (int64_t l = 0; l < n && most == most; l++) {
        heed_real size = x[l] < 0 ? -x[l] : x[l];
        most = size > most || size != size ? size : most;
    }
    bool usual = most > HEED_INT_TINY && isfinite(most);
    int32_t sum = 0;
    for (int64_t l = 0; l < places; l++) {
        q[l] = usual && l < n ? (int8_t)rint((double)(x[l] * (127 / most))) : 0;
        sum += q[l];
    }
    row->scale[i] = most <= HEED_INT_TINY ? 0 : most / 127;
    row->part[i] = row->scale[i] * (heed_real)sum;
    row->start[i] = 0;
}

static void quantize(const heed_int_form *f, int64_t k, const heed_real *x,
                     const heed_int_rows *row) {
    int64_t block = heed_int_block_of(f, k), blocks = heed_int_blocks(f, k);
    for (int64_t i = 0; i < blocks; i++) {
        int64_t left = k - i * block, n = left < block ? left : block;
        quantize_block(n > 0 ? n : 0, x + i * block, block, row->q + i * block, i, row);
    }
}

/* ---- The product ---- */

/* q of column j in row l of a block that lies at `at`. */
static int number_at(const heed_int_form *f, const uint8_t *at, int64_t l, int64_t j) {
    int64_t rows = f->bits == 4 ? 2 * HEED_INT_ROWS : HEED_INT_ROWS;
    int byte = at[(l / rows * NR + j) * HEED_INT_ROWS + l % HEED_INT_ROWS];
    if (f->bits == 8) {
        return byte;
    }
    return l % rows < HEED_INT_ROWS ? byte & 15 : byte >> 4;
}

static float scale_at(const heed_int_form *f, const uint8_t *at, int64_t j) {
    float x;
    uint16_t half;
    if (f->half) {
        memcpy(&half, at + j * (int64_t)sizeof half, sizeof half);
        return heed_f32_from_f16(half);
    }
    memcpy(&x, at + j * (int64_t)sizeof x, sizeof x);
    return x;
}

/* Element (i, column j of the panel). */
static heed_real element(const heed_int_gemm *g, int64_t i, const uint8_t *panel, int64_t j) {
    const heed_int_form *f = &g->form;
    int64_t block = heed_int_block_of(f, g->k), blocks = heed_int_blocks(f, g->k);
    int64_t scales = NR * (f->half ? 2 : 4);
    heed_int_rows row = heed_int_row(&g->a, i, heed_int_depth(g->k), blocks);
    const int8_t *a = row.q;
    heed_real c = 0;
    for (int64_t n = 0; n < blocks; n++, a += block) {
        int32_t dot = 0;
        for (int64_t l = 0; l < block; l++) {
            dot += a[l] * (number_at(f, panel, l, j) - f->zero);
        }
        panel += NR * block * f->bits / 8;
        c += (heed_real)dot * (scale_at(f, panel, j) * row.scale[n]);
        panel += scales;
        if (f->least) {
            c += scale_at(f, panel, j) * row.part[n];
            panel += scales;
        }
    }
    return c;
}

static void int_gemm(const heed_int_gemm *g) {
    int64_t bytes = heed_int_panel_bytes(&g->form, g->k, NR);
    for (int64_t p = g->panel0; p < g->panel1; p++) {
        for (int64_t i = 0; i < g->m; i++) {
            for (int64_t j = 0; j < NR && p * NR + j < g->n; j++) {
                heed_real c = element(g, i, g->packed + p * bytes, j);
                g->c[i * g->ldc + p * NR + j] = g->bias ? c + g->bias[p * NR + j] : c;
            }
        }
    }
}

void heed_ref_ints(heed_kernels *k) {
    k->int_mr = 1;
    k->int_nr = NR;
    k->pack_ints = pack_ints;
    k->quantize = quantize;
    k->int_gemm = int_gemm;
}
