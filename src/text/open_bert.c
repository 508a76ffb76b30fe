/* open_bert.c: vocab.txt: WordPiece as BERT stores it, a token a line, its id the line's number.
 *
 * How words are made of a text stands in tokenizer_config.json, with defaults that the first model
 * had: lower case without accents, Chinese characters one by one.
 * Source: Devlin et al. 2019, "BERT"; tokenization_bert.py of transformers for the defaults.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "text/open.h"

/* Families whose vocab.txt is BERT's; the empty one: the folder does not say what it is. */
static const char *const kinds[] = {"",         "bert",   "distilbert", "electra",   "mobilebert",
                                    "convbert", "funnel", "lxmert",     "retribert", "squeezebert",
                                    "dpr",      "realm",  "splinter"};

bool heed_vocab_txt_of(const char *model_type) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i], model_type) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_known(const heed_folder *f, heed_error *err) {
    return heed_vocab_txt_of(f->kind) ||
           heed_fail(err, HEED_FILE,
                     "the vocab.txt of '%s' is not known here: save the tokenizer as "
                     "tokenizer.json with transformers",
                     f->kind);
}

static json_t *no_memory(heed_error *err) {
    heed_fail(err, HEED_NOMEM, "out of memory: vocab.txt");
    return NULL;
}

/* One token; of two that are alike the later counts, as in a Python dictionary. */
static bool add_line(json_t *vocab, const char *line, size_t n, json_int_t id, heed_error *err) {
    if (n > 0 && line[n - 1] == '\r') {
        n--;
    }
    return json_object_setn_new(vocab, line, n, json_integer(id)) == 0 ||
           heed_fail(err, HEED_FILE, "line %lld is not UTF-8", (long long)id + 1);
}

static json_t *read_vocab(const char *text, size_t n, heed_error *err) {
    json_t *vocab = json_object();
    bool ok = vocab || no_memory(err);
    json_int_t id = 0;
    for (size_t at = 0; ok && at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - text) - at : n - at;
        ok = (id <= HEED_MAX_ID || heed_fail(err, HEED_FILE, "more than %d lines", HEED_MAX_ID)) &&
             add_line(vocab, text + at, length, id++, err);
        at += length + 1;
    }
    if (ok && id == 0) {
        ok = heed_fail(err, HEED_FILE, "the file is empty");
    }
    if (!ok) {
        json_decref(vocab);
        return NULL;
    }
    return vocab;
}

/* ---- Settings ------------------------------------------------------------------------------ */

static json_t *normalizer_of(const heed_folder *f, heed_error *err) {
    bool lower = true, chinese = true, accents = false;
    if (!heed_folder_flag(f, "do_lower_case", &lower, err) ||
        !heed_folder_flag(f, "tokenize_chinese_chars", &chinese, err) ||
        !heed_folder_flag(f, "strip_accents", &accents, err)) {
        return NULL;
    }
    bool said = json_is_boolean(json_object_get(f->tokenizer, "strip_accents"));
    json_t *out = heed_json_bert_normalizer(lower, chinese, said ? &accents : NULL);
    return out ? out : no_memory(err);
}

static bool basic_is_on(const heed_folder *f, heed_error *err) {
    bool basic = true;
    return heed_folder_flag(f, "do_basic_tokenize", &basic, err) &&
           (basic || heed_fail(err, HEED_FILE,
                               "tokenizer_config.json: do_basic_tokenize false is not supported"));
}

static const char *token_in(const heed_folder *f, const char *key, const char *usual,
                            const json_t *vocab, heed_error *err) {
    const char *text = heed_folder_token(f, key, usual);
    if (!text || heed_find_in_object(vocab, text, strlen(text)) < 0) {
        heed_fail(err, HEED_FILE, "%s '%s' is not in the vocabulary", key, text ? text : "(none)");
        return NULL;
    }
    return text;
}

static json_t *post_of(const heed_folder *f, const char *cls, const char *sep, const json_t *vocab,
                       const json_t *added, heed_error *err) {
    heed_buf single = {.host = f->host}, pair = {.host = f->host};
    heed_buf_format(&single, "%s $A %s", cls, sep);
    heed_buf_format(&pair, "%s $A %s $B:1 %s:1", cls, sep, sep);
    json_t *post =
        single.failed || pair.failed
            ? no_memory(err)
            : heed_json_template(single.data, pair.data, heed_find_in_object, vocab, added, err);
    heed_buf_free(&single);
    heed_buf_free(&pair);
    return post;
}

/* Tokens with a usual name count only where the vocabulary has them. */
static json_t *added_of(const heed_folder *f, const json_t *vocab, heed_error *err) {
    heed_usual_token usual[] = {{"unk_token", "[UNK]", false},
                                {"sep_token", "[SEP]", false},
                                {"pad_token", "[PAD]", false},
                                {"cls_token", "[CLS]", false},
                                {"mask_token", "[MASK]", false}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        const char *text = usual[i].text;
        usual[i].text = heed_find_in_object(vocab, text, strlen(text)) >= 0 ? text : NULL;
    }
    return heed_folder_added(f, usual, sizeof usual / sizeof usual[0], heed_find_in_object, vocab,
                             (int64_t)json_object_size(vocab), err);
}

static json_t *tree_of(const heed_folder *f, json_t *vocab, heed_error *err) {
    const char *unk = token_in(f, "unk_token", "[UNK]", vocab, err);
    const char *cls = unk ? token_in(f, "cls_token", "[CLS]", vocab, err) : NULL;
    const char *sep = cls ? token_in(f, "sep_token", "[SEP]", vocab, err) : NULL;
    heed_json_parts p = {0};
    p.normalizer = sep && basic_is_on(f, err) ? normalizer_of(f, err) : NULL;
    p.added = p.normalizer ? added_of(f, vocab, err) : NULL;
    p.post_processor = p.added ? post_of(f, cls, sep, vocab, p.added, err) : NULL;
    if (!p.post_processor) {
        json_decref(p.normalizer);
        json_decref(p.added);
        return NULL;
    }
    heed_json_word_piece(&p, unk, strlen(unk), json_incref(vocab));
    return heed_json_tokenizer(p, err);
}

heed_tokenizer *heed_bert_parse(const heed_folder *f, const char *text, size_t n, heed_error *err) {
    json_t *vocab = is_known(f, err) ? read_vocab(text, n, err) : NULL;
    json_t *root = vocab ? tree_of(f, vocab, err) : NULL;
    heed_tokenizer *t = root ? heed_tokenizer_from(f->host, root, "vocab.txt", err) : NULL;
    json_decref(root);
    json_decref(vocab);
    return t;
}

heed_tokenizer *heed_open_bert(const heed_folder *f, const char *name, heed_error *err) {
    size_t n = 0;
    char *text = heed_folder_read(f, name, &n, err);
    heed_tokenizer *t = text ? heed_bert_parse(f, text, n, err) : NULL;
    heed_free(f->host, text);
    return t;
}
