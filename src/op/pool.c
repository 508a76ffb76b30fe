/* pool.c: one row for each sequence: the mean of its rows, its last, or one counted from the first.
 * A sequence without that row gives zeros.
 *
 *   mean: d_x of every row is d_out / rows of its sequence; else: d_out for that row, zero for the
 *   others
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    uint32_t space;
    uint32_t kind; /* heed_pool_kind; FIRST: counted from the first row */
    int64_t which;
} pool_attr;

typedef struct {
    const heed_work *w;
    heed_cut cut;
} pool_job;

/* The row that stands for the sequence [from, to), -1: there is none. */
static int64_t chosen(const pool_attr *a, int64_t from, int64_t to) {
    if (a->kind == HEED_POOL_FIRST) {
        return a->which < to - from ? from + a->which : -1;
    }
    return from < to ? to - 1 : -1;
}

static void pool_one(const pool_job *j, int64_t from, int64_t to, heed_real *out) {
    const pool_attr *a = j->w->attr;
    int64_t d = j->w->in[0].cols;
    const heed_real *x = j->w->in[0].data;
    memset(out, 0, (size_t)d * sizeof *out);
    if (a->kind != HEED_POOL_MEAN) {
        int64_t row = chosen(a, from, to);
        if (row >= 0) {
            memcpy(out, x + row * d, (size_t)d * sizeof *out);
        }
        return;
    }
    if (from == to) {
        return;
    }
    j->w->kernels->column_sums(to - from, d, d, x + from * d, out);
    j->w->kernels->scale(d, 1 / (heed_real)(to - from), out, out);
}

static void pool_rows(void *ctx, int64_t first, int64_t end) {
    const pool_job *j = ctx;
    heed_real *out = j->w->out[0].data;
    for (int64_t s = first; s < end; s++) {
        pool_one(j, j->cut.starts[s], j->cut.starts[s + 1], out + s * j->w->in[0].cols);
    }
}

/* Runs body over the sequences; `cols` numbers a row. */
static void each_sequence(const heed_work *w, int64_t cols, int64_t rows,
                          void (*body)(void *ctx, int64_t from, int64_t to)) {
    const pool_attr *a = w->attr;
    pool_job j = {.w = w, .cut = heed_work_cut(w, a->space)};
    heed_sequences_run(w, j.cut.n, rows, cols, body, &j);
}

static void run(const heed_work *w) {
    each_sequence(w, w->in[0].cols, w->in[0].rows, pool_rows);
}

/* in: d_out */
static void back_one(const pool_job *j, int64_t from, int64_t to, const heed_real *dy) {
    const pool_attr *a = j->w->attr;
    int64_t d = j->w->out[0].cols;
    heed_real *dx = j->w->out[0].data;
    if (a->kind == HEED_POOL_MEAN) {
        for (int64_t r = from; r < to; r++) {
            j->w->kernels->scale(d, 1 / (heed_real)(to - from), dy, dx + r * d);
        }
        return;
    }
    memset(dx + from * d, 0, (size_t)((to - from) * d) * sizeof *dx);
    int64_t row = chosen(a, from, to);
    if (row >= 0) {
        memcpy(dx + row * d, dy, (size_t)d * sizeof *dx);
    }
}

static void back_rows(void *ctx, int64_t first, int64_t end) {
    const pool_job *j = ctx;
    const heed_real *dy = j->w->in[0].data;
    for (int64_t s = first; s < end; s++) {
        back_one(j, j->cut.starts[s], j->cut.starts[s + 1], dy + s * j->w->out[0].cols);
    }
}

static void run_back(const heed_work *w) {
    each_sequence(w, w->out[0].cols, w->out[0].rows, back_rows);
}

static const heed_op BACK = {.name = "pool (gradient)", .run = run_back};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value dx = heed_record(b, &BACK, attr, sizeof(pool_attr), 1, d_out, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op POOL = {.name = "pool", .run = run, .grad = grad};

static heed_value pool(heed_build *b, heed_value x, heed_pool_kind kind, int64_t which) {
    if (!heed_check_numbers(b, "pooling", x)) {
        return (heed_value){0};
    }
    heed_space space = heed_space_of(b, x), sequences = heed_sequences(b, space);
    if (!sequences.id) {
        return heed_refuse(b, HEED_SHAPE, "pooling wants rows of a row space");
    }
    pool_attr attr = {.space = space.id, .kind = kind, .which = which};
    heed_shape out = heed_like(b, x, heed_columns(b, x));
    out.space = sequences.id;
    return heed_record(b, &POOL, &attr, sizeof attr, 1, &x, 1, &out);
}

heed_value heed_pool_rows(heed_build *b, heed_value x, heed_pool_kind kind) {
    return pool(b, x, kind, 0);
}

heed_value heed_pool_row(heed_build *b, heed_value x, int64_t which) {
    if (which < 0) {
        return heed_refuse(b, HEED_VALUE, "there is no row %" PRId64 " in a sequence", which);
    }
    return pool(b, x, HEED_POOL_FIRST, which);
}
