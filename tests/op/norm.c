/* norm.c: LayerNorm and RMSNorm against plain double, their gradients, hostile rows.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    bool rms;
    int64_t n;
    double eps;
} norm;

static heed_value record(heed_build *b, const void *arg) {
    const norm *a = arg;
    heed_value x = rows_input(b, "x", a->n);
    return a->rms ? heed_rmsnorm(b, x, "norm", a->eps) : heed_layernorm(b, x, "norm", a->eps);
}

static void check_row(const test_case *c, const norm *a, const heed_number *y, int64_t row) {
    double mean = 0, square = 0;
    for (int64_t j = 0; j < a->n; j++) {
        mean += number_at(c, "x", row, j) / (double)a->n;
    }
    mean = a->rms ? 0 : mean;
    for (int64_t j = 0; j < a->n; j++) {
        square += pow(number_at(c, "x", row, j) - mean, 2) / (double)a->n;
    }
    for (int64_t j = 0; j < a->n; j++) {
        double want = (number_at(c, "x", row, j) - mean) / sqrt(square + a->eps);
        want *= number_at(c, "unit.0.norm.weight", 0, j);
        want += a->rms ? 0 : number_at(c, "unit.0.norm.bias", 0, j);
        expect_near((double)y[j], want, 1 / sqrt(square + a->eps), 2 * (double)a->n + 12, "y", j);
    }
}

static void try_norm(bool rms, int64_t n) {
    norm a = {rms, n, 1e-5};
    const test_input input[] = {{.name = "x", .cols = n}, {.name = NULL}};
    test_case c = {.record = record, .arg = &a, .input = input, .rows = {3, 0, 4}, .n = 3};
    c.low = -2;
    c.high = 3;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t row = 0; row < 7; row++) {
        check_row(&c, &a, out_of(&r).data + row * n, row);
    }
    close_rig(&r);
    try_op(&c);
}

static void test_values(void **state) {
    (void)state;
    for (int rms = 0; rms < 2; rms++) {
        try_norm(rms, 2);
        try_norm(rms, 7);
        try_norm(rms, 70);
    }
}

/* A row of equal numbers has no deviation: finite, and the shift itself. */
static void test_constant_row(void **state) {
    (void)state;
    norm a = {false, 5, 1e-5};
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
        norm a = {rms, 200, 1e-6};
        const test_input input[] = {{.name = "x", .cols = 200}, {.name = NULL}};
        test_case c = {.record = record, .arg = &a, .input = input, .rows = {60, 70}, .n = 2};
        rig one;
        rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
        start_rig(&one, &o);
        o.threads = 3;
        try_same(&one, o, "three threads");
        close_rig(&one);
    }
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record, &(norm){false, 4, 0}, HEED_VALUE,
                   "unit.0: layernorm wants an epsilon above 0, not 0");
    expect_refused(record, &(norm){true, 4, NAN}, HEED_VALUE, "rmsnorm wants an epsilon above 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_constant_row),
        cmocka_unit_test(test_large), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
