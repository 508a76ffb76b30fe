/* linear.c: the product against plain sums in double, its gradients, its refusals.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    int64_t in, out;
    bool bias, in_out; /* in_out: the weight is stored in x out */
} shape;

static heed_value record(heed_build *b, const void *arg) {
    const shape *s = arg;
    heed_value x = rows_input(b, "x", s->in);
    return s->in_out ? heed_linear_in_out(b, x, "lin", s->out, s->bias)
                     : heed_linear(b, x, "lin", s->out, s->bias);
}

static double weight_at(const test_case *c, const shape *s, int64_t from, int64_t to) {
    return s->in_out ? number_at(c, "unit.0.lin.weight", from, to)
                     : number_at(c, "unit.0.lin.weight", to, from);
}

static void check_values(const test_case *c, const shape *s) {
    rig r;
    start_rig(&r, &(rig_options){.c = c, .mode = HEED_INFER, .threads = 1, .only = -1});
    heed_matrix y = out_of(&r);
    for (int64_t i = 0; i < y.rows * s->out; i++) {
        int64_t row = i / s->out, col = i % s->out;
        double sum = s->bias ? number_at(c, "unit.0.lin.bias", 0, col) : 0, size = fabs(sum);
        for (int64_t l = 0; l < s->in; l++) {
            double part = number_at(c, "x", row, l) * weight_at(c, s, l, col);
            sum += part;
            size += fabs(part);
        }
        expect_near((double)y.data[i], sum, size, (double)s->in + 3, "y", i);
    }
    close_rig(&r);
}

static void try_shape(int64_t in, int64_t out, bool bias) {
    for (int in_out = 0; in_out < 2; in_out++) {
        shape s = {in, out, bias, in_out};
        const test_input input[] = {{.name = "x", .cols = in}, {.name = NULL}};
        test_case c = {.record = record, .arg = &s, .input = input, .rows = {3, 0, 5, 1}, .n = 4};
        check_values(&c, &s);
        try_op(&c);
    }
}

static void test_shapes(void **state) {
    (void)state;
    try_shape(1, 1, true);
    try_shape(7, 5, true);
    try_shape(5, 33, false);
    try_shape(300, 3, true); /* deeper than one block of the packed form */
}

/* More rows than a task, more columns than a task: the same bits for any number of threads. */
static void try_large(bool in_out) {
    shape s = {260, 300, true, in_out};
    const test_input input[] = {{.name = "x", .cols = s.in}, {.name = NULL}};
    test_case c = {.record = record, .arg = &s, .input = input, .rows = {150, 1, 120}, .n = 3};
    check_values(&c, &s);
    rig one;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&one, &o);
    o.threads = 3;
    try_same(&one, o, "three threads");
    try_alone(&one, HEED_INFER);
    close_rig(&one);
}

static void test_large(void **state) {
    (void)state;
    try_large(false);
    try_large(true);
}

/* Stored one way or the other, the same weights give the same bits, gradients included. */
static void test_layouts(void **state) {
    (void)state;
    enum { IN = 300, OUT = 37 };
    const test_input input[] = {{.name = "x", .cols = IN}, {.name = NULL}};
    rig r[2];
    for (int in_out = 0; in_out < 2; in_out++) {
        shape s = {IN, OUT, false, in_out};
        test_case c = {.record = record, .arg = &s, .input = input, .rows = {9, 4}, .n = 2};
        start_rig(&r[in_out],
                  &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
        heed_weight_entry *e = heed_weights_find(r[in_out].weights, "unit.0.lin.weight");
        for (int64_t i = 0; i < IN * OUT; i++) {
            int64_t from = in_out ? i / OUT : i % IN, to = in_out ? i % OUT : i / IN;
            e->data[i] = (heed_number)(unit_at("w", from, to) - 0.5);
        }
        run_rig(&r[in_out]);
    }
    expect_same(out_of(&r[1]), out_of(&r[0]), "layouts", "out");
    expect_same(heed_read(r[1].s, "grad.x"), heed_read(r[0].s, "grad.x"), "layouts", "grad.x");
    const heed_number *g[2];
    for (int i = 0; i < 2; i++) {
        g[i] = heed_weights_find(r[i].weights, "unit.0.lin.weight")->grad;
    }
    for (int64_t i = 0; i < IN * OUT; i++) {
        assert_true(g[1][i] == g[0][i % OUT * IN + i / OUT]);
    }
    close_rig(&r[0]);
    close_rig(&r[1]);
}

/* A product with weights that are themselves computed: the gradient flows on through them. */
static heed_value record_computed(heed_build *b, const void *arg) {
    (void)arg;
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    heed_value w = heed_scale(b, heed_weight(b, "w", 4, 6, init), 0.5);
    heed_value bias = heed_scale(b, heed_weight_vector(b, "v", 4, init), 2);
    return heed_product(b, rows_input(b, "x", 6), w, bias);
}

/* One weight in two products and as a table: one sum of gradients. */
static heed_value record_tied(heed_build *b, const void *arg) {
    (void)arg;
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    heed_value w = heed_weight(b, "w", 6, 6, init), x = rows_input(b, "x", 6);
    heed_value once = heed_product(b, x, w, (heed_value){0});
    return heed_add(b, heed_product(b, once, w, (heed_value){0}),
                    heed_embed(b, w, rows_ints(b, "ids"), 1));
}

static void test_shared_weights(void **state) {
    (void)state;
    const test_input input[] = {
        {.name = "x", .cols = 6}, {.name = "ids", .limit = 6}, {.name = NULL}};
    try_op(&(test_case){.record = record_tied, .input = input, .rows = {3, 4}, .n = 2});
    const test_input x[] = {{.name = "x", .cols = 6}, {.name = NULL}};
    try_op(&(test_case){.record = record_computed, .input = x, .rows = {3, 4}, .n = 2});
}

static heed_value record_misfit(heed_build *b, const void *arg) {
    heed_init init = {.kind = HEED_INIT_ZERO};
    int which = *(const int *)arg;
    heed_value x = rows_input(b, "x", 6), w = heed_weight(b, "w", 4, which == 0 ? 5 : 6, init);
    heed_value bias = heed_weight_vector(b, "v", which == 1 ? 5 : 4, init);
    if (which == 4) {
        x = heed_linear_in_out(b, x, "lin", 3, false);
        return heed_linear(b, heed_linear(b, x, "more", 6, false), "lin", 3, false);
    }
    if (which == 3) {
        return heed_linear(b, rows_ints(b, "ids"), "lin", 2, true);
    }
    return which == 2 ? heed_linear(b, x, "lin", 0, true) : heed_product(b, x, w, bias);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record_misfit, &(int){0}, HEED_SHAPE,
                   "unit.0: x has 6 columns, its weights are 4 x 5");
    expect_refused(record_misfit, &(int){1}, HEED_SHAPE, "a bias of 1 x 5 does not fit 4 outputs");
    expect_refused(record_misfit, &(int){2}, HEED_SHAPE, "linear 'lin' asks for 0 outputs");
    expect_refused(record_misfit, &(int){3}, HEED_SHAPE, "a product wants numbers, not integers");
    expect_refused(record_misfit, &(int){4}, HEED_SHAPE,
                   "weight 'unit.0.lin.weight' is (6,3) at its first use and (3,6) at a later one");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_large), cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_shared_weights), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
