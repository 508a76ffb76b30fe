/* Pairs of texts: their types, what truncation leaves of them (the `tokenizers` library's answers),
 * what a file says of it, the stages of an explanation, and memory that fails anywhere.
 * SPDX-License-Identifier: MIT
 */
#include "text_lines.h"

#define WORDS(rest)                                                                                \
    "{\"version\":\"1.0\"," rest "\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},"               \
    "\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[S]\",2],\"cls\":[\"[C]\",1]},"    \
    "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"?\":0,\"[C]\":1,\"[S]\":2,\"a\":3,\"b\":4,"    \
    "\"c\":5,\"d\":6,\"e\":7,\"f\":8,\"g\":9,\"h\":10,\"i\":11},\"unk_token\":\"?\"}}"

static heed_tokenizer *parse(const char *json) {
    heed_error err = {0};
    heed_tokenizer *t = heed_tokenizer_parse(NULL, json, strlen(json), "test", &err);
    expect_no_error(&err);
    return t;
}

static heed_line line(const char *s) {
    return (heed_line){s, s ? strlen(s) : 0};
}

/* The ids as "1 2 3", in a static place; NULL where the text is refused. */
static const char *cut(const heed_tokenizer *t, const char *text, const char *pair,
                       const heed_truncation *truncate, heed_error *err) {
    static char out[256];
    heed_tokens tokens = {0};
    heed_encode_options options = {.pair = line(pair), .truncate = *truncate};
    bool ok = heed_encode_with(t, line(text), &options, &tokens, err);
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < tokens.n; i++) {
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%d", i > 0 ? " " : "",
                                 (int)tokens.item[i].id);
    }
    heed_tokens_free(&tokens);
    return ok ? out : NULL;
}

static void test_truncation(void **state) {
    (void)state;
    static const struct {
        const char *text, *pair;
        heed_truncation truncate;
        const char *ids; /* NULL: refused */
    } cases[] = {
        {"a b c d e", "f g h i", {4, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 2 2"},
        {"a b c d e", "f g h i", {4, HEED_TRUNCATE_FIRST, false, 0}, NULL},
        {"a b c d e", "f g h i", {4, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", "f g h i", {6, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 2 8 2"},
        {"a b c d e", "f g h i", {6, HEED_TRUNCATE_LONGEST, true, 0}, "1 6 7 2 11 2"},
        {"a b c d e", "f g h i", {6, HEED_TRUNCATE_FIRST, false, 0}, NULL},
        {"a b c d e", "f g h i", {6, HEED_TRUNCATE_FIRST, true, 0}, NULL},
        {"a b c d e", "f g h i", {6, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", "f g h i", {6, HEED_TRUNCATE_SECOND, true, 0}, NULL},
        {"a b c d e", "f g h i", {7, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 2 8 9 2"},
        {"a b c d e", "f g h i", {7, HEED_TRUNCATE_FIRST, false, 0}, NULL},
        {"a b c d e", "f g h i", {7, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", "f g", {4, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 2 2"},
        {"a b c d e", "f g", {4, HEED_TRUNCATE_FIRST, false, 0}, NULL},
        {"a b c d e", "f g", {4, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", "f g", {6, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 2 8 2"},
        {"a b c d e", "f g", {6, HEED_TRUNCATE_LONGEST, true, 0}, "1 6 7 2 9 2"},
        {"a b c d e", "f g", {6, HEED_TRUNCATE_FIRST, false, 0}, "1 3 2 8 9 2"},
        {"a b c d e", "f g", {6, HEED_TRUNCATE_FIRST, true, 0}, "1 7 2 8 9 2"},
        {"a b c d e", "f g", {6, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", "f g", {6, HEED_TRUNCATE_SECOND, true, 0}, NULL},
        {"a b c d e", "f g", {7, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 2 8 9 2"},
        {"a b c d e", "f g", {7, HEED_TRUNCATE_FIRST, false, 0}, "1 3 4 2 8 9 2"},
        {"a b c d e", "f g", {7, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", NULL, {4, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 2"},
        {"a b c d e", NULL, {4, HEED_TRUNCATE_FIRST, false, 0}, "1 3 4 2"},
        {"a b c d e", NULL, {4, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", NULL, {6, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 5 6 2"},
        {"a b c d e", NULL, {6, HEED_TRUNCATE_LONGEST, true, 0}, "1 4 5 6 7 2"},
        {"a b c d e", NULL, {6, HEED_TRUNCATE_FIRST, false, 0}, "1 3 4 5 6 2"},
        {"a b c d e", NULL, {6, HEED_TRUNCATE_FIRST, true, 0}, "1 4 5 6 7 2"},
        {"a b c d e", NULL, {6, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b c d e", NULL, {6, HEED_TRUNCATE_SECOND, true, 0}, NULL},
        {"a b c d e", NULL, {7, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 5 6 7 2"},
        {"a b c d e", NULL, {7, HEED_TRUNCATE_FIRST, false, 0}, "1 3 4 5 6 7 2"},
        {"a b c d e", NULL, {7, HEED_TRUNCATE_SECOND, false, 0}, "1 3 4 5 6 7 2"},
        {"a b", "d e f g h i", {4, HEED_TRUNCATE_LONGEST, false, 0}, "1 2 6 2"},
        {"a b", "d e f g h i", {4, HEED_TRUNCATE_FIRST, false, 0}, NULL},
        {"a b", "d e f g h i", {4, HEED_TRUNCATE_SECOND, false, 0}, NULL},
        {"a b", "d e f g h i", {6, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 2 6 7 2"},
        {"a b", "d e f g h i", {6, HEED_TRUNCATE_LONGEST, true, 0}, "1 4 2 10 11 2"},
        {"a b", "d e f g h i", {6, HEED_TRUNCATE_FIRST, false, 0}, NULL},
        {"a b", "d e f g h i", {6, HEED_TRUNCATE_FIRST, true, 0}, NULL},
        {"a b", "d e f g h i", {6, HEED_TRUNCATE_SECOND, false, 0}, "1 3 4 2 6 2"},
        {"a b", "d e f g h i", {6, HEED_TRUNCATE_SECOND, true, 0}, "1 3 4 2 11 2"},
        {"a b", "d e f g h i", {7, HEED_TRUNCATE_LONGEST, false, 0}, "1 3 4 2 6 7 2"},
        {"a b", "d e f g h i", {7, HEED_TRUNCATE_FIRST, false, 0}, NULL},
        {"a b", "d e f g h i", {7, HEED_TRUNCATE_SECOND, false, 0}, "1 3 4 2 6 7 2"},
    };
    heed_tokenizer *t = parse(WORDS(""));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        heed_error err = {0};
        const char *got = cut(t, cases[i].text, cases[i].pair, &cases[i].truncate, &err);
        if (!cases[i].ids || !got) {
            assert_true(!cases[i].ids && !got);
            assert_int_equal(err.code, HEED_VALUE);
        } else {
            assert_string_equal(got, cases[i].ids);
        }
    }
    heed_error err = {0};
    heed_truncation small = {.max_length = 1};
    assert_null(cut(t, "a", NULL, &small, &err));
    expect_error(&err, HEED_VALUE, "max_length 1 is below the 2 tokens of the template");
    heed_tokenizer_free(t);
}

/* A file's truncation is told, and followed only where it is handed on. */
static void test_truncation_of_file(void **state) {
    (void)state;
    heed_truncation found = {0};
    heed_error err = {0};
    heed_tokenizer *t = parse(WORDS(""));
    assert_false(heed_tokenizer_truncation(t, &found));
    assert_int_equal(found.max_length, 0);
    heed_tokenizer_free(t);
    t = parse(WORDS("\"truncation\":{\"max_length\":4,\"stride\":1,\"strategy\":\"OnlyFirst\","
                    "\"direction\":\"Left\"},\"padding\":{\"strategy\":{\"Fixed\":9}},"));
    assert_true(heed_tokenizer_truncation(t, &found));
    assert_int_equal(found.max_length, 4);
    assert_int_equal(found.stride, 1);
    assert_int_equal(found.which, HEED_TRUNCATE_FIRST);
    assert_true(found.left);
    assert_string_equal(ids_of(t, "a b c d", true), "1 3 4 5 6 2");
    assert_string_equal(cut(t, "a b c d", NULL, &found, &err), "1 5 6 2");
    heed_tokenizer_free(t);
}

static void test_types(void **state) {
    (void)state;
    heed_tokenizer *t = parse(WORDS(""));
    heed_tokens tokens = {0};
    heed_error err = {0};
    heed_encode_options options = {.pair = line("b c")};
    assert_true(heed_encode_with(t, line("a"), &options, &tokens, &err));
    static const struct {
        int text, type;
        uint32_t begin, end;
    } want[] = {{-1, 0, 0, 0}, {0, 0, 0, 1}, {-1, 0, 0, 0},
                {1, 1, 0, 1},  {1, 1, 2, 3}, {-1, 1, 0, 0}};
    assert_int_equal(tokens.n, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(tokens.item[i].text, want[i].text);
        assert_int_equal(tokens.item[i].type, want[i].type);
        assert_int_equal(tokens.item[i].begin, want[i].begin);
        assert_int_equal(tokens.item[i].end, want[i].end);
    }
    options.pair = line("\xff");
    assert_false(heed_encode_with(t, line("a"), &options, &tokens, &err));
    expect_error(&err, HEED_TEXT, "text is not UTF-8 at byte 0 (0xff)");
    assert_int_equal(tokens.n, 6);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
}

static bool note(void *ctx, const heed_stage *stage) {
    heed_buf_format(ctx, "%s %s:", stage->place, stage->type);
    for (size_t i = 0; i < stage->n; i++) {
        heed_buf_format(ctx, " %.*s", (int)stage->word[i].n, stage->word[i].s);
    }
    return heed_buf_text(ctx, "\n");
}

static bool stop(void *ctx, const heed_stage *stage) {
    (void)stage;
    return ++*(int *)ctx < 2;
}

static void test_stages(void **state) {
    (void)state;
    heed_tokenizer *t = parse(WORDS("\"normalizer\":{\"type\":\"Lowercase\"},"));
    heed_buf told = {0};
    heed_error err = {0};
    assert_true(heed_explain(t, line("A x"), note, &told, &err));
    assert_string_equal(told.data, "text : A x\nnormalizer Lowercase: a x\n"
                                   "pre_tokenizer WhitespaceSplit: a x\nmodel WordLevel: a ?\n"
                                   "post_processor : [C] a ? [S]\n");
    int calls = 0;
    assert_false(heed_explain(t, line("A x"), stop, &calls, &err));
    assert_int_equal(calls, 2);
    heed_buf_free(&told);
    heed_tokenizer_free(t);
}

/* All parts of BERT in one small file. */
static const char bert[] =
    "{\"version\":\"1.0\",\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
    "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},\"pre_tokenizer\":"
    "{\"type\":\"BertPreTokenizer\"},\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":"
    "[\"[S]\",2],\"cls\":[\"[C]\",1]},\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\","
    "\"cleanup\":true},\"added_tokens\":[{\"id\":2,\"content\":\"[S]\",\"single_word\":false,"
    "\"lstrip\":true,\"rstrip\":false,\"normalized\":true,\"special\":true}],\"model\":{\"type\":"
    "\"WordPiece\",\"vocab\":{\"[UNK]\":0,\"[C]\":1,\"[S]\":2,\"e\":3,\"##t\":4,\"\\u4f60\":5}}}";

static bool use_bert(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_tokenizer *t = heed_tokenizer_parse(host, bert, sizeof bert - 1, "bert", err);
    heed_tokens tokens = {.host = host};
    heed_buf text = {.host = host};
    heed_encode_options options = {.pair = line("\xc3\x89T")};
    bool ok = t && heed_encode_with(t, line("et \xe4\xbd\xa0 [S]"), &options, &tokens, err);
    if (ok) {
        assert_int_equal(tokens.n, 9);
        ok = heed_decode(t, (int32_t[]){3, 4, 5}, 3, true, &text, err);
    }
    if (ok) {
        assert_string_equal(text.data, "et \xe4\xbd\xa0");
    }
    heed_buf_free(&text);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
    return ok;
}

static void test_memory(void **state) {
    (void)state;
    for_each_failing_allocation(use_bert, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation), cmocka_unit_test(test_truncation_of_file),
        cmocka_unit_test(test_types), cmocka_unit_test(test_stages), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
