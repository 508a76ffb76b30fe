/* attention_cache.c: cached decoding gives the bits of one pass, in chunks of any size, for any
 * kind of attention, with watched weights, after sequences have been forked and cut back; encoders
 * join many to one.
 * SPDX-License-Identifier: MIT
 */
#include "op/attend.h"

enum { N = 2, MOST = 96, COLS = 8 };
static const int64_t LENGTH[N] = {90, 41};

typedef struct {
    const attend *a;
    heed_engine *engine;
    heed_weights *weights;
    heed_plan *plan;
    heed_session *s;
} decoder;

static const char *const INPUTS[] = {"q", "k", "v"};

static void open_decoder(decoder *d, const attend *a, bool cached, int64_t sequences) {
    heed_error err = {0};
    d->a = a;
    d->engine = heed_engine_new(NULL, 2, NULL, &err);
    d->weights = heed_weights_new(NULL, &err);
    heed_build *b = heed_build_new(d->engine, HEED_INFER, d->weights, &err);
    heed_name(b, record_attend(b, a), "out");
    for (int64_t i = 0; i < heed_weights_count(d->weights); i++) {
        heed_weight_entry *e = heed_weights_at(d->weights, i);
        heed_weights_own(d->weights, e->name, NULL, &err);
        for (int64_t j = 0; j < e->rows * e->cols; j++) {
            e->data[j] = (heed_number)unit_at("buckets", j, 0);
        }
    }
    int64_t rows = sequences * MOST;
    heed_plan_options o = {.watch = (const char *[]){"out", "weights", NULL}, .step = "rows"};
    o.capacity = (heed_capacity[]){
        {.space = "rows", .rows = rows, .sequences = sequences, .longest = MOST}, {.space = NULL}};
    o.cached = cached;
    d->plan = heed_plan_new(b, &o, &err);
    d->s = d->plan ? heed_session_new(d->plan, &err) : NULL;
    expect_no_error(&err);
}

static void close_decoder(decoder *d) {
    heed_session_free(d->s);
    heed_plan_free(d->plan);
    heed_weights_free(d->weights);
    heed_engine_free(d->engine);
}

/* Runs rows [from[i], to[i]) of sequences whose numbers are those of stream[i]. */
static void step(decoder *d, int64_t n, const int *stream, const int64_t *from, const int64_t *to) {
    heed_error err = {0};
    int64_t starts[5] = {0}, row = 0;
    int32_t own[4 * MOST];
    for (int64_t i = 0; i < n; i++) {
        starts[i + 1] = starts[i] + to[i] - from[i];
        for (int64_t r = from[i]; r < to[i] && d->a->positions; r++) {
            own[starts[i] + r - from[i]] = d->a->positions[r] + 1000 * (int32_t)i;
        }
    }
    if (!heed_set_rows(d->s, "rows", n, starts, d->a->positions ? own : NULL, &err)) {
        fail_msg("%s", err.text);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t r = from[i]; r < to[i]; r++, row++) {
            for (int in = 0; in < 3; in++) {
                heed_matrix m = heed_read(d->s, INPUTS[in]);
                for (int64_t j = 0; j < m.cols; j++) {
                    heed_numbers(d->s, INPUTS[in])[row * m.cols + j] =
                        (heed_number)(2 * unit_at(INPUTS[in], stream[i] * 1000 + r, j) - 1);
                }
            }
        }
    }
    if (!heed_run(d->s, &err)) {
        fail_msg("%s", err.text);
    }
}

/* Outputs of both sequences in one pass, each behind the other, and row 40 of the weights of the
 * second. */
static heed_number *whole(const attend *a, heed_number *weights) {
    decoder d;
    open_decoder(&d, a, false, N);
    step(&d, N, (const int[]){0, 1}, (const int64_t[]){0, 0}, LENGTH);
    heed_matrix out = heed_read(d.s, "out"), w = heed_read(d.s, "weights");
    heed_number *copy = copy_numbers(out.data, out.rows * out.cols);
    int64_t at = a->o.heads * LENGTH[0] * LENGTH[0] + (LENGTH[1] - 1) * LENGTH[1];
    memcpy(weights, w.data + at, (size_t)LENGTH[1] * sizeof *weights);
    close_decoder(&d);
    return copy;
}

static void expect_rows(const decoder *d, const heed_number *want, const int64_t *from,
                        const int64_t *to) {
    heed_matrix out = heed_read(d->s, "out");
    const heed_number *got = out.data;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t r = from[i]; r < to[i]; r++, got += out.cols) {
            const heed_number *row = want + ((i ? LENGTH[0] : 0) + r) * out.cols;
            if (memcmp(got, row, (size_t)out.cols * sizeof *got) != 0) {
                fail_msg("sequence %ld row %ld differs from one pass", (long)i, (long)r);
            }
        }
    }
}

static void try_chunks(const attend *a, int64_t chunk, const heed_number *want,
                       const heed_number *weights) {
    decoder d;
    int64_t from[N] = {0}, to[N];
    open_decoder(&d, a, true, N);
    while (from[0] < LENGTH[0] || from[1] < LENGTH[1]) {
        for (int64_t i = 0; i < N; i++) {
            to[i] = from[i] + chunk < LENGTH[i] ? from[i] + chunk : LENGTH[i];
        }
        step(&d, N, (const int[]){0, 1}, from, to);
        expect_rows(&d, want, from, to);
        if (chunk == 1 && to[1] == LENGTH[1] && from[1] < to[1]) {
            /* one query of each: heads x keys of the first sequence, then head 0 of the second */
            const heed_number *row = heed_read(d.s, "weights").data + a->o.heads * to[0];
            assert_memory_equal(row, weights, (size_t)LENGTH[1] * sizeof *weights);
        }
        memcpy(from, to, sizeof from);
    }
    close_decoder(&d);
}

static void test_chunks(void **state) {
    (void)state;
    int32_t gaps[MOST]; /* positions with holes, beyond the longest sequence */
    for (int32_t r = 0; r < MOST; r++) {
        gaps[r] = 5 + r + r / 4 * 3;
    }
    const attend kinds[] = {
        {.o = {.heads = 2, .causal = true, .cache = "self"}, .d = 4, .e = 4},
        {.o = {.heads = 4, .kv_heads = 2, .causal = true, .cache = "self"}, .d = 2, .e = 3},
        {.o = {.heads = 2, .causal = true, .window = 5, .cache = "self"}, .d = 4, .e = 4},
        {.o = {.heads = 2, .causal = true, .alibi = true, .cache = "self"}, .d = 4, .e = 4},
        {.o = {.heads = 2, .causal = true, .max_distance = 20, .cache = "self"},
         .d = 4,
         .e = 4,
         .buckets = 6},
        {.o = {.heads = 2, .causal = true, .alibi = true, .cache = "self"},
         .d = 4,
         .e = 4,
         .positions = gaps},
        {.o = {.heads = 2, .causal = true, .max_distance = 20, .cache = "self"},
         .d = 4,
         .e = 4,
         .buckets = 6,
         .positions = gaps},
        {.o = {.heads = 2, .causal = true, .softcap = 0.4, .cache = "self"}, .d = 4, .e = 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        heed_number weights[MOST];
        heed_number *want = whole(&kinds[i], weights);
        try_chunks(&kinds[i], 1, want, weights);
        try_chunks(&kinds[i], 7, want, weights);
        try_chunks(&kinds[i], 64, want, weights);
        free(want);
    }
}

/* Two sequences become three that continue the second, the first and the second again; then one is
 * cut back and says something else. */
static void test_beams(void **state) {
    (void)state;
    attend a = {.o = {.heads = 2, .causal = true, .cache = "self"}, .d = 4, .e = 4};
    decoder d, plain;
    heed_error err = {0};
    open_decoder(&d, &a, true, 3);
    step(&d, 2, (const int[]){0, 1}, (const int64_t[]){0, 0}, (const int64_t[]){9, 5});
    assert_true(heed_cache_reorder(d.s, 3, (const int32_t[]){1, 0, 1}, &err));
    assert_int_equal(heed_cache_length(d.s, 0), 5);
    assert_int_equal(heed_cache_length(d.s, 1), 9);
    const int64_t from[] = {5, 9, 5}, to[] = {8, 11, 6};
    step(&d, 3, (const int[]){1, 0, 2}, from, to);
    heed_number *got = copy_numbers(heed_read(d.s, "out").data, 6 * COLS);
    /* The same told in one pass; row 5 of the third is of another stream than its first rows. */
    open_decoder(&plain, &a, true, 3);
    step(&plain, 3, (const int[]){1, 0, 1}, (const int64_t[]){0, 0, 0}, (const int64_t[]){5, 9, 5});
    step(&plain, 3, (const int[]){1, 0, 2}, from, to);
    assert_memory_equal(got, heed_read(plain.s, "out").data, 6 * COLS * sizeof *got);
    assert_true(heed_cache_truncate(d.s, 2, 2, &err));
    step(&d, 3, (const int[]){1, 0, 1}, (const int64_t[]){8, 11, 2}, (const int64_t[]){8, 11, 6});
    heed_cache_clear(plain.s);
    step(&plain, 1, (const int[]){1}, (const int64_t[]){0}, (const int64_t[]){6});
    assert_memory_equal(heed_read(d.s, "out").data, heed_read(plain.s, "out").data + 2 * COLS,
                        4 * COLS * sizeof *got);
    expect_no_error(&err);
    free(got);
    close_decoder(&plain);
    close_decoder(&d);
}

/* Queries that look at a sequence of other rows: three at two, in an order that the run gives. */
static void test_join(void **state) {
    (void)state;
    attend a = {.o = {.heads = 2}, .d = 3, .e = 3, .cross = true};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    const int64_t rows[3] = {2, 3, 1}, keys[3] = {4, 0, 6};
    const int32_t join[3] = {2, 0, 2};
    c.n = 3;
    memcpy(c.rows, rows, sizeof rows);
    memcpy(c.keys, keys, sizeof keys);
    rig r;
    heed_error err = {0};
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    assert_true(heed_set_join(r.s, "rows", "keys", join, &err));
    run_rig(&r);
    heed_number *out = copy_numbers(out_of(&r).data, 6 * 6);
    if (sizeof(heed_number) == sizeof(double)) {
        try_gradients(&r);
    }
    /* Each by itself, keys first brought to the front. */
    for (int s = 0; s < 3; s++) {
        const int64_t q_starts[] = {0, rows[s]}, k_starts[] = {0, keys[join[s]]};
        int64_t first = total(keys, join[s]), q_first = total(rows, s);
        assert_true(heed_set_rows(r.s, "rows", 1, q_starts, NULL, &err));
        assert_true(heed_set_rows(r.s, "keys", 1, k_starts, NULL, &err));
        assert_true(heed_set_join(r.s, "rows", "keys", (const int32_t[]){0}, &err));
        for (int64_t i = 0; i < keys[join[s]] * 6; i++) {
            heed_numbers(r.s, "k")[i] = (heed_number)number_at(&c, "k", first + i / 6, i % 6);
            heed_numbers(r.s, "v")[i] = (heed_number)number_at(&c, "v", first + i / 6, i % 6);
        }
        for (int64_t i = 0; i < rows[s] * 6; i++) {
            heed_numbers(r.s, "q")[i] = (heed_number)number_at(&c, "q", q_first + i / 6, i % 6);
        }
        run_rig(&r);
        assert_memory_equal(out + q_first * 6, out_of(&r).data,
                            (size_t)(rows[s] * 6) * sizeof *out);
    }
    free(out);
    close_rig(&r);
}

/* A join is of the rows as they were cut: once they are cut anew it must be said again. */
static void test_old_join(void **state) {
    (void)state;
    attend a = {.o = {.heads = 1}, .d = 2, .e = 2, .cross = true};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    c.n = 3;
    for (int i = 0; i < 3; i++) {
        c.rows[i] = c.keys[i] = 2;
    }
    rig r;
    heed_error err = {0};
    const int64_t starts[] = {0, 2, 4, 6};
    const int32_t join[] = {2, 1, 0};
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    assert_true(heed_set_join(r.s, "rows", "keys", join, &err));
    run_rig(&r);
    for (int which = 0; which < 2; which++) {
        assert_true(heed_set_rows(r.s, which ? "rows" : "keys", 3, starts, NULL, &err));
        assert_false(heed_run(r.s, &err));
        expect_error(&err, HEED_VALUE, "'rows' is joined to 'keys' as they were");
        assert_true(heed_set_join(r.s, "rows", "keys", join, &err));
        run_rig(&r);
    }
    assert_true(heed_set_rows(r.s, "keys", 1, starts, NULL, &err));
    assert_false(heed_set_join(r.s, "rows", "keys", join, &err));
    expect_error(&err, HEED_VALUE, "sequence 0 of 'rows' is joined to sequence 2 of 1");
    assert_false(heed_run(r.s, &err));
    expect_error(&err, HEED_VALUE, "heed_set_join comes after heed_set_rows");
    close_rig(&r);
}

/* Without a join number i looks at number i, so there must be as many. */
static void test_no_join(void **state) {
    (void)state;
    attend a = {.o = {.heads = 1}, .d = 2, .e = 2, .cross = true};
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(&a, input);
    c.n = 2;
    c.rows[0] = c.rows[1] = c.keys[0] = c.keys[1] = 2;
    rig r;
    heed_error err = {0};
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    assert_true(heed_set_rows(r.s, "keys", 1, (const int64_t[]){0, 2}, NULL, &err));
    assert_false(heed_run(r.s, &err));
    expect_error(&err, HEED_VALUE, "2 sequences of 'rows' cannot look at 1 of 'keys' one by one");
    close_rig(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chunks), cmocka_unit_test(test_beams),
                                       cmocka_unit_test(test_join), cmocka_unit_test(test_old_join),
                                       cmocka_unit_test(test_no_join)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
