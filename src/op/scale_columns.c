/* scale_columns.c: x * gain in each row; dx = dy * gain, d_gain = sum of dy * x over the rows.
 *
 * Source: Touvron et al. 2021, "Going deeper with Image Transformers" (LayerScale).
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/columns.h"
#include "op/shape.h"

static void run(const heed_work *w) {
    heed_each_row_with(w, w->kernels->mul);
}

static const heed_op BACK = {.name = "scale columns (gradient)", .run = run, .in_place = 1};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    if (heed_wants_grad(b, in[1])) {
        heed_pass_column_sums(b, in[1], heed_mul(b, d_out[0], in[0]), &d_in[1]);
    }
    if (heed_wants_grad(b, in[0])) {
        heed_value from[] = {d_out[0], in[1]};
        heed_value dx = heed_record(b, &BACK, NULL, 0, 2, from, 1, &shape);
        heed_pass_gradient(b, in[0], dx, &d_in[0]);
    }
}

static const heed_op SCALE_COLUMNS = {
    .name = "scale columns", .run = run, .grad = grad, .in_place = 1};

heed_value heed_scale_columns(heed_build *b, heed_value x, const char *name, double initial) {
    if (!heed_check_numbers(b, "scaling columns", x)) {
        return (heed_value){0};
    }
    heed_init init = {.kind = HEED_INIT_CONSTANT, .size = initial};
    heed_value in[] = {x, heed_weight_vector(b, name, heed_columns(b, x), init)};
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &SCALE_COLUMNS, NULL, 0, 2, in, 1, &shape);
}
