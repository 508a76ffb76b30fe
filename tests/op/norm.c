/* norm.c: LayerNorm and RMSNorm against plain double, their gradients, hostile rows.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    bool rms;
    int64_t n; /* of one head */
    double eps;
    bool with; /* by options */
    heed_norm_options o;
} norm;

static int64_t heads_of(const norm *a) {
    return a->with && a->o.heads ? a->o.heads : 1;
}

static heed_value record(heed_build *b, const void *arg) {
    const norm *a = arg;
    heed_value x = rows_input(b, "x", a->n * heads_of(a));
    if (a->with) {
        heed_norm_options o = a->o;
        o.eps = a->eps;
        return a->rms ? heed_rmsnorm_with(b, x, "norm", &o) : heed_layernorm_with(b, x, "norm", &o);
    }
    return a->rms ? heed_rmsnorm(b, x, "norm", a->eps) : heed_layernorm(b, x, "norm", a->eps);
}

/* y: one head of a row; `first`: its first column. */
static void check_row(const test_case *c, const norm *a, const heed_number *y, int64_t row,
                      int64_t first) {
    double mean = 0, square = 0;
    bool bias = a->with ? a->o.bias : !a->rms;
    for (int64_t j = 0; j < a->n; j++) {
        mean += number_at(c, "x", row, first + j) / (double)a->n;
    }
    mean = a->rms ? 0 : mean;
    for (int64_t j = 0; j < a->n; j++) {
        square += pow(number_at(c, "x", row, first + j) - mean, 2) / (double)a->n;
    }
    for (int64_t j = 0; j < a->n; j++) {
        double want = (number_at(c, "x", row, first + j) - mean) / sqrt(square + a->eps);
        double weight = a->o.plain ? 1 : number_at(c, "unit.0.norm.weight", 0, j);
        want *= (a->o.one_plus ? 1 : 0) + weight;
        want += bias ? number_at(c, "unit.0.norm.bias", 0, j) : 0;
        expect_near((double)y[j], want, (a->o.one_plus ? 4 : 1) / sqrt(square + a->eps),
                    2 * (double)a->n + 12, "y", j);
    }
}

static void try_case(const norm *a) {
    int64_t cols = a->n * heads_of(a);
    const test_input input[] = {{.name = "x", .cols = cols}, {.name = NULL}};
    test_case c = {.record = record, .arg = a, .input = input, .rows = {3, 0, 4}, .n = 3};
    c.low = -2;
    c.high = 3;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    const heed_weight_entry *weight = heed_weights_find(r.weights, "unit.0.norm.weight");
    assert_int_equal(weight ? weight->cols : 0, a->o.plain ? 0 : a->n);
    for (int64_t i = 0; i < 7 * heads_of(a); i++) {
        int64_t head = i % heads_of(a);
        check_row(&c, a, out_of(&r).data + i * a->n, i / heads_of(a), head * a->n);
    }
    close_rig(&r);
    try_op(&c);
}

static void try_norm(bool rms, int64_t n) {
    try_case(&(norm){.rms = rms, .n = n, .eps = 1e-5});
}

static void test_values(void **state) {
    (void)state;
    for (int rms = 0; rms < 2; rms++) {
        try_norm(rms, 2);
        try_norm(rms, 7);
        try_norm(rms, 70);
    }
}

static void test_options(void **state) {
    (void)state;
    for (int rms = 0; rms < 2; rms++) {
        try_case(&(norm){rms, 5, 1e-5, true, {.heads = 3}});
        try_case(&(norm){rms, 9, 1e-6, true, {.one_plus = true}});
        try_case(&(norm){rms, 4, 1e-6, true, {.heads = 2, .one_plus = true}});
        try_case(&(norm){rms, 6, 1e-5, true, {.plain = true}});
        try_case(&(norm){rms, 3, 1e-5, true, {.heads = 2, .plain = true}});
    }
    try_case(&(norm){false, 7, 1e-5, true, {.bias = true}});
    try_case(&(norm){false, 7, 1e-5, true, {.bias = true, .one_plus = true, .heads = 4}});
}

static heed_value record_initial(heed_build *b, const void *arg) {
    heed_norm_options o = {.eps = 1e-6, .one_plus = *(const bool *)arg};
    heed_value x = heed_input_numbers(b, "x", heed_rows(b, "rows"), 4);
    return heed_rmsnorm_with(b, x, "norm", &o);
}

/* Before any training a norm multiplies by 1, whichever way its gain is kept. */
static void test_initial(void **state) {
    (void)state;
    for (int one_plus = 0; one_plus < 2; one_plus++) {
        bool arg = one_plus;
        heed_error err = {0};
        heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
        heed_weights *weights = heed_weights_new(NULL, &err);
        heed_build *b = heed_build_new(engine, HEED_INFER, weights, &err);
        record_initial(b, &arg);
        assert_true(heed_weights_init(weights, 1, &err));
        assert_true(heed_weights_find(weights, "norm.weight")->data[3] == (one_plus ? 0 : 1));
        heed_build_free(b);
        heed_weights_free(weights);
        heed_engine_free(engine);
    }
}

/* A row of equal numbers has no deviation: finite, and the shift itself. */
static void test_constant_row(void **state) {
    (void)state;
    norm a = {.n = 5, .eps = 1e-5};
    const test_input input[] = {{.name = "x", .cols = 5}, {.name = NULL}};
    test_case c = {.record = record, .arg = &a, .input = input, .rows = {1}, .n = 1};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    for (int i = 0; i < 5; i++) {
        heed_numbers(r.s, "x")[i] = 4;
    }
    run_rig(&r);
    for (int64_t i = 0; i < 5; i++) {
        expect_near((double)out_of(&r).data[i], number_at(&c, "unit.0.norm.bias", 0, i), 1, 0, "y",
                    i);
        assert_true(isfinite(input_gradient(&r, "x").data[i]));
    }
    close_rig(&r);
}

/* Wide enough for several tasks of columns. */
static void test_large(void **state) {
    (void)state;
    for (int rms = 0; rms < 2; rms++) {
        norm a = {rms, 200, 1e-6, true, {.heads = 2}};
        const test_input input[] = {{.name = "x", .cols = 400}, {.name = NULL}};
        test_case c = {.record = record, .arg = &a, .input = input, .rows = {60, 70}, .n = 2};
        rig one;
        rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
        start_rig(&one, &o);
        o.threads = 3;
        try_same(&one, o, "three threads");
        close_rig(&one);
    }
}

static heed_value record_heads(heed_build *b, const void *arg) {
    heed_norm_options o = {.eps = 1e-5, .heads = *(const int64_t *)arg};
    return heed_layernorm_with(b, rows_input(b, "x", 8), "norm", &o);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record, &(norm){.n = 4}, HEED_VALUE,
                   "unit.0: layernorm wants an epsilon above 0, not 0");
    expect_refused(record, &(norm){.rms = true, .n = 4, .eps = NAN}, HEED_VALUE,
                   "rmsnorm wants an epsilon above 0");
    expect_refused(record, &(norm){true, 4, 1e-5, true, {.bias = true}}, HEED_VALUE,
                   "unit.0: rmsnorm has no bias");
    expect_refused(record_heads, &(int64_t){3}, HEED_SHAPE,
                   "unit.0: layernorm on width 8 and 3 heads");
    expect_refused(record_heads, &(int64_t){-2}, HEED_SHAPE, "width 8 and -2 heads");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_options),
        cmocka_unit_test(test_initial), cmocka_unit_test(test_constant_row),
        cmocka_unit_test(test_large),   cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
