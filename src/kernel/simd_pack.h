/* simd_pack.h: B into panels of NR columns (kernel.h), from rows or from columns that lie side by
 * side.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_PACK_H
#define HEED_KERNEL_SIMD_PACK_H

#include "kernel/vec.h"

enum { NR = 2 * LANES };

/* One panel of `columns` columns from rows of B: b_col = 1. */
WORD void pack_rows(int64_t k, int64_t columns, const float *b, int64_t b_row, float *packed) {
    for (int64_t l = 0; l < k; l++, b += b_row, packed += NR) {
        int64_t second = columns - LANES;
        v_store(packed, v_get(b, second < 0 ? columns : LANES));
        v_store(packed + LANES, second > 0 ? v_get(b + LANES, second) : v_zero());
    }
}

/* LANES columns of a panel from columns of B: b_row = 1. */
WORD void pack_columns(int64_t k, int64_t columns, const float *b, int64_t b_col, float *packed) {
    EACH(k, {
        vec x[LANES];
        for (int j = 0; j < LANES; j++) {
            x[j] = j < columns ? v_get(b + j * b_col + at, left) : v_zero();
        }
        v_transpose(x);
        for (int64_t l = 0; l < left; l++) {
            v_store(packed + (at + l) * NR, x[l]);
        }
    });
}

WORD void pack_any(int64_t k, int64_t columns, const float *b, int64_t b_row, int64_t b_col,
                   float *packed) {
    for (int64_t l = 0; l < k; l++, b += b_row, packed += NR) {
        for (int64_t j = 0; j < NR; j++) {
            packed[j] = j < columns ? b[j * b_col] : 0;
        }
    }
}

KERNEL void pack(int64_t k, int64_t n, const float *b, int64_t b_row, int64_t b_col, int64_t panel0,
                 int64_t panel1, float *packed) {
    for (int64_t p = panel0; p < panel1; p++) {
        int64_t columns = n - p * NR < NR ? n - p * NR : NR;
        const float *from = b + p * NR * b_col;
        float *to = packed + p * NR * k;
        if (b_col == 1) {
            pack_rows(k, columns, from, b_row, to);
        } else if (b_row == 1) {
            pack_columns(k, columns, from, b_col, to);
            pack_columns(k, columns - LANES, from + LANES * b_col, b_col, to + LANES);
        } else {
            pack_any(k, columns, from, b_row, b_col, to);
        }
    }
}

/* Numbers of 16 bits, one at a time. */
static inline void pack_half(int64_t k, int64_t n, const uint16_t *b, int64_t b_row, int64_t b_col,
                             int64_t panel0, int64_t panel1, uint16_t *packed) {
    for (int64_t p = panel0; p < panel1; p++) {
        const uint16_t *from = b + p * NR * b_col;
        int64_t columns = n - p * NR < NR ? n - p * NR : NR;
        for (int64_t l = 0; l < k; l++, from += b_row) {
            uint16_t *to = packed + (p * k + l) * NR;
            for (int64_t j = 0; j < NR; j++) {
                to[j] = j < columns ? from[j * b_col] : 0;
            }
        }
    }
}

#endif
