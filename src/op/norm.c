/* norm.c: weights of the norms, and their gradients: sums over rows, column block by column block.
 * SPDX-License-Identifier: MIT
 */
#include "op/norm.h"

#include "op/gemm.h"
#include "op/shape.h"

#include <inttypes.h>
#include <stdio.h>

static bool options_fit(heed_build *b, const char *op, heed_value x, const heed_norm_options *o) {
    if (!heed_check_numbers(b, op, x)) {
        return false;
    }
    int64_t width = heed_columns(b, x);
    if (!(o->eps > 0)) {
        heed_refuse(b, HEED_VALUE, "%s wants an epsilon above 0, not %g", op, o->eps);
    } else if (o->heads < 0 || (o->heads && width % o->heads)) {
        heed_refuse(b, HEED_SHAPE, "%s on width %" PRId64 " and %" PRId64 " heads", op, width,
                    o->heads);
    } else {
        return true;
    }
    return false;
}

static heed_value vector(heed_build *b, const char *name, const char *kind, int64_t n,
                         heed_init_kind init) {
    char path[128];
    if (snprintf(path, sizeof path, "%s.%s", name, kind) >= (int)sizeof path) {
        return heed_refuse(b, HEED_NAME, "the name '%s' is too long", name);
    }
    return heed_weight_vector(b, path, n, (heed_init){.kind = init});
}

/* gain = 1 + weight; the norm hands the gradient on to the weight itself. */
static void run_one_plus(const heed_work *w) {
    const heed_real *weight = w->in[0].data;
    heed_real *gain = w->out[0].data;
    for (int64_t i = 0; i < w->out[0].cols; i++) {
        gain[i] = 1 + weight[i];
    }
}
static const heed_op ONE_PLUS = {.name = "1 + weight", .run = run_one_plus};

static void run_ones(const heed_work *w) {
    heed_real *gain = w->out[0].data;
    for (int64_t i = 0; i < w->out[0].cols; i++) {
        gain[i] = 1;
    }
}
static const heed_op ONES = {.name = "gain of 1", .run = run_ones};

bool heed_norm_weights_of(heed_build *b, const char *op, heed_value x, const char *name,
                          const heed_norm_options *o, heed_norm_weights *w) {
    if (!options_fit(b, op, x, o)) {
        return false;
    }
    *w = (heed_norm_weights){.heads = o->heads ? o->heads : 1, .shift = heed_absent()};
    int64_t n = heed_columns(b, x) / w->heads;
    if (o->plain) {
        heed_shape shape = heed_fixed(1, n);
        w->weight = heed_absent();
        w->gain = heed_record_shared(b, &ONES, NULL, 0, 0, NULL, 1, &shape);
        return true;
    }
    w->weight = w->gain =
        vector(b, name, "weight", n, o->one_plus ? HEED_INIT_ZERO : HEED_INIT_ONE);
    if (o->one_plus) {
        heed_shape shape = heed_fixed(1, n);
        w->gain = heed_record_shared(b, &ONE_PLUS, NULL, 0, 1, &w->weight, 1, &shape);
    }
    if (o->bias) {
        w->shift = vector(b, name, "bias", n, HEED_INIT_ZERO);
    }
    return true;
}

enum { BLOCK = 64, SMALL = 16384 };

/* in: x, mean or absent, rstd, dy, sum for gain or absent, sum for shift or absent. mean and rstd
 * have a number for each head of each row, so x is a matrix of rows*heads rows. */
static int64_t width_of(const heed_work *w) {
    return w->in[0].cols / w->in[2].cols;
}

static void params_task(void *ctx, int64_t i) {
    const heed_work *w = ctx;
    int64_t n = width_of(w), rows = w->in[0].rows * w->in[2].cols, col = i * BLOCK;
    const heed_real *x = w->in[0].data, *dy = w->in[3].data;
    heed_real *gain = w->in[4].data, *shift = w->in[5].data;
    w->kernels->norm_params_back(rows, heed_min(BLOCK, n - col), n, x + col, w->in[1].data,
                                 w->in[2].data, dy + col, gain ? gain + col : NULL,
                                 shift ? shift + col : NULL);
}

static void run_params(const heed_work *w) {
    bool small = w->in[0].rows * w->in[0].cols < SMALL;
    heed_pool_run(small ? NULL : w->pool, heed_panels(width_of(w), BLOCK), params_task, (void *)w);
}

static const heed_op PARAMS = {
    .name = "norm (gradient of its weights)", .run = run_params, .effect = true};

void heed_norm_params(heed_build *b, heed_value x, heed_value mean, heed_value rstd, heed_value dy,
                      heed_value weight, heed_value shift) {
    heed_value d_gain = heed_gradient_or_absent(b, weight);
    heed_value d_shift = heed_gradient_or_absent(b, shift);
    if (heed_is_absent(d_gain) && heed_is_absent(d_shift)) {
        return;
    }
    heed_record_effect(b, &PARAMS, NULL, 0, 6, (heed_value[]){x, mean, rstd, dy, d_gain, d_shift});
}
