/* dropout.c: the mask is a function of seed, step, path and place, and of nothing else.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    double p;
    const char *name;
} drop;

static heed_value record(heed_build *b, const void *arg) {
    const drop *d = arg;
    return heed_dropout(b, rows_input(b, "x", 50), d->name, d->p);
}

static const test_input input[] = {{.name = "x", .cols = 50}, {.name = NULL}};

static test_case case_of(const drop *d) {
    return (test_case){
        .record = record, .arg = d, .input = input, .rows = {7, 13}, .n = 2, .random = true};
}

static void test_gradient(void **state) {
    (void)state;
    drop d = {0.3, "drop"};
    test_case c = case_of(&d);
    c.rows[0] = 1;
    c.rows[1] = 2;
    try_op(&c);
}

/* Kept elements grow by 1/(1-p), the share that is dropped is p up to five deviations, the gradient
 * keeps the same elements. */
static void test_share(void **state) {
    (void)state;
    const double shares[] = {0.1, 0.5, 0.9};
    for (size_t k = 0; k < 3; k++) {
        drop d = {shares[k], "drop"};
        test_case c = case_of(&d);
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
        heed_matrix y = out_of(&r), dx = input_gradient(&r, "x"), probe = heed_read(r.s, "probe");
        int dropped = 0;
        for (int64_t i = 0; i < 1000; i++) {
            double x = number_at(&c, "x", i / 50, i % 50),
                   grow = 1 / (1 - floor(d.p * 0x1p32) * 0x1p-32);
            bool gone = y.data[i] == 0;
            dropped += gone;
            expect_near((double)y.data[i], gone ? 0 : x * grow, fabs(x * grow), 4, "y", i);
            double want = gone ? 0 : (double)probe.data[i] * grow;
            expect_near((double)dx.data[i], want, fabs(want), 4, "dx", i);
        }
        assert_true(fabs(dropped - 1000 * d.p) < 5 * sqrt(1000 * d.p * (1 - d.p)));
        close_rig(&r);
    }
}

static int differences(const heed_number *a, const heed_number *v) {
    int n = 0;
    for (int i = 0; i < 1000; i++) {
        n += (a[i] == 0) != (v[i] == 0);
    }
    return n;
}

static void test_streams(void **state) {
    (void)state;
    drop d = {0.5, "drop"}, other = {0.5, "other"};
    test_case c = case_of(&d), named = case_of(&other);
    rig r, q;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&r, &o);
    o.c = &named;
    start_rig(&q, &o);
    heed_number *first = copy_numbers(out_of(&r).data, 1000);
    assert_true(differences(first, out_of(&q).data) > 350); /* another name */
    heed_set_random(r.s, 7, 4);
    run_rig(&r);
    assert_true(differences(first, out_of(&r).data) > 350); /* another step */
    heed_set_random(r.s, 8, 3);
    run_rig(&r);
    assert_true(differences(first, out_of(&r).data) > 350); /* another seed */
    heed_set_random(r.s, 7, 3);
    run_rig(&r);
    assert_memory_equal(first, out_of(&r).data, 1000 * sizeof *first);
    free(first);
    close_rig(&q);
    close_rig(&r);
}

/* Outside of training, and for p = 0, it is x itself. */
static void test_identity(void **state) {
    (void)state;
    drop d = {0.5, "drop"}, none = {0, "drop"};
    test_case c = case_of(&d), without = case_of(&none);
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    assert_memory_equal(out_of(&r).data, heed_numbers(r.s, "x"), 1000 * sizeof(heed_number));
    close_rig(&r);
    start_rig(&r, &(rig_options){.c = &without, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    assert_memory_equal(out_of(&r).data, heed_numbers(r.s, "x"), 1000 * sizeof(heed_number));
    close_rig(&r);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record, &(drop){1, "drop"}, HEED_VALUE,
                   "unit.0: dropout must be at least 0 and less than 1, not 1");
    expect_refused(record, &(drop){-0.1, "drop"}, HEED_VALUE, "less than 1, not -0.1");
    expect_refused(record, &(drop){NAN, "drop"}, HEED_VALUE, "less than 1, not");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient),
                                       cmocka_unit_test(test_share), cmocka_unit_test(test_streams),
                                       cmocka_unit_test(test_identity),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
