/* gemm.h: one matrix product cut into tasks, and the packed form that it reads.
 *
 * A packed matrix of k rows lies in blocks of HEED_DEPTH rows, of pairs twice as many; each is in
 * the kernel's panels: one panel of a block stays in the first cache while many rows pass over it.
 * Blocks follow each other without gaps, so the packed form of k x n takes k * heed_packed_cols(n)
 * numbers. An element's chain runs through the blocks in order, so neither the blocks nor the tasks
 * change a bit.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_GEMM_H
#define HEED_OP_GEMM_H

#include "graph/op.h"

enum { HEED_DEPTH = 256 };

static inline int64_t heed_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t heed_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* n, rounded up to whole panels. */
int64_t heed_packed_cols(const heed_kernels *kernels, int64_t n);
/* Bytes of a packed matrix of k rows. */
int64_t heed_packed_bytes(const heed_kernels *kernels, heed_panel_kind kind, int64_t k, int64_t n);

/* B (k x n; element (l, j) at b[l*b_row + j*b_col]) into k * heed_packed_cols(n) numbers. */
typedef struct {
    int64_t k, n;
    const void *b;
    int64_t b_row, b_col;
    heed_panel_kind kind; /* of BF16 and F16, b is numbers of 16 bits, else heed_real */
    void *packed;
} heed_packing;
void heed_pack_run(const heed_work *w, const heed_packing *p);

/* C = (accumulate ? C : 0) + A B + bias over all rows and columns, as tasks of the pool. `packed`
 * is made by heed_pack_run; panel0 and panel1 are not read. */
void heed_gemm_run(const heed_work *w, const heed_gemm *g);

/* The product with whole numbers; panel0 and panel1 are not read. */
void heed_int_gemm_run(const heed_work *w, const heed_int_gemm *g);

/* sum[j] += column j of x (rows x n), as tasks. */
void heed_column_sums_run(const heed_work *w, int64_t rows, int64_t n, const heed_real *x,
                          heed_real *sum);

#endif
