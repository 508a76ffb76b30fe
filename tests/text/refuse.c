/* tokenizer.json files that are not sound or not known, each with its one line of error.
 * SPDX-License-Identifier: MIT
 */
#include "text_lines.h"

#define MODEL "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0,\"b\":1},\"unk_token\":\"a\"}"
#define FILE_OF(rest) "{\"version\":\"1.0\"," rest "}"
#define PART(place, json) FILE_OF("\"" place "\":" json "," MODEL)
#define BPE_OF(rest) FILE_OF("\"model\":{\"type\":\"BPE\"," rest "}")
#define UNIGRAM_OF(rest) FILE_OF("\"model\":{\"type\":\"Unigram\"," rest "}")
#define ADDED(list) FILE_OF("\"added_tokens\":[" list "]," MODEL)
#define FLAGS                                                                                      \
    "\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":"    \
    "true"
#define SPLIT(pattern)                                                                             \
    PART("pre_tokenizer", "{\"type\":\"Split\",\"behavior\":\"Isolated\","                         \
                          "\"invert\":false,\"pattern\":" pattern "}")
#define REGEX(regex) SPLIT("{\"Regex\":\"" regex "\"}")
#define TEMPLATE(single, special)                                                                  \
    PART("post_processor", "{\"type\":\"TemplateProcessing\",\"single\":" single                   \
                           ",\"pair\":[],\"special_tokens\":" special "}")

static const struct {
    const char *json;
    const char *error;
} cases[] = {
    /* the file */
    {"", "'bad.json'"},
    {"[]", "'bad.json'"},
    {"{\"version\":\"1.0\"", "'bad.json'"},
    {"{\"model\":{}}", "key 'version' is missing"},
    {"{\"version\":1.0}", "key 'version' is a real number, wanted a string"},
    {"{\"version\":\"2.0\"}", "version '2.0' is not known, wanted '1.0'"},
    {"{\"version\":\"1.0\"}", "key 'model' is missing"},
    {FILE_OF("\"model\":null"), "key 'model' is null, wanted an object"},
    {FILE_OF("\"model\":{}"), "model: key 'type' is missing"},
    {FILE_OF("\"model\":{\"type\":\"WordPiece\"}"), "model: key 'vocab' is missing"},
    {FILE_OF("\"model\":{\"type\":\"WordPeace\"}"),
     "model: component 'WordPeace' is not supported"},
    {FILE_OF("\"model\":{\"type\":\"WordPiece\",\"vocab\":{},\"max_input_chars_per_word\":-1}"),
     "model: max_input_chars_per_word -1 is negative"},
    {FILE_OF("\"model\":{\"type\":7}"), "key 'type' is an integer, wanted a string"},
    /* vocab */
    {FILE_OF("\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"a\"}"),
     "model: key 'vocab' is missing"},
    {FILE_OF("\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0}}"),
     "model: key 'unk_token' is missing"},
    {BPE_OF("\"vocab\":[],\"merges\":[]"), "model: key 'vocab' is an array, wanted an object"},
    {BPE_OF("\"vocab\":{\"a\":\"0\"},\"merges\":[]"),
     "model: vocab: id of token 'a' is a string, wanted an integer"},
    {BPE_OF("\"vocab\":{\"a\":-1},\"merges\":[]"),
     "model: vocab: token 'a' has id -1, wanted 0 to 16777216"},
    {BPE_OF("\"vocab\":{\"a\":2000000000},\"merges\":[]"),
     "model: vocab: token 'a' has id 2000000000, wanted 0 to 16777216"},
    {BPE_OF("\"vocab\":{\"a\":9223372036854775807},\"merges\":[]"),
     "token 'a' has id 9223372036854775807, wanted 0 to 16777216"},
    {BPE_OF("\"vocab\":{\"a\":1e3},\"merges\":[]"),
     "id of token 'a' is a real number, wanted an integer"},
    {BPE_OF("\"vocab\":{\"a\":5,\"b\":5},\"merges\":[]"),
     "model: vocab: tokens 'a' and 'b' have the same id 5"},
    {BPE_OF("\"vocab\":{\"a\":1,\"a\":2},\"merges\":[]"), "'bad.json'"},
    /* merges */
    {BPE_OF("\"vocab\":{\"a\":0}"), "model: key 'merges' is missing"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":[\"a b\"]"),
     "model: merges.0: token 'b' is not in vocab"},
    {BPE_OF("\"vocab\":{\"a\":0,\"b\":1},\"merges\":[[\"a\",\"b\"]]"),
     "model: merges.0: token 'ab' is not in vocab"},
    {BPE_OF("\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[\"a a\",\"a\"]"),
     "model: merges.1: wanted two tokens with a space between"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":[\"a a a\"]"), "merges.0: wanted two tokens"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]"), "merges.0: wanted two tokens"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":[7]"), "merges.0: wanted two tokens"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":{}"), "key 'merges' is an object, wanted an array"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":0.1"),
     "model: dropout 0.1 is not supported: it makes ids random"},
    {BPE_OF(
         "\"vocab\":{\"a\":0,\"b\":1},\"merges\":[\"a b\"],\"continuing_subword_prefix\":\"##\""),
     "model: merges.0: 'b' is shorter than continuing_subword_prefix '##'"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":[],\"end_of_word_suffix\":7"),
     "model: key 'end_of_word_suffix' is an integer, wanted a string"},
    {BPE_OF("\"vocab\":{\"a\":0 \"b\":1},\"merges\":[]"),
     "model: vocab: line 1 of it: wanted a comma"},
    {BPE_OF("\"vocab\":{\"\\ud800\":0},\"merges\":[]"), "vocab: line 1 of it: \\u without four"},
    {BPE_OF("\"vocab\":{\"\xff\":0},\"merges\":[]"),
     "vocab: line 1 of it: a string that is not UTF-8"},
    {BPE_OF("\"vocab\":{\"\\q\":0},\"merges\":[]"), "vocab: line 1 of it: an escape that JSON"},
    {BPE_OF("\"vocab\":{\"a\":01},\"merges\":[]"), "vocab: line 1 of it: wanted a number"},
    {BPE_OF("\"vocab\":{\"a\":0},\"merges\":[],\"fuse_unk\":1"),
     "model: key 'fuse_unk' is an integer, wanted"},
    /* unigram */
    {UNIGRAM_OF("\"vocab\":{}"), "model: key 'vocab' is an object, wanted an array"},
    {UNIGRAM_OF("\"vocab\":[[\"a\"]]"), "model: vocab.0: wanted [token, score]"},
    {UNIGRAM_OF("\"vocab\":[[\"a\",-1],[-1,\"b\"]]"), "model: vocab.1: wanted [token, score]"},
    {UNIGRAM_OF("\"vocab\":[[\"a\",\"x\"]]"), "vocab.0: wanted [token, score]"},
    {UNIGRAM_OF("\"vocab\":[[\"a\",-1],[\"a\",-2]]"), "model: token 'a' has two ids, 0 and 1"},
    {UNIGRAM_OF("\"vocab\":[[\"a\",1e999]]"), "'bad.json'"},
    {UNIGRAM_OF("\"vocab\":[[\"a\",-1]],\"unk_id\":1"), "model: unk_id 1 is not in the vocab of 1"},
    {UNIGRAM_OF("\"vocab\":[],\"unk_id\":0"), "model: unk_id 0 is not in the vocab of 0"},
    {UNIGRAM_OF("\"vocab\":[[\"a\",-1]],\"unk_id\":-1"),
     "model: unk_id -1 is not in the vocab of 1"},
    {UNIGRAM_OF("\"vocab\":[[\"a\",-1]],\"unk_id\":\"a\""), "model: key 'unk_id' is a string"},
    /* components */
    {PART("normalizer", "7"), "normalizer: wanted an object, found an integer"},
    {PART("normalizer", "{}"), "normalizer: key 'type' is missing"},
    {PART("normalizer", "{\"type\":\"Upside\"}"),
     "'bad.json': normalizer: component 'Upside' is not supported"},
    {PART("normalizer", "{\"type\":\"BertNormalizer\"}"),
     "normalizer: key 'clean_text' is missing"},
    {PART("normalizer", "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"a\"}"),
     "normalizer: key 'precompiled_charsmap' is not base64"},
    {PART("normalizer", "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"/////w==\"}"),
     "charsmap of 4 bytes does not hold the trie of 4294967295 bytes it announces"},
    {PART("normalizer", "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAAAP8=\"}"),
     "charsmap: its texts are not UTF-8 at byte 0"},
    {PART("normalizer", "{\"type\":\"Sequence\"}"), "normalizer: key 'normalizers' is missing"},
    {PART("normalizer", "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":"
                        "\"Precompiled\"}]}"),
     "normalizer: normalizers.1: key 'precompiled_charsmap' is missing"},
    {PART("normalizer", "{\"type\":\"Strip\",\"strip_left\":true}"),
     "normalizer: key 'strip_right' is missing"},
    {PART("normalizer", "{\"type\":\"Replace\",\"pattern\":\"x\",\"content\":\"\"}"),
     "normalizer: key 'pattern' is a string, wanted an object"},
    {PART("normalizer", "{\"type\":\"Replace\",\"pattern\":{\"String\":\"x\"}}"),
     "normalizer: key 'content' is missing"},
    {PART("normalizer", "{\"type\":\"Prepend\"}"), "normalizer: key 'prepend' is missing"},
    {PART("pre_tokenizer", "{\"type\":\"Metaspace\"}"),
     "pre_tokenizer: key 'replacement' is missing"},
    {PART("pre_tokenizer", "{\"type\":\"Metaspace\",\"replacement\":\"ab\"}"),
     "pre_tokenizer: key 'replacement' wants one character, found 'ab'"},
    {PART("pre_tokenizer", "{\"type\":\"Metaspace\",\"replacement\":\"\"}"),
     "key 'replacement' wants one character, found ''"},
    {PART("pre_tokenizer",
          "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"often\"}"),
     "prepend_scheme 'often' is not one of always, first, never"},
    {PART("pre_tokenizer",
          "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":false}"),
     "add_prefix_space is false, but prepend_scheme is 'always'"},
    {PART("pre_tokenizer", "{\"type\":\"Punctuation\",\"behavior\":\"Gone\"}"),
     "behavior 'Gone' is not one of Removed, Isolated"},
    {PART("pre_tokenizer", "{\"type\":\"Punctuation\",\"behavior\":null}"),
     "pre_tokenizer: key 'behavior' is null, wanted a string"},
    {PART("pre_tokenizer", "{\"type\":\"Digits\"}"), "key 'individual_digits' is missing"},
    {PART("decoder", "{\"type\":\"Strip\",\"content\":\" \",\"start\":-1,\"stop\":0}"),
     "decoder: start -1 and stop 0 must not be negative"},
    {PART("decoder", "{\"type\":\"CTC\"}"), "decoder: key 'pad_token' is missing"},
    {PART("decoder", "{\"type\":\"BPEDecoder\",\"suffix\":\"\"}"),
     "decoder: key 'suffix' is an empty text"},
    {PART("decoder", "{\"type\":\"WordPiece\",\"prefix\":\"\"}"),
     "decoder: key 'cleanup' is missing"},
    {PART("pre_tokenizer", "{\"type\":\"FixedLength\",\"length\":0}"),
     "pre_tokenizer: length 0 must be above 0"},
    {PART("pre_tokenizer", "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"ab\"}"),
     "pre_tokenizer: key 'delimiter' wants one character, found 'ab'"},
    {PART("post_processor", "{\"type\":\"BertProcessing\"}"),
     "post_processor: key 'cls' is missing"},
    {PART("post_processor", "{\"type\":\"BertProcessing\",\"cls\":[\"a\",0],\"sep\":[\"b\"]}"),
     "post_processor: key 'sep' wants [token, id]"},
    {PART("post_processor", "{\"type\":\"BertProcessing\",\"cls\":[\"a\",0],\"sep\":[\"b\",2]}"),
     "post_processor: key 'sep': 2 is not an id of the vocabulary of 2"},
    {FILE_OF("\"truncation\":7," MODEL), "truncation: wanted an object, found an integer"},
    {FILE_OF("\"truncation\":{\"max_length\":8,\"stride\":0,\"strategy\":\"Any\"}," MODEL),
     "truncation: strategy 'Any' is not one of LongestFirst, OnlyFirst, OnlySecond"},
    {FILE_OF("\"truncation\":{\"max_length\":-8,\"stride\":0,\"strategy\":\"OnlyFirst\"}," MODEL),
     "truncation: max_length -8 and stride 0 must not be negative"},
    /* patterns */
    {SPLIT("{}"), "key 'pattern' wants one of"},
    {SPLIT("{\"String\":\"a\",\"Regex\":\"b\"}"), "key 'pattern' wants one of"},
    {SPLIT("{\"String\":7}"), "key 'pattern' wants one of"},
    {SPLIT("{\"String\":\"\"}"), "key 'pattern' looks for an empty text"},
    {REGEX(""), "regex: it is empty"},
    {REGEX("a("), "pre_tokenizer: regex: missing closing parenthesis at byte 2 of 'a('"},
    {REGEX("a\\\\"), "regex: '\\' at byte 1 has nothing behind it"},
    {REGEX("\\\\h"), "regex: '\\h' at byte 0 is not supported"},
    {REGEX("\\\\b"), "regex: '\\b' at byte 0 is not supported"},
    {REGEX("[a&&b]"), "regex: '&&' at byte 2 within a set is not supported"},
    {REGEX("[a[b]]"), "regex: '[' at byte 2 within a set is not supported"},
    {REGEX("[^\\\\W]"), "regex: '\\W' at byte 2 is not supported"},
    {REGEX("(?m:a)"), "regex: '(?m' at byte 0 is not supported"},
    {REGEX("(?<n>a)"), "regex: '(?<' at byte 0 is not supported"},
    {REGEX("a{,3}"), "regex: '{,' at byte 1 is not supported: write {0,"},
    {REGEX("a{2}+"), "regex: '+' at byte 4 behind '}' is not supported"},
    {REGEX("a{2}?"), "regex: '?' at byte 4 behind {n} is not supported: write (?:...)?"},
    {REGEX("a(?i)b|c"), "regex: '(?i)' at byte 1 in the middle of a group is not supported"},
    {REGEX("(?:a|(?i)b)"), "regex: '(?i)' at byte 5 in the middle of a group is not supported"},
    {REGEX("(*LIMIT_MATCH=3)a"), "regex: '(*' at byte 0 is not supported"},
    {REGEX("[]a]"), "regex: '[]' at byte 0 is not supported: write \\]"},
    {REGEX("\\\\p{Nonsense}"), "regex: unknown property"},
    {REGEX("[z-a]"), "regex: range out of order"},
    {REGEX("a{99999}"), "regex: number too big in {} quantifier"},
    /* templates */
    {TEMPLATE("7", "{}"), "post_processor: key 'single' is an integer, wanted an array"},
    {TEMPLATE("[7]", "{}"), "post_processor: single.0: wanted a SpecialToken or a Sequence"},
    {TEMPLATE("[{\"Sequence\":{\"id\":\"B\",\"type_id\":0}}]", "{}"),
     "single.0: text 'B' is not the one text, A"},
    {TEMPLATE("[{\"SpecialToken\":{\"id\":\"e\",\"type_id\":0}}]", "{}"),
     "single.0: special_tokens has no ids for 'e'"},
    {TEMPLATE("[{\"SpecialToken\":{\"id\":\"e\",\"type_id\":0}}]",
              "{\"e\":{\"id\":\"e\",\"ids\":[9],\"tokens\":[\"e\"]}}"),
     "single.0: special_tokens 'e': ids.0: 9 is not an id of the vocabulary of 2"},
    {TEMPLATE("[{\"SpecialToken\":{\"id\":\"e\",\"type_id\":0}}]",
              "{\"e\":{\"id\":\"e\",\"ids\":[\"x\"],\"tokens\":[\"e\"]}}"),
     "ids.0: 0 is not an id of the vocabulary of 2"},
    {TEMPLATE("[{\"Sequence\":{\"id\":\"A\",\"type_id\":65536}}]", "{}"),
     "single.0: type_id 65536 is not between 0 and 65535"},
    {PART("post_processor",
          "{\"type\":\"TemplateProcessing\",\"single\":[],\"pair\":[{\"Sequence\":"
          "{\"id\":\"C\",\"type_id\":0}}],\"special_tokens\":{}}"),
     "pair.0: text 'C' is not one of the two texts, A and B"},
    /* added tokens */
    {FILE_OF("\"added_tokens\":{}," MODEL), "added_tokens: wanted an array, found an object"},
    {ADDED("7"), "added_tokens.0: key 'content'"},
    {ADDED("{\"id\":2,\"content\":\"\"," FLAGS "}"),
     "added_tokens.0: key 'content' is an empty text"},
    {ADDED("{\"content\":\"x\"," FLAGS "}"), "added_tokens.0: key 'id' is missing"},
    {ADDED("{\"id\":2,\"content\":\"x\"}"), "added_tokens.0: key 'single_word' is missing"},
    {ADDED("{\"id\":9,\"content\":\"x\"," FLAGS "}"),
     "added_tokens.0: token 'x' has id 9, its place in the vocabulary gives 2"},
    {ADDED("{\"id\":1,\"content\":\"a\"," FLAGS "}"),
     "added_tokens.0: token 'a' has id 1, its place in the vocabulary gives 0"},
    {ADDED("{\"id\":2,\"content\":\"x\"," FLAGS "},{\"id\":3,\"content\":\"x\"," FLAGS "}"),
     "added_tokens.1: token 'x' has two ids, 2 and 3"},
};

static void test_refusals(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        heed_error err = {0};
        const char *json = cases[i].json;
        size_t n = strlen(json);
        char *exact = malloc(n ? n : 1); /* a read behind the end is seen */
        assert_non_null(exact);
        memcpy(exact, json, n);
        heed_tokenizer *t = heed_tokenizer_parse(NULL, exact, n, "bad.json", &err);
        free(exact);
        if (t) {
            fail_msg("taken: %s", json);
        }
        if (!strstr(err.text, "bad.json") || !strstr(err.text, cases[i].error) ||
            strchr(err.text, '\n')) {
            print_error("%s\n  gives:  %s\n  wanted: %s\n", json, err.text, cases[i].error);
            wrong++;
        }
        assert_null(heed_tokenizer_parse(NULL, json, n, "bad.json", NULL));
    }
    assert_int_equal(wrong, 0);
}

/* Every beginning of a good file is bad, and no byte changed makes a crash. */
static void test_cut_and_changed(void **state) {
    (void)state;
    size_t n = 0;
    char *json = slurp(GOLDEN "/chars.json", &n);
    for (size_t cut = 0; cut < n - 2; cut += 1 + cut / 16) {
        heed_error err = {0};
        assert_null(heed_tokenizer_parse(NULL, json, cut, "cut", &err));
        assert_int_not_equal(err.code, HEED_OK);
    }
    for (size_t at = 0; at < n; at += 7) {
        char was = json[at];
        json[at] = (char)(was ^ (1 << at % 8));
        heed_error err = {0};
        heed_tokenizer *t = heed_tokenizer_parse(NULL, json, n, "changed", &err);
        assert_int_equal(!t, err.code != HEED_OK);
        heed_tokenizer_free(t);
        json[at] = was;
    }
    free(json);
}

/* A group that goes round more often than compiled patterns have stack for is no pattern without
 * end: a word of so many apostrophes is a word. */
static void test_many_rounds(void **state) {
    (void)state;
    enum { ROUNDS = 20000 };
    heed_error err = {0};
    heed_tokenizer *t = heed_tokenizer_open(NULL, GOLDEN "/bpe.json", &err);
    expect_no_error(&err);
    char *text = malloc(2 * ROUNDS);
    assert_non_null(text);
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(text + 2 * i, "a'", 2);
    }
    heed_tokens tokens = {0};
    assert_true(heed_encode(t, text, 2 * ROUNDS - 1, false, &tokens, &err));
    assert_in_range(tokens.n, ROUNDS, 2 * ROUNDS + 1);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
    free(text);
}

/* A pattern that backtracks without end gives up with an error; text is refused where a model has
 * nothing for it. */
static void test_at_work(void **state) {
    (void)state;
    heed_error err = {0};
    heed_tokens tokens = {0};
    const char *json = REGEX("(a+)+$");
    heed_tokenizer *t = heed_tokenizer_parse(NULL, json, strlen(json), "slow", &err);
    expect_no_error(&err);
    char text[64];
    memset(text, 'a', sizeof text);
    text[63] = 'b';
    assert_false(heed_encode(t, text, sizeof text, true, &tokens, &err));
    expect_error(&err, HEED_LIMIT, "regex: gave up on a text of 64 bytes");
    heed_tokenizer_free(t);
    json = UNIGRAM_OF("\"vocab\":[[\"a\",-1]]");
    t = heed_tokenizer_parse(NULL, json, strlen(json), "no unk", &err);
    expect_no_error(&err);
    assert_false(heed_encode(t, "ab", 2, true, &tokens, &err));
    expect_error(&err, HEED_TEXT, "character U+0062 is no piece, and the model has no unk_id");
    assert_int_equal(tokens.n, 0);
    heed_tokenizer_free(t);
    json = FILE_OF("\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"model\":{\"type\":"
                   "\"Unigram\",\"vocab\":[[\"a\",-1]]}");
    t = heed_tokenizer_parse(NULL, json, strlen(json), "two words", &err);
    expect_no_error(&err);
    assert_true(heed_encode(t, "a", 1, true, &tokens, &err));
    assert_false(heed_encode(t, "a a b", 5, true, &tokens, &err)); /* two words were fine */
    assert_int_equal(tokens.n, 1);
    heed_tokenizer_free(t);
    heed_tokens_free(&tokens);
}

/* Rules that double a letter thirty times over stop long before the memory does. */
static void test_growth(void **state) {
    (void)state;
    static const char *const places[][2] = {{"normalizer", "normalizers"}, {"decoder", "decoders"}};
    for (int i = 0; i < 2; i++) {
        heed_buf json = {0}, text = {0};
        heed_tokens tokens = {0};
        heed_error err = {0};
        heed_buf_format(&json, "{\"version\":\"1.0\",\"%s\":{\"type\":\"Sequence\",\"%s\":[",
                        places[i][0], places[i][1]);
        for (int k = 0; k < 30; k++) {
            heed_buf_format(&json,
                            "%s{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},"
                            "\"content\":\"aa\"}",
                            k > 0 ? "," : "");
        }
        heed_buf_text(&json, "]}," MODEL "}");
        heed_tokenizer *t = heed_tokenizer_parse(NULL, json.data, json.n, "growing", &err);
        expect_no_error(&err);
        assert_false(i == 0 ? heed_encode(t, "a", 1, false, &tokens, &err)
                            : heed_decode(t, &(int32_t){0}, 1, false, &text, &err));
        expect_error(&err, HEED_LIMIT,
                     "the tokenizer's rules make more than 1048608 bytes of a text of 1");
        heed_tokenizer_free(t);
        heed_tokens_free(&tokens);
        heed_buf_free(&text);
        heed_buf_free(&json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_cut_and_changed),
        cmocka_unit_test(test_many_rounds), cmocka_unit_test(test_growth),
        cmocka_unit_test(test_at_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
