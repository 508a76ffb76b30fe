/* sum.c: the sum of all elements, as a loss for checks; its gradient is d_out everywhere.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

static void run(const heed_work *w) {
    const heed_mat *x = &w->in[0];
    *(heed_real *)w->out[0].data = (heed_real)w->kernels->sum(x->rows * x->cols, x->data);
}

static void fill_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const heed_real *d = w->in[0].data;
    heed_real *out = w->out[0].data;
    for (int64_t i = from * w->out[0].cols; i < to * w->out[0].cols; i++) {
        out[i] = *d;
    }
}

static void run_fill(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, fill_rows, (void *)w);
}

static const heed_op FILL = {.name = "sum (gradient)", .run = run_fill};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value dx = heed_record(b, &FILL, NULL, 0, 1, d_out, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op SUM = {.name = "sum", .run = run, .grad = grad};

heed_value heed_sum(heed_build *b, heed_value x) {
    if (!heed_check_numbers(b, "sum", x)) {
        return (heed_value){0};
    }
    heed_shape shape = heed_fixed(1, 1);
    return heed_record(b, &SUM, NULL, 0, 1, &x, 1, &shape);
}
