/* Vocabularies that are damaged, hostile or not known, each with its one line of error; what is cut
 * short or has a byte changed anywhere; memory that runs out anywhere.
 * SPDX-License-Identifier: MIT
 */
#include "text/open.h"
#include "text_lines.h"

#define VOCAB "tests/golden/vocab"

/* ---- SentencePiece --------------------------------------------------------------------------- */

/* Pieces in the wire format: text, score 0, type. */
#define UNK "\x0a\x0c\x0a\x03<U>\x15\x00\x00\x00\x00\x18\x02"
#define A                                                                                          \
    "\x0a\x08\x0a\x01"                                                                             \
    "a\x15\x00\x00\x00\x00"
#define TYPE(letter, type) "\x0a\x05\x0a\x01" letter "\x18" type

static const struct {
    const char *bytes;
    size_t n;
    const char *error;
} models[] = {
#define CASE(bytes, error)                                                                         \
    { bytes, sizeof bytes - 1, error }
    CASE("", "no pieces in a file of 0 bytes"),
    CASE(A, "none of 1 pieces is the unknown one"),
    CASE(UNK TYPE("b", "\x02"), "pieces 0 and 1 are both the unknown one"),
    CASE(UNK A A, "piece 2 'a' stands there twice"),
    CASE(UNK TYPE("b", "\x06"), "piece 1 'b' is a byte's, but has no byte's name"),
    CASE(UNK "\x0a\x0a\x0a\x06<0x41>\x18\x06", "'<0x41>' is a byte's, but byte_fallback is off"),
    CASE(UNK "\x12\x03\x98\x02\x01", "byte_fallback is on, but byte 0x00 has no piece"),
    CASE(UNK TYPE("b", "\x00"), "piece 1 has type 0, wanted 1 to 6"),
    CASE(UNK TYPE("b", "\x07"), "piece 1 has type 7, wanted 1 to 6"),
    CASE(UNK "\x0a\x02\x0a\x00", "piece 1 of 0 bytes is empty"),
    CASE(UNK "\x0a\x03\x0a\x01\xff", "piece 1 of 1 bytes is not UTF-8"),
    CASE(UNK "\x0a\x04\x0a\x02"
             "a\0",
         "piece 1 of 2 bytes holds a zero byte"),
    CASE(UNK "\x0a\x08\x0a\x01"
             "a\x15\x00\x00\xc0\x7f",
         "the score of piece 1 is not finite"),
    CASE(UNK "\x0a\x05\x08\x01\x0a\x01"
             "a",
         "has type 0, wanted 2"),
    CASE(UNK "\x0a\x7f", "a field of 127 bytes at byte 16 does not fit: 0 are left"),
    CASE(UNK "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "longer than 64 bits"),
    CASE(UNK "\x0a\xff\xff\xff\xff\x0f", "a field of 4294967295 bytes"),
    CASE(UNK "\x0a\x80", "the file ends inside a number at byte 16"),
    CASE(UNK "\x0b", "a field has a type that is not known at byte 15"),
    CASE(UNK "\x02\x00", "a field has no number at byte 15"),
    CASE(UNK "\x12\x02\x18\x05", "model_type 5 is not known"),
    CASE(UNK "\x1a\x05\x12\x03"
             "abc",
         "charsmap of 3 bytes does not hold the trie of 0 bytes"),
    CASE(UNK "\x1a\x0b\x12\x09\x04\x00\x00\x00"
             "abcd\xff",
         "charsmap: its texts are not UTF-8 at byte 0"),
#undef CASE
};

static void test_models(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        heed_error err = {0};
        heed_tokenizer *t = heed_spm_parse(NULL, models[i].bytes, models[i].n, &err);
        assert_null(t);
        expect_error(&err, HEED_FILE, models[i].error);
    }
}

/* A trie that leads out of its texts is found out when a text meets it. */
static void test_rules(void **state) {
    (void)state;
    size_t n = 0;
    char *data = slurp(VOCAB "/spm/unigram.model", &n);
    heed_error err = {0};
    size_t bad = 0;
    for (size_t at = n - 700; at < n; at++) {
        char old = data[at];
        data[at] = (char)(old ^ 0x55);
        heed_tokenizer *t = heed_spm_parse(NULL, data, n, &err);
        heed_tokens tokens = {0};
        static const char text[] = "\xef\xbc\xa1 \xef\xac\x81 \xe2\x80\xa6 \xe3\x80\x80 e\xcc\x81";
        if (t && !heed_encode(t, text, sizeof text - 1, true, &tokens, &err)) {
            expect_error(&err, HEED_FILE, "charsmap: an entry leads to byte");
            bad++;
        }
        err = (heed_error){0};
        heed_tokens_free(&tokens);
        heed_tokenizer_free(t);
        data[at] = old;
    }
    assert_true(bad > 0);
    free(data);
}

/* ---- Any damage ------------------------------------------------------------------------------ */

typedef heed_tokenizer *parse_fn(const heed_host *host, const char *data, size_t n,
                                 heed_error *err);

static heed_tokenizer *parse_gguf(const heed_host *host, const char *data, size_t n,
                                  heed_error *err) {
    heed_gguf *gguf = heed_gguf_from_bytes(host, "x.gguf", data, n, err);
    heed_tokenizer *t = gguf ? heed_open_gguf(host, gguf, err) : NULL;
    heed_gguf_free(gguf);
    return t;
}

static void try_bytes(parse_fn *parse, const char *data, size_t n) {
    heed_error err = {0};
    heed_tokens tokens = {0};
    heed_tokenizer *t = parse(NULL, data, n, &err);
    assert_true((t != NULL) == (err.code == HEED_OK));
    assert_true(t || (err.text[0] && !strchr(err.text, '\n')));
    if (t) {
        heed_encode(t, "<s> Ab 12", 9, true, &tokens, &err);
    }
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
}

/* Every length, and at every `step`th place another byte; from memory of that very size, so that a
 * sanitizer sees a read behind it. */
static void damage(parse_fn *parse, const char *path, size_t step) {
    size_t n = 0;
    char *data = slurp(path, &n);
    for (size_t i = 0; i < n; i += step) {
        char *copy = malloc(i + 1);
        assert_non_null(copy);
        memcpy(copy, data, i);
        try_bytes(parse, copy, i);
        free(copy);
        data[i] = (char)~data[i];
        try_bytes(parse, data, n);
        data[i] = (char)~data[i];
    }
    free(data);
}

static void test_damage(void **state) {
    (void)state;
    damage(heed_spm_parse, VOCAB "/spm/unigram-unused.model", 3);
    damage(heed_spm_parse, VOCAB "/spm/bpe-symbols.model", 7);
    damage(heed_llama2c_parse, VOCAB "/folders/llama2c/tokenizer.bin", 5);
    damage(parse_gguf, VOCAB "/gguf/llama.gguf", 11);
    damage(parse_gguf, VOCAB "/gguf/gpt2.gguf", 11);
}

/* ---- Files and folders ----------------------------------------------------------------------- */

typedef struct {
    const char *file[6], *text[6];
    const char *error;
} folder_case;

#define V "{\"<s>\":0,\"</s>\":1,\"<unk>\":2,\"a\":3,\"b\":4,\"ab\":5,\"<pad>\":6}"
#define W "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\n"

static const folder_case folders[] = {
    {{"x"}, {""}, "has no tokenizer: looked for tokenizer.json, source.spm with target.spm and"},
    {{"vocab.json", "merges.txt"}, {"[]", ""}, "vocab.json is an array, wanted an object"},
    {{"vocab.json", "merges.txt"}, {"{", ""}, "vocab.json"},
    {{"vocab.json", "merges.txt"},
     {V, "#version: 0.2\na b\nab\n"},
     "merges.txt line 3: wanted two tokens with a space between"},
    {{"vocab.json", "merges.txt"}, {V, "a b c\n"}, "merges.txt line 1: wanted two tokens"},
    {{"vocab.json", "merges.txt"}, {V, "a x\n"}, "merges.0: token 'x' is not in vocab"},
    {{"vocab.json", "merges.txt"}, {"{\"a\":\"0\"}", ""}, "is a string, wanted an integer"},
    {{"vocab.json", "merges.txt", "config.json"},
     {V, "a b\n", "{\"model_type\":\"clip\"}"},
     "vocab.json and merges.txt of 'clip' are not known here"},
    {{"vocab.json", "merges.txt", "added_tokens.json"},
     {V, "a b\n", "{\"n\":99}"},
     "token 'n' has id 99, its place in the vocabulary gives 7"},
    {{"vocab.json", "merges.txt", "added_tokens.json"},
     {V, "a b\n", "{\"n\":null}"},
     "added_tokens.json: token 'n' has no id"},
    {{"vocab.json", "merges.txt", "tokenizer_config.json"},
     {V, "a b\n", "{\"added_tokens_decoder\":{\"x\":{\"content\":\"n\"}}}"},
     "added_tokens_decoder: 'x' is no id"},
    {{"vocab.json", "merges.txt", "tokenizer_config.json"},
     {V, "a b\n", "[1]"},
     "is an array, wanted an object"},
    {{"vocab.json", "merges.txt", "tokenizer_config.json"},
     {V, "a b\n", "{\"add_prefix_space\":1}"},
     "key 'add_prefix_space' is an integer"},
    {{"vocab.json", "merges.txt", "tokenizer_config.json"},
     {V, "a b\n", "{\"add_bos_token\":true,\"bos_token\":null}"},
     "add_bos_token is true, but no file names"},
    {{"vocab.txt"}, {""}, "the file is empty"},
    {{"vocab.txt"}, {"a\nb\n"}, "unk_token '[UNK]' is not in the vocabulary"},
    {{"vocab.txt"}, {"[UNK]\n\xff\n"}, "line 2 is not UTF-8"},
    {{"vocab.txt", "config.json"},
     {W, "{\"model_type\":\"layoutlm\"}"},
     "the vocab.txt of 'layoutlm' is not known here"},
    {{"vocab.txt", "tokenizer_config.json"},
     {W, "{\"do_basic_tokenize\":false}"},
     "do_basic_tokenize false is not supported"},
    {{"spiece.model"}, {"x"}, "no file says whose ids spiece.model has"},
    {{"spiece.model", "config.json"},
     {"x", "{\"model_type\":\"xlnet\"}"},
     "the ids that 'xlnet' gives to spiece.model are not known here"},
    {{"spiece.model", "config.json"}, {"x", "{\"model_type\":\"t5\"}"}, "spiece.model: "},
    {{"tokenizer.bin"}, {"x"}, "this is no tokenizer.bin of llama2.c"},
};

static void test_folders(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char folder[TEST_PATH], path[TEST_PATH + 64];
        heed_error err = {0};
        temp_folder(folder);
        for (int k = 0; k < 6 && folders[i].file[k]; k++) {
            snprintf(path, sizeof path, "%s/%s", folder, folders[i].file[k]);
            write_text(path, folders[i].text[k]);
        }
        heed_tokenizer *t = heed_tokenizer_open(NULL, folder, &err);
        assert_null(t);
        if (!strstr(err.text, folders[i].error)) {
            fail_msg("case %zu: wanted '%s', got '%s'", i, folders[i].error, err.text);
        }
        remove_folder(folder);
    }
}

static void test_files(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 64];
    heed_error err = {0};
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/notes.bin", folder);
    write_text(path, "no vocabulary at all");
    assert_null(heed_tokenizer_open(NULL, path, &err));
    expect_error(&err, HEED_FILE, "no vocabulary that is known here");
    remove_folder(folder);
    assert_null(heed_tokenizer_open(NULL, "tests/golden/gguf/types.gguf", &err));
    expect_error(&err, HEED_FILE, "the file has no vocabulary");
}

static void replace(char *data, size_t n, const char *from, const char *to) {
    size_t length = strlen(from);
    assert_int_equal(length, strlen(to));
    for (size_t i = 0; i + length <= n; i++) {
        if (memcmp(data + i, from, length) == 0) {
            memcpy(data + i, to, length);
            return;
        }
    }
    fail_msg("there is no '%s'", from);
}

static void test_gguf(void **state) {
    (void)state;
    static const struct {
        const char *file, *from, *to, *error;
    } cases[] = {
        {"llama", "ggml.model", "ggml.moxel", "tokenizer.ggml.model is missing"},
        {"llama", "ggml.tokens", "ggml.tokenx", "tokenizer.ggml.tokens is missing"},
        {"gpt2", "ggml.merges", "ggml.mergex", "tokenizer.ggml.merges is missing"},
        {"gpt2", "smollm", "smollx", "tokenizer.ggml.pre 'smollx' is not known"},
        {"gpt2", "bos_token_id", "box_token_id", "add_bos_token is true, but there is no such"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[TEST_PATH];
        size_t n = 0;
        heed_error err = {0};
        snprintf(path, sizeof path, VOCAB "/gguf/%s.gguf", cases[i].file);
        char *data = slurp(path, &n);
        replace(data, n, cases[i].from, cases[i].to);
        assert_null(parse_gguf(NULL, data, n, &err));
        expect_error(&err, HEED_FILE, cases[i].error);
        free(data);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool open_and_cut(const heed_host *host, void *path, heed_error *err) {
    heed_tokenizer *t = heed_tokenizer_open(host, path, err);
    heed_tokens tokens = {.host = host};
    heed_buf text = {.host = host};
    bool ok = t && heed_encode(t, "a \xf0\x9f\xa6\x99<sym> b", 13, true, &tokens, err);
    int32_t ids[] = {5, 40, 3, 60};
    ok = ok && heed_decode(t, ids, 4, true, &text, err);
    heed_buf_free(&text);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
    return ok;
}

static void test_memory(void **state) {
    (void)state;
    for_each_failing_allocation(open_and_cut, VOCAB "/spm/bpe-unused.model");
    for_each_failing_allocation(open_and_cut, VOCAB "/spm/unigram-back.model");
    for_each_failing_allocation(open_and_cut, VOCAB "/folders/t5");
    for_each_failing_allocation(open_and_cut, VOCAB "/folders/marian");
    for_each_failing_allocation(open_and_cut, VOCAB "/folders/m2m100");
    for_each_failing_allocation(open_and_cut, VOCAB "/folders/roberta");
    for_each_failing_allocation(open_and_cut, VOCAB "/folders/llama2c");
    for_each_failing_allocation(open_and_cut, VOCAB "/gguf/llama.gguf");
    for_each_failing_allocation(open_and_cut, VOCAB "/gguf/gpt2.gguf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),  cmocka_unit_test(test_rules), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_folders), cmocka_unit_test(test_files), cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
