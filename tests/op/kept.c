/* Weights as files keep them: 16 bits give the bits of the same numbers as floats; blocks, and
 * columns that are rounded here, give what whole numbers give; and the same bits alone, in a batch,
 * on any number of threads.
 * SPDX-License-Identifier: MIT
 */
#include "op/kept.h"

static void expect_equal(const char *what, heed_matrix a, heed_matrix b, int64_t first) {
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        if (memcmp(a.data + i, b.data + first * b.cols + i, sizeof *a.data) != 0)
            fail_msg("%s: element %ld is %.9g, not %.9g", what, (long)i, (double)a.data[i],
                     (double)b.data[first * b.cols + i]);
}

/* ---- What is tried ---- */

/* Alone and on three threads, the bits of the batch on one. */
static void try_same_bits(const model *m, heed_type type, heed_compute compute) {
    kept one = open_kept(m, type, compute, 1), three = open_kept(m, type, compute, 3);
    heed_matrix all = run_rows(&one, 0, ROWS);
    expect_equal(m->name, run_rows(&three, 0, ROWS), all, 0);
    for (int64_t r = 0; r < ROWS; r++)
        expect_equal(m->name, run_rows(&three, r, r + 1), all, r);
    close_kept(&one);
    close_kept(&three);
}

static const heed_type BLOCKS[] = {HEED_Q4_0, HEED_Q4_1, HEED_Q5_0, HEED_Q5_1,
                                   HEED_Q8_0, HEED_Q4_K, HEED_Q5_K, HEED_Q6_K};
enum { BLOCK_TYPES = sizeof BLOCKS / sizeof *BLOCKS };

static void same_as_floats(const model *m, heed_type type) {
    kept a = open_kept(m, type, HEED_COMPUTE_KEPT, 1);
    kept b = make_kept(m, type, HEED_COMPUTE_FLOAT, 1);
    heed_error err = {0};
    heed_weight_entry *w = heed_weights_find(b.weights, "w.weight");
    assert_true(heed_weights_expand(b.weights, w, &err));
    assert_ptr_equal(w->raw, b.raw);
    assert_true(heed_weights_own(b.weights, "w.weight", w->data, &err)); /* floats alone */
    assert_null(w->raw);
    start(&b, m);
    expect_equal(m->name, run_rows(&a, 0, ROWS), run_rows(&b, 0, ROWS), 0);
    close_kept(&a);
    close_kept(&b);
}

static void test_sixteen_bits(void **state) {
    (void)state;
    const model *const all[] = {&LINEAR, &IN_OUT, &EMBED, &LOSS};
    for (int i = 0; i < 4; i++) {
        same_as_floats(all[i], HEED_F16);
        same_as_floats(all[i], HEED_BF16);
        try_same_bits(all[i], HEED_BF16, HEED_COMPUTE_KEPT);
    }
}

static void test_embed_of_blocks(void **state) {
    (void)state;
    for (int t = 0; t < BLOCK_TYPES; t++)
        same_as_floats(&EMBED, BLOCKS[t]);
}

/* What rows of 8 bits give: within half a step of each row's numbers, times the weights. */
static void check_rounded(const model *m, heed_type type, heed_compute compute,
                          double weight_step) {
    kept k = open_kept(m, type, compute, 1);
    float *w = malloc(sizeof *w * IN * OUT);
    assert_non_null(w);
    heed_type_to_f32(type, k.raw, (int64_t)IN * OUT, w);
    heed_matrix y = run_rows(&k, 0, ROWS);
    for (int64_t i = 0; i < ROWS * OUT; i++) {
        int64_t row = i / OUT, col = i % OUT;
        double want = 0.25 * (double)col, size = 0, most = 0;
        for (int64_t l = 0; l < IN; l++) {
            double weight = (double)(m == &IN_OUT ? w[l * OUT + col] : w[col * IN + l]);
            want += x_at(row, l) * weight;
            size += fabs(weight) / 254 + weight_step * fabs(x_at(row, l));
            most += fabs(x_at(row, l) * weight);
        }
        double got = (double)y.data[i], bound = size + 1e-5 * most;
        if (!(fabs(got - want) <= bound))
            fail_msg("%s of %s: %g, wanted %g (+- %g)", m->name, heed_type_name(type), got, want,
                     bound);
        /* rounding errors add up like a random walk: far below the bound */
        if (!(fabs(got - want) <= 0.2 * bound))
            fail_msg("%s of %s: %g is suspiciously far from %g", m->name, heed_type_name(type), got,
                     want);
    }
    free(w);
    close_kept(&k);
}

static void test_blocks(void **state) {
    (void)state;
    for (int t = 0; t < BLOCK_TYPES; t++) {
        check_rounded(&LINEAR, BLOCKS[t], HEED_COMPUTE_KEPT, 0);
        try_same_bits(&LINEAR, BLOCKS[t], HEED_COMPUTE_KEPT);
        try_same_bits(&LOSS, BLOCKS[t], HEED_COMPUTE_KEPT);
    }
}

static void test_int8(void **state) {
    (void)state;
    check_rounded(&LINEAR, HEED_F16, HEED_COMPUTE_INT8, 1 / 254.0);
    check_rounded(&LINEAR, HEED_Q8_0, HEED_COMPUTE_INT8, 0.13 / 254);
    check_rounded(&IN_OUT, HEED_BF16, HEED_COMPUTE_INT8, 1 / 254.0);
    check_rounded(&IN_OUT, HEED_Q8_0, HEED_COMPUTE_INT8, 0.13 / 254);
    try_same_bits(&IN_OUT, HEED_F16, HEED_COMPUTE_INT8);
    try_same_bits(&LOSS, HEED_F16, HEED_COMPUTE_INT8);
}

/* Floats where the processor has no such products. */
static void test_bf16(void **state) {
    (void)state;
    check_rounded(&LINEAR, HEED_F16, HEED_COMPUTE_BF16, 1 / 256.0);
    check_rounded(&IN_OUT, HEED_Q4_1, HEED_COMPUTE_BF16, 0.02 / 256);
    try_same_bits(&IN_OUT, HEED_F16, HEED_COMPUTE_BF16);
    try_same_bits(&LINEAR, HEED_Q8_0, HEED_COMPUTE_BF16);
    try_same_bits(&LOSS, HEED_F16, HEED_COMPUTE_BF16);
}

/* ---- What is no number, or next to none ---- */

enum { BAD = 7 }; /* column of the product, row of the table: the one that ids[1] names */

/* A weight of column BAD, or the scale of a block there, is NaN. */
static void spoil(kept *k, const model *m, heed_type type) {
    int64_t l = IN / 2 + 3, at = m == &IN_OUT ? l * OUT + BAD : BAD * IN + l;
    put_scale(type, k->raw + heed_elements_bytes(type, at), type == HEED_BF16 ? 0x7fc0 : 0x7e00);
}

static bool has_nan(const heed_number *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return true;
    return false;
}

/* What reads it is NaN, and nothing else. */
static void check_nan(const model *m, heed_type type, heed_compute compute) {
    kept k = make_kept(m, type, compute, 1);
    spoil(&k, m, type);
    start(&k, m);
    heed_matrix y = run_rows(&k, 0, ROWS);
    bool table = m == &EMBED, whole = m == &LOSS;
    for (int64_t i = 0; i < y.rows * (table ? 1 : y.cols); i++) {
        bool got = table ? has_nan(y.data + i * y.cols, y.cols) : isnan(y.data[i]);
        bool wanted = whole || (table ? i == 1 : i % y.cols == BAD);
        if (got != wanted)
            fail_msg("%s of %s, way %d: %ld is %s", m->name, heed_type_name(type), (int)compute,
                     (long)i, got ? "NaN" : "a number");
    }
    close_kept(&k);
}

static void test_no_number(void **state) {
    (void)state;
    const model *const all[] = {&LINEAR, &LOSS, &IN_OUT, &EMBED};
    for (int i = 0; i < 4; i++) {
        for (heed_compute c = HEED_COMPUTE_KEPT; c <= HEED_COMPUTE_BF16; c++) {
            check_nan(all[i], HEED_F16, c);
            check_nan(all[i], HEED_BF16, c);
            for (int t = 0; t < BLOCK_TYPES && all[i] != &IN_OUT; t++)
                check_nan(all[i], BLOCKS[t], c);
        }
    }
}

/* A column that 8 bits have no scale for is zeros; column 0 has no bias either. */
static void test_tiny(void **state) {
    (void)state;
    kept k = make_kept(&LINEAR, HEED_BF16, HEED_COMPUTE_INT8, 1);
    for (int64_t l = 0; l < IN; l++)
        put_scale(HEED_BF16, k.raw + heed_elements_bytes(HEED_BF16, l),
                  heed_bf16_from_f32(l % 2 ? HEED_INT_TINY : -0x1p-126f));
    start(&k, &LINEAR);
    heed_matrix y = run_rows(&k, 0, ROWS);
    for (int64_t i = 0; i < ROWS; i++)
        assert_true(y.data[i * OUT] == 0);
    close_kept(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sixteen_bits), cmocka_unit_test(test_embed_of_blocks),
        cmocka_unit_test(test_blocks),       cmocka_unit_test(test_int8),
        cmocka_unit_test(test_bf16),         cmocka_unit_test(test_no_number),
        cmocka_unit_test(test_tiny),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
