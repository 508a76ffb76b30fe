/* same_bits.c: a translation depends on its sentence alone: not on its batch, the budget, the order
 * or the threads; and the cache changes no bit of a log-probability.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "generate/translator.h"

#include <math.h>

enum { MOST = 2000, SENTENCES = 60, VOCAB = 50 };

/* What the tests run with now. */
static const char *isa, *folder;                /* folder NULL: wide_model */
static int sentences, longest, most_translated; /* ids */

typedef struct {
    int32_t id[MOST];
    int64_t start[SENTENCES + 1];
} corpus;

/* Some sentences are empty. */
static void make(corpus *c) {
    uint32_t x = 12345;
    c->start[0] = 0;
    for (int i = 0; i < sentences; i++) {
        int n = i % 13 == 5 ? 0 : 1 + (i * 7 + longest - 1) % longest;
        c->start[i + 1] = c->start[i] + n;
        for (int64_t j = c->start[i]; j < c->start[i + 1]; j++) {
            x = x * 1664525u + 1013904223u;
            c->id[j] = (int32_t)(x >> 16) % (VOCAB - 1);
        }
    }
}

static heed_translate_options wanted(const heed_model *model) {
    heed_translate_options o = heed_translate_defaults(model);
    o.beam = 3;
    o.n_best = 2;
    o.max_length = most_translated;
    o.min_length = folder ? 0 : most_translated - 4; /* keys of more than one piece */
    return o;
}

static void translate(heed_model *model, const heed_translate_options *o, const corpus *c,
                      int64_t from, int64_t n, heed_translations *out) {
    heed_error err = {0};
    int64_t start[SENTENCES + 1];
    for (int64_t i = 0; i <= n; i++) {
        start[i] = c->start[from + i] - c->start[from];
    }
    heed_translator *t = heed_translator_new(model, o, &err);
    expect_no_error(&err);
    if (!heed_translate_ids(t, c->id + c->start[from], start, n, out, &err)) {
        fail_msg("%s", err.text);
    }
    heed_translator_free(t);
}

static void expect_same(const heed_translation *a, const heed_translation *b, const char *what,
                        int64_t i) {
    if (a->n != b->n || a->score != b->score || a->log_prob != b->log_prob ||
        a->ended != b->ended || (a->n && memcmp(a->id, b->id, (size_t)a->n * sizeof *a->id) != 0)) {
        fail_msg("%s: answer %d differs: %d ids, %.9g; wanted %d, %.9g", what, (int)i, (int)a->n,
                 a->score, (int)b->n, b->score);
    }
}

static void expect_all_same(const heed_translations *a, const heed_translations *b,
                            const char *what) {
    assert_int_equal(a->lines, b->lines);
    for (int64_t i = 0; i < a->lines * a->n_best; i++) {
        expect_same(&a->item[i], &b->item[i], what, i);
    }
}

/* Of random weights, with room for sequences of several pieces of keys. */
static heed_model *wide_model(heed_engine *engine, heed_error *err) {
    heed_config c = heed_config_base();
    c.encoder.width = c.decoder.width = 40;
    c.encoder.heads = c.decoder.heads = c.encoder.kv_heads = c.decoder.kv_heads = 5;
    c.encoder.feed_forward = c.decoder.feed_forward = 72;
    c.encoder.layers = c.decoder.layers = 1;
    c.encoder.max_positions = c.decoder.max_positions = 200;
    c.vocab = c.source_vocab = VOCAB;
    c.pad = c.decoder_start = VOCAB - 1;
    c.eos = 0;
    char why[100];
    heed_config_choose_family(&c, why, sizeof why);
    return heed_model_new(engine, &c, NULL, 7, err);
}

static heed_model *open_with(int threads, heed_engine **engine) {
    heed_error err = {0};
    *engine = heed_engine_new(NULL, threads, isa, &err);
    heed_model *model = folder ? heed_model_open(*engine, folder, &err) : wide_model(*engine, &err);
    expect_no_error(&err);
    return model;
}

static void batch_budget_and_threads_change_nothing(void **state) {
    (void)state;
    corpus c;
    make(&c);
    heed_engine *engine;
    heed_model *model = open_with(1, &engine);
    heed_translate_options o = wanted(model);
    heed_translations all = {0}, other = {0};
    translate(model, &o, &c, 0, sentences, &all);
    static const int64_t budgets[] = {1, 7, 40, 333};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        char what[40];
        snprintf(what, sizeof what, "budget %d", (int)budgets[i]);
        o.batch_tokens = budgets[i];
        translate(model, &o, &c, 0, sentences, &other);
        expect_all_same(&other, &all, what);
    }
    o.batch_tokens = 0;
    o.live = true;
    translate(model, &o, &c, 0, sentences, &other);
    expect_all_same(&other, &all, "nothing packed ahead");
    for (int64_t i = 0; i < sentences; i++) {
        translate(model, &o, &c, i, 1, &other);
        expect_same(&other.item[0], &all.item[2 * i], "alone", i);
        expect_same(&other.item[1], &all.item[2 * i + 1], "alone, second", i);
    }
    heed_model_free(model);
    heed_engine_free(engine);
    model = open_with(3, &engine);
    translate(model, &o, &c, 0, sentences, &other);
    expect_all_same(&other, &all, "three threads");
    heed_translations_free(&all);
    heed_translations_free(&other);
    heed_model_free(model);
    heed_engine_free(engine);
}

/* A cache of a few rows: most lines are put back at least once. */
static void lines_put_back_come_out_the_same(void **state) {
    (void)state;
    corpus c;
    make(&c);
    heed_error err = {0};
    heed_engine *engine;
    heed_model *model = open_with(2, &engine);
    heed_translate_options o = wanted(model);
    heed_translations all = {0}, other = {0};
    translate(model, &o, &c, 0, sentences, &all);
    heed_translator *t = heed_translator_new(model, &o, &err);
    assert_true(t->cache_rows > o.beam * o.max_length);
    t->cache_rows = o.beam * o.max_length;
    assert_true(heed_translate_ids(t, c.id, c.start, sentences, &other, &err));
    expect_all_same(&other, &all, "small cache");
    heed_translator_free(t);
    heed_translations_free(&all);
    heed_translations_free(&other);
    heed_model_free(model);
    heed_engine_free(engine);
}

/* log p of the ids by the whole decoder at once, without a cache, as the search sums it. */
static float plain_log_prob(heed_model *model, const int32_t *source, int64_t source_n,
                            const heed_translation *a) {
    heed_error err = {0};
    heed_build *b =
        heed_build_new(heed_model_engine(model), HEED_INFER, heed_model_weights(model), &err);
    heed_outputs out = heed_model_record(model, b, &(heed_want){.logits = true});
    heed_value probs = heed_softmax(b, out.logits), keep[] = {out.logits, probs, {0}};
    const heed_capacity capacity[] = {
        {"source", source_n, 1, source_n, 0}, {"target", a->n, 1, a->n, 0}, {0}};
    heed_plan *plan = heed_plan_new(
        b, &(heed_plan_options){.capacity = capacity, .keep = keep, .frozen = true}, &err);
    heed_session *s = heed_session_new(plan, &err);
    expect_no_error(&err);
    memcpy(heed_ints(s, "input_ids"), source, (size_t)source_n * sizeof *source);
    int32_t *ids = heed_ints(s, "decoder_input_ids");
    ids[0] = heed_model_config(model)->decoder_start;
    memcpy(ids + 1, a->id, (size_t)(a->n - 1) * sizeof *ids);
    assert_true(heed_set_rows(s, "source", 1, (int64_t[]){0, source_n}, NULL, &err));
    assert_true(heed_set_rows(s, "target", 1, (int64_t[]){0, a->n}, NULL, &err));
    assert_true(heed_run(s, &err));
    heed_matrix x = heed_read_value(s, out.logits), p = heed_read_value(s, probs);
    float sum = 0;
    for (int64_t i = 0; i < a->n; i++) {
        const float *row = x.data + i * x.cols;
        int64_t max = 0;
        for (int64_t j = 0; j < x.cols; j++) {
            max = row[j] > row[max] ? j : max;
        }
        sum += (row[a->id[i]] - row[max]) + logf(p.data[i * x.cols + max]);
    }
    heed_session_free(s);
    heed_plan_free(plan);
    return sum;
}

static void the_cache_changes_no_bit(void **state) {
    (void)state;
    corpus c;
    make(&c);
    heed_engine *engine;
    heed_model *model = open_with(2, &engine);
    heed_translate_options o = wanted(model);
    heed_translations all = {0};
    translate(model, &o, &c, 0, sentences, &all);
    int compared = 0;
    for (int64_t i = 0; i < sentences; i++) {
        for (int64_t j = 2 * i; j < 2 * i + 2; j++) {
            if (all.item[j].n == 0) {
                continue;
            }
            float plain =
                plain_log_prob(model, c.id + c.start[i], c.start[i + 1] - c.start[i], &all.item[j]);
            if ((double)plain != all.item[j].log_prob) {
                fail_msg("line %d: %.9g without a cache, %.9g with it", (int)i, (double)plain,
                         all.item[j].log_prob);
            }
            compared++;
        }
    }
    assert_true(compared > sentences);
    heed_translations_free(&all);
    heed_model_free(model);
    heed_engine_free(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_budget_and_threads_change_nothing),
        cmocka_unit_test(lines_put_back_come_out_the_same),
        cmocka_unit_test(the_cache_changes_no_bit),
    };
    static const char *const sets[] = TEST_SETS;
    int failed = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        heed_engine *engine = heed_engine_new(NULL, 1, sets[i], NULL);
        isa = sets[i];
        folder = i % 2 ? "tests/golden/pegasus-a" : "tests/golden/marian-a";
        sentences = SENTENCES;
        longest = 20;
        most_translated = 24;
        failed += engine ? cmocka_run_group_tests_name(isa, tests, NULL, NULL) : 0;
        folder = NULL;
        sentences = 9;
        longest = 140;
        most_translated = 150;
        failed += engine ? cmocka_run_group_tests_name("long", tests, NULL, NULL) : 0;
        heed_engine_free(engine);
    }
    return failed;
}
