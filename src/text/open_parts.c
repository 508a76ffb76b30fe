/* open_parts.c: the tree of a tokenizer.json, put together for formats that have none.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "text/open.h"
#include "text/spm.h"

static json_t *or_null(json_t *part) {
    return part ? part : json_null();
}

json_t *heed_json_tokenizer(heed_json_parts p, heed_error *err) {
    json_t *root = json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:o}", "version", "1.0",
                             "truncation", "padding", "added_tokens", or_null(p.added),
                             "normalizer", or_null(p.normalizer), "pre_tokenizer",
                             or_null(p.pre_tokenizer), "post_processor", or_null(p.post_processor),
                             "decoder", or_null(p.decoder), "model", or_null(p.model));
    if (!root || !p.model) {
        heed_fail(err, HEED_NOMEM, "out of memory: the parts of a tokenizer");
        json_decref(root);
        return NULL;
    }
    return root;
}

json_t *heed_json_byte_level(bool prefix, bool trim, bool regex) {
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", prefix,
                     "trim_offsets", trim, "use_regex", regex);
}

json_t *heed_json_split(const char *regex) {
    return json_pack("{s:s, s:{s:s}, s:s, s:b}", "type", "Split", "pattern", "Regex", regex,
                     "behavior", "Isolated", "invert", 0);
}

json_t *heed_json_bert_normalizer(bool lower, bool chinese, const bool *strip_accents) {
    return json_pack("{s:s, s:b, s:b, s:o, s:b}", "type", "BertNormalizer", "clean_text", 1,
                     "handle_chinese_chars", chinese, "strip_accents",
                     strip_accents ? json_boolean(*strip_accents) : json_null(), "lowercase",
                     lower);
}

void heed_json_word_piece(heed_json_parts *p, const char *unk, size_t unk_n, json_t *vocab) {
    p->pre_tokenizer = json_pack("{s:s}", "type", "BertPreTokenizer");
    p->decoder = json_pack("{s:s, s:s, s:b}", "type", "WordPiece", "prefix", "##", "cleanup", 1);
    p->model = json_pack("{s:s, s:s%, s:s, s:i, s:o}", "type", "WordPiece", "unk_token", unk, unk_n,
                         "continuing_subword_prefix", "##", "max_input_chars_per_word", 100,
                         "vocab", vocab);
}

int64_t heed_find_in_object(const void *vocab, const char *text, size_t n) {
    const json_t *id = json_object_getn(vocab, text, n);
    return json_is_integer(id) ? json_integer_value(id) : -1;
}

bool heed_next_word(const char **at, const char **word, size_t *n) {
    *n = 0;
    if (*at) {
        *word = *at + strspn(*at, " ");
        *n = strcspn(*word, " ");
        *at = *word + *n;
    }
    return *n > 0;
}

/* ---- Templates ----------------------------------------------------------------------------- */

typedef struct {
    heed_find_id *find;
    const void *vocabulary;
    const json_t *added;
    heed_json_round round;
    heed_error *err;
} template;

heed_json_round heed_json_round_begin(void) {
    return (heed_json_round){json_array(), json_array(), json_object()};
}

bool heed_json_round_token(heed_json_round *r, json_t *items, const char *text, size_t n,
                           int64_t id, int type) {
    json_t *token =
        json_pack("{s:s%, s:[I], s:[s%]}", "id", text, n, "ids", (json_int_t)id, "tokens", text, n);
    if (!token || json_object_setn_new(r->tokens, text, n, token) != 0) {
        return false;
    }
    json_t *item = json_pack("{s:{s:s%, s:i}}", "SpecialToken", "id", text, n, "type_id", type);
    return item && json_array_append_new(items, item) == 0;
}

bool heed_json_round_text(json_t *items, const char *name, int type) {
    json_t *item = json_pack("{s:{s:s, s:i}}", "Sequence", "id", name, "type_id", type);
    return item && json_array_append_new(items, item) == 0;
}

json_t *heed_json_round_end(heed_json_round *r, bool ok, heed_error *err) {
    json_t *out = ok ? json_pack("{s:s, s:O, s:O, s:O}", "type", "TemplateProcessing", "single",
                                 r->single, "pair", r->pair, "special_tokens", r->tokens)
                     : NULL;
    json_decref(r->single);
    json_decref(r->pair);
    json_decref(r->tokens);
    if (!out) {
        heed_fail(err, HEED_NOMEM, "out of memory: a template"); /* where nothing else was */
    }
    return out;
}

static int64_t id_of(const template *t, const char *word, size_t n) {
    for (size_t i = 0; i < json_array_size(t->added); i++) {
        const json_t *token = json_array_get(t->added, i);
        const json_t *text = json_object_get(token, "content");
        if (json_string_length(text) == n && memcmp(json_string_value(text), word, n) == 0) {
            return json_integer_value(json_object_get(token, "id"));
        }
    }
    return t->find(t->vocabulary, word, n);
}

static bool add_token(template *t, json_t *items, const char *word, size_t n, int type) {
    int64_t id = id_of(t, word, n);
    if (id < 0) {
        return heed_fail(t->err, HEED_FILE,
                         "token '%.*s', which goes round every text, is not in the vocabulary",
                         (int)n, word);
    }
    return heed_json_round_token(&t->round, items, word, n, id, type);
}

static bool add_word(template *t, json_t *items, const char *word, size_t n) {
    int type = n > 2 && memcmp(word + n - 2, ":1", 2) == 0 ? 1 : 0;
    n -= type ? 2 : 0;
    bool text = n == 2 && word[0] == '$' && (word[1] == 'A' || word[1] == 'B');
    return text ? heed_json_round_text(items, word[1] == 'A' ? "A" : "B", type)
                : add_token(t, items, word, n, type);
}

static bool add_words(template *t, json_t *items, const char *list) {
    const char *word;
    size_t n;
    while (heed_next_word(&list, &word, &n)) {
        if (!add_word(t, items, word, n)) {
            return false;
        }
    }
    return true;
}

json_t *heed_json_template(const char *single, const char *pair, heed_find_id *find,
                           const void *vocabulary, const json_t *added, heed_error *err) {
    template t = {find, vocabulary, added, heed_json_round_begin(), err};
    bool ok = add_words(&t, t.round.single, single) && add_words(&t, t.round.pair, pair);
    return heed_json_round_end(&t.round, ok, err);
}

/* A word with a space on the side of the text, and ":1" behind it in the second segment. */
static void put_end(heed_buf *out, const char *word, bool before, bool second) {
    if (word) {
        heed_buf_format(out, "%s%s%s%s", before ? "" : " ", word, second ? ":1" : "",
                        before ? " " : "");
    }
}

json_t *heed_json_ends(const heed_host *host, const char *first, const char *last,
                       heed_find_id *find, const void *vocabulary, const json_t *added,
                       heed_error *err) {
    heed_buf single = {.host = host}, pair = {.host = host};
    put_end(&single, first, true, false);
    heed_buf_text(&single, "$A");
    put_end(&single, last, false, false);
    heed_buf_add(&pair, single.failed ? "" : single.data, single.failed ? 0 : single.n);
    heed_buf_text(&pair, " ");
    put_end(&pair, first, true, true);
    heed_buf_text(&pair, "$B:1");
    put_end(&pair, last, false, true);
    json_t *out = NULL;
    if (single.failed || pair.failed) {
        heed_fail(err, HEED_NOMEM, "out of memory: a template");
    } else {
        out = heed_json_template(single.data, pair.data, find, vocabulary, added, err);
    }
    heed_buf_free(&single);
    heed_buf_free(&pair);
    return out;
}

int64_t heed_find_in_vocab(const void *tokenizer, const char *text, size_t n) {
    return heed_vocab_find(tokenizer, text, n);
}

/* ---- Tokenizers of SentencePiece models ---------------------------------------------------- */

/* Saving prints the post-processor as it was read. */
static bool keep_template(heed_tokenizer *t, const json_t *post, heed_error *err) {
    heed_buf text = {.host = t->host};
    heed_spm *spm = heed_spm_of(t);
    bool ok = heed_json_print(&text, post, 0, err);
    if (ok) {
        spm->template = heed_region_text(&t->region, text.data, text.n, err);
    }
    heed_buf_free(&text);
    return ok && spm->template;
}

static bool complete(heed_tokenizer *t, const json_t *root, heed_error *err) {
    const json_t *post = json_object_get(root, "post_processor");
    return heed_added_read(t, root, err) &&
           heed_chain_read(t, root, &heed_post_processors, &t->post_processor, err) &&
           (json_is_null(post) || keep_template(t, post, err));
}

bool heed_tokenizer_complete(heed_tokenizer *t, json_t *added, json_t *post, heed_error *err) {
    json_t *root =
        json_pack("{s:o, s:o}", "added_tokens", or_null(added), "post_processor", or_null(post));
    bool ok = root ? complete(t, root, err) : heed_fail(err, HEED_NOMEM, "out of memory: tokens");
    json_decref(root);
    return ok;
}
