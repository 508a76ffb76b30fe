/* positions.c: sinusoids: published values, properties, ranges.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

typedef struct {
    int64_t d, longest;
    bool interleaved;
} places;

static heed_value record_sinusoid(heed_build *b, const void *arg) {
    const places *p = arg;
    heed_value positions = heed_positions(b, heed_rows(b, "rows"));
    return heed_sinusoid(b, positions, p->d, p->longest, p->interleaved);
}

static const test_input none[] = {{.name = NULL}};

static void expect_row(const rig *r, int64_t row, const double *want, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        double got = (double)out_of(r).data[row * out_of(r).cols + j];
        if (!(fabs(got - want[j]) <= 6e-7)) {
            fail_msg("row %ld column %ld is %.9g, should be %.6f", (long)row, (long)j, got,
                     want[j]);
        }
    }
}

static void test_sinusoid_known(void **state) {
    (void)state;
    places small = {.d = 4, .longest = 64, .interleaved = true};
    test_case c = {.record = record_sinusoid, .arg = &small, .input = none, .rows = {3, 2}, .n = 2};
    rig r;
    rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1};
    start_rig(&r, &o);
    const double one[] = {0.841471, 0.540302, 0.010000, 0.999950};
    expect_row(&r, 0, (const double[]){0, 1, 0, 1}, 4);
    expect_row(&r, 1, one, 4);
    expect_row(&r, 2, (const double[]){0.909297, -0.416147, 0.019999, 0.999800}, 4);
    expect_row(&r, 4, one, 4); /* positions begin anew in each sequence */
    close_rig(&r);
    small.interleaved = false;
    start_rig(&r, &o);
    expect_row(&r, 1, (const double[]){0.841471, 0.010000, 0.540302, 0.999950}, 4);
    close_rig(&r);
    places wide = {.d = 512, .longest = 51, .interleaved = true};
    c = (test_case){.record = record_sinusoid, .arg = &wide, .input = none, .rows = {51}, .n = 1};
    start_rig(&r, &o);
    const double far[] = {-0.262375, 0.964966, -0.895339, -0.445386, 0.560747, -0.827987};
    expect_row(&r, 50, far, 6);
    close_rig(&r);
}

/* Positions that the caller gives; one too far is refused before the run. */
static void test_sinusoid_range(void **state) {
    (void)state;
    places p = {.d = 4, .longest = 8, .interleaved = true};
    test_case c = {.record = record_sinusoid, .arg = &p, .input = none, .rows = {3}, .n = 1};
    rig r;
    heed_error err = {0};
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    int64_t starts[] = {0, 3};
    assert_true(heed_set_rows(r.s, "rows", 1, starts, (int32_t[]){7, 1, 2}, &err));
    run_rig(&r);
    expect_row(&r, 1, (const double[]){0.841471, 0.540302, 0.010000, 0.999950}, 4);
    assert_true(heed_set_rows(r.s, "rows", 1, starts, (int32_t[]){7, 8, 2}, &err));
    assert_false(heed_run(r.s, &err));
    expect_error(&err, HEED_VALUE, "[1] is 8, the table holds 0 to 7");
    close_rig(&r);
}

/* Two tables in one model: each has its own width and its own longest. */
static heed_value record_two(heed_build *b, const void *arg) {
    const places *p = arg;
    heed_value positions = heed_positions(b, heed_rows(b, "rows"));
    heed_value wide = heed_sinusoid(b, positions, 2 * p->d, p->longest, p->interleaved);
    heed_name(b, heed_scale(b, wide, 1), "wide");
    heed_sinusoid(b, positions, p->d, 2 * p->longest, p->interleaved);
    return heed_sinusoid(b, positions, p->d, p->longest, p->interleaved);
}

static void test_two_sinusoids(void **state) {
    (void)state;
    places p = {.d = 4, .longest = 8, .interleaved = true};
    test_case c = {.record = record_two, .arg = &p, .input = none, .rows = {3}, .n = 1};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    assert_int_equal(out_of(&r).cols, 4);
    expect_row(&r, 1, (const double[]){0.841471, 0.540302, 0.010000, 0.999950}, 4);
    close_rig(&r);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused(record_sinusoid, &(places){.d = 4, .longest = 0}, HEED_SHAPE,
                   "sinusoids of width 4 for 0 positions");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sinusoid_known), cmocka_unit_test(test_sinusoid_range),
        cmocka_unit_test(test_two_sinusoids), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
