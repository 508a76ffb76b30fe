/* Training: the same bytes of tokenizer.json as in tests/golden/tokenizer, what each option does,
 * numbers about the text, refusals, and memory that fails anywhere.
 *
 * HEED_WRITE_GOLDEN=1 writes the files; tools/make_golden_tokenizers.py then says what they mean.
 * SPDX-License-Identifier: MIT
 */
#include "text_lines.h"

#include "base/utf8.h"

static const struct {
    const char *name;
    heed_tokenizer_options options;
} golden[] = {
    {"bpe", {.vocab_size = 500, .end_template = "$A </s>"}},
    {"bytes",
     {.vocab_size = 700,
      .byte_fallback = true,
      .coverage = 0.98,
      .norm = HEED_NORM_NFKC_LOWER,
      .tidy_spaces = true,
      .split_digits = true,
      .end_template = "<s> $A </s>"}},
    {"unigram", {.kind = HEED_TOKENIZER_UNIGRAM, .vocab_size = 500, .end_template = "$A </s>"}},
    {"unigram-bytes",
     {.kind = HEED_TOKENIZER_UNIGRAM,
      .vocab_size = 700,
      .byte_fallback = true,
      .coverage = 0.98,
      .norm = HEED_NORM_NONE,
      .tidy_spaces = true}},
    {"chars",
     {.kind = HEED_TOKENIZER_CHARS, .norm = HEED_NORM_LOWER, .no_first_mark = true, .coverage = 1}},
};
enum { GOLDENS = sizeof golden / sizeof golden[0] };

static char *lines;
static size_t lines_n;

static int load_lines(void **state) {
    (void)state;
    lines = slurp(GOLDEN "/lines.txt", &lines_n);
    return 0;
}

static int free_lines(void **state) {
    (void)state;
    free(lines);
    return 0;
}

static heed_tokenizer *train(const heed_tokenizer_options *options, heed_tokenizer_stats *stats) {
    heed_error err = {0};
    heed_tokenizer *t = train_on(NULL, lines, lines_n, options, stats, &err);
    expect_no_error(&err);
    assert_non_null(t);
    return t;
}

/* Trained twice from nothing, and equal to the file. */
static void test_golden(void **state) {
    (void)state;
    char folder[TEST_PATH], made[TEST_PATH + 32], want[TEST_PATH];
    temp_folder(folder);
    for (int i = 0; i < GOLDENS; i++) {
        heed_tokenizer *t = train(&golden[i].options, NULL);
        snprintf(made, sizeof made, "%s/%s.json", folder, golden[i].name);
        snprintf(want, sizeof want, GOLDEN "/%s.json", golden[i].name);
        heed_error err = {0};
        assert_true(heed_tokenizer_save(t, getenv("HEED_WRITE_GOLDEN") ? want : made, &err));
        assert_true(heed_tokenizer_save(t, made, &err));
        heed_tokenizer_free(t);
        size_t n = 0, m = 0;
        char *a = slurp(made, &n), *b = slurp(want, &m);
        if (n != m || memcmp(a, b, n) != 0) {
            fail_msg("'%s' is not what training gives now", want);
        }
        free(a);
        free(b);
    }
    remove_folder(folder);
}

/* What is tidy already comes back as it was. */
static void test_round_trip(void **state) {
    (void)state;
    static const char *const texts[] = {"The teacher doesn't drink tea today.", "老师今天在看书。",
                                        "今日、先生は本を読んでいる。",
                                        "Am Morgen läuft der Arzt zum Bahnhof 3."};
    for (int i = 0; i < 3; i += 2) { /* without lower case and with every character known */
        heed_tokenizer *t = train(&golden[i].options, NULL);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            assert_string_equal(round_trip(t, texts[k]), texts[k]);
        }
        heed_tokenizer_free(t);
    }
}

/* With bytes everything comes back, also what was never seen and what looks like a byte's name. */
static void test_bytes(void **state) {
    (void)state;
    static const char *const texts[] = {"龘 ж 😀 \x01", "<0x41> <0xE4>", "don't <b>", "ẞ"};
    for (int kind = 0; kind < 2; kind++) {
        heed_tokenizer_options o = {.kind = (heed_tokenizer_kind)kind,
                                    .vocab_size = 600,
                                    .byte_fallback = true,
                                    .norm = HEED_NORM_NONE,
                                    .coverage = 0.97,
                                    .end_template = "$A </s>"};
        heed_tokenizer *t = train(&o, NULL);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            assert_string_equal(round_trip(t, texts[k]), texts[k]);
            assert_null(strstr(pieces_of(t, texts[k]), "<unk>"));
        }
        heed_tokenizer_free(t);
    }
}

/* Words end where scripts change, and the mark stands alone before Chinese. */
static void test_words(void **state) {
    (void)state;
    static const char text[] = "我们我们 我们 ab1ab1 ab1 我们ab 3ab. (ab) ab-ab ab’s ab’s 我们。\n"
                               "我们 ab 1 11 11 . ( ab’s ( - 。\n";
    heed_tokenizer_options o = {.vocab_size = 60, .coverage = 1};
    heed_error err = {0};
    heed_tokenizer *t = train_on(NULL, text, sizeof text - 1, &o, NULL, &err);
    assert_non_null(t);
    assert_string_equal(pieces_of(t, "我们ab"), "▁|我们|ab");
    assert_string_equal(pieces_of(t, "ab11 我们。"), "▁ab|1|1|▁|我们|。");
    assert_string_equal(pieces_of(t, "(ab’s)"), "▁(|ab|’s|)");
    heed_tokenizer_free(t);
}

static void test_options(void **state) {
    (void)state;
    static const char *const specials[] = {"</s>", "[U]", "[P]"};
    heed_tokenizer_options o = {.vocab_size = 300,
                                .specials = specials,
                                .n_specials = 3,
                                .unk = "[U]",
                                .end_template = "$A </s>",
                                .max_piece = 3,
                                .split_digits = true,
                                .no_first_mark = true};
    heed_tokenizer_stats stats;
    heed_tokenizer *t = train(&o, &stats);
    assert_int_equal(heed_token_id(t, "</s>"), 0);
    assert_int_equal(heed_token_id(t, "[U]"), 1);
    assert_true(heed_token_special(t, 2));
    assert_false(heed_token_special(t, 3));
    assert_string_equal(pieces_of(t, "2024 2"), "2|0|2|4|▁|2");
    assert_string_equal(ids_of(t, "龘", true), "1 0");
    for (int32_t id = 3; id < heed_vocab_size(t);
         id++) { /* three characters have at most 9 bytes */
        assert_in_range(strlen(heed_token_text(t, id)), 1, 9);
    }
    assert_int_equal(stats.vocab_size, heed_vocab_size(t));
    heed_tokenizer_free(t);
}

static void test_split_han(void **state) {
    (void)state;
    for (int split = 0; split < 2; split++) {
        heed_tokenizer_options o = {.vocab_size = 500, .split_han = split != 0};
        heed_tokenizer_stats stats;
        heed_tokenizer *t = train(&o, &stats);
        int longer = 0;
        for (int32_t id = 4; id < heed_vocab_size(t); id++) {
            const char *s = heed_token_text(t, id);
            uint32_t first = 0;
            int n = heed_utf8_next(s, strlen(s), &first);
            longer += first >= 0x4e00 && first < 0xa000 && s[n] != 0;
        }
        assert_true(split ? longer == 0 : longer > 0);
        heed_tokenizer_free(t);
    }
}

static void test_stats(void **state) {
    (void)state;
    static const char text[] = "ab ab\nthis line is too long\nab z\n";
    heed_tokenizer_options o = {.vocab_size = 100, .max_line = 10, .coverage = 0.8};
    heed_tokenizer_stats s;
    heed_error err = {0};
    heed_tokenizer *t = train_on(NULL, text, sizeof text - 1, &o, &s, &err);
    assert_non_null(t);
    assert_int_equal(s.lines, 3);
    assert_int_equal(s.bytes, 5 + 21 + 4);
    assert_int_equal(s.skipped_lines, 1);
    assert_int_equal(s.skipped_bytes, 21);
    assert_int_equal(s.words, 2);
    assert_int_equal(s.characters, 11); /* three times ▁ab, once ▁z */
    assert_int_equal(s.rare_characters, 1);
    assert_int_equal(s.alphabet, 3);
    assert_int_equal(s.vocab_size, 4 + 3 + 2);
    assert_string_equal(pieces_of(t, "ab z"), "▁ab|▁|<unk>");
    heed_tokenizer_free(t);
    o.coverage = 0.5; /* a alone is more than that; the mark has a piece all the same */
    t = train_on(NULL, "aaaab", 5, &o, &s, &err);
    assert_non_null(t);
    assert_int_equal(s.rare_characters, 1);
    assert_int_equal(s.alphabet, 2);
    heed_tokenizer_free(t);
}

/* A vocabulary of characters takes the commonest that fit, also where no word has a mark. */
static void test_few_characters(void **state) {
    (void)state;
    static const char text[] = "我我我爱爱中";
    for (int bare = 0; bare < 2; bare++) {
        heed_tokenizer_options o = {.kind = HEED_TOKENIZER_CHARS,
                                    .vocab_size = 7,
                                    .coverage = 1,
                                    .no_first_mark = bare != 0};
        heed_tokenizer_stats s;
        heed_error err = {0};
        heed_tokenizer *t = train_on(NULL, text, sizeof text - 1, &o, &s, &err);
        expect_no_error(&err);
        assert_int_equal(heed_vocab_size(t), 7); /* specials, the mark, two characters */
        assert_int_equal(s.rare_characters, 1);
        assert_string_equal(pieces_of(t, "我爱中"), bare ? "我|爱|<unk>" : "▁|我|爱|<unk>");
        heed_tokenizer_free(t);
    }
}

/* Nothing to learn from is no error: a vocabulary of the specials and the mark. */
static void test_empty(void **state) {
    (void)state;
    for (int kind = 0; kind <= HEED_TOKENIZER_CHARS; kind++) {
        heed_tokenizer_options o = {.kind = (heed_tokenizer_kind)kind};
        heed_error err = {0};
        heed_tokenizer *t = train_on(NULL, "", 0, &o, NULL, &err);
        assert_non_null(t);
        assert_int_equal(heed_vocab_size(t), 5);
        assert_string_equal(pieces_of(t, "a b"), "▁|<unk>|▁|<unk>");
        heed_tokenizer_free(t);
    }
}

static void refuse(heed_tokenizer_options o, heed_code code, const char *text) {
    heed_error err = {0};
    assert_null(train_on(NULL, lines, lines_n, &o, NULL, &err));
    expect_error(&err, code, text);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const twice[] = {"<unk>", "<unk>"};
    static const char *const empty[] = {"<unk>", ""};
    static const char *const other[] = {"<s>"};
    refuse((heed_tokenizer_options){.vocab_size = 50}, HEED_VALUE,
           "vocab_size 50 is below the 154 that 4 specials, 0 bytes and 150 characters take");
    refuse((heed_tokenizer_options){.vocab_size = 200, .byte_fallback = true}, HEED_VALUE,
           "vocab_size 200 is below the 260 specials and bytes");
    refuse((heed_tokenizer_options){.vocab_size = -1}, HEED_VALUE, "vocab_size -1 is out of range");
    refuse((heed_tokenizer_options){.coverage = 1.5}, HEED_VALUE, "coverage 1.5 is out of range");
    refuse((heed_tokenizer_options){.min_count = -2}, HEED_VALUE,
           "min_count -2 must be at least 1");
    refuse((heed_tokenizer_options){.max_piece = 257}, HEED_VALUE,
           "max_piece 257 must be 1 to 256");
    refuse((heed_tokenizer_options){.specials = twice, .n_specials = 2}, HEED_VALUE,
           "special '<unk>' is given twice");
    refuse((heed_tokenizer_options){.specials = empty, .n_specials = 2}, HEED_VALUE,
           "special 1, '', is empty or not UTF-8");
    refuse((heed_tokenizer_options){.specials = other, .n_specials = 1}, HEED_VALUE,
           "unknown token '<unk>' is not among the 1 specials");
    refuse((heed_tokenizer_options){.unk = "<u>"}, HEED_VALUE, "unknown token '<u>' is not among");
    refuse((heed_tokenizer_options){.end_template = "$A <e>"}, HEED_VALUE,
           "template '$A <e>': '<e>' is neither $A nor a special");
    refuse((heed_tokenizer_options){.end_template = "</s>"}, HEED_VALUE,
           "does not say where the text goes: $A");
    refuse((heed_tokenizer_options){.kind = (heed_tokenizer_kind)9}, HEED_VALUE,
           "tokenizer kind 9 is not known");
    heed_error err = {0};
    heed_tokenizer_options o = {0};
    assert_null(train_on(NULL, "a\nb\xff\n", 5, &o, NULL, &err));
    expect_error(&err, HEED_TEXT, "line 2 is not UTF-8 at byte 1 (0xff)");
}

static bool failing_line(void *ctx, const char **line, size_t *n, heed_error *err) {
    int *left = ctx;
    *line = "ab";
    *n = 2;
    if (--*left >= 0) {
        return true;
    }
    err->code = HEED_SYSTEM;
    snprintf(err->text, sizeof err->text, "cannot read line 3");
    return false;
}

/* A reader that fails is not the end of the text. */
static void test_reader(void **state) {
    (void)state;
    heed_error err = {0};
    int left = 2;
    assert_null(
        heed_tokenizer_train(NULL, &(heed_tokenizer_options){0}, failing_line, &left, NULL, &err));
    expect_error(&err, HEED_SYSTEM, "cannot read line 3");
}

static bool train_few(const heed_host *host, void *ctx, heed_error *err) {
    static const char few[] = "aab aab ab 你好 你好 c\nab aabab x.\n";
    heed_tokenizer *t = train_on(host, few, sizeof few - 1, ctx, NULL, err);
    heed_tokenizer_free(t);
    return t != NULL;
}

static void test_memory(void **state) {
    (void)state;
    for (int kind = 0; kind <= HEED_TOKENIZER_CHARS; kind++) {
        heed_tokenizer_options o = {.kind = (heed_tokenizer_kind)kind,
                                    .vocab_size = 24,
                                    .tidy_spaces = true,
                                    .end_template = "$A </s>"};
        for_each_failing_allocation(train_few, &o);
    }
}

/* Not what speed is measured with, but a guard against a method that has become quadratic. */
static void test_long_words(void **state) {
    (void)state;
    enum { N = 60000 };
    char *text = malloc(N);
    assert_non_null(text);
    for (int i = 0; i < N; i++) {
        text[i] = (char)('a' + (i % 1009 * (i % 1013) / 7 + i / 3) % 5);
    }
    for (int kind = 0; kind < 2; kind++) {
        heed_tokenizer_options o = {.kind = (heed_tokenizer_kind)kind, .vocab_size = 200};
        heed_error err = {0};
        heed_tokenizer *t = train_on(NULL, text, N, &o, NULL, &err);
        assert_non_null(t);
        heed_tokens tokens = {0};
        assert_true(heed_encode(t, text, N, false, &tokens, &err));
        assert_in_range(tokens.n, N / 16, N);
        heed_tokens_free(&tokens);
        heed_tokenizer_free(t);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),         cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bytes),          cmocka_unit_test(test_words),
        cmocka_unit_test(test_options),        cmocka_unit_test(test_split_han),
        cmocka_unit_test(test_stats),          cmocka_unit_test(test_empty),
        cmocka_unit_test(test_few_characters), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_reader),         cmocka_unit_test(test_memory),
        cmocka_unit_test(test_long_words)};
    return cmocka_run_group_tests(tests, load_lines, free_lines);
}
