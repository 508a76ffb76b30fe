/* Vocabularies that are no tokenizer.json, against what the libraries that made them say:
 * tests/golden/vocab, and the real ones of $HEED_DATA.
 * SPDX-License-Identifier: MIT
 */
#include "file/json.h"
#include "text_lines.h"

#define VOCAB "tests/golden/vocab"

static json_t *read_json(const char *path) {
    heed_error err = {0};
    json_t *root = heed_json_read(NULL, path, 0, &err);
    expect_no_error(&err);
    return root;
}

static heed_tokenizer *open_path(const char *path) {
    heed_error err = {0};
    heed_tokenizer *t = heed_tokenizer_open(NULL, path, &err);
    expect_no_error(&err);
    return t;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void encode(const heed_tokenizer *t, const json_t *text, bool special, heed_tokens *out) {
    heed_error err = {0};
    out->n = 0;
    bool ok = heed_encode(t, json_string_value(text), json_string_length(text), special, out, &err);
    if (!ok) {
        fail_msg("'%s': %s", json_string_value(text), err.text);
    }
}

static void check_ids(const char *name, const json_t *text, const heed_tokens *got,
                      const json_t *want) {
    bool same = got->n == json_array_size(want);
    for (size_t i = 0; same && i < got->n; i++) {
        same = got->item[i].id == json_integer_value(json_array_get(want, i));
    }
    if (!same) {
        char *ids = json_dumps(want, JSON_COMPACT);
        for (size_t i = 0; i < got->n; i++) {
            print_message("%d ", (int)got->item[i].id);
        }
        fail_msg("%s: '%s', wanted %s", name, json_string_value(text), ids);
    }
}

static void check_places(const char *name, const json_t *text, const heed_tokens *got,
                         const json_t *want) {
    assert_int_equal(json_array_size(want), 2 * got->n);
    for (size_t i = 0; i < got->n; i++) {
        json_int_t begin = json_integer_value(json_array_get(want, 2 * i));
        json_int_t end = json_integer_value(json_array_get(want, 2 * i + 1));
        if (got->item[i].begin != begin || got->item[i].end != end) {
            fail_msg("%s: '%s' token %zu lies at %u..%u, wanted %d..%d", name,
                     json_string_value(text), i, (unsigned)got->item[i].begin,
                     (unsigned)got->item[i].end, (int)begin, (int)end);
        }
    }
}

static void check_decoded(const char *name, const heed_tokenizer *t, const json_t *ids,
                          const json_t *want) {
    heed_error err = {0};
    heed_buf text = {0};
    int32_t list[512];
    size_t n = json_array_size(ids);
    assert_in_range(n, 0, 512);
    for (size_t i = 0; i < n; i++) {
        list[i] = (int32_t)json_integer_value(json_array_get(ids, i));
    }
    assert_true(heed_decode(t, list, n, true, &text, &err));
    if (text.n != json_string_length(want) ||
        (text.n > 0 && memcmp(text.data, json_string_value(want), text.n) != 0)) {
        char *shown = json_dumps(ids, JSON_COMPACT);
        fail_msg("%s: %s comes back as '%.*s', wanted '%s'", name, shown, (int)text.n,
                 text.data ? text.data : "", json_string_value(want));
    }
    heed_buf_free(&text);
}

/* ---- SentencePiece --------------------------------------------------------------------------- */

static void check_model(const json_t *one) {
    char path[TEST_PATH];
    const char *name = json_string_value(json_object_get(one, "name"));
    const json_t *texts = json_object_get(one, "texts"), *ids = json_object_get(one, "ids");
    const json_t *places = json_object_get(one, "places"), *lists = json_object_get(one, "lists");
    snprintf(path, sizeof path, VOCAB "/spm/%s.model", name);
    heed_tokenizer *t = open_path(path);
    heed_tokens got = {0};
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        encode(t, text, false, &got);
        check_ids(name, text, &got, json_array_get(ids, i));
        check_places(name, text, &got, json_array_get(places, i));
    }
    for (size_t i = 0; i < json_array_size(lists); i++) {
        check_decoded(name, t, json_array_get(lists, i),
                      json_array_get(json_object_get(one, "decoded"), i));
    }
    heed_tokens_free(&got);
    heed_tokenizer_free(t);
}

static void test_sentencepiece(void **state) {
    (void)state;
    json_t *cases = read_json(VOCAB "/spm/cases.json");
    assert_in_range(json_array_size(cases), 14, 100);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        check_model(json_array_get(cases, i));
    }
    json_decref(cases);
}

/* ---- Folders --------------------------------------------------------------------------------- */

static void check_texts(const char *name, const heed_tokenizer *t, const json_t *cases,
                        const char *key) {
    const json_t *texts = json_object_get(cases, "texts");
    heed_tokens got = {0};
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        encode(t, text, true, &got);
        check_ids(name, text, &got, json_array_get(json_object_get(cases, key), i));
    }
    heed_tokens_free(&got);
}

static void check_folder(const char *name) {
    char path[TEST_PATH];
    heed_error err = {0};
    heed_tokenizer_pair both;
    snprintf(path, sizeof path, VOCAB "/folders/%s/cases.json", name);
    json_t *cases = read_json(path);
    snprintf(path, sizeof path, VOCAB "/folders/%s", name);
    assert_true(heed_tokenizer_in_folder(path, "bert"));
    heed_tokenizer_open_folder(NULL, path, &both, &err);
    expect_no_error(&err);
    const json_t *size = json_object_get(cases, "size"), *plain = json_object_get(cases, "plain");
    assert_int_equal(heed_vocab_size(both.source), json_integer_value(size));
    check_texts(name, both.source, cases, "ids");
    for (size_t i = 0; i < json_array_size(plain); i++) {
        check_decoded(name, both.source, json_array_get(json_object_get(cases, "ids"), i),
                      json_array_get(plain, i));
    }
    assert_true((both.target != NULL) == (json_object_get(cases, "target") != NULL));
    if (both.target) {
        check_texts(name, both.target, cases, "target");
    }
    heed_tokenizer_free(both.source);
    heed_tokenizer_free(both.target);
    json_decref(cases);
}

static void test_folders(void **state) {
    (void)state;
    static const char *const names[] = {
        "bert", "bert-cased", "bert-accents", "xlm-roberta", "pegasus", "camembert", "mbart",
        "t5",   "llama",      "marian",       "m2m100",      "gpt2",    "roberta",   "llama2c"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_folder(names[i]);
    }
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static void check_saved(const char *path, const char *text) {
    char folder[TEST_PATH], file[TEST_PATH + 16], want[4096];
    heed_error err = {0};
    heed_tokenizer *t = open_path(path);
    snprintf(want, sizeof want, "%s", ids_of(t, text, true));
    temp_folder(folder);
    snprintf(file, sizeof file, "%s/tokenizer.json", folder);
    assert_true(heed_tokenizer_save(t, file, &err));
    heed_tokenizer *again = open_path(folder);
    assert_string_equal(ids_of(again, text, true), want);
    assert_int_equal(heed_vocab_size(again), heed_vocab_size(t));
    heed_tokenizer_free(t);
    heed_tokenizer_free(again);
    remove_folder(folder);
}

/* Both sides of a folder, from what was saved of one. */
static void check_saved_folder(const char *path, const char *text) {
    char folder[TEST_PATH], want[2][4096];
    heed_error err = {0};
    heed_tokenizer_pair both, again;
    bool own = false;
    assert_true(heed_tokenizer_open_folder(NULL, path, &both, &err));
    snprintf(want[0], sizeof want[0], "%s", ids_of(both.source, text, true));
    snprintf(want[1], sizeof want[1], "%s", both.target ? ids_of(both.target, text, true) : "");
    temp_folder(folder);
    assert_true(heed_tokenizer_save_folder(both.source, folder, &own, &err));
    assert_true(heed_tokenizer_open_folder(NULL, folder, &again, &err));
    assert_string_equal(ids_of(again.source, text, true), want[0]);
    assert_true((both.target != NULL) == (again.target != NULL));
    assert_string_equal(again.target ? ids_of(again.target, text, true) : "", want[1]);
    assert_true(own == (strstr(path, "gpt2") == NULL));
    heed_tokenizer_free(both.source);
    heed_tokenizer_free(both.target);
    heed_tokenizer_free(again.source);
    heed_tokenizer_free(again.target);
    remove_folder(folder);
}

static void test_saved(void **state) {
    (void)state;
    static const char text[] = "The teacher's  two books, 老师 2024!";
    static const char *const paths[] = {VOCAB "/folders/llama", VOCAB "/folders/gpt2",
                                        VOCAB "/folders/roberta", VOCAB "/spm/bpe-bytes.model",
                                        VOCAB "/spm/unigram-loose.model"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        check_saved(paths[i], text);
    }
    check_saved_folder(VOCAB "/folders/marian", text);
    check_saved_folder(VOCAB "/folders/camembert", text);
    check_saved_folder(VOCAB "/folders/gpt2", text);
    heed_error err = {0};
    heed_tokenizer *marian = open_path(VOCAB "/folders/marian");
    assert_false(heed_tokenizer_save(marian, "/nowhere/at/all", &err));
    assert_int_equal(err.code, HEED_VALUE);
    assert_non_null(strstr(err.text, "a vocabulary beside its model"));
    heed_tokenizer_free(marian);
}

/* ---- Real ones ------------------------------------------------------------------------------- */

static const char *const SEPARATOR = "\n__ggml_vocab_test__\n";

/* .inp holds texts, .out their ids, a line each with spaces between. */
static void check_gguf(const char *name) {
    char path[TEST_PATH], file[64];
    snprintf(file, sizeof file, "tokenizers/gguf-vocab/ggml-vocab-%s.gguf", name);
    require_data(path, file);
    heed_tokenizer *t = open_path(path);
    strcat(path, ".inp");
    char *texts = slurp(path, NULL), *text = texts;
    strcpy(path + strlen(path) - 4, ".out");
    char *outs = slurp(path, NULL), *want = outs;
    size_t count = 0;
    for (char *end; (end = strstr(text, SEPARATOR)); text = end + strlen(SEPARATOR), count++) {
        char *line = strchr(want, '\n');
        assert_non_null(line);
        *end = *line = '\0';
        const char *got = ids_of(t, text, false);
        want += strspn(want, " ");
        if (strcmp(got, want) != 0) {
            fail_msg("%s: '%s' gives %s, wanted %s", name, text, got, want);
        }
        want = line + 1;
    }
    assert_in_range(count, 40, 1000);
    free(texts);
    free(outs);
    heed_tokenizer_free(t);
}

static void test_gguf(void **state) {
    (void)state;
    check_gguf("llama-spm");
    check_gguf("gpt-2");
    check_gguf("llama-bpe");
    check_gguf("bert-bge");
}

static void test_llama2c(void **state) {
    (void)state;
    char path[TEST_PATH];
    require_data(path, "models/stories260K/tok512.bin");
    heed_tokenizer *t = open_path(path);
    assert_string_equal(ids_of(t, "Once upon a time, there was Lily \xf0\x9f\xa6\x99", true),
                        "1 403 407 261 378 432 383 286 317 410 243 162 169 156");
    heed_tokenizer_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentencepiece), cmocka_unit_test(test_folders),
        cmocka_unit_test(test_saved),         cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_llama2c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
