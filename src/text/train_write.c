/* train_write.c: a trained vocabulary as tokenizer.json.
 *
 * Words are cut by one regular expression of explicit code points, so that every engine and every
 * version of Unicode cuts alike. Its classes: letters (with apostrophes inside), digits, Chinese
 * and Japanese, punctuation, symbols and emoji, white space. The mark goes with the word behind it,
 * but stands alone before Chinese and Japanese, whose words should be the same with and without it.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "text/train.h"

#define MARK "\xe2\x96\x81" /* U+2581 */
#define DIGIT "0-9\\x{FF10}-\\x{FF19}"
#define HAN                                                                                        \
    "\\x{3005}-\\x{3007}\\x{3041}-\\x{3096}\\x{3099}-\\x{309F}\\x{30A1}-\\x{30FA}"                 \
    "\\x{30FC}-\\x{30FF}\\x{31F0}-\\x{31FF}\\x{3400}-\\x{4DBF}\\x{4E00}-\\x{9FFF}"                 \
    "\\x{F900}-\\x{FAFF}\\x{FF66}-\\x{FF9F}\\x{20000}-\\x{323AF}"
#define PUNCTUATION                                                                                \
    "!-\\/:-@\\[-\\x{60}\\{-~\\x{A1}-\\x{A9}\\x{AB}-\\x{B4}\\x{B6}-\\x{B9}\\x{BB}-\\x{BF}"         \
    "\\x{D7}\\x{F7}\\x{2010}-\\x{2027}\\x{2030}-\\x{205E}\\x{3001}-\\x{3004}"                      \
    "\\x{3008}-\\x{3020}\\x{3030}\\x{30FB}\\x{FE10}-\\x{FE1F}\\x{FE30}-\\x{FE4F}"                  \
    "\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF20}\\x{FF3B}-\\x{FF40}\\x{FF5B}-\\x{FF65}"
#define SYMBOL                                                                                     \
    "\\x{200D}\\x{20A0}-\\x{20FF}\\x{2190}-\\x{2580}\\x{2582}-\\x{2BFF}\\x{FE0E}\\x{FE0F}"         \
    "\\x{1F000}-\\x{1FBFF}"
#define SPACE                                                                                      \
    "\\x{09}-\\x{0D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}"  \
    "\\x{205F}\\x{3000}"
#define LETTER "[^" MARK DIGIT HAN PUNCTUATION SYMBOL SPACE "]"

/* With digits one by one the mark does not go with them, so ten pieces are all digits. */
#define WORDS(digits, han)                                                                         \
    MARK "?" LETTER "+(?:['\\x{2019}]" LETTER "+)*|" digits "|[" HAN "]" han "|" MARK              \
         "?[" PUNCTUATION "]+|" MARK "?[" SYMBOL "]+|[" SPACE "]+|" MARK
#define NUMBERS MARK "?[" DIGIT "]+"
#define DIGITS "[" DIGIT "]"

/* [split_digits][split_han] */
static const char *const words[2][2] = {{WORDS(NUMBERS, "+"), WORDS(NUMBERS, "")},
                                        {WORDS(DIGITS, "+"), WORDS(DIGITS, "")}};

static void print_text(heed_buf *out, const char *s) {
    heed_json_print_string(out, s, strlen(s));
}

static void print_specials(const heed_train *train, heed_buf *out) {
    heed_buf_text(out, "  \"added_tokens\": [");
    for (size_t i = 0; i < train->set.n_specials; i++) {
        heed_buf_format(out, "%s\n    {\"id\": %zu, \"content\": ", i > 0 ? "," : "", i);
        print_text(out, train->set.specials[i]);
        heed_buf_text(out, ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
                           "\"normalized\": false, \"special\": true}");
    }
    heed_buf_text(out, "\n  ],\n");
}

static void print_normalizer(const heed_train *train, heed_buf *out) {
    const char *parts[4];
    int n = 0;
    heed_norm_kind norm = train->set.norm;
    if (norm == HEED_NORM_NFKC || norm == HEED_NORM_NFKC_LOWER) {
        parts[n++] = "{\"type\": \"NFKC\"}";
    }
    if (norm == HEED_NORM_LOWER || norm == HEED_NORM_NFKC_LOWER) {
        parts[n++] = "{\"type\": \"Lowercase\"}";
    }
    if (train->set.tidy_spaces) {
        parts[n++] = "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"\\\\s+\"}, "
                     "\"content\": \" \"}";
        parts[n++] = "{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}";
    }
    heed_buf_text(out, "  \"normalizer\": ");
    heed_buf_text(out, n > 1 ? "{\"type\": \"Sequence\", \"normalizers\": [" : n ? "" : "null");
    for (int i = 0; i < n; i++) {
        heed_buf_text(out, n > 1 ? "\n    " : "");
        heed_buf_text(out, parts[i]);
        heed_buf_text(out, i + 1 < n ? "," : "");
    }
    heed_buf_text(out, n > 1 ? "\n  ]},\n" : ",\n");
}

static void print_metaspace(const heed_train *train, heed_buf *out) {
    heed_buf_format(out,
                    "{\"type\": \"Metaspace\", \"replacement\": \"" MARK
                    "\", \"prepend_scheme\": \"%s\", \"split\": true}",
                    train->set.no_first_mark ? "never" : "always");
}

static void print_words(const heed_train *train, heed_buf *out) {
    heed_buf_text(out, "  \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [\n    ");
    print_metaspace(train, out);
    heed_buf_text(out, ",\n    {\"type\": \"Split\", \"pattern\": {\"Regex\": ");
    print_text(out, words[train->set.split_digits][train->set.split_han]);
    heed_buf_text(out, "}, \"behavior\": \"Isolated\", \"invert\": false}\n  ]},\n");
}

/* ---- The template -------------------------------------------------------------------------- */

/* The next word of a template; false at its end. */
static bool next_word(const char **at, const char **word, size_t *n) {
    *at += strspn(*at, " ");
    *word = *at;
    *n = strcspn(*at, " ");
    *at += *n;
    return *n > 0;
}

static void print_item(const char *word, size_t n, const char *text, int type, heed_buf *out) {
    if (n == 2 && memcmp(word, "$A", 2) == 0) {
        heed_buf_format(out, "{\"Sequence\": {\"id\": \"%s\", \"type_id\": %d}}", text, type);
        return;
    }
    heed_buf_text(out, "{\"SpecialToken\": {\"id\": ");
    heed_json_print_string(out, word, n);
    heed_buf_format(out, ", \"type_id\": %d}}", type);
}

static void print_items(const char *template, const char *text, int type, heed_buf *out) {
    const char *at = template, *word = NULL;
    size_t n = 0;
    for (bool first = true; next_word(&at, &word, &n); first = false) {
        heed_buf_text(out, first ? "" : ", ");
        print_item(word, n, text, type, out);
    }
}

static void print_template(const heed_train *train, heed_buf *out) {
    const char *template = train->set.end_template;
    if (!template) {
        heed_buf_text(out, "  \"post_processor\": null,\n");
        return;
    }
    heed_buf_text(out, "  \"post_processor\": {\"type\": \"TemplateProcessing\",\n    "
                       "\"single\": [");
    print_items(template, "A", 0, out);
    heed_buf_text(out, "],\n    \"pair\": [");
    print_items(template, "A", 0, out);
    heed_buf_text(out, ", ");
    print_items(template, "B", 1, out);
    heed_buf_text(out, "],\n    \"special_tokens\": {");
    for (size_t i = 0; i < train->set.n_specials; i++) {
        const char *name = train->set.specials[i];
        heed_buf_text(out, i > 0 ? ", " : "");
        print_text(out, name);
        heed_buf_text(out, ": {\"id\": ");
        print_text(out, name);
        heed_buf_format(out, ", \"ids\": [%zu], \"tokens\": [", i);
        print_text(out, name);
        heed_buf_text(out, "]}");
    }
    heed_buf_text(out, "}},\n");
}

static void print_decoder(const heed_train *train, heed_buf *out) {
    heed_buf_text(out, "  \"decoder\": ");
    if (train->set.byte_fallback) {
        heed_buf_text(out,
                      "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"ByteFallback\"}, ");
    }
    print_metaspace(train, out);
    heed_buf_text(out, train->set.byte_fallback ? "]},\n" : ",\n");
}

/* ---- The model ----------------------------------------------------------------------------- */

static void print_piece(const heed_train *train, size_t id, heed_buf *out) {
    heed_json_print_string(out, train->piece[id].text, train->piece[id].n);
}

/* Six decimals: few enough that every reader of JSON makes the same double of them. */
static void print_unigram(const heed_train *train, heed_buf *out) {
    heed_buf_format(out, "{\"type\": \"Unigram\", \"unk_id\": %d, \"byte_fallback\": %s,\n",
                    (int)train->unk, train->set.byte_fallback ? "true" : "false");
    heed_buf_text(out, "    \"vocab\": [");
    for (size_t id = 0; id < train->n_pieces; id++) {
        heed_buf_text(out, id > 0 ? ",\n      [" : "\n      [");
        print_piece(train, id, out);
        heed_buf_format(out, ", %.6f]", train->piece[id].score);
    }
    heed_buf_text(out, "\n    ]}");
}

static void print_bpe(const heed_train *train, heed_buf *out) {
    heed_buf_text(out, "{\"type\": \"BPE\", \"dropout\": null, \"unk_token\": ");
    if (train->unk >= 0) {
        print_text(out, train->set.unk);
    } else {
        heed_buf_text(out, "null");
    }
    heed_buf_format(out,
                    ", \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null,\n"
                    "    \"fuse_unk\": true, \"byte_fallback\": %s, \"ignore_merges\": false,\n"
                    "    \"vocab\": {",
                    train->set.byte_fallback ? "true" : "false");
    for (size_t id = 0; id < train->n_pieces; id++) {
        heed_buf_text(out, id > 0 ? ",\n      " : "\n      ");
        print_piece(train, id, out);
        heed_buf_format(out, ": %zu", id);
    }
    heed_buf_text(out, "\n    },\n    \"merges\": [");
    for (size_t i = 0; i < train->n_merges; i++) {
        heed_buf_text(out, i > 0 ? ",\n      [" : "\n      [");
        print_piece(train, (size_t)train->merge[i].left, out);
        heed_buf_text(out, ", ");
        print_piece(train, (size_t)train->merge[i].right, out);
        heed_buf_text(out, "]");
    }
    heed_buf_text(out, "\n    ]}");
}

bool heed_train_print(const heed_train *train, heed_buf *out) {
    heed_buf_text(out, "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n"
                       "  \"padding\": null,\n");
    print_specials(train, out);
    print_normalizer(train, out);
    print_words(train, out);
    print_template(train, out);
    print_decoder(train, out);
    heed_buf_text(out, "  \"model\": ");
    if (train->set.kind == HEED_TOKENIZER_UNIGRAM && train->n_pieces > 0) {
        print_unigram(train, out);
    } else {
        print_bpe(train, out);
    }
    return heed_buf_text(out, "\n}\n");
}
