/* seen.c: pairs that stand in training and in validation.
 *
 * Only the hashes of the smaller part are kept; the larger one passes by.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "base/map.h"
#include "base/philox.h"
#include "train/corpus.h"

/* A hash of both sides as they count for "the same". `key` is room to work in. */
static bool hash_pair(const heed_pair *pair, heed_buf *key, uint64_t *hash, heed_error *err) {
    key->n = 0;
    if (!heed_sentence_key(pair->source, key) || !heed_buf_add(key, "\t", 1) ||
        !heed_sentence_key(pair->target, key)) {
        return heed_fail(err, HEED_NOMEM, "out of memory for the text of a pair");
    }
    *hash = heed_hash(key->data, key->n);
    return true;
}

static bool note_pairs(heed_map *map, const heed_parallel *pairs, heed_buf *key, heed_error *err) {
    for (int64_t i = 0; i < pairs->n; i++) {
        uint64_t hash;
        heed_map_entry *entry = NULL;
        if (hash_pair(&pairs->pair[i], key, &hash, err)) {
            entry = heed_map_put(map, (const char *)&hash, sizeof hash, 0, NULL, err);
        }
        if (!entry) {
            return false;
        }
        entry->value++;
    }
    return true;
}

/* Counts each noted pair once, however often it passes by. */
static bool meet_pairs(heed_map *map, const heed_parallel *pairs, heed_buf *key, int64_t *met,
                       heed_error *err) {
    for (int64_t i = 0; i < pairs->n; i++) {
        uint64_t hash;
        if (!hash_pair(&pairs->pair[i], key, &hash, err)) {
            return false;
        }
        heed_map_entry *entry = heed_map_find(map, (const char *)&hash, sizeof hash);
        if (entry) {
            *met += entry->value;
            entry->value = 0;
        }
    }
    return true;
}

bool heed_count_seen(const heed_host *host, const heed_parallel *text, const heed_parallel *other,
                     int64_t *seen, heed_error *err) {
    heed_map map;
    heed_buf key = {.host = host};
    heed_map_init(&map, host);
    *seen = 0;
    bool ok = note_pairs(&map, other, &key, err) && meet_pairs(&map, text, &key, seen, err);
    heed_buf_free(&key);
    heed_map_free(&map);
    return ok;
}
