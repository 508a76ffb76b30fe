/* word_piece.c: the longest pieces from the left; all but a word's first carry a prefix.
 *
 * Method: one trie of all pieces; inside a word the walk begins behind the prefix's node. A word
 * that cannot be cut, or is too long, is unknown as a whole.
 * Source: Schuster and Nakajima 2012; Devlin et al. 2019, "BERT".
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "text/part.h"

typedef struct {
    const heed_tokenizer *tokenizer;
    heed_trie trie;
    uint32_t inside; /* the node of the prefix */
    bool has_inside; /* whether any piece begins with it */
    const char *unk; /* the unknown's text */
    int32_t unk_id;  /* -1: not in vocab; then an unknown word is an error */
    int64_t most;    /* characters of a word */
} word_piece;

static bool index_pieces(word_piece *w, heed_error *err) {
    const heed_tokenizer *t = w->tokenizer;
    for (size_t id = 0; id < t->n_pieces; id++) {
        const heed_piece *piece = &t->piece[id];
        if (piece->text && !heed_trie_add(&w->trie, piece->text, piece->n, (int32_t)id, err)) {
            return false;
        }
    }
    return true;
}

static void find_inside(word_piece *w, const char *prefix) {
    uint32_t node = 0;
    w->has_inside = true;
    for (const char *s = prefix; *s && w->has_inside; s++) {
        node = heed_trie_step(&w->trie, node, (unsigned char)*s);
        w->has_inside = node != 0;
    }
    w->inside = node;
}

static bool read_word_piece(heed_tokenizer *t, const json_t *json, void *settings,
                            heed_error *err) {
    word_piece *w = settings;
    const char *prefix = "##", *unk = "[UNK]";
    w->tokenizer = t;
    w->most = 100;
    heed_trie_init(&w->trie, t->host);
    if (!heed_json_opt_string(json, "continuing_subword_prefix", &prefix, err) ||
        !heed_json_opt_string(json, "unk_token", &unk, err) ||
        !heed_json_opt_int(json, "max_input_chars_per_word", &w->most, err)) {
        return false;
    }
    if (w->most < 0) {
        return heed_fail(err, HEED_FILE, "max_input_chars_per_word %" PRId64 " is negative",
                         w->most);
    }
    if (!heed_vocab_read(t, json, err) || !index_pieces(w, err)) {
        return false;
    }
    find_inside(w, prefix);
    w->unk = heed_region_text(&t->region, unk, strlen(unk), err);
    w->unk_id = heed_vocab_find(t, unk, strlen(unk));
    return w->unk != NULL;
}

static void free_word_piece(void *settings) {
    heed_trie_free(&((word_piece *)settings)->trie);
}

static bool too_long(const word_piece *w, const char *s, size_t n) {
    int64_t characters = 0;
    for (size_t i = 0; i < n && (int64_t)n > w->most; i++) {
        characters += ((unsigned char)s[i] & 0xc0) != 0x80;
    }
    return characters > w->most;
}

/* The longest piece at the beginning of s, from `node` on: its length, 0 where there is none. */
static size_t longest(const word_piece *w, uint32_t node, const char *s, size_t n, int32_t *id) {
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        node = heed_trie_step(&w->trie, node, (unsigned char)s[i]);
        if (!node) {
            break;
        }
        if (w->trie.value[node] >= 0) {
            *id = w->trie.value[node];
            best = i + 1;
        }
    }
    return best;
}

static bool emit_unknown(const word_piece *w, heed_work *work, size_t from, size_t to) {
    return w->unk_id >= 0
               ? heed_work_emit(work, w->unk_id, from, to)
               : heed_fail(work->err, HEED_TEXT,
                           "a word is unknown, and unk_token '%s' is not in vocab", w->unk);
}

static bool encode_word_piece(const void *settings, heed_work *work, size_t from, size_t to) {
    const word_piece *w = settings;
    const char *s = work->now.text;
    size_t first = work->out->n;
    if (too_long(w, s + from, to - from)) {
        return emit_unknown(w, work, from, to);
    }
    for (size_t at = from; at < to;) {
        int32_t id = -1;
        bool open = at == from || w->has_inside;
        size_t n = open ? longest(w, at == from ? 0 : w->inside, s + at, to - at, &id) : 0;
        if (n == 0) {
            work->out->n = first;
            return emit_unknown(w, work, from, to);
        }
        if (!heed_work_emit(work, id, at, at + n)) {
            return false;
        }
        at += n;
    }
    return true;
}

const heed_model_kind heed_model_word_piece = {"WordPiece", sizeof(word_piece), read_word_piece,
                                               encode_word_piece, free_word_piece};
