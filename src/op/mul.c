/* mul.c: a * b, element by element; da = b * dy, db = a * dy.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

static void mul_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t cols = w->out[0].cols, at = from * cols;
    const heed_real *a = w->in[0].data, *v = w->in[1].data;
    w->kernels->mul((to - from) * cols, a + at, v + at, (heed_real *)w->out[0].data + at);
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, mul_rows, (void *)w);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    (void)out;
    for (int i = 0; i < 2; i++) {
        if (heed_wants_grad(b, in[i])) {
            heed_pass_gradient(b, in[i], heed_mul(b, d_out[0], in[1 - i]), &d_in[i]);
        }
    }
}

static const heed_op MUL = {.name = "mul", .run = run, .grad = grad, .in_place = 3};

heed_value heed_mul(heed_build *b, heed_value a, heed_value v) {
    if (!heed_check_alike(b, "mul", a, v)) {
        return (heed_value){0};
    }
    heed_shape shape = heed_shape_of(b, a);
    return heed_record(b, &MUL, NULL, 0, 2, (heed_value[]){a, v}, 1, &shape);
}
