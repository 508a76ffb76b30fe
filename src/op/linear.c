/* linear.c: y = x W' + bias, the product that a Transformer spends its time in.
 *
 *   x R x k, W n x k, bias 1 x n  ->  y R x n
 *   dx = dy W,  dW = dy' x,  dbias = sum of dy over the rows
 *
 * dW is added to the weight's sum of gradients in the same chain: element (i, j) goes through the
 * rows in order, starting from the old sum. Attributes and names of weights: as PyTorch's Linear, W
 * stored n x k; or in by out, W stored k x n, as GPT-2's Conv1D: what is packed changes, and dW =
 * x' dy; the chains stay the same.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/columns.h"
#include "op/gemm.h"
#include "op/pack.h"
#include "op/shape.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct {
    bool in_out; /* W is stored k x n */
    heed_panel_kind kind;
} product_attr;

/* in: x, packed B, bias or absent; out = x B + bias. */
static void run_product(const heed_work *w) {
    const product_attr *a = w->attr;
    const heed_mat *x = &w->in[0], *y = &w->out[0];
    heed_gemm g = {
        .m = x->rows, .n = y->cols, .k = x->cols, .a = x->data, .a_row = x->cols, .a_col = 1};
    g.packed = w->in[1].data;
    g.kind = a->kind;
    g.c = y->data;
    g.ldc = y->cols;
    g.bias = w->in[2].data;
    heed_gemm_run(w, &g);
}
static const heed_op BACK_TO_X = {.name = "product (gradient of x)", .run = run_product};

/* dW = left' right: in: left, packed right; into `sum`, added to what is there or not. */
static void weights_gradient(const heed_work *w, heed_real *sum, int64_t cols, bool accumulate) {
    const heed_mat *left = &w->in[0];
    heed_gemm g = {.m = left->cols, .n = cols, .k = left->rows};
    g.a = left->data;
    g.a_row = 1;
    g.a_col = left->cols;
    g.packed = w->in[1].data;
    g.kind = ((const product_attr *)w->attr)->kind;
    g.c = sum;
    g.ldc = cols;
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

/* in: x, packed W', bias or absent, W (read by the backward pass alone) */
static void grad_w(heed_build *b, const product_attr *a, const heed_value *in, heed_value dy,
                   heed_value *d_w) {
    heed_value left = a->in_out ? in[0] : dy, right = a->in_out ? dy : in[0];
    heed_pack_way way;
    heed_value from[] = {left, heed_pack(b, right, false, &way), {0}};
    product_attr back = {.kind = way.kind};
    if (heed_is_weight(b, in[3])) {
        from[2] = heed_gradient(b, in[3]);
        heed_record_effect(b, &ADD_TO_W, &back, sizeof back, 3, from);
        return;
    }
    heed_shape shape = heed_shape_of(b, in[3]);
    *d_w = heed_record(b, &BACK_TO_W, &back, sizeof back, 2, from, 1, &shape);
}

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    const product_attr *a = attr;
    (void)out;
    if (heed_wants_grad(b, in[3])) {
        grad_w(b, a, in, d_out[0], &d_in[3]);
    }
    if (heed_wants_grad(b, in[2])) {
        heed_pass_column_sums(b, in[2], d_out[0], &d_in[2]);
    }
    if (heed_wants_grad(b, in[0])) {
        heed_shape shape = heed_shape_of(b, in[0]);
        heed_pack_way way;
        heed_value from[] = {d_out[0], heed_pack(b, in[3], a->in_out, &way), heed_absent()};
        product_attr back = {.kind = way.kind};
        heed_value dx = heed_record(b, &BACK_TO_X, &back, sizeof back, 3, from, 1, &shape);
        heed_pass_gradient(b, in[0], dx, &d_in[0]);
    }
}

/* W itself is there for the backward pass alone, and so it may be kept in any way. */
static const heed_op PRODUCT = {
    .name = "product", .run = run_product, .grad = grad, .kept = 1u << 3};

/* ---- With whole numbers: no training ---- */

enum { INT_PACKED = HEED_INT_PARTS, INT_BIAS, INT_INPUTS };

typedef struct {
    heed_int_form form;
    int64_t k;
} int_attr;

/* in: x as whole numbers, packed B, bias or absent */
static void run_int_product(const heed_work *w) {
    const int_attr *a = w->attr;
    const heed_mat *y = &w->out[0];
    heed_int_gemm g = {.m = y->rows, .n = y->cols, .k = a->k, .form = a->form};
    g.a = heed_int_rows_at(w->in, 0);
    g.packed = w->in[INT_PACKED].data;
    g.c = y->data;
    g.ldc = y->cols;
    g.bias = w->in[INT_BIAS].data;
    heed_int_gemm_run(w, &g);
}
static const heed_op INT_PRODUCT = {.name = "product of whole numbers", .run = run_int_product};

static heed_value int_product(heed_build *b, heed_value x, heed_value packed, heed_value bias,
                              const heed_int_form *form, const heed_shape *out) {
    int_attr attr = {.form = *form, .k = heed_shape_of(b, x).cols};
    heed_value q = heed_quantize_rows(b, x, form), in[INT_INPUTS];
    for (int i = 0; i < HEED_INT_PARTS; i++) {
        in[i] = heed_output(q, i);
    }
    in[INT_PACKED] = packed;
    in[INT_BIAS] = bias;
    return heed_record(b, &INT_PRODUCT, &attr, sizeof attr, INT_INPUTS, in, 1, out);
}

static heed_value product(heed_build *b, heed_value x, heed_value w, heed_value bias, bool in_out) {
    heed_shape xs = heed_shape_of(b, x), ws = heed_shape_of(b, w);
    if (!heed_check_numbers(b, "a product", x) || !heed_check_numbers(b, "a product", w)) {
        return (heed_value){0};
    }
    if (ws.extent != HEED_EXTENT_FIXED) {
        return heed_refuse(b, HEED_SHAPE, "the right side of a product must have a fixed size");
    }
    int64_t k = in_out ? ws.rows : ws.cols, n = in_out ? ws.cols : ws.rows;
    if (xs.cols != k) {
        return heed_refuse(b, HEED_SHAPE,
                           "x has %" PRId64 " columns, its weights are %" PRId64 " x %" PRId64,
                           xs.cols, ws.rows, ws.cols);
    }
    heed_shape bs = heed_shape_of(b, bias);
    if (bias.id && (bs.rows != 1 || bs.cols != n)) {
        return heed_refuse(b, HEED_SHAPE,
                           "a bias of %" PRId64 " x %" PRId64 " does not fit %" PRId64 " outputs",
                           bs.rows, bs.cols, n);
    }
    heed_pack_way way;
    heed_value packed = heed_pack(b, w, !in_out, &way);
    product_attr attr = {.in_out = in_out, .kind = way.kind};
    heed_shape out = heed_like(b, x, n);
    heed_value in[] = {x, packed, bias.id ? bias : heed_absent(), w};
    if (way.form.bits) {
        return int_product(b, x, in[1], in[2], &way.form, &out);
    }
    return heed_record(b, &PRODUCT, &attr, sizeof attr, 4, in, 1, &out);
}

heed_value heed_product(heed_build *b, heed_value x, heed_value w, heed_value bias) {
    return product(b, x, w, bias, false);
}

static heed_value linear(heed_build *b, heed_value x, const char *name, int64_t out, bool bias,
                         bool in_out) {
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
    heed_init init = {.kind = HEED_INIT_XAVIER, .size = 1};
    heed_value w = heed_weight(b, path, in_out ? k : out, in_out ? out : k, init), v = {0};
    if (bias) {
        snprintf(path, sizeof path, "%s.bias", name);
        v = heed_weight_vector(b, path, out, (heed_init){.kind = HEED_INIT_ZERO});
        if (!v.id) {
            return v;
        }
    }
    return product(b, x, w, v, in_out);
}

heed_value heed_linear(heed_build *b, heed_value x, const char *name, int64_t out, bool bias) {
    return linear(b, x, name, out, bias, false);
}

heed_value heed_linear_in_out(heed_build *b, heed_value x, const char *name, int64_t out,
                              bool bias) {
    return linear(b, x, name, out, bias, true);
}
