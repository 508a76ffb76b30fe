/* golden.c: greedy and beam search give the ids that transformers' generate gives.
 *
 * The goldens keep only searches whose ids small changes of the weights leave alone.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "file/json.h"
#include "generate/translate.h"

#include <dirent.h>
#include <math.h>

#define ROOT "tests/golden/"
enum { MOST = 40 };

static heed_translate_options options_of(const json_t *o, const heed_model *model) {
    heed_error err = {0};
    heed_translate_options out = heed_translate_defaults(model);
    const json_t *early = heed_json_find(o, "early_stopping");
    assert_true(heed_json_int(o, "num_beams", &out.beam, &err));
    assert_true(heed_json_opt_int(o, "num_return_sequences", &out.n_best, &err));
    assert_true(heed_json_opt_int(o, "max_length", &out.max_length, &err));
    assert_true(heed_json_opt_int(o, "min_length", &out.min_length, &err));
    assert_true(heed_json_opt_int(o, "no_repeat_ngram_size", &out.no_repeat, &err));
    assert_true(heed_json_opt_number(o, "length_penalty", &out.length_penalty, &err));
    assert_true(heed_json_opt_number(o, "repetition_penalty", &out.repetition_penalty, &err));
    assert_true(heed_json_opt_bool(o, "renormalize_logits", &out.renormalize, &err));
    out.stop = json_is_string(early) ? HEED_STOP_NEVER
               : json_is_true(early) ? HEED_STOP_FIRST
                                     : HEED_STOP_AUTO;
    int64_t end = -1;
    assert_true(heed_json_opt_int(o, "forced_eos_token_id", &end, &err));
    out.force_end = end >= 0;
    return out;
}

static void compare(const heed_translation *got, const json_t *ids, const json_t *score,
                    const char *what) {
    bool same = (size_t)got->n == json_array_size(ids);
    for (int64_t i = 0; same && i < got->n; i++) {
        same = got->id[i] == json_integer_value(json_array_get(ids, (size_t)i));
    }
    if (!same) {
        fail_msg("%s: other ids, the first of %d is %d", what, (int)got->n,
                 got->n ? got->id[0] : -1);
    }
    if (json_is_number(score) && fabs(got->score - json_number_value(score)) > 1e-4) {
        fail_msg("%s: score %.6f, wanted %.6f", what, got->score, json_number_value(score));
    }
}

static void one_search(heed_model *model, const json_t *search, const char *where) {
    heed_error err = {0};
    heed_translate_options o = options_of(heed_json_find(search, "options"), model);
    heed_translations out = {0};
    const json_t *inputs = heed_json_find(search, "input_ids"),
                 *ids = heed_json_find(search, "ids"), *scores = heed_json_find(search, "scores");
    int32_t id[1000];
    int64_t start[100] = {0}, n = (int64_t)json_array_size(inputs);
    for (int64_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(inputs, (size_t)i);
        start[i + 1] = start[i] + (int64_t)json_array_size(row);
        for (int64_t j = start[i]; j < start[i + 1]; j++) {
            id[j] = (int32_t)json_integer_value(json_array_get(row, (size_t)(j - start[i])));
        }
    }
    heed_translator *t = heed_translator_new(model, &o, &err);
    expect_no_error(&err);
    assert_true(heed_translate_ids(t, id, start, n, &out, &err));
    assert_int_equal(json_array_size(ids), n * o.n_best);
    for (int64_t i = 0; i < n * o.n_best; i++) {
        char what[400];
        snprintf(what, sizeof what, "%s, answer %d", where, (int)i);
        compare(&out.item[i], json_array_get(ids, (size_t)i), json_array_get(scores, (size_t)i),
                what);
    }
    heed_translations_free(&out);
    heed_translator_free(t);
}

static void folder_on(const char *path, const char *isa) {
    heed_error err = {0};
    char file[260], where[350];
    snprintf(file, sizeof file, "%s/generate.json", path);
    heed_engine *engine = heed_engine_new(NULL, 2, isa, &err);
    if (!engine) { /* not on this machine, or not in this build */
        assert_string_not_equal(isa, "ref");
        return;
    }
    heed_model *model = heed_model_open(engine, path, &err);
    expect_no_error(&err);
    json_t *all = heed_json_read(NULL, file, 0, &err);
    expect_no_error(&err);
    assert_true(json_array_size(all) >= 10);
    for (size_t i = 0; i < json_array_size(all); i++) {
        snprintf(where, sizeof where, "%s on %s, search %zu", file, isa, i);
        one_search(model, json_array_get(all, i), where);
    }
    json_decref(all);
    heed_model_free(model);
    heed_engine_free(engine);
}

static void folder(const char *path) {
    static const char *const sets[] = TEST_SETS;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        folder_on(path, sets[i]);
    }
}

/* Every tests/golden/NAME-beam is a test. */
static void one(void **state) {
    char path[200];
    snprintf(path, sizeof path, ROOT "%s", (const char *)*state);
    folder(path);
}

static bool is_ours(const char *name) {
    size_t n = strlen(name);
    return n > 5 && n < 80 && strcmp(name + n - 5, "-beam") == 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

int main(void) {
    static char name[MOST][80];
    struct CMUnitTest tests[MOST];
    size_t n = 0;
    DIR *root = opendir(ROOT);
    for (struct dirent *e; root && n < MOST && (e = readdir(root));) {
        if (!is_ours(e->d_name)) {
            continue;
        }
        snprintf(name[n], sizeof name[n], "%.79s", e->d_name);
        tests[n] = (struct CMUnitTest){.name = name[n], .test_func = one, .initial_state = name[n]};
        n++;
    }
    if (root) {
        closedir(root);
    }
    qsort(tests, n, sizeof *tests, by_name);
    return n < 2 ? 1 : _cmocka_run_group_tests("golden", tests, n, NULL, NULL);
}
