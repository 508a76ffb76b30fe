/* stack.c: what a stack declares and names, where its dropouts stand, what it refuses; the
 * encoder's share of the decoder runs once; cached decoding gives the bits of one pass.
 * SPDX-License-Identifier: MIT
 */
#include "block/stacks.h"

/* ---- Names ----------------------------------------------------------------------------------- */

static void test_weights(void **state) {
    (void)state;
    stacks s = {.stack = small_stack(), .decoder = true};
    test_case c = stacks_case(&s);
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    const struct {
        const char *name;
        int64_t rows, cols;
    } want[] = {
        {"unit.0.encoder.0.self.q.weight", 8, 8},   {"unit.0.encoder.1.feed.up.weight", 12, 8},
        {"unit.0.encoder.1.feed.down.bias", 1, 8},  {"unit.0.encoder.norm.weight", 1, 8},
        {"unit.0.decoder.0.cross.k.weight", 8, 8},  {"unit.0.decoder.1.cross.norm.bias", 1, 8},
        {"unit.0.decoder.1.self.out.weight", 8, 8}, {"unit.0.decoder.norm.bias", 1, 8}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        heed_weight_entry *e = heed_weights_find(r.weights, want[i].name);
        if (!e) {
            fail_msg("no weight '%s'", want[i].name);
        }
        assert_int_equal(e->rows, want[i].rows);
        assert_int_equal(e->cols, want[i].cols);
    }
    /* Of each layer: attention 4 products and a norm, feed-forward 2 and a norm; and two last
     * norms. */
    assert_int_equal(heed_weights_count(r.weights), 2 * (10 + 6) + 2 * (10 + 10 + 6) + 4);
    close_rig(&r);
}

static void test_values(void **state) {
    (void)state;
    stacks s = {.stack = small_stack(), .decoder = true};
    test_case c = stacks_case(&s);
    rig r;
    rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    heed_matrix last = heed_read(r.s, "unit.0.decoder.hidden.2");
    expect_same(last, out_of(&r), "last hidden", "out");
    expect_same(heed_read(r.s, "unit.0.decoder.hidden.0"), heed_read(r.s, "x"), "first hidden",
                "x");
    assert_int_equal(heed_read(r.s, "unit.0.encoder.hidden.1").rows, 6);
    const heed_number *cross = heed_read(r.s, "unit.0.decoder.1.cross.weights").data;
    assert_non_null(heed_read(r.s, "unit.0.encoder.0.self.weights").data);
    assert_non_null(heed_read(r.s, "unit.0.decoder.0.self.weights").data);
    for (int row = 0; row < 6; row++) { /* 2 heads x 3 queries of the first sentence, on 2 keys */
        expect_near((double)(cross[2 * row] + cross[2 * row + 1]), 1, 1, 8, "weights", row);
    }
    close_rig(&r);
}

/* ---- Dropout --------------------------------------------------------------------------------- */

/* With all weights 0 but the last norms' a layer passes x on; what is left of it shows where
 * dropout is: on the embeddings it takes elements out, behind a block that adds nothing it does
 * not. */
static void test_dropout_places(void **state) {
    (void)state;
    stacks s = {.stack = small_stack()};
    s.stack.pre_norm = true;
    s.stack.final_norm = false;
    s.stack.dropout = 0.5;
    test_case c = stacks_case(&s);
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
    for (int64_t i = 0; i < heed_weights_count(r.weights); i++) {
        heed_weight_entry *e = heed_weights_at(r.weights, i);
        memset(e->data, 0, (size_t)(e->rows * e->cols) * sizeof *e->data);
    }
    run_rig(&r);
    int gone = 0;
    for (int i = 0; i < 4 * WIDTH; i++) {
        double x = (double)heed_numbers(r.s, "x")[i], y = (double)out_of(&r).data[i];
        gone += y == 0;
        assert_true(y == 0 || y == 2 * x);
    }
    assert_in_range(gone, 6, 26);
    close_rig(&r);
}

/* ---- Step by step ---------------------------------------------------------------------------- */

typedef struct {
    heed_engine *engine;
    heed_weights *weights;
    heed_plan *plan;
    heed_session *s;
} decoder;

enum { ROWS = 9, KEYS = 5 };

static void open_decoder(decoder *d, const stacks *s, bool cached) {
    heed_error err = {0};
    test_case c = stacks_case(s);
    d->engine = heed_engine_new(NULL, 1, NULL, &err);
    d->weights = heed_weights_new(NULL, &err);
    heed_build *b = heed_build_new(d->engine, HEED_INFER, d->weights, &err);
    heed_name(b, record_stacks(b, s), "out");
    give_weights(&c, d->weights);
    heed_plan_options o = {
        .watch = (const char *[]){"out", NULL}, .step = "rows", .cached = cached};
    o.capacity = (heed_capacity[]){{.space = "rows", .rows = ROWS, .sequences = 1, .longest = ROWS},
                                   {.space = "keys", .rows = KEYS, .sequences = 1, .longest = KEYS},
                                   {.space = NULL}};
    d->plan = heed_plan_new(b, &o, &err);
    d->s = d->plan ? heed_session_new(d->plan, &err) : NULL;
    expect_no_error(&err);
    if (!s->decoder) {
        return;
    }
    heed_set_rows(d->s, "keys", 1, (const int64_t[]){0, KEYS}, NULL, &err);
    for (int i = 0; i < KEYS * WIDTH; i++) {
        heed_numbers(d->s, "y")[i] = (heed_number)unit_at("y", i, 0);
    }
    heed_run_once(d->s, &err);
    expect_no_error(&err);
}

static void close_decoder(decoder *d) {
    heed_session_free(d->s);
    heed_plan_free(d->plan);
    heed_weights_free(d->weights);
    heed_engine_free(d->engine);
}

static const heed_number *step(decoder *d, int64_t from, int64_t to) {
    heed_error err = {0};
    heed_set_rows(d->s, "rows", 1, (const int64_t[]){0, to - from}, NULL, &err);
    for (int64_t i = 0; i < (to - from) * WIDTH; i++) {
        heed_numbers(d->s, "x")[i] = (heed_number)unit_at("x", from * WIDTH + i, 0);
    }
    heed_run(d->s, &err);
    expect_no_error(&err);
    return heed_read(d->s, "out").data;
}

/* Every kind of position, one row at a time and in two parts. */
static void test_cached(void **state) {
    (void)state;
    for (heed_position_kind kind = HEED_POSITIONS_NONE; kind <= HEED_POSITIONS_T5; kind++) {
        stacks s = {.stack = small_stack(), .decoder = true};
        s.stack.positions = kind;
        decoder plain, cached;
        open_decoder(&plain, &s, false);
        open_decoder(&cached, &s, true);
        const heed_number *whole = step(&plain, 0, ROWS);
        size_t row = WIDTH * sizeof *whole;
        for (int64_t i = 0; i < ROWS; i++) {
            assert_memory_equal(step(&cached, i, i + 1), whole + i * WIDTH, row);
        }
        heed_cache_clear(cached.s);
        assert_memory_equal(step(&cached, 0, 4), whole, 4 * row);
        assert_memory_equal(step(&cached, 4, ROWS), whole + 4 * WIDTH, 5 * row);
        close_decoder(&plain);
        close_decoder(&cached);
    }
}

/* The encoder and the cross-attention's keys and values belong to the part that runs once: a
 * step does not read the source again. */
static void test_once(void **state) {
    (void)state;
    stacks s = {.stack = small_stack(), .decoder = true}, alone = {.stack = small_stack()};
    decoder d, e;
    heed_error err = {0};
    open_decoder(&d, &s, false);
    heed_number *before = copy_numbers(step(&d, 0, 3), 3 * WIDTH);
    for (int i = 0; i < KEYS * WIDTH; i++) {
        heed_numbers(d.s, "y")[i] = NAN;
    }
    assert_memory_equal(step(&d, 0, 3), before, 3 * WIDTH * sizeof *before);
    heed_run_once(d.s, &err);
    assert_true(isnan(step(&d, 0, 3)[0]));
    heed_set_rows(d.s, "keys", 1, (const int64_t[]){0, KEYS - 1}, NULL, &err);
    assert_false(heed_run(d.s, &err)); /* what ran once did not see these */
    expect_error(&err, HEED_VALUE, "rows that it did not see");
    int64_t steps = heed_plan_memory(d.plan).steps;
    close_decoder(&d);
    free(before);
    /* A step of a decoder layer: of cross-attention only what depends on its queries. */
    open_decoder(&e, &alone, false);
    int64_t of_cross = steps - heed_plan_memory(e.plan).steps;
    assert_int_equal(of_cross, 2 * 5); /* q, attention, out, sum, norm in each of two layers */
    close_decoder(&e);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_refusals(void **state) {
    (void)state;
    stacks s = {.stack = small_stack()};
    s.stack.heads = 3;
    expect_refused(record_stacks, &s, HEED_SHAPE, "width 8 is not a multiple of 3 heads");
    s.stack.heads = 0;
    expect_refused(record_stacks, &s, HEED_SHAPE, "width 8 is not a multiple of 0 heads");
    s.stack = small_stack();
    s.stack.kv_heads = 0;
    expect_refused(record_stacks, &s, HEED_SHAPE,
                   "2 heads are not a multiple of 0 key-value heads");
    s.stack = small_stack();
    s.stack.heads = s.stack.kv_heads = 8;
    s.stack.positions = HEED_POSITIONS_ROPE;
    expect_refused(record_stacks, &s, HEED_SHAPE,
                   "rotary positions need an even head width, not 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),        cmocka_unit_test(test_values),
        cmocka_unit_test(test_dropout_places), cmocka_unit_test(test_cached),
        cmocka_unit_test(test_once),           cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
