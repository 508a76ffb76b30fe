/* select.c: labelled rows: which, with which positions, what their loss is, gradients, limits.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

enum { D = 3, OTHER = 1, CLASSES = 4 };

static const test_input INPUT[] = {
    {.name = "x", .cols = D}, {.name = "ids", .limit = CLASSES}, {.name = NULL}};

/* Squares of the selected rows; the mean of each sequence. */
static heed_value record_mean(heed_build *b, const void *arg) {
    (void)arg;
    heed_value x = heed_scale(b, rows_input(b, "x", D), 2), ids = rows_ints(b, "ids");
    heed_value y = heed_name(b, heed_select(b, x, ids, OTHER), "chosen");
    heed_value place = heed_select(b, heed_positions(b, heed_rows(b, "rows")), ids, OTHER);
    heed_value table = heed_weight(b, "table", 9, D, (heed_init){.kind = HEED_INIT_ONE});
    heed_name(b, heed_embed(b, table, place, 1), "placed");
    heed_name(b, heed_embed(b, table, heed_positions(b, heed_space_of(b, y)), 1), "own");
    return heed_pool_rows(b, heed_mul(b, y, heed_add(b, y, heed_embed(b, table, place, 1))),
                          HEED_POOL_MEAN);
}

static test_case mean_case(void) {
    test_case c = {.record = record_mean, .input = INPUT, .rows = {5, 0, 1, 9}, .n = 4};
    c.pooled = true;
    return c;
}

static void test_rows(void **state) {
    (void)state;
    test_case c = mean_case();
    rig r;
    rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    heed_ints(r.s, "ids")[5] = OTHER; /* the sequence of one row is left without */
    run_rig(&r);
    heed_matrix y = heed_read(r.s, "unit.0.chosen"), placed = heed_read(r.s, "unit.0.placed");
    heed_matrix own = heed_read(r.s, "unit.0.own");
    int64_t n = 0;
    for (int64_t row = 0; row < 15; row++) {
        if (heed_ints(r.s, "ids")[row] == OTHER) {
            continue;
        }
        int64_t position = row < 5 ? row : row - 6;
        for (int64_t j = 0; j < D; j++) {
            expect_near((double)y.data[n * D + j], 2 * number_at(&c, "x", row, j), 2, 1, "row", n);
            expect_near((double)placed.data[n * D + j], number_at(&c, "unit.0.table", position, j),
                        1, 0, "position", n);
        }
        n++;
    }
    assert_int_equal(y.rows, n);
    assert_true(n > 4 && n < 14);
    expect_same(own, placed, "positions", "of the selected rows");
    for (int64_t j = 0; j < 2 * D; j++) {
        assert_true(out_of(&r).data[D + j] == 0);
    }
    close_rig(&r);
    try_op(&c);
}

/* All rows or none, in one session, one run after the other. */
static void test_each_run_anew(void **state) {
    (void)state;
    test_case c = mean_case();
    rig r;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    for (int none = 0; none < 2; none++) {
        for (int i = 0; i < 15; i++) {
            heed_ints(r.s, "ids")[i] = none ? OTHER : 0;
        }
        run_rig(&r);
        assert_int_equal(heed_read(r.s, "unit.0.chosen").rows, none ? 0 : 15);
        heed_matrix dx = input_gradient(&r, "x");
        for (int64_t i = 0; i < 15 * D; i++) {
            assert_true(none ? dx.data[i] == 0 : dx.data[i] != 0);
        }
    }
    close_rig(&r);
}

/* The loss of labelled rows through an output layer, from all rows or from those that count. */
static heed_value record_loss(heed_build *b, const void *arg) {
    heed_value x = rows_input(b, "x", D), ids = rows_ints(b, "ids");
    heed_value w = heed_weight(b, "w", CLASSES, D, (heed_init){.kind = HEED_INIT_ONE});
    if (*(const bool *)arg) {
        x = heed_select(b, x, ids, -100);
        ids = heed_select(b, ids, ids, -100);
    }
    return heed_xent(b, x, w, (heed_value){0}, ids, 0.1);
}

static void test_loss(void **state) {
    (void)state;
    rig r[2];
    bool selects[2] = {false, true};
    test_case c = {.record = record_loss, .input = INPUT, .rows = {5, 0, 9}, .n = 3};
    c.is_loss = true;
    for (int i = 0; i < 2; i++) {
        c.arg = &selects[i];
        rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
        start_rig(&r[i], &o);
        for (int row = 0; row < 14; row += 2) {
            heed_ints(r[i].s, "ids")[row] = -100;
        }
        run_rig(&r[i]);
    }
    expect_near((double)out_of(&r[1]).data[0], (double)out_of(&r[0]).data[0], 20, 30, "loss", 0);
    expect_same(input_gradient(&r[1], "x"), input_gradient(&r[0], "x"), "selected", "grad.x");
    if (sizeof(heed_number) == sizeof(double)) {
        try_gradients(&r[1]);
    }
    /* a label that is none is refused by its own name and row */
    heed_error err = {0};
    heed_ints(r[1].s, "ids")[3] = CLASSES;
    assert_false(heed_run(r[1].s, &err));
    expect_error(&err, HEED_VALUE, "ids[3] is 4, the vocabulary holds 0 to 3");
    close_rig(&r[0]);
    close_rig(&r[1]);
}

/* Attention among the selected rows, and with a token before them. */
static heed_value record_attend(heed_build *b, const void *arg) {
    (void)arg;
    heed_value y = heed_select(b, rows_input(b, "x", D), rows_ints(b, "ids"), OTHER);
    heed_value token = heed_weight(b, "token", 1, D, (heed_init){.kind = HEED_INIT_ONE});
    y = heed_prepend(b, y, token);
    y = heed_attend(b, y, y, y, &(heed_attention_options){.heads = 1});
    return heed_pool_rows(b, y, HEED_POOL_FIRST);
}

static void test_attention(void **state) {
    (void)state;
    test_case c = mean_case();
    c.record = record_attend;
    rig r;
    rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    for (int64_t j = 0; j < D; j++) { /* a sequence without rows: the token alone */
        assert_true(out_of(&r).data[D + j] == (heed_number)number_at(&c, "unit.0.token", 0, j));
    }
    close_rig(&r);
    try_op(&c);
}

static heed_value record_misfit(heed_build *b, const void *arg) {
    heed_value x = rows_input(b, "x", D), ids = rows_ints(b, "ids");
    heed_value far = heed_input(b, "far", heed_rows(b, "keys"));
    switch (*(const int *)arg) {
    case 0:
        return heed_select(b, x, x, 0);
    case 1:
        return heed_select(b, x, far, 0);
    default:
        return heed_select(b, x, heed_select(b, ids, ids, 0), 0);
    }
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record_misfit, &(int){0}, HEED_SHAPE,
                   "unit.0: rows are selected by an input of one integer for each of them");
    expect_refused(record_misfit, &(int){1}, HEED_SHAPE,
                   "unit.0: rows are selected by integers of their own row space");
    expect_refused(record_misfit, &(int){2}, HEED_SHAPE, "by an input of one integer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test(test_each_run_anew),
        cmocka_unit_test(test_loss), cmocka_unit_test(test_attention),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
