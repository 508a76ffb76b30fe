/* columns.c: a vector beside every row: its gradient is the sum of d over the rows, in order.
 * SPDX-License-Identifier: MIT
 */
#include "op/columns.h"

#include "op/gemm.h"
#include "op/shape.h"

#include <inttypes.h>
#include <string.h>

static void run_add(const heed_work *w) {
    heed_column_sums_run(w, w->in[0].rows, w->in[0].cols, w->in[0].data, w->in[1].data);
}
static const heed_op ADD_SUMS = {
    .name = "sums of columns (gradient of a weight)", .run = run_add, .effect = true};

static void run_sums(const heed_work *w) {
    memset(w->out[0].data, 0, (size_t)w->out[0].cols * sizeof(heed_real));
    heed_column_sums_run(w, w->in[0].rows, w->in[0].cols, w->in[0].data, w->out[0].data);
}
static const heed_op SUMS = {.name = "sums of columns", .run = run_sums};

void heed_pass_column_sums(heed_build *b, heed_value v, heed_value d, heed_value *d_v) {
    if (heed_is_weight(b, v)) {
        heed_record_effect(b, &ADD_SUMS, NULL, 0, 2, (heed_value[]){d, heed_gradient(b, v)});
        return;
    }
    heed_shape shape = heed_shape_of(b, v);
    *d_v = heed_record(b, &SUMS, NULL, 0, 1, &d, 1, &shape);
}

bool heed_check_row(heed_build *b, const char *op, heed_value x, heed_value v) {
    if (!heed_check_numbers(b, op, x) || !heed_check_numbers(b, op, v)) {
        return false;
    }
    heed_shape vs = heed_shape_of(b, v);
    if (vs.extent != HEED_EXTENT_FIXED || vs.rows != 1) {
        heed_refuse(b, HEED_SHAPE, "%s wants one row of a fixed size beside x", op);
        return false;
    }
    if (vs.cols != heed_columns(b, x)) {
        heed_refuse(b, HEED_SHAPE, "%s of %" PRId64 " columns and a row of %" PRId64, op,
                    heed_columns(b, x), vs.cols);
        return false;
    }
    return true;
}

typedef struct {
    const heed_work *w;
    void (*body)(int64_t n, const heed_real *x, const heed_real *v, heed_real *out);
} row_job;

static void some_rows(void *ctx, int64_t from, int64_t to) {
    const row_job *j = ctx;
    int64_t n = j->w->out[0].cols;
    const heed_real *x = j->w->in[0].data, *v = j->w->in[1].data;
    heed_real *out = j->w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        j->body(n, x + r * n, v, out + r * n);
    }
}

void heed_each_row_with(const heed_work *w, void (*body)(int64_t n, const heed_real *x,
                                                         const heed_real *v, heed_real *out)) {
    row_job j = {.w = w, .body = body};
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, some_rows, &j);
}
