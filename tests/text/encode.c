/* Encoding and decoding: places in the text, texts that are no text, tokens for readers, limits,
 * many threads on one tokenizer, and memory that fails anywhere.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>

#include "text_lines.h"

static heed_tokenizer *open_golden(const char *name) {
    char path[TEST_PATH];
    heed_error err = {0};
    snprintf(path, sizeof path, GOLDEN "/%s.json", name);
    heed_tokenizer *t = heed_tokenizer_open(NULL, path, &err);
    expect_no_error(&err);
    return t;
}

static heed_tokenizer *parse(const char *json) {
    heed_error err = {0};
    heed_tokenizer *t = heed_tokenizer_parse(NULL, json, strlen(json), "test", &err);
    expect_no_error(&err);
    return t;
}

/* The places of a text's tokens as "0-2 2-5". */
static const char *places_of(const heed_tokenizer *t, const char *text) {
    static char out[1024];
    heed_tokens tokens = {0};
    heed_error err = {0};
    assert_true(heed_encode(t, text, strlen(text), true, &tokens, &err));
    size_t used = 0;
    for (size_t i = 0; i < tokens.n; i++) {
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%u-%u", i > 0 ? " " : "",
                                 tokens.item[i].begin, tokens.item[i].end);
    }
    heed_tokens_free(&tokens);
    return out;
}

#define WORDS(vocab, rest)                                                                         \
    "{\"version\":\"1.0\"," rest "\"model\":{\"type\":\"WordLevel\",\"vocab\":" vocab              \
    ",\"unk_token\":\"?\"}}"

/* Bytes of the caller's text, whatever the chain did to it. */
static void test_places(void **state) {
    (void)state;
    heed_tokenizer *t = open_golden("bpe");
    assert_string_equal(places_of(t, "Anna 老师"), "0-4 4-5 5-11 0-0");
    /* U+FB01 is one character of three bytes that becomes two letters; both have its place */
    assert_string_equal(places_of(t, "\xef\xac\x81ne"), "0-3 0-4 4-5 0-0");
    /* e and a combining acute become one character, which has the place of the e */
    assert_string_equal(places_of(t, "e\xcc\x81"), "0-1 0-1 0-0");
    assert_string_equal(places_of(t, ""), "0-0");
    assert_string_equal(places_of(t, "Anna</s>  Anna"), "0-4 4-8 8-9 9-14 0-0");
    heed_tokenizer_free(t);

    t = parse(WORDS("{\"?\":0,\"ab\":1}",
                    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Strip\","
                    "\"strip_left\":true,\"strip_right\":true},{\"type\":\"Replace\",\"pattern\":"
                    "{\"Regex\":\"x+\"},\"content\":\"b\"},{\"type\":\"Prepend\",\"prepend\":"
                    "\"a\"}]},"));
    /* what replaces a match has the place of the match's last character */
    assert_string_equal(places_of(t, "  xxx  "), "4-5");
    assert_string_equal(ids_of(t, "  xxx  ", true), "1");
    heed_tokenizer_free(t);
}

/* Bytes of one long unknown run: each has the place of all, and finding that place is not done for
 * each (a guard against a method that has become quadratic). */
static void test_long_unknown(void **state) {
    (void)state;
    enum { FACES = 100000 };
    heed_tokenizer *t = open_golden("unigram-bytes");
    heed_tokens tokens = {0};
    heed_error err = {0};
    char *text = malloc(4 * FACES);
    assert_non_null(text);
    for (int i = 0; i < FACES; i++) {
        memcpy(text + 4 * i, "\xf0\x9f\x98\x80", 4);
    }
    assert_true(heed_encode(t, text, 4 * FACES, false, &tokens, &err));
    assert_int_equal(tokens.n, 4 * FACES + 1); /* and the mark */
    for (size_t i = 1; i < tokens.n; i++) {
        assert_true(tokens.item[i].begin == 0 && tokens.item[i].end == 4 * FACES);
    }
    free(text);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
}

static void test_added_tokens(void **state) {
    (void)state;
    heed_tokenizer *t = open_golden("bpe");
    assert_string_equal(pieces_of(t, "<s>a"), "<s>|▁a");
    assert_string_equal(pieces_of(t, "a<s>a</s>"), "▁a|<s>|▁a|</s>");
    heed_tokenizer_free(t);
    t = open_golden("bytes");
    assert_string_equal(ids_of(t, "", true), "1 2");
    assert_string_equal(ids_of(t, "", false), "");
    heed_tokenizer_free(t);
}

static void test_bad_text(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {{"ab\xff", "text is not UTF-8 at byte 2 (0xff)"},
                 {"\xc0\x80", "text is not UTF-8 at byte 0 (0xc0)"},
                 {"a\xed\xa0\x80", "text is not UTF-8 at byte 1 (0xed)"},
                 {"\xe4\xbd", "text is not UTF-8 at byte 0 (0xe4)"},
                 {"\xf4\x90\x80\x80", "text is not UTF-8 at byte 0 (0xf4)"}};
    heed_tokenizer *t = open_golden("bpe");
    heed_tokens tokens = {0};
    heed_error err = {0};
    assert_true(heed_encode(t, "Anna", 4, true, &tokens, &err));
    size_t before = tokens.n;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(heed_encode(t, cases[i].text, strlen(cases[i].text), true, &tokens, &err));
        expect_error(&err, HEED_TEXT, cases[i].error);
        assert_int_equal(tokens.n, before);
    }
    assert_false(heed_encode(t, "a", (size_t)UINT32_MAX, true, &tokens, &err));
    expect_error(&err, HEED_LIMIT, "text of 4294967295 bytes is above the limit of 4294967294");
    assert_false(heed_encode(t, "\xff", 1, true, &tokens, NULL)); /* nobody wants to know why */
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
}

static void test_bad_ids(void **state) {
    (void)state;
    heed_tokenizer *t = parse(WORDS("{\"?\":0,\"a\":2}", ""));
    heed_buf out = {0};
    heed_error err = {0};
    static const int32_t bad[] = {-1, 1, 3, INT32_MAX, INT32_MIN};
    static const int32_t good[] = {2, 0, 2};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(heed_decode(t, &bad[i], 1, false, &out, &err));
        expect_error(&err, HEED_VALUE, "at place 0 is not in the vocabulary of 3");
    }
    assert_true(heed_decode(t, good, 3, false, &out, &err));
    assert_string_equal(out.data, "a ? a");
    assert_int_equal(heed_vocab_size(t), 3);
    assert_null(heed_token_text(t, 1));
    assert_null(heed_token_text(t, -1));
    assert_string_equal(heed_token_text(t, 2), "a");
    assert_int_equal(heed_token_id(t, "a"), 2);
    assert_int_equal(heed_token_id(t, "b"), -1);
    heed_buf_free(&out);
    heed_tokenizer_free(t);
}

static const char *show(const heed_tokenizer *t, int32_t id) {
    static char out[64];
    heed_buf buf = {0};
    assert_true(heed_token_show(t, id, &buf));
    snprintf(out, sizeof out, "%s", buf.data);
    heed_buf_free(&buf);
    return out;
}

static void test_show(void **state) {
    (void)state;
    heed_tokenizer *t = parse(WORDS("{\"?\":0,\"a b\":1,\"\\n\\t\\r\":2,\"\\u001b[0m\":3,"
                                    "\"\\u0085\":4,\"▁中\":5,\"<0xE4>\":6}",
                                    ""));
    assert_string_equal(show(t, 1), "a▁b");
    assert_string_equal(show(t, 2), "\\n\\t\\r");
    assert_string_equal(show(t, 3), "\\x1b[0m");
    assert_string_equal(show(t, 4), "\\x85");
    assert_string_equal(show(t, 5), "▁中");
    assert_string_equal(show(t, 6), "<0xE4>");
    assert_string_equal(show(t, 7), "<id 7>");
    heed_tokenizer_free(t);
    /* pieces in the byte alphabet: a space and a letter, one whole character, half a character */
    t = parse(WORDS("{\"?\":0,\"Ġa\":1,\"ä½ł\":2,\"ä½\":3}",
                    "\"decoder\":{\"type\":\"ByteLevel\","
                    "\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},"));
    assert_string_equal(show(t, 1), "▁a");
    assert_string_equal(show(t, 2), "你");
    assert_string_equal(show(t, 3), "<0xE4><0xBD>");
    heed_tokenizer_free(t);
}

/* What was saved is what was read, byte for byte; and bad paths are errors. */
static void test_save(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 16];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/t.json", folder);
    heed_tokenizer *t = open_golden("unigram");
    heed_error err = {0};
    assert_true(heed_tokenizer_save(t, path, &err));
    size_t n = 0, m = 0;
    char *a = slurp(path, &n), *b = slurp(GOLDEN "/unigram.json", &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    assert_false(heed_tokenizer_save(t, "/no/such/folder/t.json", &err));
    expect_error(&err, HEED_SYSTEM, "/no/such/folder/t.json");
    assert_null(heed_tokenizer_open(NULL, "/no/such/file.json", &err));
    expect_error(&err, HEED_FILE, "/no/such/file.json");
    heed_tokenizer_free(t);
    heed_tokenizer_free(NULL);
    remove_folder(folder);
}

/* ---- Threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, TIMES = 200 };
static const char mixed[] = "Anna paid 12.50 euros, 老师今天在看书。 ラーメン ﬁne 😀 </s> don't";

typedef struct {
    const heed_tokenizer *tokenizer;
    const heed_tokens *want;
    bool same;
} encoder;

static void *encode_often(void *ctx) {
    encoder *e = ctx;
    heed_tokens tokens = {0};
    e->same = true;
    for (int i = 0; i < TIMES; i++) {
        tokens.n = 0;
        e->same = e->same && heed_encode(e->tokenizer, mixed, strlen(mixed), true, &tokens, NULL) &&
                  tokens.n == e->want->n &&
                  memcmp(tokens.item, e->want->item, tokens.n * sizeof *tokens.item) == 0;
    }
    heed_tokens_free(&tokens);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    static const char *const names[] = {"bytes", "unigram"};
    for (int k = 0; k < 2; k++) {
        heed_tokenizer *t = open_golden(names[k]);
        heed_tokens want = {0};
        assert_true(heed_encode(t, mixed, strlen(mixed), true, &want, NULL));
        pthread_t thread[THREADS];
        encoder e[THREADS];
        for (int i = 0; i < THREADS; i++) {
            e[i] = (encoder){.tokenizer = t, .want = &want};
            assert_int_equal(pthread_create(&thread[i], NULL, encode_often, &e[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            assert_true(e[i].same);
        }
        heed_tokens_free(&want);
        heed_tokenizer_free(t);
    }
}

/* ---- Memory that fails ----------------------------------------------------------------------- */

/* A small file with every kind of part. */
static const char all_parts[] =
    "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":4,\"content\":\"<x>\",\"single_word\":true,"
    "\"lstrip\":true,\"rstrip\":true,\"normalized\":true,\"special\":true}],"
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":"
    "\"Lowercase\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"},"
    "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},{\"type\":\"Prepend\","
    "\"prepend\":\"a\"}]},"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Metaspace\","
    "\"replacement\":\"▁\",\"prepend_scheme\":\"first\",\"split\":true},{\"type\":\"Split\","
    "\"pattern\":{\"Regex\":\"[^0-9]+|x\"},\"behavior\":\"Isolated\",\"invert\":true},{\"type\":"
    "\"Punctuation\"},{\"type\":\"Digits\",\"individual_digits\":true}]},"
    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"A\","
    "\"type_id\":0}},{\"SpecialToken\":{\"id\":\"e\",\"type_id\":0}}],\"pair\":[],"
    "\"special_tokens\":{\"e\":{\"id\":\"e\",\"ids\":[0,4],\"tokens\":[\"?\",\"<x>\"]}}},"
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":"
    "\"Metaspace\",\"replacement\":\"▁\",\"prepend_scheme\":\"first\",\"split\":true},{\"type\":"
    "\"Replace\",\"pattern\":{\"String\":\"q\"},\"content\":\"r\"},{\"type\":\"Strip\","
    "\"content\":\" \",\"start\":1,\"stop\":1},{\"type\":\"Fuse\"}]},"
    "\"model\":%s}";
#define VOCAB "\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"ab\":3},\"unk_token\":\"?\"}"
#define SCORED "\"vocab\":[[\"?\",0],[\"a\",-1],[\"b\",-1],[\"ab\",-3]],\"unk_id\":0}"
static const char *const all_models[] = {("{\"type\":\"BPE\",\"merges\":[\"a b\"]," VOCAB),
                                         ("{\"type\":\"Unigram\"," SCORED),
                                         ("{\"type\":\"WordLevel\"," VOCAB)};

static bool use_all(const heed_host *host, void *ctx, heed_error *err) {
    static const char text[] = "Abba  <X> e\xcc\x81\xe2\x85\xa7 ab12, ab!";
    const char *json = ctx;
    heed_tokenizer *t = heed_tokenizer_parse(host, json, strlen(json), "test", err);
    heed_tokens tokens = {.host = host};
    heed_buf out = {.host = host};
    bool ok = t && heed_encode(t, text, sizeof text - 1, true, &tokens, err);
    int32_t ids[64];
    for (size_t i = 0; ok && i < tokens.n && i < 64; i++) {
        ids[i] = tokens.item[i].id;
    }
    ok = ok && heed_decode(t, ids, tokens.n < 64 ? tokens.n : 64, false, &out, err);
    if (ok && !heed_token_show(t, 1, &out)) { /* the one call that tells by its result alone */
        err->code = HEED_NOMEM;
        snprintf(err->text, sizeof err->text, "no memory to show a token");
        ok = false;
    }
    heed_buf_free(&out);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
    return ok;
}

static void test_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all_models / sizeof all_models[0]; i++) {
        char json[8192];
        snprintf(json, sizeof json, all_parts, all_models[i]);
        for_each_failing_allocation(use_all, json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),   cmocka_unit_test(test_long_unknown),
        cmocka_unit_test(test_bad_text), cmocka_unit_test(test_added_tokens),
        cmocka_unit_test(test_show),     cmocka_unit_test(test_bad_ids),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_save),
        cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
