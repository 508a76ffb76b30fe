/* embed.c: vectors are those of sentence-transformers, whatever stands beside a text; long texts;
 * what a folder may not ask for.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/fs.h"
#include "file/json.h"
#include "generate/dense.h"

#include <math.h>

#define GOLDEN "tests/golden/embed/"
enum { TEXTS = 16 };

static heed_line line_of(const char *s) {
    return (heed_line){s, strlen(s)};
}

/* ---- Against sentence-transformers ---- */

typedef struct {
    json_t *root;
    heed_line text[TEXTS];
    int64_t n;
} golden;

static golden open_golden(const char *folder) {
    heed_error err = {0};
    char path[200];
    golden g = {.n = 0};
    snprintf(path, sizeof path, "%s/expected.json", folder);
    g.root = heed_json_read(NULL, path, 0, &err);
    expect_no_error(&err);
    const json_t *texts = json_object_get(g.root, "texts");
    g.n = (int64_t)json_array_size(texts);
    assert_in_range(g.n, 1, TEXTS);
    for (int64_t i = 0; i < g.n; i++)
        g.text[i] = line_of(json_string_value(json_array_get(texts, (size_t)i)));
    return g;
}

/* Embeds texts with options on so many threads. */
static heed_vectors embed(const char *folder, const heed_line *texts, int64_t n,
                          heed_embed_options o, int threads) {
    heed_error err = {0};
    heed_vectors out = {0};
    heed_engine *engine = heed_engine_new(NULL, threads, NULL, &err);
    heed_embedder *e = heed_embedder_new(engine, folder, &o, &err);
    expect_no_error(&err);
    assert_true(heed_embed_texts(e, texts, n, &out, &err));
    heed_embedder_free(e);
    heed_engine_free(engine);
    return out;
}

static void expect_row(const heed_vectors *v, int64_t row, const heed_vectors *want, int64_t i,
                       const char *what) {
    const float *a = v->vector + row * v->width, *b = want->vector + i * want->width;
    if (v->width != want->width || memcmp(a, b, (size_t)v->width * sizeof *a) != 0)
        fail_msg("%s: the vector of text %d has other bits", what, (int)i);
}

static const char *const FOLDERS[] = {GOLDEN "mean",     GOLDEN "cls-lower", GOLDEN "max",
                                      GOLDEN "sqrt",     GOLDEN "weighted",  GOLDEN "last",
                                      GOLDEN "t5-dense", GOLDEN "t5-both"};
enum { N_FOLDERS = sizeof FOLDERS / sizeof *FOLDERS };

static void as_sentence_transformers(void **state) {
    (void)state;
    for (int f = 0; f < N_FOLDERS; f++) {
        golden g = open_golden(FOLDERS[f]);
        heed_vectors v = embed(FOLDERS[f], g.text, g.n, (heed_embed_options){0}, 2);
        const json_t *want = json_object_get(g.root, "vectors");
        for (int64_t i = 0; i < v.n * v.width; i++) {
            const json_t *row = json_array_get(want, (size_t)(i / v.width));
            double x = json_number_value(json_array_get(row, (size_t)(i % v.width)));
            assert_int_equal(json_array_size(row), v.width);
            if (!(fabs(x - (double)v.vector[i]) <= 1e-5))
                fail_msg("%s: text %d is %.7g at %d, wanted %.7g", FOLDERS[f], (int)(i / v.width),
                         (double)v.vector[i], (int)(i % v.width), x);
        }
        heed_vectors_free(&v);
        json_decref(g.root);
    }
}

/* Alone, backwards, in batches of one, on one and three threads: the same bits. */
static void a_vector_is_of_its_text_alone(void **state) {
    (void)state;
    for (int f = 0; f < N_FOLDERS; f++) {
        golden g = open_golden(FOLDERS[f]);
        heed_embed_options o = {.on_long = HEED_EMBED_WINDOWS};
        heed_vectors all = embed(FOLDERS[f], g.text, g.n, o, 2);
        heed_line back[TEXTS];
        for (int64_t i = 0; i < g.n; i++)
            back[i] = g.text[g.n - 1 - i];
        heed_vectors other = embed(FOLDERS[f], back, g.n, o, 3);
        for (int64_t i = 0; i < g.n; i++)
            expect_row(&other, g.n - 1 - i, &all, i, "backwards");
        heed_vectors_free(&other);
        o.batch_tokens = 1;
        other = embed(FOLDERS[f], g.text, g.n, o, 1);
        for (int64_t i = 0; i < g.n; i++)
            expect_row(&other, i, &all, i, "batches of one");
        heed_vectors_free(&other);
        for (int64_t i = 0; i < g.n; i++) {
            other = embed(FOLDERS[f], &g.text[i], 1, o, 1);
            expect_row(&other, 0, &all, i, "alone");
            heed_vectors_free(&other);
        }
        heed_vectors_free(&all);
        json_decref(g.root);
    }
}

/* ---- Long texts ---- */

static const char LONG[] = "the sun sings and the rain falls and we walk home at night and the sea";

static void long_texts(void **state) {
    (void)state;
    const char *folder = GOLDEN "mean";
    const heed_line texts[] = {line_of(LONG),
                               line_of("the sun sings and the rain falls and we"), /* 10 words */
                               line_of("sea walk home at night and the")};
    heed_line text = texts[0];
    heed_embed_options o = {.max_tokens = 12};
    heed_vectors cut = embed(folder, &text, 1, o, 1), first = embed(folder, &texts[1], 1, o, 1);
    assert_int_equal(first.text[0].tokens, 11);
    assert_int_equal(cut.text[0].tokens, 12);
    assert_int_equal(cut.text[0].dropped, 6);
    o.on_long = HEED_EMBED_WINDOWS;
    o.max_tokens = 10; /* eight words and two of the template: 8 + 8 of 16 */
    heed_vectors windows = embed(folder, &text, 1, o, 1);
    assert_int_equal(windows.text[0].dropped, 0);
    assert_int_equal(windows.text[0].windows, 2);
    assert_int_equal(windows.text[0].tokens, 20);
    heed_vectors_free(&cut);
    heed_vectors_free(&first);
    heed_vectors_free(&windows);
}

/* Windows of 8 and 4 words: 2/3 and 1/3 of their vectors, before that is made of length 1. */
static void windows_count_by_their_tokens(void **state) {
    (void)state;
    const char *folder = GOLDEN "sqrt"; /* not normalised */
    const heed_line whole = line_of("the sun sings and the rain falls and we walk home at");
    const heed_line part[] = {line_of("the sun sings and the rain falls and"),
                              line_of("we walk home at")};
    heed_embed_options o = {.max_tokens = 10, .on_long = HEED_EMBED_WINDOWS};
    heed_vectors v = embed(folder, &whole, 1, o, 1), parts = embed(folder, part, 2, o, 1);
    assert_int_equal(v.text[0].windows, 2);
    for (int64_t c = 0; c < v.width; c++) {
        double want = (8 * (double)parts.vector[c] + 4 * (double)parts.vector[v.width + c]) / 12;
        assert_true(fabs(want - (double)v.vector[c]) < 1e-6);
    }
    heed_vectors_free(&v);
    heed_vectors_free(&parts);
}

/* ---- Options and facts ---- */

static void what_goes_for_all(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_embedder *e = heed_embedder_new(engine, GOLDEN "weighted", NULL, &err);
    heed_embedder_facts facts = heed_embedder_about(e);
    assert_int_equal(facts.width, 8);
    assert_int_equal(facts.max_tokens, 20);
    assert_string_equal(facts.max_from, "tokenizer_config.json");
    assert_string_equal(facts.pooling_name, "weightedmean");
    assert_string_equal(facts.prompt, "we walk: ");
    assert_true(facts.normalized && facts.stated);
    heed_vectors none = {0};
    assert_true(heed_embed_texts(e, NULL, 0, &none, &err));
    assert_int_equal(none.n, 0);
    heed_vectors_free(&none);
    heed_embedder_free(e);
    e = heed_embedder_new(engine, "tests/golden/embed/cls-lower",
                          &(heed_embed_options){.pooling = HEED_POOLING_MAX, .normalize = true},
                          &err);
    facts = heed_embedder_about(e);
    assert_int_equal(facts.pooling, HEED_POOLING_MAX);
    assert_true(facts.normalized);
    heed_embedder_free(e);
    heed_engine_free(engine);
}

static void copy_file(const char *from, const char *folder, const char *name) {
    char path[TEST_PATH + 60], to[TEST_PATH + 60];
    heed_error err = {0};
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", from, name);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    char *data = heed_read_file(NULL, path, 1 << 20, &n, &err);
    expect_no_error(&err);
    assert_true(heed_write_file(NULL, to, data, n, &err));
    heed_free(NULL, data);
}

/* All positions of OPT are a text's, though its table has two rows more. */
static void a_table_with_rows_before(void **state) {
    (void)state;
    char folder[TEST_PATH];
    temp_folder(folder);
    copy_file("tests/golden/families/opt-model", folder, "config.json");
    copy_file("tests/golden/families/opt-model", folder, "model.safetensors");
    copy_file(GOLDEN "last", folder, "tokenizer.json");
    heed_line text = line_of(LONG);
    heed_vectors v = embed(folder, &text, 1, (heed_embed_options){0}, 1);
    assert_int_equal(v.text[0].tokens, 8);
    assert_true(v.text[0].dropped > 0);
    heed_vectors_free(&v);
    remove_folder(folder);
}

/* ---- Refusals ---- */

static void put_file(const char *folder, const char *name, const char *text) {
    char path[TEST_PATH + 60];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_text(path, text);
}

/* Rules of a folder that has one file, or that and 1_Pooling/config.json. */
static void rules_refused(const char *name, const char *text, const char *pooling, heed_code code,
                          const char *line) {
    char folder[TEST_PATH], inside[TEST_PATH + 20];
    heed_error err = {0};
    static heed_sentence_rules rules;
    temp_folder(folder);
    put_file(folder, name, text);
    if (pooling) {
        snprintf(inside, sizeof inside, "%s/1_Pooling", folder);
        assert_true(heed_make_folder(inside, &err));
        put_file(inside, "config.json", pooling);
    }
    assert_false(heed_sentence_read(NULL, folder, NULL, &rules, &err));
    expect_error(&err, code, line);
    remove_folder(folder);
}

#define MODULE(type, path)                                                                         \
    "{\"type\": \"sentence_transformers.models." type "\", \"path\": \"" path "\"}"
#define TWO "[" MODULE("Transformer", "") ", " MODULE("Pooling", "1_Pooling") "]"

static void refusals(void **state) {
    (void)state;
    rules_refused("modules.json",
                  "[" MODULE("Transformer", "") ", " MODULE("WordEmbeddings", "x") "]", NULL,
                  HEED_NAME,
                  "'modules.json': module 2 is 'WordEmbeddings', known here are Transformer, then "
                  "Pooling, then Dense, then Normalize");
    rules_refused("modules.json", "[" MODULE("Transformer", "../other") "]", NULL, HEED_VALUE,
                  "path '../other' leads out of the folder");
    rules_refused("modules.json", "[" MODULE("Transformer", "") "]", NULL, HEED_VALUE,
                  "it has no Pooling behind a Transformer");
    rules_refused("modules.json", "{}", NULL, HEED_VALUE, "it holds an object, wanted a list");
    rules_refused("modules.json", TWO, NULL, HEED_FILE, "config.json': there is no such file");
    rules_refused("modules.json", TWO,
                  "{\"pooling_mode_mean_tokens\": true, "
                  "\"pooling_mode_max_tokens\": true}",
                  HEED_VALUE, "pooling by 'mean' and by 'max' side by side is not known here");
    rules_refused("modules.json", TWO, "{\"pooling_mode\": \"attention\"}", HEED_VALUE,
                  "pooling_mode 'attention' is not known here");
    rules_refused("modules.json", TWO, "{\"pooling_mode_mean_tokens\": false}", HEED_VALUE,
                  "it chooses no way of pooling");
    rules_refused("modules.json", TWO, "{\"pooling_mode_new\": true}", HEED_NAME,
                  "key 'pooling_mode_new' is not known; its effect would be ignored");
    rules_refused("sentence_bert_config.json", "{\"max_seq_length\": -1}", NULL, HEED_VALUE,
                  "'sentence_bert_config.json': max_seq_length is -1");
    rules_refused("config_sentence_transformers.json", "{\"default_prompt_name\": \"query\"}", NULL,
                  HEED_NAME, "there is no prompt 'query'");
}

static void dense_refused(const char *dense, heed_code code, const char *line) {
    heed_error err = {0};
    heed_sentence_rules rules;
    char folder[TEST_PATH], pooling[TEST_PATH + 20], layer[TEST_PATH + 20];
    temp_folder(folder);
    snprintf(pooling, sizeof pooling, "%s/1_Pooling", folder);
    snprintf(layer, sizeof layer, "%s/2_Dense", folder);
    assert_true(heed_make_folder(pooling, &err) && heed_make_folder(layer, &err));
    put_file(folder, "modules.json",
             "[" MODULE("Transformer", "") ", " MODULE("Pooling", "1_Pooling") ", " MODULE(
                 "Dense", "2_Dense") "]");
    put_file(pooling, "config.json", "{\"pooling_mode_mean_tokens\": true}");
    put_file(layer, "config.json", dense);
    assert_false(heed_sentence_read(NULL, folder, NULL, &rules, &err));
    expect_error(&err, code, line);
    remove_folder(folder);
}

static void layers_refused(void **state) {
    (void)state;
    dense_refused("{\"in_features\": 8}", HEED_NAME, "key 'out_features' is missing");
    dense_refused("{\"in_features\": 8, \"out_features\": 0}", HEED_SHAPE, "8 to 0 features");
    dense_refused("{\"in_features\": 8, \"out_features\": 4, \"activation_function\": "
                  "\"torch.nn.modules.activation.Softshrink\"}",
                  HEED_VALUE, "Softshrink' is not known here: Tanh, ReLU, GELU, SiLU, Sigmoid");
    dense_refused("{\"in_features\": 8, \"out_features\": 4, \"module_input_name\": "
                  "\"token_embeddings\"}",
                  HEED_VALUE, "a layer on 'token_embeddings' is not known here");
}

static void layers_do_not_fit(void **state) {
    (void)state;
    heed_error err = {0};
    heed_sentence_rules rules;
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    assert_true(heed_sentence_read(NULL, GOLDEN "t5-dense", NULL, &rules, &err));
    assert_null(heed_dense_new(engine, &rules, 9, &err));
    expect_error(&err, HEED_SHAPE, "takes vectors of 8 numbers, here they have 9");
    rules.dense[0].bias = true;
    assert_null(heed_dense_new(engine, &rules, 8, &err));
    expect_error(&err, HEED_NAME, "there is no tensor 'linear.bias'");
    rules.dense[0].bias = false;
    rules.dense[0].out = 7;
    assert_null(heed_dense_new(engine, &rules, 8, &err));
    expect_error(&err, HEED_SHAPE, "'linear.weight' is (6,8), config.json says (7,8)");
    heed_engine_free(engine);
}

static void not_opened(const char *folder, heed_embed_options o, heed_code code, const char *line) {
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    assert_null(heed_embedder_new(engine, folder, &o, &err));
    expect_error(&err, code, line);
    heed_engine_free(engine);
}

static void models_and_texts_refused(void **state) {
    (void)state;
    heed_error err = {0};
    not_opened("tests/golden/nowhere", (heed_embed_options){0}, HEED_FILE,
               "cannot open 'tests/golden/nowhere': there is no such folder");
    not_opened("tests/golden/marian-a", (heed_embed_options){0}, HEED_VALUE,
               "embedding takes an encoder or a decoder, family 'marian' is both");
    not_opened("tests/golden/families/bert-model", (heed_embed_options){0}, HEED_NAME,
               "the model's folder has no tokenizer");
    not_opened(GOLDEN "max", (heed_embed_options){.max_tokens = 25}, HEED_VALUE,
               "max_tokens 25: the model has 24 positions");
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_vectors out = {0};
    heed_line texts[] = {line_of("sea"), line_of(LONG), line_of("sea \xff")};
    heed_embed_options o = {.max_tokens = 12, .on_long = HEED_EMBED_ERROR};
    heed_embedder *e = heed_embedder_new(engine, GOLDEN "max", &o, &err);
    assert_false(heed_embed_texts(e, texts, 3, &out, &err));
    expect_error(&err, HEED_LIMIT, "text 2: 18 tokens are more than the 12 of max_tokens");
    assert_null(out.vector);
    assert_false(heed_embed_texts(e, &texts[2], 1, &out, &err));
    expect_error(&err, HEED_TEXT, "text 1: ");
    heed_embedder_free(e);
    o = (heed_embed_options){.max_tokens = 2};
    e = heed_embedder_new(engine, GOLDEN "max", &o, &err);
    assert_false(heed_embed_texts(e, texts, 1, &out, &err));
    expect_error(&err, HEED_LIMIT, "hold nothing beside the tokenizer's own 2");
    heed_embedder_free(e);
    heed_engine_free(engine);
}

/* ---- Memory ---- */

static bool embed_two(const heed_host *host, void *ctx, heed_error *err) {
    const heed_line texts[] = {line_of("sea"), line_of(LONG)};
    heed_embed_options o = {.max_tokens = 8, .on_long = HEED_EMBED_WINDOWS, .batch_tokens = 8};
    heed_vectors out = {0};
    (void)ctx;
    heed_engine *engine = heed_engine_new(host, 1, "ref", err);
    heed_embedder *e = engine ? heed_embedder_new(engine, GOLDEN "weighted", &o, err) : NULL;
    bool ok = e && heed_embed_texts(e, texts, 2, &out, err);
    heed_vectors_free(&out);
    heed_embedder_free(e);
    heed_engine_free(engine);
    return ok;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for_each_failing_allocation(embed_two, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_sentence_transformers),
        cmocka_unit_test(a_vector_is_of_its_text_alone),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(windows_count_by_their_tokens),
        cmocka_unit_test(what_goes_for_all),
        cmocka_unit_test(a_table_with_rows_before),
        cmocka_unit_test(refusals),
        cmocka_unit_test(layers_refused),
        cmocka_unit_test(layers_do_not_fit),
        cmocka_unit_test(models_and_texts_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
