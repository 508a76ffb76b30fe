/* act.c: activations, element by element; dx = dy f'(x).
 *
 *   relu max(x, 0); gelu x P(x), P the normal distribution; gelu_tanh its approximation by tanh
 * (Hendrycks and Gimpel 2016); silu x / (1 + exp(-x)) (Elfwing et al. 2017); quick_gelu x / (1
 * + exp(-1.702 x)) (Hendrycks and Gimpel 2016); relu2 max(x, 0)^2 (So et al. 2021)
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/activation.h"
#include "op/shape.h"

typedef struct {
    heed_activation f;
} act_attr;

static void act_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const act_attr *a = w->attr;
    int64_t cols = w->out[0].cols, at = from * cols;
    const heed_real *x = w->in[0].data;
    w->kernels->act(a->f, (to - from) * cols, x + at, (heed_real *)w->out[0].data + at);
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * HEED_ACT_COST, act_rows, (void *)w);
}

static void slope_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const act_attr *a = w->attr;
    int64_t cols = w->out[0].cols, at = from * cols;
    const heed_real *x = w->in[0].data, *dy = w->in[1].data;
    w->kernels->act_back(a->f, (to - from) * cols, x + at, dy + at,
                         (heed_real *)w->out[0].data + at);
}

static void run_slope(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * HEED_ACT_COST, slope_rows, (void *)w);
}

static const heed_op SLOPE = {.name = "activation (gradient)", .run = run_slope, .in_place = 3};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value from[] = {in[0], d_out[0]};
    heed_value dx = heed_record(b, &SLOPE, attr, sizeof(act_attr), 2, from, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op ACT = {.name = "activation", .run = run, .grad = grad, .in_place = 1};

bool heed_activation_of(heed_build *b, heed_act_kind kind, heed_activation *f) {
    switch (kind) {
    case HEED_ACT_RELU:
        *f = HEED_RELU;
        return true;
    case HEED_ACT_GELU:
        *f = HEED_GELU;
        return true;
    case HEED_ACT_GELU_TANH:
        *f = HEED_GELU_TANH;
        return true;
    case HEED_ACT_SILU:
        *f = HEED_SILU;
        return true;
    case HEED_ACT_TANH:
        *f = HEED_TANH;
        return true;
    case HEED_ACT_SIGMOID:
        *f = HEED_SIGMOID;
        return true;
    case HEED_ACT_QUICK_GELU:
        *f = HEED_QUICK_GELU;
        return true;
    case HEED_ACT_RELU2:
        *f = HEED_RELU2;
        return true;
    }
    heed_refuse(b, HEED_VALUE, "there is no activation number %d", (int)kind);
    return false;
}

heed_value heed_act(heed_build *b, heed_value x, heed_act_kind kind) {
    act_attr attr;
    if (!heed_check_numbers(b, "an activation", x) || !heed_activation_of(b, kind, &attr.f)) {
        return (heed_value){0};
    }
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &ACT, &attr, sizeof attr, 1, &x, 1, &shape);
}
