/* linear.c: y = x W' + bias, the product that a Transformer spends its time in.
 *
 *   x R x k, W n x k, bias 1 x n  ->  y R x n
 *   dx = dy W,  dW = dy' x,  dbias = sum of dy over the rows
 *
 * dW is added to the weight's sum of gradients in the same chain: element (i, j) goes through the
 * rows in order, starting from the old sum. Attributes and names of weights: as PyTorch's Linear, W
 * stored n x k.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/gemm.h"
#include "op/pack.h"
#include "op/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* in: x, packed B, bias or absent; out = x B + bias. */
static void run_product(const heed_work *w) {
    const heed_mat *x = &w->in[0], *y = &w->out[0];
    heed_gemm g = {
        .m = x->rows, .n = y->cols, .k = x->cols, .a = x->data, .a_row = x->cols, .a_col = 1};
    g.packed = w->in[1].data;
    g.c = y->data;
    g.ldc = y->cols;
    g.bias = w->in[2].data;
    heed_gemm_run(w, &g);
}
static const heed_op BACK_TO_X = {.name = "product (gradient of x)", .run = run_product};

/* dW: in: dy, packed x; into `sum`, added to what is there or not. */
static void weights_gradient(const heed_work *w, heed_real *sum, int64_t k, bool accumulate) {
    const heed_mat *dy = &w->in[0];
    heed_gemm g = {
        .m = dy->cols, .n = k, .k = dy->rows, .a = dy->data, .a_row = 1, .a_col = dy->cols};
    g.packed = w->in[1].data;
    g.c = sum;
    g.ldc = k;
    g.accumulate = accumulate;
    heed_gemm_run(w, &g);
}

static void run_add_to_w(const heed_work *w) {
    weights_gradient(w, w->in[2].data, w->in[2].cols, true);
}
static const heed_op ADD_TO_W = {
    .name = "product (gradient of a weight)", .run = run_add_to_w, .effect = true};

static void run_back_to_w(const heed_work *w) {
    weights_gradient(w, w->out[0].data, w->out[0].cols, false);
}
static const heed_op BACK_TO_W = {.name = "product (gradient of w)", .run = run_back_to_w};

static void run_add_to_bias(const heed_work *w) {
    heed_column_sums_run(w, w->in[0].rows, w->in[0].cols, w->in[0].data, w->in[1].data);
}
static const heed_op ADD_TO_BIAS = {
    .name = "sums of columns (gradient of a bias)", .run = run_add_to_bias, .effect = true};

static void run_back_to_bias(const heed_work *w) {
    memset(w->out[0].data, 0, (size_t)w->out[0].cols * sizeof(heed_real));
    heed_column_sums_run(w, w->in[0].rows, w->in[0].cols, w->in[0].data, w->out[0].data);
}
static const heed_op BACK_TO_BIAS = {.name = "sums of columns", .run = run_back_to_bias};

/* in: x, packed W', bias or absent, W (read by the backward pass alone) */
static void grad_w(heed_build *b, const heed_value *in, heed_value dy, heed_value *d_w) {
    heed_value packed = heed_pack(b, in[0], false);
    if (heed_is_weight(b, in[3])) {
        heed_record_effect(b, &ADD_TO_W, NULL, 0, 3,
                           (heed_value[]){dy, packed, heed_gradient(b, in[3])});
        return;
    }
    heed_shape shape = heed_shape_of(b, in[3]);
    *d_w = heed_record(b, &BACK_TO_W, NULL, 0, 2, (heed_value[]){dy, packed}, 1, &shape);
}

static void grad_bias(heed_build *b, heed_value bias, heed_value dy, heed_value *d_bias) {
    if (heed_is_weight(b, bias)) {
        heed_record_effect(b, &ADD_TO_BIAS, NULL, 0, 2, (heed_value[]){dy, heed_gradient(b, bias)});
        return;
    }
    heed_shape shape = heed_shape_of(b, bias);
    *d_bias = heed_record(b, &BACK_TO_BIAS, NULL, 0, 1, &dy, 1, &shape);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    (void)out;
    if (heed_wants_grad(b, in[3])) {
        grad_w(b, in, d_out[0], &d_in[3]);
    }
    if (heed_wants_grad(b, in[2])) {
        grad_bias(b, in[2], d_out[0], &d_in[2]);
    }
    if (heed_wants_grad(b, in[0])) {
        heed_shape shape = heed_shape_of(b, in[0]);
        heed_value from[] = {d_out[0], heed_pack(b, in[3], false), heed_absent()};
        heed_value dx = heed_record(b, &BACK_TO_X, NULL, 0, 3, from, 1, &shape);
        heed_pass_gradient(b, in[0], dx, &d_in[0]);
    }
}

static const heed_op PRODUCT = {.name = "product", .run = run_product, .grad = grad};

heed_value heed_product(heed_build *b, heed_value x, heed_value w, heed_value bias) {
    heed_shape xs = heed_shape_of(b, x), ws = heed_shape_of(b, w);
    if (!heed_check_numbers(b, "a product", x) || !heed_check_numbers(b, "a product", w)) {
        return (heed_value){0};
    }
    if (ws.extent != HEED_EXTENT_FIXED) {
        return heed_refuse(b, HEED_SHAPE, "the right side of a product must have a fixed size");
    }
    if (xs.cols != ws.cols) {
        return heed_refuse(b, HEED_SHAPE,
                           "x has %" PRId64 " columns, its weights are %" PRId64 " x %" PRId64,
                           xs.cols, ws.rows, ws.cols);
    }
    heed_shape bs = heed_shape_of(b, bias);
    if (bias.id && (bs.rows != 1 || bs.cols != ws.rows)) {
        return heed_refuse(b, HEED_SHAPE,
                           "a bias of %" PRId64 " x %" PRId64 " does not fit %" PRId64 " outputs",
                           bs.rows, bs.cols, ws.rows);
    }
    heed_shape out = heed_like(b, x, ws.rows);
    heed_value in[] = {x, heed_pack(b, w, true), bias.id ? bias : heed_absent(), w};
    return heed_record(b, &PRODUCT, NULL, 0, 4, in, 1, &out);
}

heed_value heed_linear(heed_build *b, heed_value x, const char *name, int64_t out, bool bias) {
    char path[128];
    int64_t k = heed_columns(b, x);
    if (!x.id) {
        return x;
    }
    if (out < 1) {
        return heed_refuse(b, HEED_SHAPE, "linear '%s' asks for %" PRId64 " outputs", name, out);
    }
    if (snprintf(path, sizeof path, "%s.weight", name) >= (int)sizeof path) {
        return heed_refuse(b, HEED_NAME, "the name '%s' is too long", name);
    }
    heed_value w = heed_weight(b, path, out, k, (heed_init){.kind = HEED_INIT_XAVIER, .size = 1});
    heed_value v = {0};
    if (bias) {
        snprintf(path, sizeof path, "%s.bias", name);
        v = heed_weight_vector(b, path, out, (heed_init){.kind = HEED_INIT_ZERO});
        if (!v.id) {
            return v;
        }
    }
    return heed_product(b, x, w, v);
}
