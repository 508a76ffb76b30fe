/* prepend.c: rows before each sequence: where they land, positions, pairs, joins, gradients.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

enum { D = 3, MORE = 2 };

static const test_input X[] = {{.name = "x", .cols = D}, {.name = NULL}};

static heed_value tokens(heed_build *b, int64_t rows) {
    return heed_weight(b, "tokens", rows, D, (heed_init){.kind = HEED_INIT_NORMAL, .size = 1});
}

/* Squares, so that every gradient depends on its row's values; the mean of each sequence. */
static heed_value record_mean(heed_build *b, const void *arg) {
    heed_value rows = tokens(b, MORE);
    if (arg) {
        rows = heed_scale(b, rows, 0.5); /* rows that are computed */
    }
    heed_value y = heed_name(b, heed_prepend(b, rows_input(b, "x", D), rows), "long");
    return heed_pool_rows(b, heed_mul(b, y, y), HEED_POOL_MEAN);
}

static void test_rows(void **state) {
    (void)state;
    test_case c = {.record = record_mean, .input = X, .rows = {3, 0, 2}, .n = 3, .pooled = true};
    rig r;
    rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    heed_matrix y = heed_read(r.s, "unit.0.long");
    assert_int_equal(y.rows, 5 + 3 * MORE);
    const int64_t want[11] = {-1, -2, 0, 1, 2, -1, -2, -1, -2, 3, 4}; /* -1: the first token */
    for (int64_t i = 0; i < 11 * D; i++) {
        int64_t row = want[i / D];
        double number = row < 0 ? number_at(&c, "unit.0.tokens", -1 - row, i % D)
                                : number_at(&c, "x", row, i % D);
        expect_near((double)y.data[i], number, 1, 0, "row", i);
    }
    close_rig(&r);
    try_op(&c);
    c.arg = X;
    try_op(&c);
}

/* The longer space has positions of its own, and attention over it sees the tokens. */
static heed_value record_attend(heed_build *b, const void *arg) {
    (void)arg;
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    heed_value y = heed_prepend(b, rows_input(b, "x", D), tokens(b, 1));
    heed_value positions = heed_positions(b, heed_space_of(b, y));
    y = heed_add(b, y, heed_embed(b, heed_weight(b, "positions", 5, D, init), positions, 1));
    y = heed_add(b, heed_name(b, y, "placed"),
                 heed_attend(b, y, y, y, &(heed_attention_options){.heads = 1}));
    return heed_pool_row(b, y, 0);
}

static void test_attention(void **state) {
    (void)state;
    test_case c = {.record = record_attend, .input = X, .rows = {4, 1, 0}, .n = 3, .pooled = true};
    rig r;
    rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    heed_matrix y = heed_read(r.s, "unit.0.placed"), w = heed_read(r.s, "unit.0.weights");
    const int64_t position[8] = {0, 1, 2, 3, 4, 0, 1, 0};
    const int64_t row[8] = {-1, 0, 1, 2, 3, -1, 4, -1};
    for (int64_t i = 0; i < 8 * D; i++) {
        double number = row[i / D] < 0 ? number_at(&c, "unit.0.tokens", 0, i % D)
                                       : number_at(&c, "x", row[i / D], i % D);
        number += number_at(&c, "unit.0.positions", position[i / D], i % D);
        expect_near((double)y.data[i], number, 1, 2, "placed", i);
    }
    assert_true(w.rows >= 25 + 4 + 1);
    for (int64_t i = 0; i < 30; i++) {
        assert_true(w.data[i] > 0 && w.data[i] <= 1);
    }
    assert_true(w.data[29] == 1); /* a token that is alone looks at itself */
    close_rig(&r);
    try_op(&c);
}

/* Queries that are joined to a space are joined to what is made longer of it. Scores are 0, so each
 * output is the mean of the token and the keys. */
static heed_value record_join(heed_build *b, const void *arg) {
    (void)arg;
    heed_value k = heed_prepend(b, keys_input(b, "k", D), tokens(b, 1));
    heed_value q = heed_scale(b, rows_input(b, "x", D), 0);
    return heed_attend(b, q, k, k, &(heed_attention_options){.heads = 1});
}

static void test_join(void **state) {
    (void)state;
    const test_input input[] = {
        {.name = "x", .cols = D}, {.name = "k", .cols = D, .keys = true}, {.name = NULL}};
    test_case c = {.record = record_join, .input = input, .rows = {2, 1, 1}, .n = 3};
    const int64_t keys[3] = {2, 0, 4}, first[3] = {0, 2, 2};
    const int32_t join[3] = {2, 0, 1};
    memcpy(c.keys, keys, sizeof keys);
    rig r;
    heed_error err = {0};
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    assert_true(heed_set_join(r.s, "rows", "keys", join, &err));
    run_rig(&r);
    for (int64_t row = 0; row < 4; row++) {
        int64_t s = row < 2 ? 0 : row - 1, k = join[s];
        for (int64_t j = 0; j < D; j++) {
            double sum = number_at(&c, "unit.0.tokens", 0, j);
            for (int64_t i = first[k]; i < first[k] + keys[k]; i++) {
                sum += number_at(&c, "k", i, j);
            }
            expect_near((double)out_of(&r).data[row * D + j], sum / (double)(keys[k] + 1), 1, 20,
                        "mean", row);
        }
    }
    if (sizeof(heed_number) == sizeof(double)) {
        try_gradients(&r);
    }
    /* as with the space itself, a join is of the rows as they were cut */
    assert_true(heed_set_rows(r.s, "keys", 3, (int64_t[]){0, 1, 2, 3}, NULL, &err));
    assert_false(heed_run(r.s, &err));
    expect_error(&err, HEED_VALUE, "heed_set_join comes after heed_set_rows");
    close_rig(&r);
}

/* Many sequences: the sum over them keeps its order for any number of threads. */
static void test_threads(void **state) {
    (void)state;
    test_case c = {.record = record_mean, .input = X, .n = MAX_SEQUENCES, .pooled = true};
    for (int i = 0; i < MAX_SEQUENCES; i++) {
        c.rows[i] = 900 * i;
    }
    rig one;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&one, &o);
    o.threads = 3;
    try_same(&one, o, "three threads");
    close_rig(&one);
}

static heed_value record_misfit(heed_build *b, const void *arg) {
    heed_init init = {.kind = HEED_INIT_ZERO};
    heed_value x = rows_input(b, "x", D), wide = heed_weight(b, "wide", 1, D + 1, init);
    switch (*(const int *)arg) {
    case 0:
        return heed_prepend(b, x, wide);
    case 1:
        return heed_prepend(b, x, x);
    case 2:
        return heed_prepend(b, wide, wide);
    default:
        return heed_prepend(b, rows_ints(b, "ids"), wide);
    }
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record_misfit, &(int){0}, HEED_SHAPE,
                   "unit.0: rows of 1 x 4 before rows of 3 columns");
    expect_refused(record_misfit, &(int){1}, HEED_SHAPE, "wants rows of a fixed number before");
    expect_refused(record_misfit, &(int){2}, HEED_SHAPE, "wants rows of a fixed number before");
    expect_refused(record_misfit, &(int){3}, HEED_SHAPE, "prepending wants numbers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test(test_attention), cmocka_unit_test(test_join),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
