/* pick.c: pieces of the columns, one beside the other.
 *
 *   piece i of the output is columns [start + i*stride, start + i*stride + width) of x; pieces do
 *   not overlap, so the gradient goes back to its place and the other columns get 0.
 * It takes apart what one product made: queries, keys and values beside each other (GPT-2), or for
 * each head its own three (BLOOM, GPT-NeoX).
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    int64_t start, width, stride, count;
} pick_attr;

/* The pieces of one wide row from or to a narrow one. */
static void take(const pick_attr *a, const heed_real *wide, heed_real *narrow) {
    for (int64_t i = 0; i < a->count; i++) {
        memcpy(narrow + i * a->width, wide + a->start + i * a->stride,
               (size_t)a->width * sizeof *narrow);
    }
}

static void put(const pick_attr *a, const heed_real *narrow, heed_real *wide) {
    for (int64_t i = 0; i < a->count; i++) {
        memcpy(wide + a->start + i * a->stride, narrow + i * a->width,
               (size_t)a->width * sizeof *wide);
    }
}

static void pick_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const heed_real *x = w->in[0].data;
    heed_real *out = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        take(w->attr, x + r * w->in[0].cols, out + r * w->out[0].cols);
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, pick_rows, (void *)w);
}

static void back_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t n = w->out[0].cols;
    const heed_real *dy = w->in[0].data;
    heed_real *dx = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        memset(dx + r * n, 0, (size_t)n * sizeof *dx);
        put(w->attr, dy + r * w->in[0].cols, dx + r * n);
    }
}

static void run_back(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, back_rows, (void *)w);
}

static const heed_op BACK = {.name = "pick columns (gradient)", .run = run_back};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value dx = heed_record(b, &BACK, attr, sizeof(pick_attr), 1, d_out, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op PICK = {.name = "pick columns", .run = run, .grad = grad};

/* True where all pieces lie within n columns and apart. Written so that nothing overflows. */
static bool pieces_fit(const pick_attr *a, int64_t n) {
    if (a->start < 0 || a->width < 1 || a->count < 1 || a->width > n || a->start > n - a->width) {
        return false;
    }
    if (a->count == 1) {
        return true;
    }
    return a->stride >= a->width && a->count - 1 <= (n - a->width - a->start) / a->stride;
}

heed_value heed_pick_columns(heed_build *b, heed_value x, int64_t start, int64_t width,
                             int64_t stride, int64_t count) {
    if (!heed_check_numbers(b, "picking columns", x)) {
        return (heed_value){0};
    }
    pick_attr attr = {.start = start, .width = width, .stride = stride, .count = count};
    if (!pieces_fit(&attr, heed_columns(b, x))) {
        return heed_refuse(b, HEED_SHAPE,
                           "%" PRId64 " pieces of %" PRId64 " columns, every %" PRId64
                           " from column %" PRId64 " on, cannot be taken out of %" PRId64,
                           count, width, stride, start, heed_columns(b, x));
    }
    heed_shape out = heed_like(b, x, count * width);
    return heed_record(b, &PICK, &attr, sizeof attr, 1, &x, 1, &out);
}
