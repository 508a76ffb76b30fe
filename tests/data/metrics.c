/* BLEU and chrF against sacreBLEU: words, scores, signatures, single sentences, paired resampling.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "data/bleu.h"
#include "data/chrf.h"
#include "data/numpy_random.h"
#include "data/resample.h"
#include "file/json.h"
#include "support.h"

enum { LINES = 100 };

typedef struct {
    json_t *root;
    int64_t n;
    heed_line hyp[LINES], other[LINES], ref[2][LINES];
} golden;

static heed_line line_of(const json_t *text) {
    return (heed_line){json_string_value(text), json_string_length(text)};
}

static void take_lines(const json_t *list, heed_line *out) {
    for (size_t i = 0; i < json_array_size(list); i++)
        out[i] = line_of(json_array_get(list, i));
}

static int load(void **state) {
    golden *g = calloc(1, sizeof *g);
    g->root = heed_json_read(NULL, "tests/golden/metrics/metrics.json", 0, NULL);
    g->n = (int64_t)json_array_size(heed_json_find(g->root, "hyps"));
    if (g->n < 50 || g->n > LINES)
        return -1;
    take_lines(heed_json_find(g->root, "hyps"), g->hyp);
    take_lines(heed_json_find(g->root, "other"), g->other);
    take_lines(heed_json_find(g->root, "refs.0"), g->ref[0]);
    take_lines(heed_json_find(g->root, "refs.1"), g->ref[1]);
    *state = g;
    return 0;
}

static int unload(void **state) {
    golden *g = *state;
    json_decref(g->root);
    free(g);
    return 0;
}

static void expect_near(double got, double want, double within, const char *what) {
    if (!(fabs(got - want) <= within))
        fail_msg("%s: got %.17g, want %.17g", what, got, want);
}

static heed_bleu_opts bleu_opts(const json_t *o) {
    heed_bleu_opts opts = {0};
    const char *tokens = "13a", *smooth = "exp";
    assert_true(heed_json_opt_string(o, "tokenize", &tokens, NULL));
    assert_true(heed_json_opt_string(o, "smooth_method", &smooth, NULL));
    assert_true(heed_bleu_tokens_find(tokens, &opts.tokens) &&
                heed_bleu_smooth_find(smooth, &opts.smooth));
    opts.smooth_value_set = heed_json_find(o, "smooth_value") != NULL;
    heed_json_opt_number(o, "smooth_value", &opts.smooth_value, NULL);
    heed_json_opt_bool(o, "lowercase", &opts.lowercase, NULL);
    heed_json_opt_bool(o, "effective_order", &opts.effective_order, NULL);
    return opts;
}

static void test_words(void **state) {
    golden *g = *state;
    size_t i, j;
    json_t *entry, *text;
    json_array_foreach(heed_json_find(g->root, "tokens"), i, entry) {
        heed_bleu_opts o = bleu_opts(entry);
        json_t *lines = json_object_get(entry, "lines");
        size_t half = json_array_size(lines) / 2;
        json_array_foreach(lines, j, text) {
            heed_buf out = {0};
            heed_error err = {0};
            assert_true(heed_buf_add(&out, "", 0));
            assert_true(
                heed_bleu_tokenize(j < half ? g->ref[0][j] : g->hyp[j - half], &o, &out, &err));
            if (strcmp(out.data, json_string_value(text)) != 0)
                fail_msg("tokens %d lc %d line %zu: got '%s', want '%s'", (int)o.tokens,
                         o.lowercase, j, out.data, json_string_value(text));
            heed_buf_free(&out);
        }
    }
}

static void test_bleu(void **state) {
    golden *g = *state;
    size_t i;
    json_t *entry;
    const heed_line *const refs[] = {g->ref[0], g->ref[1]};
    json_array_foreach(heed_json_find(g->root, "bleu"), i, entry) {
        heed_bleu_opts o = bleu_opts(json_object_get(entry, "options"));
        int64_t n_refs = json_integer_value(json_object_get(entry, "references"));
        heed_bleu_stats segment[LINES];
        heed_bleu_result r, one;
        heed_error err = {0};
        assert_true(heed_bleu(NULL, g->hyp, refs, n_refs, g->n, &o, &r, segment, &err));
        assert_string_equal(r.signature, heed_json_string(entry, "signature", NULL, &err));
        assert_string_equal(r.verbose, heed_json_string(entry, "verbose", NULL, &err));
        expect_near(r.score, json_number_value(json_object_get(entry, "score")), 1e-11,
                    r.signature);
        const json_t *single = json_object_get(entry, "segments");
        for (size_t k = 0; k < json_array_size(single); k++) {
            heed_bleu_score(&segment[k], &o, n_refs, &one);
            expect_near(one.score, json_number_value(json_array_get(single, k)), 1e-11, "sentence");
        }
    }
    assert_true(i > 20);
}

static void test_chrf(void **state) {
    golden *g = *state;
    size_t i;
    json_t *entry;
    const heed_line *const refs[] = {g->ref[0], g->ref[1]};
    json_array_foreach(heed_json_find(g->root, "chrf"), i, entry) {
        const json_t *options = json_object_get(entry, "options");
        int64_t orders[3] = {0}, n_refs = json_integer_value(json_object_get(entry, "references"));
        heed_chrf_opts o = {0};
        heed_chrf_stats segment[LINES];
        heed_chrf_result r;
        heed_error err = {0};
        heed_json_opt_int(options, "char_order", &orders[0], NULL);
        heed_json_opt_int(options, "word_order", &orders[1], NULL);
        heed_json_opt_int(options, "beta", &orders[2], NULL);
        heed_json_opt_bool(options, "lowercase", &o.lowercase, NULL);
        heed_json_opt_bool(options, "whitespace", &o.whitespace, NULL);
        o.char_order = (int)orders[0], o.word_order = (int)orders[1], o.beta = (int)orders[2];
        assert_true(heed_chrf(NULL, g->hyp, refs, n_refs, g->n, &o, &r, segment, &err));
        assert_string_equal(r.signature, heed_json_string(entry, "signature", NULL, &err));
        assert_string_equal(r.name, heed_json_string(entry, "name", NULL, &err));
        expect_near(r.score, json_number_value(json_object_get(entry, "score")), 1e-11,
                    r.signature);
        const json_t *single = json_object_get(entry, "segments");
        for (size_t k = 0; k < json_array_size(single); k++)
            expect_near(heed_chrf_score(&segment[k], &o),
                        json_number_value(json_array_get(single, k)), 1e-11, "sentence");
    }
    assert_true(i >= 12);
}

/* Numbers of numpy 2.4's default_rng, written here from its own output. */
static void test_numpy_numbers(void **state) {
    (void)state;
    heed_numpy_random r;
    const uint64_t raw[] = {0x3a32b18db2ffc19d, 0x51171315c9e4c4de, 0xcc2024823444efd9,
                            0xad1f06aea486e910};
    heed_numpy_seed(&r, 12345);
    for (int i = 0; i < 4; i++)
        assert_true(heed_numpy_u64(&r) == raw[i]);
    const uint32_t draw[] = {699, 227, 788, 316, 204, 797, 642, 676, 988, 391, 839, 332};
    heed_numpy_seed(&r, 12345);
    for (int i = 0; i < 12; i++)
        assert_int_equal(heed_numpy_below(&r, 1000), draw[i]);
    const uint32_t few[] = {1, 5, 4, 1, 0, 1, 3, 4, 6, 5, 0, 3},
                   many[] = {2894666320, 66137649, 2779866662};
    heed_numpy_seed(&r, ((uint64_t)1 << 40) + 7);
    for (int i = 0; i < 12; i++)
        assert_int_equal(heed_numpy_below(&r, 7), few[i]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(heed_numpy_below(&r, 4294967290), many[i]);
    const uint32_t rejecting[] = {1535464873, 2851391088, 104557657,
                                  2845948340, 935494355,  2607075741};
    heed_numpy_seed(&r, 1);
    for (int i = 0; i < 6; i++)
        assert_int_equal(heed_numpy_below(&r, 3000000000), rejecting[i]);
}

static void expect_paired(const heed_paired *p, const json_t *entry) {
    expect_near(p->p, json_number_value(heed_json_find(entry, "system.p_value")), 1e-15, "p");
    for (int k = 0; k < 2; k++) {
        const json_t *want = json_object_get(entry, k ? "system" : "base");
        expect_near(p->score[k], json_number_value(json_object_get(want, "score")), 1e-11, "score");
        /* floats there */
        expect_near(p->mean[k], json_number_value(json_object_get(want, "mean")), 1e-4, "mean");
        expect_near(p->ci[k], json_number_value(json_object_get(want, "ci")), 1e-4, "interval");
    }
}

static void test_paired(void **state) {
    golden *g = *state;
    const heed_line *const refs[] = {g->ref[0]};
    heed_error err = {0};
    heed_paired p;
    heed_bleu_opts bo = {.lowercase = true};
    heed_bleu_stats bs[2][LINES];
    heed_bleu_result br;
    assert_true(heed_bleu(NULL, g->hyp, refs, 1, g->n, &bo, &br, bs[0], &err));
    assert_true(heed_bleu(NULL, g->other, refs, 1, g->n, &bo, &br, bs[1], &err));
    assert_true(heed_bleu_paired(NULL, bs[0], bs[1], g->n, &bo, HEED_RESAMPLES, HEED_RESAMPLE_SEED,
                                 &p, &err));
    expect_paired(&p, heed_json_find(g->root, "paired.0"));
    heed_chrf_opts co = {0};
    heed_chrf_stats cs[2][LINES];
    heed_chrf_result cr;
    assert_true(heed_chrf(NULL, g->hyp, refs, 1, g->n, &co, &cr, cs[0], &err));
    assert_true(heed_chrf(NULL, g->other, refs, 1, g->n, &co, &cr, cs[1], &err));
    assert_true(heed_chrf_paired(NULL, cs[0], cs[1], g->n, &co, HEED_RESAMPLES, HEED_RESAMPLE_SEED,
                                 &p, &err));
    expect_paired(&p, heed_json_find(g->root, "paired.1"));
    /* A system against itself: no difference is ever above none, so chance explains all or
     * nothing. */
    assert_true(heed_bleu_paired(NULL, bs[0], bs[0], g->n, &bo, 100, 1, &p, &err));
    expect_near(p.p, 1.0 / 101, 1e-15, "itself");
    assert_false(heed_bleu_paired(NULL, bs[0], bs[1], 0, &bo, 100, 1, &p, &err));
    expect_error(&err, HEED_VALUE, "cannot draw 100 resamples of 0 segments");
}

static void test_refusals(void **state) {
    golden *g = *state;
    const heed_line *const refs[] = {g->ref[0]}, bad = {"\xff", 1};
    const heed_line *const bad_refs[] = {&bad};
    heed_error err = {0};
    heed_bleu_result br;
    heed_chrf_result cr;
    heed_bleu_tokens tokens;
    heed_bleu_smooth smooth;
    assert_false(heed_bleu(NULL, g->hyp, refs, 1, 0, &(heed_bleu_opts){0}, &br, NULL, &err));
    expect_error(&err, HEED_VALUE, "BLEU needs segments and references, got 0 and 1");
    assert_false(heed_chrf(NULL, g->hyp, refs, 0, 1, &(heed_chrf_opts){0}, &cr, NULL, &err));
    expect_error(&err, HEED_VALUE, "chrF needs segments and references, got 1 and 0");
    assert_false(heed_chrf(NULL, g->hyp, refs, 1, 1,
                           &(heed_chrf_opts){.char_order = 15, .word_order = 2}, &cr, NULL, &err));
    expect_error(&err, HEED_VALUE, "chrF orders 15 and 2 with beta 2");
    for (int lowercase = 0; lowercase < 2; lowercase++) {
        heed_bleu_opts bo = {.lowercase = lowercase != 0};
        heed_chrf_opts co = {.lowercase = lowercase != 0};
        assert_false(heed_bleu(NULL, &bad, refs, 1, 1, &bo, &br, NULL, &err));
        expect_error(&err, HEED_TEXT, "segment 1: a segment is not UTF-8");
        assert_false(heed_bleu(NULL, g->hyp, bad_refs, 1, 1, &bo, &br, NULL, &err));
        expect_error(&err, HEED_TEXT, "segment 1: a segment is not UTF-8");
        assert_false(heed_chrf(NULL, &bad, refs, 1, 1, &co, &cr, NULL, &err));
        expect_error(&err, HEED_TEXT, "segment 1: a segment is not UTF-8");
    }
    assert_false(heed_bleu_tokens_find("13b", &tokens));
    assert_false(heed_bleu_smooth_find("", &smooth));
}

static bool score_few(const heed_host *host, void *ctx, heed_error *err) {
    golden *g = ctx;
    const heed_line *const refs[] = {g->ref[0] + 8, g->ref[1] + 8};
    heed_bleu_result br;
    heed_chrf_result cr;
    heed_paired p;
    heed_bleu_stats s[2];
    heed_bleu_opts bo = {.tokens = HEED_BLEU_ZH, .lowercase = true};
    return heed_bleu(host, g->hyp + 8, refs, 2, 2, &bo, &br, s, err) &&
           heed_chrf(host, g->hyp + 8, refs, 1, 1,
                     &(heed_chrf_opts){.word_order = 2, .char_order = 2}, &cr, NULL, err) &&
           heed_bleu_paired(host, s, s, 2, &bo, 5, 1, &p, err);
}

static void test_memory(void **state) {
    for_each_failing_allocation(score_few, *state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),  cmocka_unit_test(test_bleu),
        cmocka_unit_test(test_chrf),   cmocka_unit_test(test_numpy_numbers),
        cmocka_unit_test(test_paired), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("data/metrics", tests, load, unload);
}
