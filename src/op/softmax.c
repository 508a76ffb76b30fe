/* softmax.c: y = exp(x - log sum exp x) over each row; dx = y (dy - sum y dy). A row of -inf gives
 * zeros.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

enum { COST = 4 }; /* of an exponential, in numbers moved */

static void softmax_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t n = w->out[0].cols;
    const heed_real *x = w->in[0].data;
    heed_real *y = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        w->kernels->softmax(n, x + r * n, y + r * n);
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * COST, softmax_rows, (void *)w);
}

/* in: y, dy */
static void back_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t n = w->out[0].cols;
    const heed_real *y = w->in[0].data, *dy = w->in[1].data;
    heed_real *dx = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        w->kernels->softmax_back(n, y + r * n, dy + r * n, dx + r * n);
    }
}

static void run_back(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * COST, back_rows, (void *)w);
}

static const heed_op BACK = {.name = "softmax (gradient)", .run = run_back};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value dx = heed_record(b, &BACK, NULL, 0, 2, (heed_value[]){out[0], d_out[0]}, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op SOFTMAX = {.name = "softmax", .run = run, .grad = grad};

heed_value heed_softmax(heed_build *b, heed_value x) {
    if (!heed_check_numbers(b, "softmax", x)) {
        return (heed_value){0};
    }
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &SOFTMAX, NULL, 0, 1, &x, 1, &shape);
}
