/* attention_edges.c: known values, rows without keys, NaN behind the mask, windows, leaks,
 * refusals.
 * SPDX-License-Identifier: MIT
 */
#include "op/attend.h"

/* A case with the numbers of the caller instead of the harness's. */
static void open_with(rig *r, const test_case *c, heed_mode mode, const heed_number *q,
                      const heed_number *k, const heed_number *v) {
    const attend *a = c->arg;
    rig_options o = {.c = c, .mode = mode, .threads = 1, .only = -1, .watch_all = true};
    start_rig(r, &o);
    int64_t keys = a->cross ? r->keys : r->rows;
    memcpy(heed_numbers(r->s, "q"), q, (size_t)(r->rows * a->o.heads * a->d) * sizeof *q);
    memcpy(heed_numbers(r->s, "k"), k, (size_t)(keys * kv_heads_of(a) * a->d) * sizeof *k);
    memcpy(heed_numbers(r->s, "v"), v, (size_t)(keys * kv_heads_of(a) * a->e) * sizeof *v);
}

static void expect_out(const rig *r, const double *want, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double got = (double)out_of(r).data[i];
        if (!(fabs(got - want[i]) <= 6e-7)) {
            fail_msg("out[%ld] is %.9g, should be %.6f", (long)i, got, want[i]);
        }
    }
}

static const heed_number UNIT[4] = {1, 0, 0, 1}, VALUES[4] = {1, 2, 3, 4};

static void test_known(void **state) {
    (void)state;
    const struct {
        bool causal;
        double scale, out[4];
    } known[] = {{false, 0, {1.660477, 2.660477, 2.339523, 3.339523}},
                 {true, 0, {1, 2, 2.339523, 3.339523}},
                 {false, 1, {1.537883, 2.537883, 2.462117, 3.462117}}};
    for (size_t i = 0; i < 3; i++) {
        attend a = {
            .o = {.heads = 1, .causal = known[i].causal, .scale = known[i].scale}, .d = 2, .e = 2};
        test_input input[ATTEND_INPUTS];
        test_case c = attend_case(&a, input);
        c.n = 1;
        c.rows[0] = 2;
        rig r;
        open_with(&r, &c, HEED_INFER, UNIT, UNIT, VALUES);
        run_rig(&r);
        expect_out(&r, known[i].out, 4);
        close_rig(&r);
    }
}

/* Row 1 may see nothing: zeros, and no gradient from it; what stands behind the mask may be NaN. */
static void test_no_key(void **state) {
    (void)state;
    attend a = {.o = {.heads = 1}, .d = 2, .e = 2, .masked = true};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    c.n = 1;
    c.rows[0] = c.keys[0] = 2;
    rig r;
    open_with(&r, &c, HEED_TRAIN, UNIT, UNIT, VALUES);
    memcpy(heed_bytes(r.s, "mask"), (uint8_t[]){1, 1, 0, 0}, 4);
    run_rig(&r);
    expect_out(&r, (const double[]){1.660477, 2.660477, 0, 0}, 4);
    assert_true(out_of(&r).data[2] == 0 && out_of(&r).data[3] == 0);
    heed_matrix weights = heed_read(r.s, "unit.0.weights"), dq = input_gradient(&r, "q");
    assert_true(weights.data[2] == 0 && weights.data[3] == 0);
    assert_true(dq.data[2] == 0 && dq.data[3] == 0);
    memcpy(heed_bytes(r.s, "mask"), (uint8_t[]){0, 0, 0, 0}, 4);
    run_rig(&r);
    for (int i = 0; i < 4; i++) {
        assert_true(out_of(&r).data[i] == 0 && dq.data[i] == 0);
        assert_true(input_gradient(&r, "k").data[i] == 0 && input_gradient(&r, "v").data[i] == 0);
    }
    close_rig(&r);
}

/* Key 3 of the second sequence is hidden from all its queries: NaN there changes nothing
 * anywhere. */
static void test_hidden_nan(void **state) {
    (void)state;
    attend a = {.o = {.heads = 2}, .d = 3, .e = 3, .masked = true};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    c.n = 2;
    c.rows[0] = c.keys[0] = 3;
    c.rows[1] = c.keys[1] = 70;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    for (int i = 0; i < 70; i++) {
        heed_bytes(r.s, "mask")[9 + i * 70 + 3] = 0;
    }
    run_rig(&r);
    heed_number *out = copy_numbers(out_of(&r).data, 73 * 6);
    heed_number *dq = copy_numbers(input_gradient(&r, "q").data, 73 * 6);
    heed_number *dv = copy_numbers(input_gradient(&r, "v").data, 73 * 6);
    for (int i = 0; i < 6; i++) {
        heed_numbers(r.s, "k")[6 * 6 + i] = heed_numbers(r.s, "v")[6 * 6 + i] = NAN;
    }
    run_rig(&r);
    assert_memory_equal(out, out_of(&r).data, 73 * 6 * sizeof *out);
    assert_memory_equal(dq, input_gradient(&r, "q").data, 73 * 6 * sizeof *out);
    assert_memory_equal(dv, input_gradient(&r, "v").data, 73 * 6 * sizeof *out);
    for (int i = 0; i < 6; i++) {
        assert_true(input_gradient(&r, "k").data[6 * 6 + i] == 0);
        assert_true(input_gradient(&r, "v").data[6 * 6 + i] == 0);
    }
    free(out);
    free(dq);
    free(dv);
    close_rig(&r);
}

/* Keys that each row weighs, as bits, first key first. */
static void expect_pattern(const attend *a, int64_t rows, int64_t keys, const char *const *want) {
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(a, input);
    c.n = 1;
    c.rows[0] = rows;
    c.keys[0] = keys;
    rig r;
    rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    heed_matrix weights = heed_read(r.s, "unit.0.weights");
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < keys; j++) {
            assert_int_equal(weights.data[i * keys + j] > 0, want[i][j] == '1');
        }
        assert_int_equal(out_of(&r).data[i] != 0, strchr(want[i], '1') != NULL);
    }
    close_rig(&r);
}

static void test_patterns(void **state) {
    (void)state;
    attend window = {.o = {.heads = 1, .causal = true, .window = 3}, .d = 1, .e = 1};
    expect_pattern(&window, 5, 5, (const char *[]){"10000", "11000", "11100", "01110", "00111"});
    const char *full[] = {"10000", "11000", "11100", "11110", "11111"};
    window.o.window = 5;
    expect_pattern(&window, 5, 5, full);
    window.o.window = 0;
    expect_pattern(&window, 5, 5, full);
    attend both = {.o = {.heads = 1, .window = 2}, .d = 1, .e = 1};
    expect_pattern(&both, 4, 4, (const char *[]){"1100", "1110", "0111", "0011"});
    attend end = {.o = {.heads = 1, .causal = true}, .d = 1, .e = 1, .cross = true};
    expect_pattern(&end, 2, 5, (const char *[]){"11110", "11111"});
    expect_pattern(&end, 5, 2, (const char *[]){"00", "00", "00", "10", "11"});
    end.o.window = 2;
    expect_pattern(&end, 2, 5, (const char *[]){"00110", "00011"});
    expect_pattern(&end, 5, 1, (const char *[]){"0", "0", "0", "0", "1"});
}

/* Which rows of the output change when row t of all inputs does. */
static void expect_leak(bool causal, int64_t t) {
    attend a = {.o = {.heads = 2, .causal = causal}, .d = 4, .e = 4};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    c.n = 2;
    c.rows[0] = 3;
    c.rows[1] = 9;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    heed_number *before = copy_numbers(out_of(&r).data, 12 * 8);
    for (int i = 0; i < 8; i++) {
        heed_numbers(r.s, "q")[(3 + t) * 8 + i] += 1;
        heed_numbers(r.s, "k")[(3 + t) * 8 + i] -= 1;
        heed_numbers(r.s, "v")[(3 + t) * 8 + i] += 2;
    }
    run_rig(&r);
    for (int64_t i = 0; i < 12; i++) {
        bool same = !memcmp(before + i * 8, out_of(&r).data + i * 8, 8 * sizeof *before);
        assert_int_equal(same, i < 3 || (causal && i < 3 + t));
    }
    free(before);
    close_rig(&r);
}

static void test_leak(void **state) {
    (void)state;
    for (int64_t t = 0; t < 9; t++) {
        expect_leak(true, t);
        expect_leak(false, t);
    }
}

/* Scores far out neither overflow nor lose the others. */
static void test_large_scores(void **state) {
    (void)state;
    attend a = {.o = {.heads = 1, .scale = 1}, .d = 1, .e = 1};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    c.n = 1;
    c.rows[0] = 3;
    const heed_number q[3] = {1000, -1000, 0}, k[3] = {1, -30, 40}, v[3] = {5, 6, 7};
    rig r;
    open_with(&r, &c, HEED_TRAIN, q, k, v);
    run_rig(&r);
    expect_out(&r, (const double[]){7, 6, 6}, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(isfinite(input_gradient(&r, "q").data[i]));
    }
    close_rig(&r);
}

/* Equal weights on values of 1: the output counts what is kept. Rows and heads draw apart, the
 * share is p up to five deviations, and outside of training nothing is dropped. */
static void test_dropout_share(void **state) {
    (void)state;
    attend a = {.o = {.heads = 2, .dropout = 0.25}, .d = 1, .e = 1};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    c.n = 1;
    c.rows[0] = 100;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    double kept = 0;
    int heads_apart = 0, rows_apart = 0;
    for (int i = 0; i < 200; i++) {
        heed_numbers(r.s, "q")[i] = 0;
        heed_numbers(r.s, "v")[i] = 1;
    }
    run_rig(&r);
    const heed_number *out = out_of(&r).data;
    for (int i = 0; i < 200; i++) {
        kept += (double)out[i] * 0.75 * 100;
        heads_apart += out[i] != out[i ^ 1];
        rows_apart += out[i] != out[(i + 2) % 200];
    }
    assert_true(fabs(kept - 15000) < 5 * sqrt(20000 * 0.25 * 0.75));
    assert_true(heads_apart > 120 && rows_apart > 120);
    close_rig(&r);
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int i = 0; i < 200; i++) {
        heed_numbers(r.s, "v")[i] = 1;
    }
    run_rig(&r);
    for (int i = 0; i < 200; i++) {
        expect_near((double)out_of(&r).data[i], 1, 1, 200, "out", i);
    }
    close_rig(&r);
}

typedef struct {
    int64_t q, k, v;
    heed_attention_options o;
    int64_t buckets;
} misfit;

static heed_value record_misfit(heed_build *b, const void *arg) {
    const misfit *m = arg;
    heed_attention_options o = m->o;
    if (m->buckets) {
        o.buckets = heed_weight(b, "t", m->buckets, 2, (heed_init){.kind = HEED_INIT_ZERO});
    }
    return heed_attend(b, rows_input(b, "q", m->q), rows_input(b, "k", m->k),
                       rows_input(b, "v", m->v), &o);
}

static void test_refusals(void **state) {
    (void)state;
    const struct {
        misfit m;
        heed_code code;
        const char *part;
    } bad[] = {
        {{6, 6, 6, {.heads = 4}, 0}, HEED_SHAPE, "unit.0: width 6 is not a multiple of 4 heads"},
        {{6, 6, 6, {.heads = 0}, 0}, HEED_SHAPE, "width 6 is not a multiple of 0 heads"},
        {{6, 6, 6, {.heads = 3, .kv_heads = 2}, 0},
         HEED_SHAPE,
         "3 heads are not a multiple of 2 key-value heads"},
        {{6, 4, 6, {.heads = 2}, 0},
         HEED_SHAPE,
         "keys have 4 columns, 2 key-value heads of width 3 need 6"},
        {{6, 6, 5, {.heads = 2}, 0}, HEED_SHAPE, "values have 5 columns, not a multiple of 2"},
        {{6, 6, 6, {.heads = 2, .window = -1}, 0}, HEED_VALUE, "a window of -1"},
        {{6, 6, 6, {.heads = 2, .dropout = 1}, 0},
         HEED_VALUE,
         "dropout on attention weights must be"},
        {{6, 6, 6, {.heads = 2, .scale = INFINITY}, 0},
         HEED_VALUE,
         "the scale of attention is not finite"},
        {{6, 6, 6, {.heads = 2, .softcap = -1}, 0}, HEED_VALUE, "scores cannot be capped at -1"},
        {{6, 6, 6, {.heads = 2, .softcap = NAN}, 0}, HEED_VALUE, "scores cannot be capped at"},
        {{6, 6, 6, {.heads = 3}, 8},
         HEED_SHAPE,
         "the bucket table has 2 columns, attention has 3 heads"},
        {{6, 6, 6, {.heads = 2}, 7}, HEED_SHAPE, "7 buckets up to distance 128 cannot be cut"},
        {{6, 6, 6, {.heads = 2, .causal = true, .max_distance = 4}, 8},
         HEED_SHAPE,
         "8 buckets up to distance 4 cannot be cut"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_refused(record_misfit, &bad[i].m, bad[i].code, bad[i].part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),         cmocka_unit_test(test_no_key),
        cmocka_unit_test(test_hidden_nan),    cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_leak),          cmocka_unit_test(test_large_scores),
        cmocka_unit_test(test_dropout_share), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
