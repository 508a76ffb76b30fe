/* pool.c: mean, first and last row of each sequence; an empty one gives zeros.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

static heed_value record(heed_build *b, const void *arg) {
    return heed_pool_rows(b, rows_input(b, "x", 3), *(const heed_pool_kind *)arg);
}

static double want(const test_case *c, heed_pool_kind kind, int64_t from, int64_t rows,
                   int64_t col) {
    double sum = 0;
    for (int64_t r = from; r < from + rows; r++) {
        sum += number_at(c, "x", r, col);
    }
    if (rows == 0 || kind == HEED_POOL_MEAN) {
        return rows ? sum / (double)rows : 0;
    }
    return number_at(c, "x", kind == HEED_POOL_FIRST ? from : from + rows - 1, col);
}

static void test_kinds(void **state) {
    (void)state;
    const test_input input[] = {{.name = "x", .cols = 3}, {.name = NULL}};
    for (heed_pool_kind kind = HEED_POOL_MEAN; kind <= HEED_POOL_LAST; kind++) {
        test_case c = {
            .record = record, .arg = &kind, .input = input, .rows = {3, 0, 1, 6}, .n = 4};
        c.pooled = true;
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        assert_int_equal(out_of(&r).rows, 4);
        for (int64_t s = 0, from = 0; s < 4; from += c.rows[s++]) {
            for (int64_t j = 0; j < 3; j++) {
                expect_near((double)out_of(&r).data[s * 3 + j], want(&c, kind, from, c.rows[s], j),
                            1, (double)c.rows[s] + 2, "pooled", s);
            }
        }
        close_rig(&r);
        try_op(&c);
    }
}

static heed_value record_row(heed_build *b, const void *arg) {
    return heed_pool_row(b, rows_input(b, "x", 3), *(const int64_t *)arg);
}

/* Row number 0, 1, 2 of each sequence, zeros where there is none. */
static void test_row(void **state) {
    (void)state;
    const test_input input[] = {{.name = "x", .cols = 3}, {.name = NULL}};
    for (int64_t which = 0; which < 3; which++) {
        test_case c = {
            .record = record_row, .arg = &which, .input = input, .rows = {3, 0, 1, 2}, .n = 4};
        c.pooled = true;
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        for (int64_t s = 0, from = 0; s < 4; from += c.rows[s++]) {
            for (int64_t j = 0; j < 3; j++) {
                double number = which < c.rows[s] ? number_at(&c, "x", from + which, j) : 0;
                expect_near((double)out_of(&r).data[s * 3 + j], number, 1, 0, "row", s);
            }
        }
        close_rig(&r);
        try_op(&c);
    }
}

/* A row for each sequence is a sequence of one row, which may be pooled again. */
static heed_value record_twice(heed_build *b, const void *arg) {
    (void)arg;
    heed_value once = heed_pool_rows(b, rows_input(b, "x", 3), HEED_POOL_LAST);
    return heed_pool_rows(b, once, HEED_POOL_MEAN);
}

static void test_twice(void **state) {
    (void)state;
    const test_input input[] = {{.name = "x", .cols = 3}, {.name = NULL}};
    heed_pool_kind kind = HEED_POOL_LAST;
    test_case c = {.record = record_twice, .arg = &kind, .input = input, .rows = {3, 1, 2}, .n = 3};
    c.pooled = true;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    assert_int_equal(out_of(&r).rows, 3);
    for (int64_t s = 0, from = 0; s < 3; from += c.rows[s++]) {
        expect_near((double)out_of(&r).data[s * 3], want(&c, kind, from, c.rows[s], 0), 1, 0,
                    "pooled", s);
    }
    close_rig(&r);
    try_op(&c);
}

static heed_value record_fixed(heed_build *b, const void *arg) {
    (void)arg;
    heed_value w = heed_weight(b, "w", 3, 3, (heed_init){.kind = HEED_INIT_ZERO});
    return heed_pool_rows(b, w, HEED_POOL_MEAN);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record_fixed, NULL, HEED_SHAPE, "unit.0: pooling wants rows of a row space");
    expect_refused(record_row, &(int64_t){-1}, HEED_VALUE, "there is no row -1 in a sequence");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_row),
                                       cmocka_unit_test(test_twice),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
