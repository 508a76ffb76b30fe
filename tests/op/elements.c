/* elements.c: add, mul, scale, sum: values exactly as one rounding gives them, gradients, refusals.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef heed_number plain(heed_number a, heed_number v);

typedef struct {
    heed_value (*op)(heed_build *b, heed_value a, heed_value v);
    plain *want;
} binary;

static heed_number plus(heed_number a, heed_number v) {
    return a + v;
}

static heed_number times(heed_number a, heed_number v) {
    return a * v;
}

static heed_number scaled(heed_number a, heed_number v) {
    (void)v;
    return (heed_number)-2.5 * a;
}

static heed_value scale(heed_build *b, heed_value a, heed_value v) {
    (void)v;
    return heed_scale(b, a, -2.5);
}

static heed_value record(heed_build *b, const void *arg) {
    const binary *f = arg;
    heed_value a = rows_input(b, "a", 5);
    return f->op(b, a, f->op == scale ? a : rows_input(b, "v", 5));
}

static void try_binary(const binary *f) {
    const test_input two[] = {{.name = "a", .cols = 5}, {.name = "v", .cols = 5}, {.name = NULL}};
    const test_input one[] = {{.name = "a", .cols = 5}, {.name = NULL}};
    test_case c = {.record = record, .arg = f, .rows = {3, 0, 4}, .n = 3};
    c.input = f->op == scale ? one : two;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < 35; i++) {
        heed_number a = (heed_number)number_at(&c, "a", i / 5, i % 5);
        heed_number v = (heed_number)number_at(&c, "v", i / 5, i % 5);
        expect_near((double)out_of(&r).data[i], (double)f->want(a, v), 1, 0, "element", i);
    }
    close_rig(&r);
    try_op(&c);
}

static void test_binary(void **state) {
    (void)state;
    try_binary(&(binary){heed_add, plus});
    try_binary(&(binary){heed_mul, times});
    try_binary(&(binary){scale, scaled});
}

/* a + a and a * a: both inputs the same value, so both gradients meet. */
static heed_value record_twice(heed_build *b, const void *arg) {
    (void)arg;
    heed_value a = rows_input(b, "a", 3);
    return heed_add(b, heed_mul(b, a, a), heed_add(b, a, a));
}

/* Weights as operands: their gradients go to their sums. */
static heed_value record_weights(heed_build *b, const void *arg) {
    (void)arg;
    heed_rows(b, "rows"); /* the harness cuts it */
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    heed_value w = heed_weight(b, "w", 3, 4, init), v = heed_weight(b, "v", 3, 4, init);
    return heed_sum(b, heed_add(b, heed_scale(b, w, 3), heed_mul(b, w, heed_add(b, v, w))));
}

static void test_shared_operands(void **state) {
    (void)state;
    const test_input input[] = {{.name = "a", .cols = 3}, {.name = NULL}};
    try_op(&(test_case){.record = record_twice, .input = input, .rows = {2, 5}, .n = 2});
    const test_input none[] = {{.name = NULL}};
    try_op(&(test_case){
        .record = record_weights, .input = none, .rows = {1}, .n = 1, .is_loss = true});
}

static heed_value record_misfit(heed_build *b, const void *arg) {
    heed_value a = rows_input(b, "a", 5);
    switch (*(const int *)arg) {
    case 0:
        return heed_add(b, a, rows_input(b, "v", 4));
    case 1:
        return heed_mul(b, a, keys_input(b, "v", 5));
    default:
        return heed_scale(b, rows_ints(b, "ids"), 2);
    }
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record_misfit, &(int){0}, HEED_SHAPE, "unit.0: add of 5 and 4 columns");
    expect_refused(record_misfit, &(int){1}, HEED_SHAPE, "mul wants two values with the same rows");
    expect_refused(record_misfit, &(int){2}, HEED_SHAPE, "scale wants numbers, not integers");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_binary),
                                       cmocka_unit_test(test_shared_operands),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
