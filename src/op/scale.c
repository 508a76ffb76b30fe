/* scale.c: s * x; dx = s * dy.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

typedef struct {
    double s;
} scale_attr;

static void scale_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const scale_attr *a = w->attr;
    int64_t cols = w->out[0].cols, at = from * cols;
    const heed_real *x = w->in[0].data;
    w->kernels->scale((to - from) * cols, (heed_real)a->s, x + at,
                      (heed_real *)w->out[0].data + at);
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, scale_rows, (void *)w);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    const scale_attr *a = attr;
    (void)out;
    heed_pass_gradient(b, in[0], heed_scale(b, d_out[0], a->s), &d_in[0]);
}

static const heed_op SCALE = {.name = "scale", .run = run, .grad = grad, .in_place = 1};

heed_value heed_scale(heed_build *b, heed_value x, double s) {
    if (!heed_check_numbers(b, "scale", x)) {
        return (heed_value){0};
    }
    scale_attr attr = {.s = s};
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &SCALE, &attr, sizeof attr, 1, &x, 1, &shape);
}
