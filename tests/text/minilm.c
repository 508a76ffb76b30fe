/* The tokenizer of all-MiniLM-L6-v2, a published BERT: texts whose ids are known, and what its file
 * says of truncation and padding. $HEED_MODELS/all-MiniLM-L6-v2 is that model's folder.
 * SPDX-License-Identifier: MIT
 */
#include "text_lines.h"

static heed_tokenizer *open_model(void) {
    const char *models = getenv("HEED_MODELS");
    char path[TEST_PATH];
    heed_error err = {0};
    snprintf(path, sizeof path, "%s/all-MiniLM-L6-v2/tokenizer.json", models ? models : "");
    FILE *file = models ? fopen(path, "rb") : NULL;
    if (!file) {
        print_message("no $HEED_MODELS/all-MiniLM-L6-v2: skipped\n");
        return NULL;
    }
    fclose(file);
    heed_tokenizer *t = heed_tokenizer_open(NULL, path, &err);
    expect_no_error(&err);
    return t;
}

static void test_ids(void **state) {
    (void)state;
    static const char *const known[][2] = {
        {"Hello world", "101 7592 2088 102"},
        {"l\xc7\x9cshi", "101 16299 2072 102"},
        {"CAF\xc3\x89 D\xc3\x89J\xc3\x80 VU", "101 7668 2139 3900 24728 102"},
        {"日本語テスト", "101 1864 1876 1950 1713 30233 30240 102"},
        {"F\xc3\xbchrer", "101 11865 17875 102"},
        {"\xc3\x9f", "101 1096 102"},
        {"1\xe2\x81\x84"
         "2 \xc2\xbd \xc2\xb2",
         "101 1015 30070 2475 1092 1082 102"},
        {"\xe2\x80\x8bzero\xc2\xa0width", "101 5717 9381 102"},
        {"[MASK] test", "101 103 3231 102"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaa"
         "aaaaaaaa",
         "101 100 102"},
    };
    heed_tokenizer *t = open_model();
    if (!t) {
        skip();
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_string_equal(ids_of(t, known[i][0], true), known[i][1]);
    }
    heed_tokenizer_free(t);
}

static void test_pair(void **state) {
    (void)state;
    static const int32_t ids[] = {101, 3940, 2028, 102, 3940, 2048, 102};
    heed_tokenizer *t = open_model();
    if (!t) {
        skip();
    }
    heed_tokens tokens = {0};
    heed_error err = {0};
    heed_encode_options options = {.pair = {"pair two", 8}};
    assert_true(heed_encode_with(t, (heed_line){"pair one", 8}, &options, &tokens, &err));
    assert_int_equal(tokens.n, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(tokens.item[i].id, ids[i]);
        assert_int_equal(tokens.item[i].type, i > 3);
    }
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
}

/* The file asks for 128 tokens, cut and padded: a short text stays short, a long one long, unless
 * what the file says is handed on. */
static void test_limit(void **state) {
    (void)state;
    heed_tokenizer *t = open_model();
    if (!t) {
        skip();
    }
    char text[400];
    for (size_t i = 0; i < sizeof text; i += 2) {
        memcpy(text + i, "a ", 2);
    }
    heed_tokens tokens = {0};
    heed_error err = {0};
    heed_encode_options options = {0};
    assert_true(heed_encode(t, text, sizeof text, true, &tokens, &err));
    assert_int_equal(tokens.n, 202);
    assert_true(heed_tokenizer_truncation(t, &options.truncate));
    tokens.n = 0;
    assert_true(heed_encode_with(t, (heed_line){text, sizeof text}, &options, &tokens, &err));
    assert_int_equal(tokens.n, 128);
    tokens.n = 0;
    assert_true(heed_encode_with(t, (heed_line){"a", 1}, &options, &tokens, &err));
    assert_int_equal(tokens.n, 3);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids), cmocka_unit_test(test_pair),
                                       cmocka_unit_test(test_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
