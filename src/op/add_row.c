/* add_row.c: x + row in each row; dx = dy, d_row = sum of dy over the rows.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/columns.h"

static void run(const heed_work *w) {
    heed_each_row_with(w, w->kernels->add);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    (void)out;
    if (heed_wants_grad(b, in[0])) {
        heed_pass_gradient(b, in[0], d_out[0], &d_in[0]);
    }
    if (heed_wants_grad(b, in[1])) {
        heed_pass_column_sums(b, in[1], d_out[0], &d_in[1]);
    }
}

static const heed_op ADD_ROW = {.name = "add a row", .run = run, .grad = grad, .in_place = 1};

heed_value heed_add_row(heed_build *b, heed_value x, heed_value row) {
    if (!heed_check_row(b, "adding a row", x, row)) {
        return (heed_value){0};
    }
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &ADD_ROW, NULL, 0, 2, (heed_value[]){x, row}, 1, &shape);
}
