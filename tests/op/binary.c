/* binary.c: cross-entropy of yes or no: values, ignored labels, extremes, gradients, refusals.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

static heed_value record(heed_build *b, const void *arg) {
    (void)arg;
    heed_value loss = heed_binary_xent(b, rows_input(b, "z", 1), rows_ints(b, "labels"));
    heed_name(b, heed_xent_rows(b, loss), "row_loss");
    return loss;
}

static const test_input INPUT[] = {
    {.name = "z", .cols = 1}, {.name = "labels", .limit = 2}, {.name = NULL}};
static const test_case CASE = {.record = record,
                               .input = INPUT,
                               .rows = {4, 0, 3},
                               .n = 3,
                               .low = -8,
                               .high = 8,
                               .is_loss = true};

static void test_values(void **state) {
    (void)state;
    rig r;
    start_rig(&r, &(rig_options){
                      .c = &CASE, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true});
    double sum = 0;
    for (int64_t row = 0; row < r.rows; row++) {
        double z = number_at(&CASE, "z", row, 0);
        double want = log1p(exp(z)) - z * int_at("labels", row, 2);
        sum += want;
        expect_near((double)heed_read(r.s, "unit.0.row_loss").data[row], want, 9, 8, "loss", row);
    }
    expect_near((double)*out_of(&r).data, sum, 9 * (double)r.rows, 16, "loss", 0);
    close_rig(&r);
    try_op(&CASE);
}

/* A label of -100 has no loss and no gradient; a logit as large as can be has a finite loss. */
static void test_edges(void **state) {
    (void)state;
    rig r;
    start_rig(&r, &(rig_options){.c = &CASE, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    for (int64_t row = 0; row < 7; row++) {
        heed_ints(r.s, "labels")[row] = row == 2 ? -100 : 1;
        heed_numbers(r.s, "z")[row] = row == 2 ? 5 : row == 3 ? (heed_number)-1e30 : 40;
    }
    double loss = loss_now(&r);
    assert_true(fabs(loss / 1e30 - 1) < 1e-6);
    assert_true(input_gradient(&r, "z").data[2] == 0);
    assert_true(input_gradient(&r, "z").data[3] == -1);
    assert_true(fabs((double)input_gradient(&r, "z").data[0]) < 1e-6);
    close_rig(&r);
}

/* Several questions in each row, whose answers are numbers. */
static heed_value record_several(heed_build *b, const void *arg) {
    (void)arg;
    return heed_binary_xent(b, rows_input(b, "z", 3), rows_input(b, "y", 3));
}

static void test_several(void **state) {
    (void)state;
    static const test_input input[] = {
        {.name = "z", .cols = 3}, {.name = "y", .cols = 3, .fixed = true}, {.name = NULL}};
    const test_case c = {.record = record_several,
                         .input = input,
                         .rows = {4, 0, 3},
                         .n = 3,
                         .low = -8,
                         .high = 8,
                         .is_loss = true};
    rig r;
    double sum = 0;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < 3 * r.rows; i++) {
        double z = number_at(&c, "z", i / 3, i % 3), y = number_at(&c, "y", i / 3, i % 3);
        sum += log1p(exp(z)) - z * y;
    }
    expect_near((double)*out_of(&r).data, sum, 64 * (double)r.rows, 32, "loss", 0);
    close_rig(&r);
    try_op(&c);
}

static heed_value two_logits(heed_build *b, const void *arg) {
    (void)arg;
    return heed_binary_xent(b, rows_input(b, "z", 2), rows_ints(b, "labels"));
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(two_logits, NULL, HEED_SHAPE,
                   "binary cross-entropy wants one logit and one label in each row, not 2 and 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
