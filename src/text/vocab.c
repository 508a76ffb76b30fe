/* vocab.c: texts to ids and back.
 *
 * Invariant: an id has one text and a text has one id; ids of tokens lie in [0, n_pieces), with
 * gaps where the file has gaps.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "text/part.h"

bool heed_vocab_add(heed_tokenizer *t, const char *text, size_t n, int64_t id, bool model,
                    heed_error *err) {
    if (id < 0 || id > HEED_MAX_ID) {
        return heed_fail(err, HEED_FILE, "token '%s' has id %" PRId64 ", wanted 0 to %d", text, id,
                         HEED_MAX_ID);
    }
    size_t at = (size_t)id;
    if (at < t->n_pieces && t->piece[at].text) {
        return heed_fail(err, HEED_FILE, "tokens '%s' and '%s' have the same id %" PRId64,
                         t->piece[at].text, text, id);
    }
    bool added = false;
    heed_map_entry *entry = heed_map_put(&t->ids, text, n, id, &added, err);
    if (!entry ||
        !heed_reserve(t->host, (void **)&t->piece, &t->cap_pieces, at + 1, sizeof *t->piece, err)) {
        return false;
    }
    if (!added) {
        return heed_fail(err, HEED_FILE, "token '%s' has two ids, %" PRId64 " and %" PRId64, text,
                         entry->value, id);
    }
    t->piece[at] = (heed_piece){.text = entry->key, .n = n, .model = model};
    t->n_pieces = at + 1 > t->n_pieces ? at + 1 : t->n_pieces;
    t->model_pieces += model;
    return true;
}

bool heed_vocab_read(heed_tokenizer *t, const json_t *json, heed_error *err) {
    json_t *vocab = (json_t *)(uintptr_t)heed_json_object(json, "vocab", err);
    if (!vocab) {
        return false;
    }
    for (void *at = json_object_iter(vocab); at; at = json_object_iter_next(vocab, at)) {
        const char *text = json_object_iter_key(at);
        const json_t *id = json_object_iter_value(at);
        if (!json_is_integer(id)) {
            return heed_fail(err, HEED_FILE, "vocab: id of token '%s' is %s, wanted an integer",
                             text, heed_json_kind(id));
        }
        if (!heed_vocab_add(t, text, json_object_iter_key_len(at), json_integer_value(id), true,
                            err)) {
            heed_error_at(err, "vocab");
            return false;
        }
    }
    return true;
}

int32_t heed_vocab_find(const heed_tokenizer *t, const char *text, size_t n) {
    const heed_map_entry *entry = heed_map_find(&t->ids, text, n);
    return entry && t->piece[entry->value].model ? (int32_t)entry->value : -1;
}

bool heed_vocab_has(const heed_tokenizer *t, int64_t id) {
    return id >= 0 && (size_t)id < t->n_pieces && t->piece[id].text;
}

void heed_vocab_bytes(const heed_tokenizer *t, int32_t ids[256]) {
    for (unsigned b = 0; b < 256; b++) {
        char name[8];
        int n = snprintf(name, sizeof name, "<0x%02X>", b);
        ids[b] = heed_vocab_find(t, name, (size_t)n);
    }
}
