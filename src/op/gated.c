/* gated.c: y = f(gate) * up, the middle of a gated feed-forward.
 *
 *   dgate = dy * up * f'(gate),  dup = dy * f(gate)
 * f(gate) is computed again for the gradient rather than kept: memory, not arithmetic, limits
 * training. Source: Shazeer 2020, "GLU variants improve Transformer".
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/activation.h"
#include "op/shape.h"

typedef struct {
    heed_activation f;
} gated_attr;

/* A block of whole rows of the node's values, which all have one shape. */
typedef struct {
    const heed_kernels *kernels;
    heed_activation f;
    int64_t n;
    const heed_real *a, *b, *c;
    heed_real *out;
} block;

static block block_of(const heed_work *w, int64_t from, int64_t to) {
    const gated_attr *attr = w->attr;
    int64_t cols = w->out[0].cols, at = from * cols;
    block k = {.kernels = w->kernels, .f = attr->f, .n = (to - from) * cols};
    k.a = (const heed_real *)w->in[0].data + at;
    k.b = (const heed_real *)w->in[1].data + at;
    k.c = w->n_in > 2 ? (const heed_real *)w->in[2].data + at : NULL;
    k.out = (heed_real *)w->out[0].data + at;
    return k;
}

/* in: gate, up */
static void gated_rows(void *ctx, int64_t from, int64_t to) {
    block k = block_of(ctx, from, to);
    k.kernels->act(k.f, k.n, k.a, k.out);
    k.kernels->mul(k.n, k.out, k.b, k.out);
}

/* in: gate, up, dy */
static void gate_rows(void *ctx, int64_t from, int64_t to) {
    block k = block_of(ctx, from, to);
    k.kernels->mul(k.n, k.c, k.b, k.out);
    k.kernels->act_back(k.f, k.n, k.a, k.out, k.out);
}

static void run_rows(const heed_work *w, void (*body)(void *ctx, int64_t from, int64_t to)) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * HEED_ACT_COST, body, (void *)w);
}

static void run(const heed_work *w) {
    run_rows(w, gated_rows);
}

static void run_gate(const heed_work *w) {
    run_rows(w, gate_rows);
}

/* The gradient of up is the op itself with dy in the place of up. */
static const heed_op BACK_TO_UP = {.name = "gated (gradient of up)", .run = run};
static const heed_op BACK_TO_GATE = {.name = "gated (gradient of the gate)", .run = run_gate};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    size_t bytes = sizeof(gated_attr);
    if (heed_wants_grad(b, in[0])) {
        heed_value from[] = {in[0], in[1], d_out[0]};
        heed_value d = heed_record(b, &BACK_TO_GATE, attr, bytes, 3, from, 1, &shape);
        heed_pass_gradient(b, in[0], d, &d_in[0]);
    }
    if (heed_wants_grad(b, in[1])) {
        heed_value from[] = {in[0], d_out[0]};
        heed_value d = heed_record(b, &BACK_TO_UP, attr, bytes, 2, from, 1, &shape);
        heed_pass_gradient(b, in[1], d, &d_in[1]);
    }
}

/* out may lie where the gate lies: it is read once, before anything is written over it. */
static const heed_op GATED = {.name = "gated", .run = run, .grad = grad, .in_place = 1};

heed_value heed_gated(heed_build *b, heed_value gate, heed_value up, heed_act_kind kind) {
    gated_attr attr;
    if (!heed_check_alike(b, "gated", gate, up) || !heed_activation_of(b, kind, &attr.f)) {
        return (heed_value){0};
    }
    heed_shape shape = heed_shape_of(b, gate);
    return heed_record(b, &GATED, &attr, sizeof attr, 2, (heed_value[]){gate, up}, 1, &shape);
}
