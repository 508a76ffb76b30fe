/* gradient.c: from a loss back to weights and wanted inputs, as ordinary recorded nodes.
 *
 * Method: walk the nodes backwards from the loss; each op records its own backward; contributions
 * to one value are added in the order in which they come. With `recompute`, a unit's forward nodes
 * are recorded once more just before its first backward node, which then reads the copies: the
 * originals die after the forward pass. Copies of what nobody reads are dropped by the planner.
 * Source: Linnainmaa 1970 (reverse accumulation); Chen et al. 2016 (recomputation).
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <string.h>

typedef struct {
    heed_build *b;
    uint32_t *grad;       /* of each forward value, 0: none */
    uint32_t *copy;       /* value that stands for it in the backward pass */
    bool *unit_copied;    /* units recorded again so far */
    bool *unit_again;     /* units to be recorded again */
    size_t values, nodes; /* of the forward pass */
} backward;

static void run_one(const heed_work *w) {
    *(heed_real *)w->out[0].data = 1;
}
static const heed_op ONE = {.name = "one", .run = run_one};

bool heed_is_loss_gradient(const heed_build *b, heed_value d) {
    if (!d.id || heed_is_absent(d))
        return false;
    const heed_slot *v = heed_slot_at(&b->book, d.id);
    return v->source == HEED_FROM_NODE && b->book.node[v->index].op == &ONE;
}

typedef struct {
    const heed_work *w;
    int64_t cols;
} sum_job;

static void sum_rows(void *ctx, int64_t from, int64_t to) {
    const sum_job *j = ctx;
    int64_t at = from * j->cols;
    const heed_real *x = j->w->in[0].data, *y = j->w->in[1].data;
    j->w->kernels->add((to - from) * j->cols, x + at, y + at, (heed_real *)j->w->out[0].data + at);
}

static void run_sum(const heed_work *w) {
    sum_job job = {w, w->out[0].cols};
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, sum_rows, &job);
}
static const heed_op SUM = {.name = "sum of gradients", .run = run_sum, .in_place = 3};

static void set_scope(heed_build *b, const char *scope) {
    size_t n = strlen(scope);
    memcpy(b->scope, scope, n < HEED_SCOPE_BYTES ? n + 1 : 0);
}

static void contribute(backward *g, uint32_t value, heed_value more) {
    if (!more.id || more.id == UINT32_MAX)
        return;
    uint32_t have = g->grad[value - 1];
    if (have) {
        heed_shape shape = heed_slot_at(&g->b->book, value)->shape;
        more = heed_record(g->b, &SUM, NULL, 0, 2, (heed_value[]){{have}, more}, 1, &shape);
    }
    g->grad[value - 1] = more.id;
}

/* Records node n of the forward pass again, on the copies of its inputs. */
static void record_again(backward *g, size_t n) {
    heed_node node = g->b->book.node[n];
    heed_value in[HEED_MAX_IN];
    heed_shape out[HEED_MAX_OUT];
    for (int i = 0; i < node.n_in; i++)
        in[i].id = node.in[i] == UINT32_MAX ? UINT32_MAX : g->copy[node.in[i] - 1];
    for (int i = 0; i < node.n_out; i++)
        out[i] = heed_slot_at(&g->b->book, node.out + (uint32_t)i)->shape;
    set_scope(g->b, node.scope);
    heed_value v =
        heed_record(g->b, node.op, node.attr, node.attr_bytes, node.n_in, in, node.n_out, out);
    for (int i = 0; v.id && i < node.n_out; i++)
        g->copy[node.out + (uint32_t)i - 1] = v.id + (uint32_t)i;
}

static bool only_weights(const heed_record_book *k, const heed_node *n) {
    return n->n_out && !heed_slot_at(k, n->out)->depends;
}

static void copy_unit(backward *g, uint32_t unit) {
    if (!unit || !g->unit_again[unit - 1] || g->unit_copied[unit - 1])
        return;
    g->unit_copied[unit - 1] = true;
    for (size_t i = 0; i < g->nodes; i++) {
        const heed_node *n = &g->b->book.node[i];
        if (n->unit == unit && !n->op->effect && !only_weights(&g->b->book, n))
            record_again(g, i);
    }
}

static bool has_gradient(const backward *g, const heed_node *n) {
    for (int i = 0; i < n->n_out; i++)
        if (g->grad[n->out + (uint32_t)i - 1])
            return true;
    return false;
}

static void go_back(backward *g, size_t index) {
    heed_node n = g->b->book.node[index];
    if (!has_gradient(g, &n) || !heed_slot_at(&g->b->book, n.out)->wants_grad)
        return;
    set_scope(g->b, n.scope);
    if (!n.op->grad) {
        heed_refuse(g->b, HEED_VALUE, "op '%s' has no gradient, but one is needed through it",
                    n.op->name);
        return;
    }
    copy_unit(g, n.unit);
    set_scope(g->b, n.scope);
    heed_value in[HEED_MAX_IN], out[HEED_MAX_OUT], d_out[HEED_MAX_OUT], d_in[HEED_MAX_IN] = {{0}};
    for (int i = 0; i < n.n_in; i++)
        in[i].id = n.in[i] == UINT32_MAX ? UINT32_MAX : g->copy[n.in[i] - 1];
    for (int i = 0; i < n.n_out; i++) {
        out[i].id = g->copy[n.out + (uint32_t)i - 1];
        d_out[i].id = g->grad[n.out + (uint32_t)i - 1];
    }
    n.op->grad(g->b, n.attr, in, out, d_out, d_in);
    for (int i = 0; i < n.n_in; i++)
        if (n.in[i] != UINT32_MAX)
            contribute(g, n.in[i], d_in[i]);
}

static void name_gradients(backward *g) {
    heed_record_book *k = &g->b->book;
    size_t names = k->nameds;
    for (size_t i = 0; i < names; i++) {
        heed_named named = k->named[i];
        if (named.value > g->values || !g->grad[named.value - 1])
            continue;
        char path[HEED_SCOPE_BYTES + 8] = "grad.";
        strncat(path, named.path, HEED_SCOPE_BYTES);
        heed_add_name(g->b, path, g->grad[named.value - 1]);
    }
}

static bool prepare(backward *g, const heed_plan_options *options) {
    heed_record_book *k = &g->b->book;
    g->values = k->values;
    g->nodes = k->nodes;
    g->grad = heed_alloc(k->host, g->values, sizeof *g->grad, &g->b->error);
    g->copy = heed_alloc(k->host, g->values, sizeof *g->copy, &g->b->error);
    g->unit_copied = heed_alloc(k->host, k->units, sizeof *g->unit_copied, &g->b->error);
    g->unit_again = heed_alloc(k->host, k->units, sizeof *g->unit_again, &g->b->error);
    if (!g->grad || !g->copy || !g->unit_copied || !g->unit_again)
        return false;
    for (uint32_t i = 0; i < g->values; i++)
        g->copy[i] = i + 1;
    const char *scope = options->recompute;
    for (size_t i = 0; scope && i < k->units; i++) {
        size_t n = strlen(scope);
        bool under = !strncmp(k->unit[i], scope, n) && k->unit[i][n] == '.';
        g->unit_again[i] = under || !strcmp(scope, "*");
    }
    return true;
}

bool heed_add_gradients(heed_build *b, const heed_plan_options *options) {
    heed_shape shape = heed_shape_of(b, options->loss);
    if (shape.extent != HEED_EXTENT_FIXED || shape.rows != 1 || shape.cols != 1) {
        heed_refuse(b, HEED_SHAPE, "the loss must be a 1 x 1 value");
        return false;
    }
    backward g = {.b = b};
    b->unit = 0;
    if (prepare(&g, options)) {
        heed_shape one = heed_fixed(1, 1);
        g.grad[options->loss.id - 1] = heed_record(b, &ONE, NULL, 0, 0, NULL, 1, &one).id;
        for (size_t i = g.nodes; i-- > 0 && !b->error.code;)
            go_back(&g, i);
        name_gradients(&g);
    }
    b->scope[0] = 0;
    heed_free(b->book.host, g.grad);
    heed_free(b->book.host, g.copy);
    heed_free(b->book.host, g.unit_copied);
    heed_free(b->book.host, g.unit_again);
    return !b->error.code;
}
