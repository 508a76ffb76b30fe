/* columns.c: pieces of columns, a row added to each row, a gain for each column.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    int64_t start, width, stride, count;
} pieces;

enum { WIDE = 12 };

static heed_value record_pick(heed_build *b, const void *arg) {
    const pieces *p = arg;
    return heed_pick_columns(b, rows_input(b, "x", WIDE), p->start, p->width, p->stride, p->count);
}

static void test_pick(void **state) {
    (void)state;
    const pieces all[] = {{0, 4, 0, 1}, {8, 4, 99, 1}, {4, 2, 6, 2},
                          {2, 2, 4, 3}, {0, 3, 3, 4},  {11, 1, 1, 1}};
    const test_input input[] = {{.name = "x", .cols = WIDE}, {.name = NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const pieces *p = &all[i];
        test_case c = {.record = record_pick, .arg = p, .input = input, .rows = {3, 0, 2}, .n = 3};
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        heed_matrix y = out_of(&r);
        assert_int_equal(y.cols, p->count * p->width);
        for (int64_t j = 0; j < y.rows * y.cols; j++) {
            int64_t col = j % y.cols;
            int64_t from = p->start + col / p->width * p->stride + col % p->width;
            expect_near((double)y.data[j], number_at(&c, "x", j / y.cols, from), 1, 0, "pick", j);
        }
        close_rig(&r);
        try_op(&c);
    }
}

/* The layouts of GPT-2 (all queries, all keys, all values) and of BLOOM (each head its three):
 * taken apart and multiplied, so that the three gradients meet in one row. */
static heed_value record_apart(heed_build *b, const void *arg) {
    const pieces *p = arg;
    heed_value x = heed_scale(b, rows_input(b, "x", WIDE), 2), part[3];
    for (int64_t i = 0; i < 3; i++) {
        part[i] = heed_pick_columns(b, x, i * p->start, p->width, p->stride, p->count);
    }
    return heed_mul(b, part[0], heed_mul(b, part[1], part[2]));
}

static void test_apart(void **state) {
    (void)state;
    const test_input input[] = {{.name = "x", .cols = WIDE}, {.name = NULL}};
    const pieces ways[] = {{4, 4, 0, 1}, {2, 2, 6, 2}};
    for (size_t i = 0; i < 2; i++) {
        test_case c = {
            .record = record_apart, .arg = &ways[i], .input = input, .rows = {3, 2}, .n = 2};
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        const int64_t first[2][4] = {{0, 1, 2, 3}, {0, 1, 6, 7}};
        for (int64_t j = 0; j < 20; j++) {
            double want = 8;
            for (int64_t k = 0; k < 3; k++) {
                want *= number_at(&c, "x", j / 4, first[i][j % 4] + k * ways[i].start);
            }
            expect_near((double)out_of(&r).data[j], want, 8, 4, "apart", j);
        }
        close_rig(&r);
        try_op(&c);
    }
}

/* Columns of a weight: its gradient adds up in place. */
static heed_value record_of_weight(heed_build *b, const void *arg) {
    (void)arg;
    heed_value w = heed_weight(b, "w", 3, 7, (heed_init){.kind = HEED_INIT_ONE});
    heed_value part = heed_pick_columns(b, w, 1, 2, 3, 2);
    return heed_product(b, rows_input(b, "x", 4), part, (heed_value){0});
}

static heed_value record_add_row(heed_build *b, const void *arg) {
    heed_value row = heed_weight_vector(b, "row", 5, (heed_init){.kind = HEED_INIT_ZERO});
    if (*(const bool *)arg) {
        row = heed_scale(b, row, -3);
    }
    return heed_add_row(b, rows_input(b, "x", 5), row);
}

static heed_value record_gain(heed_build *b, const void *arg) {
    return heed_scale_columns(b, rows_input(b, "x", 5), "gain", *(const double *)arg);
}

static void test_rows(void **state) {
    (void)state;
    const test_input input[] = {{.name = "x", .cols = 5}, {.name = NULL}};
    const test_input narrow[] = {{.name = "x", .cols = 4}, {.name = NULL}};
    try_op(&(test_case){.record = record_of_weight, .input = narrow, .rows = {3, 2}, .n = 2});
    bool computed = false;
    double initial = 1e-5;
    test_case add = {
        .record = record_add_row, .arg = &computed, .input = input, .rows = {3, 0, 4}, .n = 3};
    test_case gain = {
        .record = record_gain, .arg = &initial, .input = input, .rows = {3, 0, 4}, .n = 3};
    rig r;
    start_rig(&r, &(rig_options){.c = &add, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < 35; i++) {
        double want = number_at(&add, "x", i / 5, i % 5) + number_at(&add, "unit.0.row", 0, i % 5);
        expect_near((double)out_of(&r).data[i], want, 1, 2, "sum", i);
    }
    close_rig(&r);
    start_rig(&r, &(rig_options){.c = &gain, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < 35; i++) {
        double want =
            number_at(&gain, "x", i / 5, i % 5) * number_at(&gain, "unit.0.gain", 0, i % 5);
        expect_near((double)out_of(&r).data[i], want, 1, 1, "product", i);
    }
    close_rig(&r);
    try_op(&add);
    try_op(&gain);
    computed = true;
    try_op(&add);
}

/* More rows than a task of rows: the sums over them keep their order. */
static void test_large(void **state) {
    (void)state;
    double initial = 1;
    const test_input input[] = {{.name = "x", .cols = 5}, {.name = NULL}};
    test_case c = {
        .record = record_gain, .arg = &initial, .input = input, .rows = {7000, 1}, .n = 2};
    rig one;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&one, &o);
    o.threads = 3;
    try_same(&one, o, "three threads");
    close_rig(&one);
}

/* The gain stands at its initial value where nobody gives another. */
static void test_initial(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_weights *weights = heed_weights_new(NULL, &err);
    heed_build *b = heed_build_new(engine, HEED_INFER, weights, &err);
    heed_scale_columns(b, rows_input(b, "x", 3), "gain", 1e-5);
    assert_true(heed_weights_init(weights, 1, &err));
    heed_weight_entry *e = heed_weights_find(weights, "gain");
    assert_true(e->vector && e->rows == 1 && e->cols == 3);
    for (int i = 0; i < 3; i++) {
        assert_true(e->data[i] == (heed_number)1e-5);
    }
    heed_build_free(b);
    heed_weights_free(weights);
    heed_engine_free(engine);
}

static heed_value record_misfit(heed_build *b, const void *arg) {
    heed_init init = {.kind = HEED_INIT_ZERO};
    heed_value x = rows_input(b, "x", 6);
    switch (*(const int *)arg) {
    case 0:
        return heed_add_row(b, x, heed_weight_vector(b, "v", 5, init));
    case 1:
        return heed_add_row(b, x, heed_weight(b, "v", 2, 6, init));
    case 2:
        return heed_add_row(b, x, x);
    case 3:
        return heed_scale_columns(b, rows_ints(b, "ids"), "gain", 1);
    default:
        return heed_pick_columns(b, rows_ints(b, "ids"), 0, 1, 0, 1);
    }
}

static void test_refusals(void **state) {
    (void)state;
    const pieces bad[] = {{-1, 4, 4, 1}, {0, 0, 4, 1}, {0, 4, 4, 0},         {0, 13, 0, 1},
                          {9, 4, 0, 1},  {0, 4, 3, 2}, {0, 4, 4, 4},         {1, 4, 4, 3},
                          {0, 4, -4, 2}, {0, 4, 9, 2}, {INT64_MAX, 1, 1, 1}, {0, 1, INT64_MAX, 3}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_refused(record_pick, &bad[i], HEED_SHAPE, "cannot be taken out of 12");
    }
    expect_refused(record_pick, &bad[5], HEED_SHAPE,
                   "unit.0: 2 pieces of 4 columns, every 3 from column 0 on, cannot be taken");
    expect_refused(record_misfit, &(int){0}, HEED_SHAPE,
                   "unit.0: adding a row of 6 columns and a row of 5");
    expect_refused(record_misfit, &(int){1}, HEED_SHAPE, "wants one row of a fixed size");
    expect_refused(record_misfit, &(int){2}, HEED_SHAPE, "wants one row of a fixed size");
    expect_refused(record_misfit, &(int){3}, HEED_SHAPE, "wants numbers, not integers");
    expect_refused(record_misfit, &(int){4}, HEED_SHAPE, "wants numbers, not integers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pick),    cmocka_unit_test(test_apart),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_initial), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
