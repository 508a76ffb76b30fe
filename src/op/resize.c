/* resize.c: a table whose rows stand on a grid, for a grid of another size: bicubic interpolation.
 *
 *   out (y, x) = sum over i, j of w_i(y) w_j(x) table (clamp(Y - 1 + i), clamp(X - 1 + j)),
 *   i, j = 0 ... 3, where (Y, X) is the place of (y, x) in the old grid, rounded down; pixels are
 *   squares (align_corners=False), and no smoothing goes before (antialias=False)
 *   d_table: the same sums the other way, over the new places in order
 * w is the cubic convolution with a = -0.75, as PyTorch's interpolate has it. Rows before the grid
 * (class tokens) stay as they are. To the same size it is the identity, bit for bit.
 * Source: Keys 1981, "Cubic convolution interpolation"; positions of ViT: Dosovitskiy et al. 2021,
 * section 3.2.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TAPS = 4 };

/* Where one new row or column lies among `from` old ones. */
typedef struct {
    int64_t at[TAPS];
    heed_real weight[TAPS];
} taps;

/* Weights at distance t below 1, and 1 + t. */
static double inner(double t) {
    return ((-0.75 + 2) * t - (-0.75 + 3)) * t * t + 1;
}
static double outer(double t) {
    return ((-0.75 * (t + 1) + 3.75) * (t + 1) - 6) * (t + 1) + 3;
}

static taps taps_of(int64_t i, int64_t from, int64_t to) {
    double place = (double)from / (double)to * ((double)i + 0.5) - 0.5, low = floor(place);
    double t = place - low, weight[TAPS] = {outer(t), inner(t), inner(1 - t), outer(1 - t)};
    taps out;
    for (int k = 0; k < TAPS; k++) {
        int64_t at = (int64_t)low - 1 + k;
        out.at[k] = at < 0 ? 0 : at < from ? at : from - 1;
        out.weight[k] = (heed_real)weight[k];
    }
    return out;
}

/* One row of the new grid. */
static void resize_row(const heed_grid *g, int64_t place, int64_t d, const heed_real *grid,
                       heed_real *out) {
    taps y = taps_of(place / g->to_cols, g->rows, g->to_rows);
    taps x = taps_of(place % g->to_cols, g->cols, g->to_cols);
    memset(out, 0, (size_t)d * sizeof *out);
    for (int k = 0; k < TAPS * TAPS; k++) {
        heed_real weight = y.weight[k / TAPS] * x.weight[k % TAPS];
        const heed_real *from = grid + (y.at[k / TAPS] * g->cols + x.at[k % TAPS]) * d;
        for (int64_t c = 0; c < d; c++) {
            out[c] += weight * from[c];
        }
    }
}

static void resize_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const heed_grid *g = w->attr;
    int64_t d = w->out[0].cols;
    const heed_real *table = w->in[0].data;
    heed_real *out = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        if (r < g->before) {
            memcpy(out + r * d, table + r * d, (size_t)d * sizeof *out);
        } else {
            resize_row(g, r - g->before, d, table + g->before * d, out + r * d);
        }
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, TAPS * TAPS * w->out[0].cols, resize_rows, (void *)w);
}

typedef struct {
    const heed_work *w;
    int64_t from, to; /* columns */
} back_job;

static void back_place(const back_job *j, int64_t place) {
    const heed_grid *g = j->w->attr;
    int64_t d = j->w->out[0].cols;
    const heed_real *dy = (const heed_real *)j->w->in[0].data + (g->before + place) * d;
    heed_real *grid = (heed_real *)j->w->out[0].data + g->before * d;
    taps y = taps_of(place / g->to_cols, g->rows, g->to_rows);
    taps x = taps_of(place % g->to_cols, g->cols, g->to_cols);
    for (int k = 0; k < TAPS * TAPS; k++) {
        heed_real weight = y.weight[k / TAPS] * x.weight[k % TAPS];
        heed_real *to = grid + (y.at[k / TAPS] * g->cols + x.at[k % TAPS]) * d;
        for (int64_t c = j->from; c < j->to; c++) {
            to[c] += weight * dy[c];
        }
    }
}

/* Columns of the table are apart, so each task has some of them. in: d_out */
static void back_columns(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const heed_grid *g = w->attr;
    back_job j = {.w = w, .from = from, .to = to};
    int64_t d = w->out[0].cols;
    const heed_real *dy = w->in[0].data;
    heed_real *dx = w->out[0].data;
    for (int64_t r = 0; r < w->out[0].rows; r++) {
        for (int64_t c = from; c < to; c++) {
            dx[r * d + c] = r < g->before ? dy[r * d + c] : 0;
        }
    }
    for (int64_t place = 0; place < g->to_rows * g->to_cols; place++) {
        back_place(&j, place);
    }
}

static void run_back(const heed_work *w) {
    heed_rows_run(w, w->out[0].cols, TAPS * TAPS * w->in[0].rows, back_columns, (void *)w);
}

static const heed_op BACK = {.name = "resize (gradient)", .run = run_back};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value d = heed_record(b, &BACK, attr, sizeof(heed_grid), 1, d_out, 1, &shape);
    heed_pass_gradient(b, in[0], d, &d_in[0]);
}

static const heed_op RESIZE = {.name = "resize", .run = run, .grad = grad};

enum { LONGEST = 1 << 15 }; /* of a grid's side, so that places fit in an int32_t */

static bool side_fits(int64_t n) {
    return n >= 1 && n <= LONGEST;
}

heed_value heed_resize_grid(heed_build *b, heed_value table, const heed_grid *g) {
    if (!heed_check_numbers(b, "resizing", table)) {
        return (heed_value){0};
    }
    heed_shape ts = heed_shape_of(b, table);
    if (!side_fits(g->rows) || !side_fits(g->cols) || !side_fits(g->to_rows) ||
        !side_fits(g->to_cols) || g->before < 0) {
        return heed_refuse(b, HEED_SHAPE,
                           "a grid of %" PRId64 " x %" PRId64 " cannot become one of %" PRId64
                           " x %" PRId64,
                           g->rows, g->cols, g->to_rows, g->to_cols);
    }
    if (ts.extent != HEED_EXTENT_FIXED || ts.rows - g->before != g->rows * g->cols) {
        return heed_refuse(b, HEED_SHAPE,
                           "a table of %" PRId64 " rows is no grid of %" PRId64 " x %" PRId64
                           " behind %" PRId64 " rows",
                           ts.rows, g->rows, g->cols, g->before);
    }
    heed_shape out = heed_fixed(g->before + g->to_rows * g->to_cols, ts.cols);
    return heed_record(b, &RESIZE, g, sizeof *g, 1, &table, 1, &out);
}
