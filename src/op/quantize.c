/* quantize.c: rows as whole numbers of 8 bits, for products with weights that are such.
 *
 * A row is cut into blocks as the weights' columns are; each has a scale of its own, so a row's
 * numbers depend on nothing but the row.
 * SPDX-License-Identifier: MIT
 */
#include "op/gemm.h"
#include "op/pack.h"

typedef struct {
    int64_t bits, zero, block; /* attributes are compared byte by byte: no bytes between them */
} quantize_attr;

heed_int_rows heed_int_rows_at(const heed_mat part[HEED_INT_PARTS], int64_t from) {
    return (heed_int_rows){(int8_t *)part[0].data + from * part[0].cols,
                           (heed_real *)part[1].data + from * part[1].cols,
                           (heed_real *)part[2].data + from * part[2].cols,
                           (int32_t *)part[3].data + from * part[3].cols};
}

static void quantize_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const quantize_attr *a = w->attr;
    const heed_int_form form = {.bits = (int)a->bits, .zero = (int)a->zero, .block = a->block};
    const int64_t k = w->in[0].cols;
    const heed_real *x = w->in[0].data;
    for (int64_t r = from; r < to; r++) {
        const heed_int_rows row = heed_int_rows_at(w->out, r);
        w->kernels->quantize(&form, k, x + r * k, &row);
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->in[0].rows, w->in[0].cols, quantize_rows, (void *)w);
}

static const heed_op QUANTIZE = {.name = "rows as whole numbers", .run = run};

heed_value heed_quantize_rows(heed_build *b, heed_value x, const heed_int_form *form) {
    int64_t k = heed_shape_of(b, x).cols, blocks = heed_int_blocks(form, k);
    quantize_attr attr = {.bits = form->bits, .zero = form->zero, .block = form->block};
    heed_shape out[HEED_INT_PARTS] = {heed_like(b, x, heed_int_depth(k)), heed_like(b, x, blocks),
                                      heed_like(b, x, blocks), heed_like(b, x, blocks)};
    out[0].cell = HEED_CELL_BYTE;
    out[3].cell = HEED_CELL_INT;
    return heed_record_shared(b, &QUANTIZE, &attr, sizeof attr, 1, &x, HEED_INT_PARTS, out);
}
