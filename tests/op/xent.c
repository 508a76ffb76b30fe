/* xent.c: cross-entropy: known values, smoothing, ignored labels, gradients, blocks of rows.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    int64_t d, classes;
    double smoothing;
    bool bias, rows;
} layer;

static heed_value record(heed_build *b, const void *arg) {
    const layer *l = arg;
    heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
    heed_value w = heed_weight(b, "w", l->classes, l->d, init), bias = {0};
    if (l->bias) {
        bias = heed_weight_vector(b, "b", l->classes, init);
    }
    heed_value loss =
        heed_xent(b, rows_input(b, "x", l->d), w, bias, rows_ints(b, "labels"), l->smoothing);
    heed_name(b, heed_xent_rows(b, loss), "row_loss");
    return loss;
}

static test_case case_of(const layer *l, const test_input *input) {
    return (test_case){
        .record = record, .arg = l, .input = input, .rows = {4, 0, 3}, .n = 3, .is_loss = true};
}

/* The loss of one row in plain double. */
static double want_loss(const test_case *c, const layer *l, int64_t row) {
    double *logit = calloc((size_t)l->classes, sizeof *logit), sum = 0, loss = 0;
    assert_non_null(logit);
    for (int64_t j = 0; j < l->classes; j++) {
        logit[j] = l->bias ? number_at(c, "unit.0.b", 0, j) : 0;
        for (int64_t i = 0; i < l->d; i++) {
            logit[j] += number_at(c, "x", row, i) * number_at(c, "unit.0.w", j, i);
        }
        sum += exp(logit[j]);
    }
    int32_t label = int_at("labels", row, (int32_t)l->classes);
    for (int64_t j = 0; j < l->classes; j++) {
        double share = l->smoothing / (double)l->classes + (j == label ? 1 - l->smoothing : 0);
        loss += share * (log(sum) - logit[j]);
    }
    free(logit);
    return loss;
}

static void check_values(const test_case *c, const layer *l) {
    rig r;
    start_rig(&r, &(rig_options){
                      .c = c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true});
    double sum = 0, steps = 8 * (double)(l->d + l->classes);
    for (int64_t row = 0; row < r.rows; row++) {
        double want = want_loss(c, l, row);
        sum += want;
        expect_near((double)heed_read(r.s, "unit.0.row_loss").data[row], want, want + 1, steps,
                    "loss", row);
    }
    expect_near((double)*out_of(&r).data, sum, sum + (double)r.rows, steps, "loss", 0);
    close_rig(&r);
}

static void test_values(void **state) {
    (void)state;
    const layer layers[] = {{3, 5, 0, true, false},
                            {4, 2, 0.1, false, false},
                            {7, 40, 0.1, true, false},
                            {2, 1, 0.3, true, false}};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const test_input input[] = {{.name = "x", .cols = layers[i].d},
                                    {.name = "labels", .limit = (int32_t)layers[i].classes},
                                    {.name = NULL}};
        test_case c = case_of(&layers[i], input);
        check_values(&c, &layers[i]);
        try_op(&c);
    }
}

/* Logits [2,1,0,-1], label 0. */
static void test_known(void **state) {
    (void)state;
    const double smoothing[] = {0, 0.1}, want[] = {0.440190, 0.590190};
    for (int i = 0; i < 2; i++) {
        layer l = {1, 4, smoothing[i], false, false};
        const test_input input[] = {
            {.name = "x", .cols = 1}, {.name = "labels", .limit = 4}, {.name = NULL}};
        test_case c = case_of(&l, input);
        c.n = c.rows[0] = 1;
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
        heed_numbers(r.s, "x")[0] = 1;
        heed_ints(r.s, "labels")[0] = 0;
        for (int j = 0; j < 4; j++) {
            heed_weights_at(r.weights, 0)->data[j] = (heed_number)(2 - j);
        }
        assert_true(fabs(loss_now(&r) - want[i]) < 6e-7);
        close_rig(&r);
    }
}

/* A label of -100 adds no loss and no gradient: as if its row were not there, whatever x holds. */
static void test_ignored(void **state) {
    (void)state;
    layer l = {3, 5, 0.1, true, false};
    const test_input input[] = {
        {.name = "x", .cols = 3}, {.name = "labels", .limit = 5}, {.name = NULL}};
    test_case c = case_of(&l, input);
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    heed_ints(r.s, "labels")[2] = heed_ints(r.s, "labels")[6] = -100;
    double want = 0, loss = loss_now(&r);
    for (int64_t row = 0; row < 7; row++) {
        want += row == 2 || row == 6 ? 0 : want_loss(&c, &l, row);
    }
    expect_near(loss, want, want, 64, "loss", 0);
    for (int64_t j = 0; j < 3; j++) {
        assert_true(input_gradient(&r, "x").data[2 * 3 + j] == 0);
        assert_true(input_gradient(&r, "x").data[6 * 3 + j] == 0);
    }
    heed_number *before = copy_numbers(heed_weights_at(r.weights, 0)->grad, 15);
    heed_numbers(r.s, "x")[2 * 3] = -5;
    assert_true(loss_now(&r) == loss);
    assert_memory_equal(before, heed_weights_at(r.weights, 0)->grad, 15 * sizeof *before);
    free(before);
    for (int i = 0; i < 7; i++) {
        heed_ints(r.s, "labels")[i] = -100;
    }
    assert_true(loss_now(&r) == 0);
    heed_error err = {0};
    heed_ints(r.s, "labels")[1] = 5;
    assert_false(heed_run(r.s, &err));
    expect_error(&err, HEED_VALUE, "labels[1] is 5, the vocabulary holds 0 to 4");
    close_rig(&r);
}

/* More rows than one block: blocks leave no trace in any sum, for any number of threads. */
static void test_blocks(void **state) {
    (void)state;
    layer l = {20, 3000, 0.1, true, false};
    const test_input input[] = {
        {.name = "x", .cols = 20}, {.name = "labels", .limit = 3000}, {.name = NULL}};
    test_case c = case_of(&l, input);
    c.rows[0] = 600;
    check_values(
        &(test_case){
            .record = record, .arg = &l, .input = input, .rows = {3}, .n = 1, .is_loss = true},
        &l);
    rig one;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&one, &o);
    o.threads = 3;
    try_same(&one, o, "three threads");
    if (sizeof(heed_number) == sizeof(double)) {
        heed_weight_entry *w = heed_weights_at(one.weights, 0);
        heed_number *g = copy_numbers(w->grad, 3),
                    *dx = copy_numbers(input_gradient(&one, "x").data, 12040);
        check_gradient(&one, w->data, g, 3, "w");
        check_gradient(&one, heed_numbers(one.s, "x") + 12030, dx + 12030, 3, "x");
        free(g);
        free(dx);
    }
    close_rig(&one);
}

static heed_value record_scaled(heed_build *b, const void *arg) {
    return heed_scale(b, record(b, arg), 2);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record, &(layer){3, 5, 1, true, false}, HEED_VALUE,
                   "unit.0: label smoothing must be at least 0 and less than 1, not 1");
    expect_refused(record_scaled, &(layer){3, 5, 0, true, false}, HEED_VALUE,
                   "the cross-entropy must be the plan's loss itself");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_known), cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_blocks), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
