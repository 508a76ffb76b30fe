/* prepend.c: the same rows before each sequence: class and distillation tokens.
 *
 *   x R x d, rows n x d  ->  longer(R, n) x d: for each sequence the n rows, then its own
 *   d_x: what comes back to a sequence's own rows; d_rows: the sum over the sequences, in order
 * Source: Dosovitskiy et al. 2021 (the class token of ViT); Touvron et al. 2021 (DeiT).
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    uint32_t space; /* of x */
    int32_t more;   /* n */
} prepend_attr;

typedef struct {
    const heed_work *w;
    heed_cut cut;
    heed_real *sum;
} prepend_job;

static void copy_rows(heed_real *to, const heed_real *from, int64_t rows, int64_t cols) {
    memcpy(to, from, (size_t)(rows * cols) * sizeof *to);
}

/* Where sequence s of x begins, and so many rows of the longer space lie before it. */
static int64_t own_row(const prepend_job *j, int64_t s) {
    const prepend_attr *a = j->w->attr;
    return j->cut.starts[s] + (s + 1) * a->more;
}

static void put_sequences(void *ctx, int64_t from, int64_t to) {
    const prepend_job *j = ctx;
    const prepend_attr *a = j->w->attr;
    int64_t d = j->w->out[0].cols;
    const heed_real *x = j->w->in[0].data, *rows = j->w->in[1].data;
    heed_real *out = j->w->out[0].data;
    for (int64_t s = from; s < to; s++) {
        int64_t row = own_row(j, s), first = j->cut.starts[s];
        copy_rows(out + (row - a->more) * d, rows, a->more, d);
        copy_rows(out + row * d, x + first * d, j->cut.starts[s + 1] - first, d);
    }
}

/* in: d_out */
static void take_sequences(void *ctx, int64_t from, int64_t to) {
    const prepend_job *j = ctx;
    int64_t d = j->w->out[0].cols;
    const heed_real *dy = j->w->in[0].data;
    heed_real *dx = j->w->out[0].data;
    for (int64_t s = from; s < to; s++) {
        int64_t first = j->cut.starts[s];
        copy_rows(dx + first * d, dy + own_row(j, s) * d, j->cut.starts[s + 1] - first, d);
    }
}

static void each_sequence(const heed_work *w, void (*body)(void *ctx, int64_t from, int64_t to)) {
    const prepend_attr *a = w->attr;
    prepend_job j = {.w = w, .cut = heed_work_cut(w, a->space)};
    heed_sequences_run(w, j.cut.n, w->out[0].rows, w->out[0].cols, body, &j);
}

static void run(const heed_work *w) {
    each_sequence(w, put_sequences);
}

static void run_back(const heed_work *w) {
    each_sequence(w, take_sequences);
}
static const heed_op BACK = {.name = "prepend (gradient)", .run = run_back};

/* One of the rows, over all sequences. in: d_out */
static void sum_row(void *ctx, int64_t i) {
    const prepend_job *j = ctx;
    const prepend_attr *a = j->w->attr;
    int64_t d = j->w->in[0].cols;
    const heed_real *dy = j->w->in[0].data;
    heed_real *sum = j->sum + i * d;
    for (int64_t s = 0; s < j->cut.n; s++) {
        j->w->kernels->add(d, sum, dy + (own_row(j, s) - a->more + i) * d, sum);
    }
}

static void sum_rows(const heed_work *w, heed_real *sum) {
    const prepend_attr *a = w->attr;
    prepend_job j = {.w = w, .cut = heed_work_cut(w, a->space), .sum = sum};
    heed_pool_run(w->pool, a->more, sum_row, &j);
}

static void run_add_to_rows(const heed_work *w) {
    sum_rows(w, w->in[1].data);
}
static const heed_op ADD_TO_ROWS = {
    .name = "prepend (gradient of a weight)", .run = run_add_to_rows, .effect = true};

static void run_back_to_rows(const heed_work *w) {
    memset(w->out[0].data, 0, (size_t)(w->out[0].rows * w->out[0].cols) * sizeof(heed_real));
    sum_rows(w, w->out[0].data);
}
static const heed_op BACK_TO_ROWS = {.name = "prepend (gradient of rows)", .run = run_back_to_rows};

static void grad_rows(heed_build *b, const void *attr, heed_value rows, heed_value dy,
                      heed_value *d_rows) {
    if (heed_is_weight(b, rows)) {
        heed_value from[] = {dy, heed_gradient(b, rows)};
        heed_record_effect(b, &ADD_TO_ROWS, attr, sizeof(prepend_attr), 2, from);
        return;
    }
    heed_shape shape = heed_shape_of(b, rows);
    *d_rows = heed_record(b, &BACK_TO_ROWS, attr, sizeof(prepend_attr), 1, &dy, 1, &shape);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    if (heed_wants_grad(b, in[1])) {
        grad_rows(b, attr, in[1], d_out[0], &d_in[1]);
    }
    if (heed_wants_grad(b, in[0])) {
        heed_shape shape = heed_shape_of(b, in[0]);
        d_in[0] = heed_record(b, &BACK, attr, sizeof(prepend_attr), 1, d_out, 1, &shape);
    }
}

static const heed_op PREPEND = {.name = "prepend", .run = run, .grad = grad};

heed_value heed_prepend(heed_build *b, heed_value x, heed_value rows) {
    if (!heed_check_numbers(b, "prepending", x) || !heed_check_numbers(b, "prepending", rows)) {
        return (heed_value){0};
    }
    heed_shape rs = heed_shape_of(b, rows);
    heed_space space = heed_space_of(b, x);
    if (!space.id || rs.extent != HEED_EXTENT_FIXED) {
        return heed_refuse(b, HEED_SHAPE,
                           "prepending wants rows of a fixed number before those of a row space");
    }
    if (rs.cols != heed_columns(b, x) || rs.rows > INT32_MAX) {
        return heed_refuse(b, HEED_SHAPE,
                           "rows of %" PRId64 " x %" PRId64 " before rows of %" PRId64 " columns",
                           rs.rows, rs.cols, heed_columns(b, x));
    }
    prepend_attr attr = {.space = space.id, .more = (int32_t)rs.rows};
    heed_shape out = heed_shape_of(b, x);
    out.space = heed_longer(b, space, rs.rows).id;
    if (!out.space) {
        return (heed_value){0};
    }
    return heed_record(b, &PREPEND, &attr, sizeof attr, 2, (heed_value[]){x, rows}, 1, &out);
}
