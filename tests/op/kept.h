/* kept.h: a model of one op whose weight stays as a file keeps it, for the tests of such.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_OP_KEPT_H
#define HEED_TESTS_OP_KEPT_H

#include "op/rig.h"

#include "base/blocks.h"
#include "graph/op.h"

enum { IN = 256 * 2, OUT = 37, ROWS = 5 };

/* ---- A model of one op ---- */

typedef struct {
    const char *name;
    heed_value (*record)(heed_build *b);
} model;

static inline heed_value numbers_in(heed_build *b) {
    return heed_input_numbers(b, "x", heed_rows(b, "rows"), IN);
}
static inline heed_value record_linear(heed_build *b) {
    return heed_linear(b, numbers_in(b), "w", OUT, true);
}
static inline heed_value record_in_out(heed_build *b) { /* stored IN x OUT */
    return heed_linear_in_out(b, numbers_in(b), "w", OUT, true);
}
static inline heed_value record_loss(heed_build *b) {
    heed_value w = heed_weight(b, "w.weight", OUT, IN, (heed_init){.kind = HEED_INIT_ZERO});
    heed_value labels = heed_input(b, "labels", heed_rows(b, "rows"));
    return heed_xent_rows(b, heed_xent(b, numbers_in(b), w, (heed_value){0}, labels, 0.1));
}

static inline heed_value record_embed(heed_build *b) {
    heed_value w = heed_weight(b, "w.weight", OUT, IN, (heed_init){.kind = HEED_INIT_ZERO});
    return heed_embed(b, w, heed_input(b, "ids", heed_rows(b, "rows")), 1.5);
}

static const model LINEAR = {"linear", record_linear}, IN_OUT = {"in-out", record_in_out};
static const model LOSS = {"loss", record_loss};
static const model EMBED = {"embed", record_embed};

typedef struct {
    heed_engine *engine;
    heed_weights *weights;
    heed_plan *plan;
    heed_session *s;
    heed_value out;
    unsigned char *raw;
} kept;

static inline uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* The scale of a block, or the one number of a plain type. */
static inline void put_scale(heed_type type, unsigned char *block, uint16_t bits) {
    memcpy(block + (type == HEED_Q6_K ? 208 : 0), &bits, sizeof bits);
}

/* Blocks of any type whose numbers are finite and small. */
static inline unsigned char *random_rows(heed_type type, int64_t n) {
    uint64_t state = 11;
    size_t block = heed_type_bytes(type), bytes = heed_elements_bytes(type, n);
    unsigned char *raw = malloc(bytes);
    assert_non_null(raw);
    for (size_t i = 0; i < bytes; i++)
        raw[i] = (unsigned char)next_random(&state);
    for (size_t at = 0; heed_type_block(type) == 1 && at < bytes; at += block) {
        float x = (float)(next_random(&state) % 2001) / 1000 - 1;
        put_scale(type, raw + at, type == HEED_F16 ? heed_f16_from_f32(x) : heed_bf16_from_f32(x));
    }
    for (size_t at = 0; heed_type_block(type) > 1 && at < bytes; at += block) {
        uint16_t low = heed_f16_from_f32(-0.004f);
        put_scale(type, raw + at, heed_f16_from_f32(0.001f));
        if (type != HEED_Q6_K && type != HEED_Q8_0 && type != HEED_Q4_0 && type != HEED_Q5_0)
            memcpy(raw + at + 2, &low, sizeof low);
    }
    return raw;
}

static inline void record(kept *k, const model *m, bool plan) {
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

/* All but a plan. */
static inline kept make_kept(const model *m, heed_type type, heed_compute compute, int threads) {
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
    k.plan = NULL;
    return k;
}

static inline void start(kept *k, const model *m) {
    heed_error err = {0};
    record(k, m, true);
    k->s = heed_session_new(k->plan, &err);
    expect_no_error(&err);
}

static inline kept open_kept(const model *m, heed_type type, heed_compute compute, int threads) {
    kept k = make_kept(m, type, compute, threads);
    start(&k, m);
    return k;
}

static inline void close_kept(kept *k) {
    heed_session_free(k->s);
    heed_plan_free(k->plan);
    heed_weights_free(k->weights);
    heed_engine_free(k->engine);
    free(k->raw);
}

static inline double x_at(int64_t row, int64_t col) {
    return (heed_number)(2 * unit_at("x", row, col) - 1);
}

/* Rows [from, to) as a batch of their own. */
static inline heed_matrix run_rows(kept *k, int64_t from, int64_t to) {
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

#endif
