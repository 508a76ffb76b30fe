/* layernorm.c: y = (x - mean) rstd gain + shift over each row, rstd = 1/sqrt(variance + eps).
 *
 *   dx = rstd (g - mean g - n mean(g n)), g = dy gain, n = (x - mean) rstd
 *   dgain = sum of dy n, dshift = sum of dy, over the rows in order
 * With heads, R rows of heads*n numbers are R*heads rows of n. Source: Ba et al. 2016.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/norm.h"

enum { COST = 3 }; /* passes over a row */

static void norm_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const heed_norm_attr *a = w->attr;
    int64_t n = w->in[1].cols;
    const heed_real *x = w->in[0].data, *gain = w->in[1].data, *shift = w->in[2].data;
    heed_real *y = w->out[0].data, *mean = w->out[1].data, *rstd = w->out[2].data;
    for (int64_t r = from; r < to; r++) {
        heed_real m, s;
        w->kernels->layernorm(n, (heed_real)a->eps, x + r * n, gain, shift, y + r * n,
                              mean ? mean + r : &m, rstd ? rstd + r : &s);
    }
}

static void run(const heed_work *w) {
    int64_t n = w->in[1].cols, heads = w->out[0].cols / n;
    heed_rows_run(w, w->out[0].rows * heads, n * COST, norm_rows, (void *)w);
}

/* in: x, gain, mean, rstd, dy; rows count the heads, too */
static void back_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t n = w->in[1].cols;
    const heed_real *x = w->in[0].data, *gain = w->in[1].data, *mean = w->in[2].data;
    const heed_real *rstd = w->in[3].data, *dy = w->in[4].data;
    heed_real *dx = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        w->kernels->layernorm_back(n, x + r * n, gain, mean[r], rstd[r], dy + r * n, dx + r * n);
    }
}

static void run_back(const heed_work *w) {
    int64_t n = w->in[1].cols, heads = w->out[0].cols / n;
    heed_rows_run(w, w->out[0].rows * heads, n * COST, back_rows, (void *)w);
}

static const heed_op BACK = {.name = "layernorm (gradient)", .run = run_back};

/* in: x, gain, shift or absent, weight (read by the backward pass alone) */
static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    if (heed_wants_grad(b, in[0])) {
        heed_shape shape = heed_shape_of(b, in[0]);
        heed_value from[] = {in[0], in[1], out[1], out[2], d_out[0]};
        heed_value dx = heed_record(b, &BACK, NULL, 0, 5, from, 1, &shape);
        heed_pass_gradient(b, in[0], dx, &d_in[0]);
    }
    heed_norm_params(b, in[0], out[1], out[2], d_out[0], in[3], in[2]);
}

static const heed_op LAYERNORM = {.name = "layernorm", .run = run, .grad = grad, .optional = 6};

heed_value heed_layernorm_with(heed_build *b, heed_value x, const char *name,
                               const heed_norm_options *options) {
    heed_norm_weights w;
    if (!heed_norm_weights_of(b, "layernorm", x, name, options, &w)) {
        return (heed_value){0};
    }
    heed_norm_attr attr = {.eps = options->eps};
    heed_shape one = heed_like(b, x, w.heads), out[] = {heed_shape_of(b, x), one, one};
    heed_value in[] = {x, w.gain, w.shift, w.weight};
    return heed_record(b, &LAYERNORM, &attr, sizeof attr, 4, in, 3, out);
}

heed_value heed_layernorm(heed_build *b, heed_value x, const char *name, double eps) {
    return heed_layernorm_with(b, x, name, &(heed_norm_options){.eps = eps, .bias = true});
}
