/* added.c: tokens that are cut out of the text before anything else sees it.
 *
 * Of those that match at the leftmost place the longest is taken. Some are looked for in the text
 * as it is, some (normalized: true) in the normalised text, in their own normalised form.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/part.h"
#include "text/unicode.h"

/* The id that the `tokenizers` library gives: the model's, or the next free one; a file that says
 * otherwise would have two meanings. */
static bool place_token(heed_tokenizer *t, const char *text, size_t n, int64_t id,
                        heed_error *err) {
    int32_t known = heed_vocab_find(t, text, n);
    int64_t next = (int64_t)t->model_pieces;
    next = next > t->added.next ? next : t->added.next;
    int64_t right = known >= 0 ? known : next;
    if (id != right) {
        return heed_fail(err, HEED_FILE,
                         "token '%s' has id %" PRId64
                         ", its place in the vocabulary gives %" PRId64,
                         text, id, right);
    }
    return known >= 0 || heed_vocab_add(t, text, n, id, false, err);
}

/* The token's normalised form is what is looked for, and what its id stands for when decoding, as
 * in the `tokenizers` library. */
static bool take_normalized(heed_tokenizer *t, const heed_strand *form, int32_t number,
                            heed_error *err) {
    heed_piece *piece = &t->piece[t->added.item[number].id];
    const char *text = heed_region_text(&t->region, form->n > 0 ? form->text : "", form->n, err);
    if (!text) {
        return false;
    }
    piece->text = text;
    piece->n = form->n;
    return heed_trie_add(&t->added.normalized, text, form->n, number, err);
}

static bool add_pattern(heed_tokenizer *t, const char *text, size_t n, bool normalized,
                        int32_t number, heed_error *err) {
    if (!normalized) {
        return heed_trie_add(&t->added.raw, text, n, number, err);
    }
    heed_work work;
    heed_work_init(&work, t->host, err);
    work.n = n;
    bool ok = heed_strand_put(&work, &work.now, text, n, (heed_origin){0, (uint32_t)n}) &&
              heed_chain_apply(&t->normalizer, &work) && take_normalized(t, &work.now, number, err);
    heed_work_free(&work);
    return ok;
}

static bool read_token(heed_tokenizer *t, const json_t *json, heed_error *err) {
    heed_added token = {0};
    bool normalized = false;
    int64_t id = -1;
    size_t n = 0;
    const char *text = heed_json_string(json, "content", &n, err);
    if (!text || !heed_json_int(json, "id", &id, err) ||
        !heed_json_bool(json, "single_word", &token.single_word, err) ||
        !heed_json_bool(json, "lstrip", &token.lstrip, err) ||
        !heed_json_bool(json, "rstrip", &token.rstrip, err) ||
        !heed_json_bool(json, "normalized", &normalized, err) ||
        !heed_json_bool(json, "special", &token.special, err)) {
        return false;
    }
    if (n == 0) {
        return heed_fail(err, HEED_FILE, "key 'content' is an empty text");
    }
    if (!place_token(t, text, n, id, err) ||
        !heed_reserve(t->host, (void **)&t->added.item, &t->added.cap, t->added.n + 1,
                      sizeof *t->added.item, err)) {
        return false;
    }
    token.id = (int32_t)id;
    t->added.next = id >= t->added.next ? id + 1 : t->added.next;
    t->piece[id].added = true;
    t->piece[id].named = t->piece[id].named || token.special;
    t->added.item[t->added.n++] = token;
    return add_pattern(t, text, n, normalized, (int32_t)(t->added.n - 1), err);
}

/* A token is left out when decoding by its text: one that normalising has changed counts as special
 * only where another special token is called what it has become. */
static void mark_special(heed_tokenizer *t) {
    for (size_t i = 0; i < t->added.n; i++) {
        int32_t id = t->added.item[i].id;
        heed_piece *piece = &t->piece[id];
        int32_t other = heed_vocab_map_find(&t->ids, piece->text, piece->n);
        piece->special = other >= 0 && t->piece[other].named;
    }
}

bool heed_added_read(heed_tokenizer *t, const json_t *json, heed_error *err) {
    heed_trie_init(&t->added.raw, t->host);
    heed_trie_init(&t->added.normalized, t->host);
    const json_t *list = json_object_get(json, "added_tokens");
    if (!list || json_is_null(list)) {
        return true;
    }
    if (!json_is_array(list)) {
        return heed_fail(err, HEED_FILE, "added_tokens: wanted an array, found %s",
                         heed_json_kind(list));
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!read_token(t, json_array_get(list, i), err)) {
            heed_error_at(err, "added_tokens.%zu", i);
            return false;
        }
    }
    mark_special(t);
    return true;
}

void heed_added_free(heed_added_tokens *added) {
    heed_free(added->raw.edge.host, added->item);
    heed_trie_free(&added->raw);
    heed_trie_free(&added->normalized);
}

/* Where the code point that ends before `at` begins; at > low. */
static size_t char_before(const char *text, size_t low, size_t at) {
    do {
        at--;
    } while (at > low && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

static uint32_t char_at(const char *text, size_t n, size_t at, size_t *after) {
    uint32_t cp = 0;
    *after = at + (size_t)heed_utf8_next(text + at, n - at, &cp);
    return cp;
}

static bool stands_alone(const char *text, size_t n, size_t from, size_t to) {
    size_t after = 0;
    bool word_before =
        from > 0 && heed_is_word(char_at(text, n, char_before(text, 0, from), &after));
    bool word_behind = to < n && heed_is_word(char_at(text, n, to, &after));
    return !word_before && !word_behind;
}

static size_t strip_left(const char *text, size_t n, size_t plain, size_t from) {
    while (from > plain) {
        size_t after = 0, at = char_before(text, plain, from);
        if (!heed_is_space(char_at(text, n, at, &after))) {
            break;
        }
        from = at;
    }
    return from;
}

static size_t strip_right(const char *text, size_t n, size_t to) {
    while (to < n) {
        size_t after = 0;
        if (!heed_is_space(char_at(text, n, to, &after))) {
            break;
        }
        to = after;
    }
    return to;
}

/* The longest token that begins at `at`; its number, or -1. */
static int32_t longest(const heed_trie *trie, const char *text, size_t n, size_t at, size_t *end) {
    int32_t best = -1;
    uint32_t node = 0;
    for (size_t i = at; i < n; i++) {
        node = heed_trie_step(trie, node, (unsigned char)text[i]);
        if (!node) {
            break;
        }
        if (trie->value[node] >= 0) {
            best = trie->value[node];
            *end = i + 1;
        }
    }
    return best;
}

bool heed_added_next(const heed_added_tokens *added, const heed_trie *trie, const char *text,
                     size_t n, size_t at, heed_added_match *match) {
    size_t plain = at; /* spaces before this belong to the token before */
    if (trie->n == 0) {
        return false;
    }
    while (at < n) {
        size_t end = at;
        int32_t number = longest(trie, text, n, at, &end);
        if (number < 0) {
            at++;
            continue;
        }
        const heed_added *token = &added->item[number];
        if (token->single_word && !stands_alone(text, n, at, end)) {
            at = end;
            continue;
        }
        match->id = token->id;
        match->from = token->lstrip ? strip_left(text, n, plain, at) : at;
        match->to = token->rstrip ? strip_right(text, n, end) : end;
        return true;
    }
    return false;
}
