/* The memory of weights as files keep them: what a plan says before it is made, and what training
 * leaves of the file's numbers.
 * SPDX-License-Identifier: MIT
 */
#include "op/kept.h"

/* A measured plan tells what the plan takes once it is made: floats where somebody reads them. */
static void check_memory(const model *m, heed_type type, heed_compute compute, bool floats) {
    kept k = make_kept(m, type, compute, 1);
    record(&k, m, false);
    size_t measured = heed_plan_memory(k.plan).weights;
    heed_plan_free(k.plan);
    assert_null(heed_weights_find(k.weights, "w.weight")->data);
    start(&k, m);
    size_t wanted = heed_elements_bytes(type, IN * OUT);
    wanted += (floats ? IN * OUT : 0) * sizeof(heed_number);
    wanted += (heed_weights_find(k.weights, "w.bias") ? OUT : 0) * sizeof(heed_number);
    assert_int_equal(measured, wanted);
    assert_int_equal(heed_plan_memory(k.plan).weights, wanted);
    close_kept(&k);
}

static void test_memory(void **state) {
    (void)state;
    check_memory(&LINEAR, HEED_F16, HEED_COMPUTE_KEPT, false);
    check_memory(&LINEAR, HEED_F16, HEED_COMPUTE_BF16, true);
    check_memory(&LINEAR, HEED_Q4_K, HEED_COMPUTE_KEPT, false);
    check_memory(&LINEAR, HEED_Q4_K, HEED_COMPUTE_FLOAT, true);
    check_memory(&IN_OUT, HEED_Q8_0, HEED_COMPUTE_INT8, true);
    check_memory(&EMBED, HEED_Q8_0, HEED_COMPUTE_FLOAT, false);
}

static heed_memory plan_training(kept *k, bool measure) {
    heed_error err = {0};
    heed_build *b = heed_build_new(k->engine, HEED_TRAIN, k->weights, &err);
    heed_value w = heed_weight(b, "w.weight", OUT, IN, (heed_init){.kind = HEED_INIT_ZERO});
    heed_value labels = heed_input(b, "labels", heed_rows(b, "rows"));
    heed_value loss = heed_xent(b, numbers_in(b), w, (heed_value){0}, labels, 0);
    const heed_capacity capacity[] = {
        {.space = "rows", .rows = ROWS, .sequences = ROWS, .longest = ROWS}, {0}};
    heed_plan_options options = {.capacity = capacity, .loss = loss, .measure = measure};
    heed_plan *plan = heed_plan_new(b, &options, &err);
    expect_no_error(&err);
    heed_memory memory = heed_plan_memory(plan);
    heed_plan_free(plan);
    return memory;
}

/* What is trained is read as floats ever after, whoever reads it. */
static void test_training(void **state) {
    (void)state;
    kept k = make_kept(&LOSS, HEED_BF16, HEED_COMPUTE_KEPT, 1);
    heed_weight_entry *w = heed_weights_find(k.weights, "w.weight");
    size_t floats = (size_t)IN * OUT * sizeof *w->data;
    assert_int_equal(plan_training(&k, true).weights, floats);
    assert_ptr_equal(w->raw, k.raw);
    assert_int_equal(plan_training(&k, false).weights, floats);
    assert_null(w->raw);
    memset(w->data, 0, floats); /* as a step changes it */
    start(&k, &LOSS);
    heed_matrix loss = run_rows(&k, 0, ROWS);
    for (int64_t i = 0; i < ROWS; i++)
        assert_true(fabs((double)loss.data[i] - log(OUT)) < 1e-5);
    close_kept(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
