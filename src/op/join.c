/* join.c: columns of two matrices beside each other. It is taken apart by heed_pick_columns, which
 * is its gradient.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>
#include <string.h>

static void join_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t left = w->in[0].cols, right = w->in[1].cols;
    const heed_real *a = w->in[0].data, *v = w->in[1].data;
    heed_real *out = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        heed_real *row = out + r * (left + right);
        memcpy(row, a + r * left, (size_t)left * sizeof *row);
        memcpy(row + left, v + r * right, (size_t)right * sizeof *row);
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, join_rows, (void *)w);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr, (void)out;
    int64_t left = heed_columns(b, in[0]), from[] = {0, left};
    int64_t width[] = {left, heed_columns(b, in[1])};
    for (int i = 0; i < 2; i++) {
        if (heed_wants_grad(b, in[i])) {
            heed_value d = heed_pick_columns(b, d_out[0], from[i], width[i], 0, 1);
            heed_pass_gradient(b, in[i], d, &d_in[i]);
        }
    }
}

static const heed_op JOIN = {.name = "join columns", .run = run, .grad = grad};

heed_value heed_join_columns(heed_build *b, heed_value a, heed_value v) {
    if (!heed_check_numbers(b, "joining columns", a) ||
        !heed_check_numbers(b, "joining columns", v)) {
        return (heed_value){0};
    }
    heed_shape as = heed_shape_of(b, a), vs = heed_shape_of(b, v);
    if (as.extent != vs.extent || as.space != vs.space || as.rows != vs.rows) {
        return heed_refuse(b, HEED_SHAPE, "joining columns wants the same rows on both sides");
    }
    heed_shape out = heed_like(b, a, as.cols + vs.cols);
    return heed_record(b, &JOIN, NULL, 0, 2, (heed_value[]){a, v}, 1, &out);
}
