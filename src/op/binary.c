/* binary.c: cross-entropy of yes or no from one logit in each row.
 *
 *   loss_r = log(1 + exp z) - y z;  dz = 1 / (1 + exp -z) - y
 *
 * Method: it is the cross-entropy of two classes with the logits 0 and z, and the kernel for that
 * is the one that runs.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>

enum { IGNORED = -100, COST = 16 };
enum { Z, LABELS, D_LOSS };
enum { LOSS, ROWS };

/* The loss of row r; its gradient in *d. */
static heed_real of_row(const heed_work *w, int64_t r, heed_real *d) {
    int32_t label = ((const int32_t *)w->in[LABELS].data)[r];
    heed_real pair[2] = {0, ((const heed_real *)w->in[Z].data)[r]};
    *d = 0;
    if (label == IGNORED) {
        return 0;
    }
    heed_real loss = w->kernels->xent(2, 0, pair, label, pair);
    *d = pair[1];
    return loss;
}

static void loss_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    heed_real *out = w->out[ROWS].data, d;
    for (int64_t r = from; r < to; r++) {
        out[r] = of_row(w, r, &d);
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->in[Z].rows, COST, loss_rows, (void *)w);
    *(heed_real *)w->out[LOSS].data = (heed_real)w->kernels->sum(w->in[Z].rows, w->out[ROWS].data);
}

static void slope_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    heed_real *out = w->out[0].data, d_loss = *(const heed_real *)w->in[D_LOSS].data, d;
    for (int64_t r = from; r < to; r++) {
        of_row(w, r, &d);
        out[r] = d * d_loss;
    }
}

static void run_slope(const heed_work *w) {
    heed_rows_run(w, w->in[Z].rows, COST, slope_rows, (void *)w);
}

static const heed_op SLOPE = {.name = "binary cross-entropy (gradient)", .run = run_slope};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    (void)out;
    if (d_out[ROWS].id) {
        heed_refuse(b, HEED_VALUE, "the loss of a row has no gradient, their sum has");
        return;
    }
    heed_shape shape = heed_shape_of(b, in[Z]);
    heed_value from[] = {in[Z], in[LABELS], d_out[LOSS]};
    heed_value dz = heed_record(b, &SLOPE, NULL, 0, 3, from, 1, &shape);
    heed_pass_gradient(b, in[Z], dz, &d_in[Z]);
}

static const heed_op BINARY = {.name = "binary cross-entropy", .run = run, .grad = grad};

heed_value heed_binary_xent(heed_build *b, heed_value z, heed_value labels) {
    heed_shape zs = heed_shape_of(b, z), ls = heed_shape_of(b, labels);
    if (!heed_check_numbers(b, "binary cross-entropy", z) || !labels.id) {
        return (heed_value){0};
    }
    if (zs.cols != 1 || ls.cell != HEED_CELL_INT || ls.cols != 1 || ls.space != zs.space) {
        return heed_refuse(b, HEED_SHAPE,
                           "binary cross-entropy wants one logit and one label in each row, not "
                           "%" PRId64 " and %" PRId64,
                           zs.cols, ls.cols);
    }
    heed_limit_ints(b, labels, 0, 2, IGNORED, "yes or no");
    heed_shape shape[] = {heed_fixed(1, 1), heed_like(b, z, 1)};
    return heed_record(b, &BINARY, NULL, 0, 2, (heed_value[]){z, labels}, 2, shape);
}
