/* binary.c: cross-entropy of yes or no, from one logit in each row or from one for each label.
 *
 *   loss = log(1 + exp z) - y z;  dz = 1 / (1 + exp -z) - y;  y an integer, or a number of 0 to 1
 *
 * Method: it is the cross-entropy of two classes with the logits 0 and z, and the kernel for that
 * is the one that runs; where y is a number, with the label 0 and y z beside it.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>

enum { IGNORED = -100, COST = 16 };
enum { Z, LABELS, D_LOSS };
enum { LOSS, ROWS };

/* The loss of element i; its gradient in *d. */
static heed_real of_element(const heed_work *w, int64_t i, heed_real *d) {
    heed_real pair[2] = {0, ((const heed_real *)w->in[Z].data)[i]}, z = pair[1], y = 0;
    const int32_t *labels = w->in[LABELS].data;
    bool numbers = *(const bool *)w->attr;
    *d = 0;
    if (!numbers && labels[i] == IGNORED) {
        return 0;
    }
    if (numbers) {
        y = ((const heed_real *)w->in[LABELS].data)[i];
    }
    heed_real loss = w->kernels->xent(2, 0, pair, numbers ? 0 : labels[i], pair);
    *d = pair[1] - y;
    return numbers ? loss - y * z : loss;
}

static void loss_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    heed_real *out = w->out[ROWS].data, d;
    for (int64_t i = from * w->in[Z].cols; i < to * w->in[Z].cols; i++) {
        out[i] = of_element(w, i, &d);
    }
}

static void run(const heed_work *w) {
    const heed_mat *z = &w->in[Z];
    heed_rows_run(w, z->rows, COST * z->cols, loss_rows, (void *)w);
    *(heed_real *)w->out[LOSS].data =
        (heed_real)w->kernels->sum(z->rows * z->cols, w->out[ROWS].data);
}

static void slope_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    heed_real *out = w->out[0].data, d_loss = *(const heed_real *)w->in[D_LOSS].data, d;
    for (int64_t i = from * w->in[Z].cols; i < to * w->in[Z].cols; i++) {
        of_element(w, i, &d);
        out[i] = d * d_loss;
    }
}

static void run_slope(const heed_work *w) {
    heed_rows_run(w, w->in[Z].rows, COST * w->in[Z].cols, slope_rows, (void *)w);
}

static const heed_op SLOPE = {.name = "binary cross-entropy (gradient)", .run = run_slope};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    if (d_out[ROWS].id) {
        heed_refuse(b, HEED_VALUE, "the loss of a row has no gradient, their sum has");
        return;
    }
    heed_shape shape = heed_shape_of(b, in[Z]);
    heed_value from[] = {in[Z], in[LABELS], d_out[LOSS]};
    heed_value dz = heed_record(b, &SLOPE, attr, sizeof(bool), 3, from, 1, &shape);
    heed_pass_gradient(b, in[Z], dz, &d_in[Z]);
}

static const heed_op BINARY = {.name = "binary cross-entropy", .run = run, .grad = grad};

heed_value heed_binary_xent(heed_build *b, heed_value z, heed_value labels) {
    heed_shape zs = heed_shape_of(b, z), ls = heed_shape_of(b, labels);
    if (!heed_check_numbers(b, "binary cross-entropy", z) || !labels.id) {
        return (heed_value){0};
    }
    bool numbers = ls.cell == HEED_CELL_NUMBER;
    if (ls.space != zs.space || ls.cols != zs.cols ||
        (numbers ? ls.extent != zs.extent : ls.cell != HEED_CELL_INT || zs.cols != 1)) {
        return heed_refuse(b, HEED_SHAPE,
                           "binary cross-entropy wants one logit and one label in each row, not "
                           "%" PRId64 " and %" PRId64,
                           zs.cols, ls.cols);
    }
    if (!numbers) {
        heed_limit_ints(b, labels, 0, 2, IGNORED, "yes or no");
    }
    heed_shape shape[] = {heed_fixed(1, 1), heed_like(b, z, zs.cols)};
    return heed_record(b, &BINARY, &numbers, sizeof numbers, 2, (heed_value[]){z, labels}, 2,
                       shape);
}
