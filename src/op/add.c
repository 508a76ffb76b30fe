/* add.c: a + b, element by element; the gradient goes to both as it is.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

static void add_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t cols = w->out[0].cols, at = from * cols;
    const heed_real *a = w->in[0].data, *v = w->in[1].data;
    w->kernels->add((to - from) * cols, a + at, v + at, (heed_real *)w->out[0].data + at);
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, add_rows, (void *)w);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    (void)out;
    for (int i = 0; i < 2; i++) {
        if (heed_wants_grad(b, in[i])) {
            heed_pass_gradient(b, in[i], d_out[0], &d_in[i]);
        }
    }
}

static const heed_op ADD = {.name = "add", .run = run, .grad = grad, .in_place = 3};

heed_value heed_add(heed_build *b, heed_value a, heed_value v) {
    if (!heed_check_alike(b, "add", a, v)) {
        return (heed_value){0};
    }
    heed_shape shape = heed_shape_of(b, a);
    return heed_record(b, &ADD, NULL, 0, 2, (heed_value[]){a, v}, 1, &shape);
}
