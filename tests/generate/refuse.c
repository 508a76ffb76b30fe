/* refuse.c: what a translator says about options, sources and memory that do not do.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "generate/score.h"
#include "generate/translate.h"

#include <math.h>

typedef struct {
    heed_engine *engine;
    heed_model *model;
} fixture;

static fixture opened(const heed_host *host) {
    heed_error err = {0};
    fixture f = {.engine = heed_engine_new(host, 2, NULL, &err)};
    f.model = heed_model_open(f.engine, "tests/golden/marian-a", &err);
    expect_no_error(&err);
    return f;
}

static void closed(fixture *f) {
    heed_model_free(f->model);
    heed_engine_free(f->engine);
}

static void options_out_of_range(void **state) {
    (void)state;
    fixture f = opened(NULL);
    const heed_translate_options base = heed_translate_defaults(f.model);
    heed_translate_options o[9];
    static const char *const parts[] = {
        "beam 0",       "n_best 2",      "beam 51 is more than the 50",
        "max_length 1", "min_length 10", "not usable",
        "not usable",   "MiB",           "not usable"};
    for (int i = 0; i < 9; i++) {
        o[i] = (heed_translate_options){.beam = 1, .n_best = 1, .max_length = 9};
    }
    o[0].beam = 0;
    o[1].n_best = 2;
    o[2].beam = 51;
    o[3].max_length = 1;
    o[4].min_length = 10;
    o[5].length_penalty = NAN;
    o[6].max_ratio = -1;
    o[7].limit = 1000;
    o[8].max_length = INT64_MAX;
    for (int i = 0; i < 9; i++) {
        heed_error err = {0};
        assert_null(heed_translator_new(f.model, &o[i], &err));
        expect_error(&err, i == 7 ? HEED_LIMIT : HEED_VALUE, parts[i]);
    }
    assert_true(base.beam == 4 && base.n_best == 1 && base.max_length == 32);
    closed(&f);
}

/* What a folder asks of a search and no search here does. */
static void penalty(void **state) {
    (void)state;
    fixture f = opened(NULL);
    heed_error err = {0};
    heed_translate_options o = heed_translate_defaults(f.model);
    o.repetition_penalty = -1.05;
    assert_null(heed_translator_new(f.model, &o, &err));
    expect_error(&err, HEED_VALUE, "repetition_penalty -1.05: wanted a number above 0, 1 for none");
    closed(&f);
}

static void sources_of_every_kind(void **state) {
    (void)state;
    fixture f = opened(NULL);
    heed_error err = {0};
    heed_translations out = {0};
    heed_translate_options o = heed_translate_defaults(f.model);
    o.max_source = 4;
    o.max_length = 6;
    heed_translator *t = heed_translator_new(f.model, &o, &err);
    /* Nothing, one id, exactly what fits, and one that is cut to 5 7 9 0. */
    const int32_t id[] = {5, 5, 7, 9, 0, 5, 7, 9, 11, 3, 0};
    const int64_t start[] = {0, 0, 1, 5, 11, 11};
    assert_true(heed_translate_ids(t, id, start, 5, &out, &err));
    static const heed_source_state states[] = {
        HEED_SOURCE_EMPTY, HEED_SOURCE_FINE, HEED_SOURCE_FINE, HEED_SOURCE_CUT, HEED_SOURCE_EMPTY};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(out.source[i], states[i]);
        assert_int_equal(out.item[i].n == 0, states[i] == HEED_SOURCE_EMPTY);
        assert_null(out.item[i].text); /* the folder has no tokenizer */
    }
    assert_int_equal(out.item[2].n, out.item[3].n);
    assert_true(out.item[2].score == out.item[3].score);
    assert_true(heed_translate_ids(t, id, start, 0, &out, &err));
    assert_int_equal(out.lines, 0);
    const int32_t bad[] = {5, 50};
    assert_false(heed_translate_ids(t, bad, (int64_t[]){0, 1, 2}, 2, &out, &err));
    expect_error(&err, HEED_VALUE, "line 2: token id 50, the model has 0 to 49");
    assert_null(out.item);
    assert_false(heed_translate(t, &(heed_line){"a", 1}, 1, &out, &err));
    expect_error(&err, HEED_NAME, "has no tokenizer");
    heed_translator_free(t);
    o.plan_only = true;
    t = heed_translator_new(f.model, &o, &err);
    heed_need need = heed_translator_need(t);
    assert_true(need.total == need.weights + need.packed + need.values + need.cache);
    assert_true(need.cache > 0 && need.values > 0);
    assert_false(heed_translate_ids(t, id, start, 5, &out, &err));
    expect_error(&err, HEED_VALUE, "only planned");
    heed_translator_free(t);
    closed(&f);
}

static void lengths_are_kept(void **state) {
    (void)state;
    fixture f = opened(NULL);
    heed_error err = {0};
    heed_translations out = {0};
    const int32_t id[] = {5, 17, 9, 30, 11, 8, 0};
    const int64_t start[] = {0, 7};
    const int32_t pad = heed_model_config(f.model)->pad, end = heed_model_config(f.model)->eos;
    for (int64_t beam = 1; beam <= 3; beam += 2) {
        heed_translate_options o = heed_translate_defaults(f.model);
        o.beam = beam;
        o.max_ratio = 0.5;
        o.max_extra = 2;
        o.force_end = true;
        heed_translator *t = heed_translator_new(f.model, &o, &err);
        assert_true(heed_translate_ids(t, id, start, 1, &out, &err));
        assert_true(out.item[0].n <= 5); /* 1 + floor(3.5) + 2 rows, the start among them */
        assert_true(out.item[0].ended && out.item[0].id[out.item[0].n - 1] == end);
        for (int64_t i = 0; i < out.item[0].n; i++) {
            assert_int_not_equal(out.item[0].id[i], pad);
        }
        heed_translator_free(t);
    }
    heed_translations_free(&out);
    closed(&f);
}

/* The loss of a translation is its log-probability: the padding token is left out of the choice,
 * not of the softmax. */
static void the_scorer_agrees_with_the_search(void **state) {
    (void)state;
    heed_error err = {0};
    heed_translations out = {0};
    heed_pairs pairs = {0};
    heed_engine *engine = heed_engine_new(NULL, 2, NULL, &err);
    heed_model *model = heed_model_open(engine, "tests/golden/marian-beam", &err);
    const int32_t id[] = {5, 9, 4, 7, 0, 11, 3, 0};
    const int64_t start[] = {0, 5, 8};
    heed_translator *t = heed_translator_new(model, NULL, &err);
    assert_true(heed_translate_ids(t, id, start, 2, &out, &err));
    double sum = 0;
    int64_t labels = 0;
    for (int i = 0; i < 2; i++) {
        const heed_translation *a = &out.item[i];
        assert_true(a->ended);
        assert_true(heed_pairs_add(&pairs, id + start[i], start[i + 1] - start[i] - 1, a->id,
                                   a->n - 1, i + 1, &err));
        sum -= a->log_prob;
        labels += a->n;
    }
    for (int64_t budget = 0; budget < 20; budget += 9) {
        heed_scorer *s =
            heed_scorer_new(model, &pairs, &(heed_scorer_options){.batch_tokens = budget}, &err);
        expect_no_error(&err);
        heed_likelihood l, again;
        assert_true(heed_scorer_run(s, &l, &err) && heed_scorer_run(s, &again, &err));
        assert_true(l.loss == again.loss && l.labels == labels && l.left_out == 0);
        if (fabs(l.loss * (double)labels - sum) > 1e-5) {
            fail_msg("loss %.7g, the search has %.7g", l.loss * (double)labels, sum);
        }
        assert_true(fabs(exp(l.loss) - l.perplexity) < 1e-9);
        heed_scorer_free(s);
    }
    heed_pairs_free(&pairs);
    heed_translations_free(&out);
    heed_translator_free(t);
    heed_model_free(model);
    heed_engine_free(engine);
}

static bool work(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    const int32_t id[] = {5, 17, 0, 9, 0};
    const int64_t start[] = {0, 3, 5};
    heed_translations out = {0};
    heed_pairs pairs = {.host = host};
    heed_engine *engine = heed_engine_new(host, 1, NULL, err);
    heed_model *model = engine ? heed_model_open(engine, "tests/golden/pegasus-a", err) : NULL;
    heed_translate_options o = {.beam = 2, .n_best = 2, .max_length = 5, .length_penalty = 1};
    heed_translator *t = model ? heed_translator_new(model, &o, err) : NULL;
    heed_scorer *s = NULL;
    heed_likelihood l;
    bool ok = t && heed_translate_ids(t, id, start, 2, &out, err) &&
              heed_pairs_add(&pairs, id, 2, id, 2, 1, err);
    if (ok) {
        s = heed_scorer_new(model, &pairs, &(heed_scorer_options){0}, err);
        ok = s && heed_scorer_run(s, &l, err);
    }
    heed_scorer_free(s);
    heed_pairs_free(&pairs);
    heed_translations_free(&out);
    heed_translator_free(t);
    heed_model_free(model);
    heed_engine_free(engine);
    return ok;
}

static void memory_may_fail_anywhere(void **state) {
    (void)state;
    for_each_failing_allocation(work, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_out_of_range),
        cmocka_unit_test(penalty),
        cmocka_unit_test(sources_of_every_kind),
        cmocka_unit_test(lengths_are_kept),
        cmocka_unit_test(the_scorer_agrees_with_the_search),
        cmocka_unit_test(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
