/* Weights as files keep them: 16 bits give the bits of the same numbers as floats; blocks, and
 * columns that are rounded here, give what whole numbers give; and the same bits alone, in a batch,
 * on any number of threads.
 * SPDX-License-Identifier: MIT
 */
#include "op/rig.h"

#include "base/blocks.h"
#include "graph/op.h"

enum { IN = 256 * 2, OUT = 37, ROWS = 5 };

/* ---- A model of one op ---- */

typedef struct {
    const char *name;
    heed_value (*record)(heed_build *b);
} model;

static heed_value numbers_in(heed_build *b) {
    return heed_input_numbers(b, "x", heed_rows(b, "rows"), IN);
}
static heed_value record_linear(heed_build *b) {
    return heed_linear(b, numbers_in(b), "w", OUT, true);
}
static heed_value record_in_out(heed_build *b) { /* stored IN x OUT */
    return heed_linear_in_out(b, numbers_in(b), "w", OUT, true);
}
static heed_value record_loss(heed_build *b) {
    heed_value w = heed_weight(b, "w.weight", OUT, IN, (heed_init){.kind = HEED_INIT_ZERO});
    heed_value labels = heed_input(b, "labels", heed_rows(b, "rows"));
    return heed_xent_rows(b, heed_xent(b, numbers_in(b), w, (heed_value){0}, labels, 0.1));
}

typedef struct {
    heed_engine *engine;
    heed_weights *weights;
    heed_plan *plan;
    heed_session *s;
    heed_value out;
    unsigned char *raw;
} kept;

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Blocks of any type whose numbers are finite and small. */
static unsigned char *random_rows(heed_type type, int64_t n) {
    uint64_t state = 11;
    size_t block = heed_type_bytes(type), bytes = (size_t)(n / heed_type_block(type)) * block;
    unsigned char *raw = malloc(bytes);
    assert_non_null(raw);
    for (size_t i = 0; i < bytes; i++)
        raw[i] = (unsigned char)next_random(&state);
    for (size_t at = 0; heed_type_block(type) == 1 && at < bytes; at += block) {
        float x = (float)(next_random(&state) % 2001) / 1000 - 1;
        uint16_t h = type == HEED_F16 ? heed_f16_from_f32(x) : heed_bf16_from_f32(x);
        memcpy(raw + at, &h, sizeof h);
    }
    for (size_t at = 0; heed_type_block(type) > 1 && at < bytes; at += block) {
        uint16_t scale = heed_f16_from_f32(0.001f), low = heed_f16_from_f32(-0.004f);
        if (type == HEED_Q6_K) {
            memcpy(raw + at + 208, &scale, sizeof scale);
        } else {
            memcpy(raw + at, &scale, sizeof scale);
            if (type != HEED_Q8_0 && type != HEED_Q4_0 && type != HEED_Q5_0)
                memcpy(raw + at + 2, &low, sizeof low);
        }
    }
    return raw;
}

static void record(kept *k, const model *m, bool plan) {
    heed_error err = {0};
    heed_build *b = heed_build_new(k->engine, HEED_INFER, k->weights, &err);
    k->out = m->record(b);
    const heed_capacity capacity[] = {
        {.space = "rows", .rows = ROWS, .sequences = ROWS, .longest = ROWS}, {0}};
    const heed_value keep[] = {k->out, {0}};
    heed_plan_options options = {.capacity = capacity, .keep = keep, .frozen = true};
    options.measure = !plan;
    k->plan = heed_plan_new(b, &options, &err);
    expect_no_error(&err);
}

static kept open_kept(const model *m, heed_type type, heed_compute compute, int threads) {
    heed_error err = {0};
    kept k = {.engine = heed_engine_new(NULL, threads, NULL, &err)};
    k.weights = heed_weights_new(NULL, &err);
    record(&k, m, false); /* declares */
    heed_plan_free(k.plan);
    k.raw = random_rows(type, (int64_t)IN * OUT);
    assert_true(heed_weights_keep(k.weights, "w.weight", type, k.raw, &err));
    if (heed_weights_find(k.weights, "w.bias")) {
        heed_weights_own(k.weights, "w.bias", NULL, &err);
        for (int i = 0; i < OUT; i++)
            heed_weights_find(k.weights, "w.bias")->data[i] = (heed_number)(0.25 * i);
    }
    heed_weights_compute(k.weights, compute);
    record(&k, m, true);
    k.s = heed_session_new(k.plan, &err);
    expect_no_error(&err);
    return k;
}

static void close_kept(kept *k) {
    heed_session_free(k->s);
    heed_plan_free(k->plan);
    heed_weights_free(k->weights);
    heed_engine_free(k->engine);
    free(k->raw);
}

static double x_at(int64_t row, int64_t col) {
    return (heed_number)(2 * unit_at("x", row, col) - 1);
}

/* Rows [from, to) as a batch of their own. */
static heed_matrix run_rows(kept *k, int64_t from, int64_t to) {
    heed_error err = {0};
    const int64_t starts[] = {0, to - from};
    assert_true(heed_set_rows(k->s, "rows", 1, starts, NULL, &err));
    heed_number *x = heed_numbers(k->s, "x");
    int32_t *ids = heed_ints(k->s, "ids"), *labels = heed_ints(k->s, "labels");
    for (int64_t i = 0; i < to - from; i++) {
        for (int64_t l = 0; x && l < IN; l++)
            x[i * IN + l] = (heed_number)x_at(from + i, l);
        if (ids)
            ids[i] = (int32_t)(7 * (from + i) % OUT);
        if (labels)
            labels[i] = (int32_t)(5 * (from + i) % OUT);
    }
    if (!heed_run(k->s, &err))
        fail_msg("%s", err.text);
    return heed_read_value(k->s, k->out);
}

static void expect_equal(const char *what, heed_matrix a, heed_matrix b, int64_t first) {
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        if (memcmp(a.data + i, b.data + first * b.cols + i, sizeof *a.data) != 0)
            fail_msg("%s: element %ld is %.9g, not %.9g", what, (long)i, (double)a.data[i],
                     (double)b.data[first * b.cols + i]);
}

/* ---- What is tried ---- */

static const model LINEAR = {"linear", record_linear}, IN_OUT = {"in-out", record_in_out};
static const model LOSS = {"loss", record_loss};

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

#ifndef HEED_DOUBLE
static heed_value record_embed(heed_build *b) {
    heed_value w = heed_weight(b, "w.weight", OUT, IN, (heed_init){.kind = HEED_INIT_ZERO});
    return heed_embed(b, w, heed_input(b, "ids", heed_rows(b, "rows")), 1.5);
}
static const model EMBED = {"embed", record_embed};

static void same_as_floats(const model *m, heed_type type) {
    kept a = open_kept(m, type, HEED_COMPUTE_KEPT, 1);
    kept b = open_kept(m, type, HEED_COMPUTE_FLOAT, 1);
    heed_error err = {0};
    heed_weights_expand(b.weights, heed_weights_find(b.weights, "w.weight"), &err);
    heed_weights_find(b.weights, "w.weight")->raw = NULL; /* from here on floats alone */
    heed_session_free(b.s);
    heed_plan_free(b.plan);
    record(&b, m, true);
    b.s = heed_session_new(b.plan, &err);
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
#endif

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
    try_same_bits(&IN_OUT, HEED_F16, HEED_COMPUTE_INT8);
    try_same_bits(&LOSS, HEED_F16, HEED_COMPUTE_INT8);
}

#ifndef HEED_DOUBLE
/* Floats where the processor has no such products. */
static void test_bf16(void **state) {
    (void)state;
    check_rounded(&LINEAR, HEED_F16, HEED_COMPUTE_BF16, 1 / 256.0);
    check_rounded(&IN_OUT, HEED_Q4_1, HEED_COMPUTE_BF16, 0.02 / 256);
    try_same_bits(&IN_OUT, HEED_F16, HEED_COMPUTE_BF16);
    try_same_bits(&LINEAR, HEED_Q8_0, HEED_COMPUTE_BF16);
    try_same_bits(&LOSS, HEED_F16, HEED_COMPUTE_BF16);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
#ifndef HEED_DOUBLE
        cmocka_unit_test(test_sixteen_bits),
        cmocka_unit_test(test_embed_of_blocks),
#endif
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_int8),
#ifndef HEED_DOUBLE
        cmocka_unit_test(test_bf16),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
