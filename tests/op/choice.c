/* choice.c: cross-entropy of a row chosen among others: values, several marks and none, groups that
 * are sequences or of a fixed size, gradients, refusals.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

static heed_value record(heed_build *b, const void *arg) {
    const int64_t *group = arg;
    heed_value loss =
        heed_choice_xent(b, rows_input(b, "z", 1), rows_ints(b, "marks"), group ? *group : 0);
    heed_name(b, heed_xent_rows(b, loss), "group_loss");
    return loss;
}

static const test_input INPUT[] = {
    {.name = "z", .cols = 1}, {.name = "marks", .limit = 2}, {.name = NULL}};

static test_case case_of(const int64_t *group) {
    return (test_case){.record = record,
                       .arg = group,
                       .input = INPUT,
                       .rows = {4, 0, 3, 1},
                       .n = 4,
                       .low = -8,
                       .high = 8,
                       .is_loss = true};
}

/* The loss of rows [from, to). */
static double wanted(const test_case *c, int64_t from, int64_t to) {
    double sum = 0, chosen = 0;
    bool any = false;
    for (int64_t r = from; r < to; r++) {
        double z = number_at(c, "z", r, 0);
        sum += exp(z);
        if (!any && int_at("marks", r, 2) == 1) {
            chosen = z;
            any = true;
        }
    }
    return any ? log(sum) - chosen : 0;
}

static void try_groups(const int64_t *group, const int64_t *starts, int64_t n) {
    test_case c = case_of(group);
    rig r;
    double sum = 0;
    start_rig(&r, &(rig_options){
                      .c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true});
    for (int64_t g = 0; g < n; g++) {
        double want = wanted(&c, starts[g], starts[g + 1]);
        sum += want;
        if (starts[g] < starts[g + 1]) {
            double got = (double)heed_read(r.s, "unit.0.group_loss").data[starts[g]];
            expect_near(got, want, 16, 8, "loss", g);
        }
    }
    expect_near((double)*out_of(&r).data, sum, 64, 16, "loss", 0);
    close_rig(&r);
    try_op(&c);
}

static void test_values(void **state) {
    static const int64_t three = 3;
    (void)state;
    try_groups(NULL, (const int64_t[]){0, 4, 4, 7, 8}, 4);
    try_groups(&three, (const int64_t[]){0, 3, 6, 8}, 3);
}

/* The first of several marks counts; a group without one has no gradient. */
static void test_marks(void **state) {
    (void)state;
    test_case c = case_of(NULL);
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    for (int64_t row = 0; row < 8; row++) {
        heed_ints(r.s, "marks")[row] = row == 1 || row == 2;
        heed_numbers(r.s, "z")[row] = 2;
    }
    assert_true(fabs(loss_now(&r) - log(4)) < 1e-6);
    const heed_number *d = input_gradient(&r, "z").data;
    assert_true(fabs((double)d[0] - 0.25) < 1e-6 && fabs((double)d[1] + 0.75) < 1e-6);
    assert_true(fabs((double)d[2] - 0.25) < 1e-6);
    assert_true(d[4] == 0 && d[6] == 0 && d[7] == 0);
    close_rig(&r);
}

static heed_value two_logits(heed_build *b, const void *arg) {
    (void)arg;
    return heed_choice_xent(b, rows_input(b, "z", 2), rows_ints(b, "marks"), 0);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(two_logits, NULL, HEED_SHAPE,
                   "a choice wants one logit and one mark in each row of a row space and groups of "
                   "at least one, not 2, 1 and 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
