/* softmax.c: softmax of rows against plain double; rows of -inf, rows far out.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

static heed_value record(heed_build *b, const void *arg) {
    return heed_softmax(b, rows_input(b, "x", *(const int64_t *)arg));
}

static void try_width(int64_t n) {
    const test_input input[] = {{.name = "x", .cols = n}, {.name = NULL}};
    test_case c = {.record = record, .arg = &n, .input = input, .rows = {2, 3}, .n = 2};
    c.low = -4;
    c.high = 4;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t row = 0; row < 5; row++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += exp(number_at(&c, "x", row, j));
        }
        for (int64_t j = 0; j < n; j++) {
            double want = exp(number_at(&c, "x", row, j)) / sum;
            expect_near((double)out_of(&r).data[row * n + j], want, want, (double)n + 20, "p", j);
        }
    }
    close_rig(&r);
    try_op(&c);
}

static void test_widths(void **state) {
    (void)state;
    try_width(1);
    try_width(5);
    try_width(67);
}

static void test_edges(void **state) {
    (void)state;
    int64_t n = 4;
    const test_input input[] = {{.name = "x", .cols = n}, {.name = NULL}};
    test_case c = {.record = record, .arg = &n, .input = input, .rows = {3}, .n = 1};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    const heed_number x[12] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, /* nothing allowed */
                               30000,     29999,     -30000,    -INFINITY, /* far out */
                               -INFINITY, 5,         -INFINITY, -INFINITY};
    memcpy(heed_numbers(r.s, "x"), x, sizeof x);
    run_rig(&r);
    const double want[12] = {0, 0, 0, 0, 0.7310585786, 0.2689414214, 0, 0, 0, 1, 0, 0};
    for (int64_t i = 0; i < 12; i++) {
        assert_true(fabs((double)out_of(&r).data[i] - want[i]) < 1e-7);
        assert_true(isfinite(input_gradient(&r, "x").data[i]));
    }
    for (int64_t i = 0; i < 4; i++) {
        assert_true(input_gradient(&r, "x").data[i] == 0);
    }
    close_rig(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_widths), cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
