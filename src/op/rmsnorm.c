/* rmsnorm.c: y = x rstd gain over each row, rstd = 1/sqrt(mean of squares + eps).
 *
 *   dx = rstd (g - n mean(g n)), g = dy gain, n = x rstd;  dgain = sum of dy n over the rows in
 *   order
 * With heads, R rows of heads*n numbers are R*heads rows of n. Source: Zhang and Sennrich 2019.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/norm.h"

enum { COST = 2 }; /* passes over a row */

static void norm_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const heed_norm_attr *a = w->attr;
    int64_t n = w->in[1].cols;
    const heed_real *x = w->in[0].data, *gain = w->in[1].data;
    heed_real *y = w->out[0].data, *rstd = w->out[1].data;
    for (int64_t r = from; r < to; r++) {
        heed_real s;
        w->kernels->rmsnorm(n, (heed_real)a->eps, x + r * n, gain, y + r * n, rstd ? rstd + r : &s);
    }
}

static void run(const heed_work *w) {
    int64_t n = w->in[1].cols, heads = w->out[0].cols / n;
    heed_rows_run(w, w->out[0].rows * heads, n * COST, norm_rows, (void *)w);
}

/* in: x, gain, rstd, dy; rows count the heads, too */
static void back_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    int64_t n = w->in[1].cols;
    const heed_real *x = w->in[0].data, *gain = w->in[1].data, *rstd = w->in[2].data;
    const heed_real *dy = w->in[3].data;
    heed_real *dx = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        w->kernels->rmsnorm_back(n, x + r * n, gain, rstd[r], dy + r * n, dx + r * n);
    }
}

static void run_back(const heed_work *w) {
    int64_t n = w->in[1].cols, heads = w->out[0].cols / n;
    heed_rows_run(w, w->out[0].rows * heads, n * COST, back_rows, (void *)w);
}

static const heed_op BACK = {.name = "rmsnorm (gradient)", .run = run_back};

/* in: x, gain, weight (read by the backward pass alone) */
static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    if (heed_wants_grad(b, in[0])) {
        heed_shape shape = heed_shape_of(b, in[0]);
        heed_value from[] = {in[0], in[1], out[1], d_out[0]};
        heed_value dx = heed_record(b, &BACK, NULL, 0, 4, from, 1, &shape);
        heed_pass_gradient(b, in[0], dx, &d_in[0]);
    }
    heed_norm_params(b, in[0], heed_absent(), out[1], d_out[0], in[2], heed_absent());
}

static const heed_op RMSNORM = {.name = "rmsnorm", .run = run, .grad = grad, .optional = 2};

heed_value heed_rmsnorm_with(heed_build *b, heed_value x, const char *name,
                             const heed_norm_options *options) {
    heed_norm_weights w;
    if (options->bias) {
        return heed_refuse(b, HEED_VALUE, "rmsnorm has no bias");
    }
    if (!heed_norm_weights_of(b, "rmsnorm", x, name, options, &w)) {
        return (heed_value){0};
    }
    heed_value in[] = {x, w.gain, w.weight};
    heed_norm_attr attr = {.eps = options->eps};
    heed_shape out[] = {heed_shape_of(b, x), heed_like(b, x, w.heads)};
    return heed_record(b, &RMSNORM, &attr, sizeof attr, 3, in, 2, out);
}

heed_value heed_rmsnorm(heed_build *b, heed_value x, const char *name, double eps) {
    return heed_rmsnorm_with(b, x, name, &(heed_norm_options){.eps = eps});
}
