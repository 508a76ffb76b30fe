/* The ids and texts of the `tokenizers` library: each component by itself, 520 mixed sentences
 * through five tokenizers that heed trained, and every code point through the normal forms.
 *
 * HEED_GOLDEN names another folder with a sentences.json; tools/make_golden_tokenizers.py live uses
 * it with texts never seen before.
 * SPDX-License-Identifier: MIT
 */
#include <zlib.h>

#include "base/utf8.h"
#include "file/json.h"
#include "text/unicode.h"
#include "text_lines.h"

static json_t *read_golden(const char *folder, const char *name) {
    char path[TEST_PATH];
    heed_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_t *root = heed_json_read(NULL, path, 0, &err);
    expect_no_error(&err);
    return root;
}

static heed_tokenizer *parse(const json_t *file, const char *name) {
    heed_buf json = {0};
    heed_error err = {0};
    assert_true(heed_json_print(&json, file, 0, &err));
    heed_tokenizer *t = heed_tokenizer_parse(NULL, json.data, json.n, name, &err);
    expect_no_error(&err);
    heed_buf_free(&json);
    return t;
}

static heed_line line_of(const json_t *text) {
    return (heed_line){json_string_value(text), json_string_length(text)};
}

/* ids of a text, or of a list of two, with their special tokens; false where it is refused. */
static bool encode(const heed_tokenizer *t, const json_t *text, heed_tokens *out) {
    heed_error err = {0};
    heed_encode_options options = {.pair = line_of(json_array_get(text, 1))};
    out->n = 0;
    return heed_encode_with(t, line_of(json_is_array(text) ? json_array_get(text, 0) : text),
                            &options, out, &err);
}

static void decode(const heed_tokenizer *t, const heed_tokens *tokens, bool skip, heed_buf *out) {
    heed_error err = {0};
    int32_t *ids = malloc((tokens->n + 1) * sizeof *ids);
    assert_non_null(ids);
    for (size_t i = 0; i < tokens->n; i++) {
        ids[i] = tokens->item[i].id;
    }
    out->n = 0;
    assert_true(heed_decode(t, ids, tokens->n, skip, out, &err));
    free(ids);
}

/* The ids as text, "1 2 3". */
static void spell(const heed_tokens *tokens, heed_buf *out) {
    out->n = 0;
    heed_buf_text(out, "");
    for (size_t i = 0; i < tokens->n; i++) {
        heed_buf_format(out, "%s%d", i > 0 ? " " : "", (int)tokens->item[i].id);
    }
}

/* ---- Components ------------------------------------------------------------------------------ */

static void spell_json(const json_t *ids, heed_buf *out) {
    out->n = 0;
    heed_buf_text(out, "");
    for (size_t i = 0; i < json_array_size(ids); i++) {
        heed_buf_format(out, "%s%d", i > 0 ? " " : "",
                        (int)json_integer_value(json_array_get(ids, i)));
    }
}

static bool same_text(const heed_buf *got, const json_t *want) {
    return got->n == json_string_length(want) &&
           (got->n == 0 || memcmp(got->data, json_string_value(want), got->n) == 0);
}

static void check_ids(const json_t *one, const char *text, const heed_tokens *tokens,
                      const json_t *ids) {
    heed_buf got = {0}, want = {0};
    spell(tokens, &got);
    spell_json(ids, &want);
    if (strcmp(got.data, want.data) != 0) {
        fail_msg("%s: '%s' gives %s, wanted %s", json_string_value(json_object_get(one, "name")),
                 text, got.data, want.data);
    }
    heed_buf_free(&got);
    heed_buf_free(&want);
}

/* Places and types, as a check sum of "0-4:0 4-5:0". */
static void check_places_sum(const json_t *one, const char *text, const heed_tokens *tokens,
                             size_t i) {
    heed_buf got = {0};
    heed_buf_text(&got, "");
    for (size_t k = 0; k < tokens->n; k++) {
        heed_token token = tokens->item[k];
        heed_buf_format(&got, "%s%u-%u:%u", k > 0 ? " " : "", token.begin, token.end, token.type);
    }
    json_int_t want = json_integer_value(json_array_get(json_object_get(one, "places"), i));
    if (crc32(0, (const void *)got.data, (uInt)got.n) != (uLong)want) {
        fail_msg("%s: '%s' has places %s", json_string_value(json_object_get(one, "name")), text,
                 got.data);
    }
    heed_buf_free(&got);
}

static void check_back(const heed_tokenizer *t, const json_t *one, const char *text,
                       const heed_tokens *tokens, bool skip, size_t i) {
    const json_t *want = json_array_get(json_object_get(one, skip ? "plain" : "full"), i);
    heed_buf got = {0};
    decode(t, tokens, skip, &got);
    if (!same_text(&got, want)) {
        fail_msg("%s: '%s' comes back as '%.*s', wanted '%s'",
                 json_string_value(json_object_get(one, "name")), text, (int)got.n,
                 got.data ? got.data : "", json_string_value(want));
    }
    heed_buf_free(&got);
}

static void check_text(const heed_tokenizer *t, const json_t *one, size_t i) {
    const json_t *text = json_array_get(json_object_get(one, "texts"), i);
    const json_t *ids = json_array_get(json_object_get(one, "ids"), i);
    const char *s = json_string_value(json_is_array(text) ? json_array_get(text, 0) : text);
    heed_tokens tokens = {0};
    bool ok = encode(t, text, &tokens);
    if (ok == json_is_null(ids)) {
        fail_msg("%s: '%s' is %s", json_string_value(json_object_get(one, "name")), s,
                 ok ? "taken" : "refused");
    }
    if (ok) {
        check_ids(one, s, &tokens, ids);
        check_places_sum(one, s, &tokens, i);
        check_back(t, one, s, &tokens, true, i);
        check_back(t, one, s, &tokens, false, i);
    }
    heed_tokens_free(&tokens);
}

static void test_components(void **state) {
    (void)state;
    json_t *root = read_golden(GOLDEN, "components.json");
    json_t *cases = json_object_get(root, "cases"), *spelling = json_object_get(root, "spell");
    assert_in_range(json_array_size(cases), 130, 1000);
    for (size_t k = 0; k < json_array_size(cases); k++) {
        const json_t *one = json_array_get(cases, k);
        json_t *file = json_object_get(one, "tokenizer");
        if (json_is_string(json_object_get(file, "model"))) {
            json_object_set(file, "model", spelling);
        }
        heed_tokenizer *t = parse(file, json_string_value(json_object_get(one, "name")));
        for (size_t i = 0; i < json_array_size(json_object_get(one, "texts")); i++) {
            check_text(t, one, i);
        }
        heed_tokenizer_free(t);
    }
    json_decref(root);
}

/* ---- Sentences ------------------------------------------------------------------------------- */

static bool same_sum(const heed_buf *got, const json_t *one, const char *key, size_t i) {
    const json_t *want = json_array_get(json_object_get(one, key), i);
    const void *data = got->n > 0 ? got->data : "";
    return crc32(0, data, (uInt)got->n) == (uLong)json_integer_value(want);
}

/* Tokens lie in the text, and one behind the other; but normal forms may change the order of marks,
 * so the latter is asked of ASCII only. */
static void check_places(const heed_tokens *tokens, const json_t *text) {
    const char *s = json_string_value(text);
    uint32_t n = (uint32_t)json_string_length(text), begin = 0;
    bool ascii = true;
    for (uint32_t i = 0; i < n; i++) {
        ascii = ascii && (unsigned char)s[i] < 0x80;
    }
    for (size_t i = 0; i < tokens->n; i++) {
        heed_token token = tokens->item[i];
        if (token.text < 0) { /* the template's */
            assert_int_equal(token.begin + token.end, 0);
            continue;
        }
        if (token.begin > token.end || token.end > n || (ascii && token.begin < begin)) {
            fail_msg("'%s': token %zu has place %u to %u behind %u", s, i, token.begin, token.end,
                     begin);
        }
        begin = token.begin;
    }
}

static int check_sentences(const json_t *one, const json_t *texts, const char *folder) {
    const char *name = json_string_value(json_object_get(one, "name"));
    heed_error err = {0};
    heed_tokenizer *t =
        heed_tokenizer_open(NULL, json_string_value(json_object_get(one, "file")), &err);
    expect_no_error(&err);
    heed_tokens tokens = {0};
    heed_buf got = {0};
    int differ = 0;
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        assert_true(encode(t, text, &tokens));
        check_places(&tokens, text);
        spell(&tokens, &got);
        bool same = same_sum(&got, one, "ids", i);
        if (!same) {
            print_error("%s %s: '%s' gives %s\n", folder, name, json_string_value(text), got.data);
        }
        decode(t, &tokens, true, &got);
        differ += !same || !same_sum(&got, one, "plain", i);
    }
    heed_buf_free(&got);
    heed_tokens_free(&tokens);
    heed_tokenizer_free(t);
    return differ;
}

static void test_sentences(void **state) {
    (void)state;
    const char *other = getenv("HEED_GOLDEN");
    const char *folder = other ? other : GOLDEN;
    json_t *root = read_golden(folder, "sentences.json");
    const json_t *texts = json_object_get(root, "texts"), *cases = json_object_get(root, "cases");
    assert_in_range(json_array_size(texts), 500, 100000);
    int differ = 0;
    for (size_t k = 0; k < json_array_size(cases); k++) {
        differ += check_sentences(json_array_get(cases, k), texts, folder);
    }
    print_message("%zu texts, %zu tokenizers: %d differ\n", json_array_size(texts),
                  json_array_size(cases), differ);
    assert_int_equal(differ, 0);
    json_decref(root);
}

/* ---- Every code point ------------------------------------------------------------------------ */

/* Appends what the code points of a block become, each with a NUL behind it. */
typedef void sweep_fn(const void *ctx, uint32_t first, uint32_t end, heed_buf *out);

static bool is_scalar(uint32_t cp) {
    return cp < 0xd800 || cp > 0xdfff;
}

typedef struct {
    const heed_tokenizer *tokenizer;
    bool marks; /* with a mark before and behind */
} form;

/* Through a tokenizer that spells its normalised text in bytes, whose ids are the bytes. No form
 * joins anything to a NUL, so the block goes through as one text. */
static void sweep_form(const void *ctx, uint32_t first, uint32_t end, heed_buf *out) {
    const form *f = ctx;
    heed_buf text = {0};
    for (uint32_t cp = first; cp < end; cp++) {
        char utf8[4];
        if (is_scalar(cp)) {
            heed_buf_text(&text, f->marks ? "a\xcc\xb4" : "");
            heed_buf_add(&text, utf8, (size_t)heed_utf8_put(cp, utf8));
            heed_buf_add(&text, "\xcc\x81", f->marks ? 3 : 0);
            heed_buf_add(&text, "", f->marks ? 0 : 1);
        }
    }
    heed_tokens tokens = {0};
    heed_error err = {0};
    assert_true(heed_encode(f->tokenizer, text.data ? text.data : "", text.n, true, &tokens, &err));
    for (size_t i = 0; i < tokens.n; i++) {
        char c = (char)tokens.item[i].id;
        heed_buf_add(out, &c, 1);
    }
    heed_tokens_free(&tokens);
    heed_buf_free(&text);
}

static void sweep_is(const void *ctx, uint32_t first, uint32_t end, heed_buf *out) {
    bool (*const *is)(uint32_t) = ctx;
    for (uint32_t cp = first; cp < end; cp++) {
        if (is_scalar(cp)) {
            heed_buf_add(out, (*is)(cp) ? "1" : "0", 2);
        }
    }
}

static int check_sweep(const json_t *root, const char *name, sweep_fn *fn, const void *ctx) {
    const json_t *sums = json_object_get(root, name);
    uint32_t block = (uint32_t)json_integer_value(json_object_get(root, "block"));
    heed_buf out = {0};
    int wrong = 0;
    assert_int_equal(json_array_size(sums), 0x110000 / block);
    for (uint32_t first = 0; first < 0x110000; first += block) {
        if ((first >= 0x33000 && first < 0xe0000) || first >= 0xe1000) {
            continue; /* unassigned and private planes */
        }
        out.n = 0;
        heed_buf_text(&out, "");
        fn(ctx, first, first + block, &out);
        const json_t *want = json_array_get(sums, first / block);
        if (crc32(0, (const void *)out.data, (uInt)out.n) != (uLong)json_integer_value(want)) {
            print_error("%s: U+%04X to U+%04X differ\n", name, first, first + block - 1);
            wrong++;
        }
    }
    heed_buf_free(&out);
    return wrong;
}

static int check_form(const json_t *sums, json_t *spelling, const char *name) {
    json_t *file = json_pack("{s:s, s:{s:s}, s:O}", "version", "1.0", "normalizer", "type", name,
                             "model", spelling);
    heed_tokenizer *t = parse(file, name);
    form f = {.tokenizer = t};
    int wrong = check_sweep(sums, name, sweep_form, &f);
    if (strcmp(name, "Lowercase") != 0) {
        char marks[32];
        snprintf(marks, sizeof marks, "%s marks", name);
        f.marks = true;
        wrong += check_sweep(sums, marks, sweep_form, &f);
    }
    heed_tokenizer_free(t);
    json_decref(file);
    return wrong;
}

static void test_every_code_point(void **state) {
    (void)state;
    static const char *const forms[] = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"};
    static const struct {
        const char *name;
        bool (*is)(uint32_t cp);
    } sets[] = {
        {"space", heed_is_space}, {"punctuation", heed_is_punctuation}, {"number", heed_is_number}};
    json_t *sums = read_golden(GOLDEN, "sweeps.json");
    json_t *components = read_golden(GOLDEN, "components.json");
    int wrong = 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        wrong += check_form(sums, json_object_get(components, "spell"), forms[i]);
    }
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        wrong += check_sweep(sums, sets[i].name, sweep_is, &sets[i].is);
    }
    assert_int_equal(wrong, 0);
    json_decref(components);
    json_decref(sums);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_components),
                                       cmocka_unit_test(test_sentences),
                                       cmocka_unit_test(test_every_code_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
