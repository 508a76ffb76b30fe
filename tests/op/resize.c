/* resize.c: a table on a grid for another grid, against values of torch.nn.functional.interpolate
 * (mode="bicubic", align_corners=False, float64, torch 2.15.0); columns joined.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

/* ---- Resizing ---- */

enum { BEFORE = 2 };

/* The table's numbers are those of rows_input's, so that torch could be given them. */
static heed_value record_resize(heed_build *b, const void *arg) {
    const heed_grid *g = arg;
    heed_value table = heed_weight(b, "table", g->before + g->rows * g->cols, 3,
                                   (heed_init){.kind = HEED_INIT_NORMAL, .size = 1});
    heed_value out = heed_resize_grid(b, table, g);
    return heed_product(b, rows_input(b, "x", 3), out, (heed_value){0});
}

static void test_gradient(void **state) {
    (void)state;
    const heed_grid all[] = {
        {BEFORE, 3, 3, 2, 5}, {0, 2, 4, 3, 3}, {1, 1, 1, 2, 2}, {BEFORE, 4, 3, 1, 1}};
    const test_input input[] = {{.name = "x", .cols = 3}, {.name = NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        try_op(&(test_case){
            .record = record_resize, .arg = &all[i], .input = input, .rows = {2, 0, 1}, .n = 3});
    }
}

/* The grid's numbers in reading order are 0, 1, 4, 9 ... and what `to` makes of them is `want`. */
static void try_values(const heed_grid *g, const double *want, double bound) {
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 2, NULL, &err);
    heed_weights *weights = heed_weights_new(NULL, &err);
    heed_build *b = heed_build_new(engine, HEED_INFER, weights, &err);
    int64_t rows = g->before + g->rows * g->cols;
    heed_value table = heed_weight(b, "table", rows, 1, (heed_init){.kind = HEED_INIT_ZERO});
    heed_value out = heed_resize_grid(b, table, g);
    heed_plan *plan =
        heed_plan_new(b, &(heed_plan_options){.keep = (heed_value[]){out, {0}}}, &err);
    heed_number data[64];
    for (int64_t i = 0; i < rows; i++) {
        double n = (double)(i - g->before);
        data[i] = (heed_number)(i < g->before ? -7 : n * n);
    }
    heed_weights_own(weights, "table", data, &err);
    heed_session *s = heed_session_new(plan, &err);
    heed_run(s, &err);
    expect_no_error(&err);
    heed_matrix m = heed_read_value(s, out);
    assert_int_equal(m.rows, g->before + g->to_rows * g->to_cols);
    for (int64_t i = 0; i < m.rows; i++) {
        double right = i < g->before ? -7 : want[i - g->before];
        if (!(fabs((double)m.data[i] - right) <= bound)) {
            fail_msg("row %d is %.9g, wanted %.9g", (int)i, (double)m.data[i], right);
        }
    }
    heed_session_free(s);
    heed_plan_free(plan);
    heed_weights_free(weights);
    heed_engine_free(engine);
}

static void test_values(void **state) {
    (void)state;
    const double larger[] = {-0.82725, -0.7738333333, -0.3020833333, 1.249666667, 2.415083333,
                             4.116,    5.62,          8.5,           12.46,       15.076,
                             9.05925,  12.01383333,   17.30208333,   23.67033333, 27.73691667};
    try_values(&(heed_grid){0, 2, 3, 3, 5}, larger, 1e-4);
    const double smaller[] = {4.001446759, 10.5, 21.17447917, 111.2092014, 141.75, 176.4667245};
    try_values(&(heed_grid){BEFORE, 4, 4, 2, 3}, smaller, 1e-4);
    const double other[] = {3.47265625, 5.1328125, 7.8671875, 9.52734375};
    try_values(&(heed_grid){1, 3, 2, 1, 4}, other, 1e-4);
    const double same[] = {0, 1, 4, 9, 16, 25};
    try_values(&(heed_grid){1, 2, 3, 2, 3}, same, 0);
}

static void test_refused(void **state) {
    (void)state;
    heed_grid none = {0, 2, 2, 0, 2}, large = {0, 2, 2, 1 << 20, 2};
    expect_refused(record_resize, &none, HEED_SHAPE, "a grid of 2 x 2 cannot become one of 0 x 2");
    expect_refused(record_resize, &large, HEED_SHAPE,
                   "a grid of 2 x 2 cannot become one of 1048576 x 2");
}

static heed_value record_wrong_table(heed_build *b, const void *arg) {
    heed_value table = heed_weight(b, "table", 6, 3, (heed_init){.kind = HEED_INIT_ONE});
    return heed_product(b, rows_input(b, "x", 3), heed_resize_grid(b, table, arg), (heed_value){0});
}

static void test_wrong_table(void **state) {
    (void)state;
    heed_grid g = {1, 2, 2, 3, 3};
    expect_refused(record_wrong_table, &g, HEED_SHAPE,
                   "a table of 6 rows is no grid of 2 x 2 behind 1 rows");
}

/* ---- Joining ---- */

static heed_value record_join(heed_build *b, const void *arg) {
    (void)arg;
    heed_value x = rows_input(b, "x", 2), y = rows_input(b, "y", 3);
    heed_value both = heed_join_columns(b, x, heed_mul(b, y, y));
    return heed_mul(b, both, heed_join_columns(b, y, x));
}

static void test_join(void **state) {
    (void)state;
    const test_input input[] = {{.name = "x", .cols = 2}, {.name = "y", .cols = 3}, {.name = NULL}};
    test_case c = {.record = record_join, .input = input, .rows = {3, 0, 2}, .n = 3};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    heed_matrix out = out_of(&r);
    assert_int_equal(out.cols, 5);
    for (int64_t i = 0; i < out.rows * out.cols; i++) {
        int64_t row = i / 5, col = i % 5;
        double y = col < 2 ? 0 : number_at(&c, "y", row, col - 2);
        double left = col < 2 ? number_at(&c, "x", row, col) : y * y;
        double right = col < 3 ? number_at(&c, "y", row, col) : number_at(&c, "x", row, col - 3);
        expect_near((double)out.data[i], left * right, 8, 4, "join", i);
    }
    close_rig(&r);
    try_op(&c);
}

/* Two halves of one weight: their gradients meet in it. */
static heed_value record_join_weights(heed_build *b, const void *arg) {
    (void)arg;
    heed_value w = heed_weight(b, "w", 4, 2, (heed_init){.kind = HEED_INIT_NORMAL, .size = 1});
    return heed_product(b, rows_input(b, "x", 4), heed_join_columns(b, w, w), (heed_value){0});
}

static void test_join_weights(void **state) {
    (void)state;
    const test_input input[] = {{.name = "x", .cols = 4}, {.name = NULL}};
    try_op(&(test_case){.record = record_join_weights, .input = input, .rows = {3, 1}, .n = 2});
}

static heed_value record_uneven(heed_build *b, const void *arg) {
    (void)arg;
    heed_value w = heed_weight(b, "w", 4, 2, (heed_init){.kind = HEED_INIT_ONE});
    return heed_join_columns(b, rows_input(b, "x", 2), w);
}

static void test_uneven(void **state) {
    (void)state;
    expect_refused(record_uneven, NULL, HEED_SHAPE,
                   "joining columns wants the same rows on both sides");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient), cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_wrong_table),
        cmocka_unit_test(test_join),     cmocka_unit_test(test_join_weights),
        cmocka_unit_test(test_uneven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
