/* embed.c: rows of a table, scatter of gradients, ids outside the table.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    int64_t rows, cols;
    double scale;
    int64_t offset;
} table;

static heed_value record(heed_build *b, const void *arg) {
    const table *t = arg;
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    heed_value w = heed_weight(b, "table", t->rows, t->cols, init), ids = rows_ints(b, "ids");
    return t->offset ? heed_embed_from(b, w, ids, t->offset) : heed_embed(b, w, ids, t->scale);
}

static void check_values(const test_case *c, const table *t) {
    rig r;
    start_rig(&r, &(rig_options){.c = c, .mode = HEED_INFER, .threads = 1, .only = -1});
    heed_matrix y = out_of(&r);
    for (int64_t i = 0; i < y.rows * t->cols; i++) {
        int64_t row = t->offset + int_at("ids", i / t->cols, (int32_t)(t->rows - t->offset));
        double want =
            number_at(c, "unit.0.table", row, i % t->cols) * (double)(heed_number)t->scale;
        expect_near((double)y.data[i], want, fabs(want), 1, "row", i);
    }
    close_rig(&r);
}

static void test_values(void **state) {
    (void)state;
    const table tables[] = {
        {5, 3, 1, 0}, {1, 4, 2, 0}, {7, 6, 2.449489742783178, 0}, {7, 3, 1, 2}, {20, 2, 1, 19}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        int64_t limit = tables[i].rows - tables[i].offset;
        const test_input input[] = {{.name = "ids", .limit = (int32_t)limit}, {.name = NULL}};
        test_case c = {
            .record = record, .arg = &tables[i], .input = input, .rows = {4, 0, 9}, .n = 3};
        check_values(&c, &tables[i]);
        try_op(&c);
    }
}

/* Enough rows for several tasks: sums stay in order of rows for any number of threads. */
static void test_large(void **state) {
    (void)state;
    table t = {37, 40, 1.5, 0};
    const test_input input[] = {{.name = "ids", .limit = 37}, {.name = NULL}};
    test_case c = {.record = record, .arg = &t, .input = input, .rows = {150, 200}, .n = 2};
    rig one;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&one, &o);
    o.threads = 3;
    try_same(&one, o, "three threads");
    double sum[37 * 40] = {0};
    heed_matrix probe = heed_read(one.s, "probe");
    for (int64_t i = 0; i < 350 * 40; i++) {
        sum[int_at("ids", i / 40, 37) * 40 + i % 40] += 1.5 * (double)probe.data[i];
    }
    for (int64_t i = 0; i < 37 * 40; i++) {
        expect_near((double)heed_weights_at(one.weights, 0)->grad[i], sum[i], 30, 30, "gradient",
                    i);
    }
    close_rig(&one);
}

static void test_range(void **state) {
    (void)state;
    const table t = {5, 3, 1, 0};
    const int32_t bad[] = {5, -1, INT32_MAX, INT32_MIN};
    const test_input input[] = {{.name = "ids", .limit = 5}, {.name = NULL}};
    test_case c = {.record = record, .arg = &t, .input = input, .rows = {4}, .n = 1};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        heed_error err = {0};
        char text[80];
        heed_ints(r.s, "ids")[2] = bad[i];
        assert_false(heed_run(r.s, &err));
        snprintf(text, sizeof text, "ids[2] is %d, the table holds 0 to 4", bad[i]);
        expect_error(&err, HEED_VALUE, text);
    }
    close_rig(&r);
}

/* Positions behind an offset are told as they were given; those before it are rows too. */
static void test_range_from(void **state) {
    (void)state;
    const table t = {7, 3, 1, 2};
    const test_input input[] = {{.name = "ids", .limit = 5}, {.name = NULL}};
    test_case c = {.record = record, .arg = &t, .input = input, .rows = {4}, .n = 1};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    const int32_t bad[] = {5, -3, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        heed_error err = {0};
        heed_ints(r.s, "ids")[2] = bad[i];
        assert_false(heed_run(r.s, &err));
        expect_error(&err, HEED_VALUE, "the table behind its first 2 rows holds -2 to 4");
    }
    heed_ints(r.s, "ids")[2] = -2;
    assert_true(heed_run(r.s, NULL));
    for (int64_t j = 0; j < t.cols; j++) {
        assert_true(out_of(&r).data[2 * t.cols + j] == heed_weights_at(r.weights, 0)->data[j]);
    }
    close_rig(&r);
}

/* Labels may be -100, ids of a table may not: what is both may not either, in whatever order. */
static heed_value record_labels(heed_build *b, const void *arg) {
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    heed_value w = heed_weight(b, "w", 4, 3, init), big = heed_weight(b, "big", 9, 3, init);
    heed_value ids = rows_ints(b, "ids"), x = {0};
    if (*(const bool *)arg) {
        x = heed_embed(b, big, ids, 1);
    }
    heed_value loss = heed_xent(b, rows_input(b, "x", 3), w, (heed_value){0}, ids, 0);
    if (!*(const bool *)arg) {
        x = heed_embed(b, big, ids, 1);
    }
    return heed_add(b, loss, heed_sum(b, x));
}

static void test_ids_that_are_labels(void **state) {
    (void)state;
    const test_input input[] = {
        {.name = "ids", .limit = 4}, {.name = "x", .cols = 3}, {.name = NULL}};
    for (int first = 0; first < 2; first++) {
        bool arg = first;
        test_case c = {.record = record_labels, .arg = &arg, .input = input, .rows = {3}, .n = 1};
        c.is_loss = true;
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        static const int32_t bad[] = {-100, 4};
        for (int i = 0; i < 2; i++) {
            heed_error err = {0};
            heed_ints(r.s, "ids")[1] = bad[i];
            assert_false(heed_run(r.s, &err));
            expect_error(&err, HEED_VALUE, "the vocabulary holds 0 to 3");
        }
        close_rig(&r);
    }
}

static heed_value record_still(heed_build *b, const void *arg) {
    (void)arg;
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    return heed_embed_except(b, heed_weight(b, "table", 4, 3, init), rows_ints(b, "ids"), 2, 1);
}

/* The still row of a table is read like any other and gets no gradient. */
static void test_still(void **state) {
    (void)state;
    const test_input input[] = {{.name = "ids", .limit = 4}, {.name = NULL}};
    test_case c = {.record = record_still, .input = input, .rows = {9}, .n = 1};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    heed_matrix y = out_of(&r), probe = heed_read(r.s, "probe");
    double sum[12] = {0};
    for (int64_t i = 0; i < 27; i++) {
        int32_t id = int_at("ids", i / 3, 4);
        double want = 2 * number_at(&c, "unit.0.table", id, i % 3);
        expect_near((double)y.data[i], want, 2, 0, "row", i);
        sum[id * 3 + i % 3] += id == 1 ? 0 : 2 * (double)probe.data[i];
    }
    for (int64_t i = 0; i < 12; i++) {
        expect_near((double)heed_weights_at(r.weights, 0)->grad[i], sum[i], 10, 4, "gradient", i);
    }
    assert_true(sum[0] != 0);
    close_rig(&r);
}

static heed_value record_numbers(heed_build *b, const void *arg) {
    (void)arg;
    heed_init init = {.kind = HEED_INIT_ZERO};
    return heed_embed(b, heed_weight(b, "table", 3, 3, init), rows_input(b, "x", 1), 1);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record_numbers, NULL, HEED_SHAPE, "unit.0: an embedding wants one integer");
    expect_refused(record, &(table){4, 2, 1, 4}, HEED_SHAPE,
                   "unit.0: an embedding from row 4 on of a table of 4 rows");
    expect_refused(record, &(table){4, 2, 1, -1}, HEED_SHAPE, "from row -1 on");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_range),
                                       cmocka_unit_test(test_range_from),
                                       cmocka_unit_test(test_ids_that_are_labels),
                                       cmocka_unit_test(test_still),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
