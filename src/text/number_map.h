/* number_map.h: 64-bit keys to 64-bit values: pairs of pieces, edges of a trie.
 * Invariant: load at most 2/3; nothing is removed.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_NUMBER_MAP_H
#define HEED_TEXT_NUMBER_MAP_H

#include "base/mem.h"

typedef struct {
    uint64_t key, value; /* the key plus 1; 0: an empty slot, so that UINT64_MAX is no key */
} heed_number_entry;

typedef struct {
    const heed_host *host;
    heed_number_entry *slot;
    size_t slots, n;
} heed_number_map;

static inline uint64_t heed_key_of_two(uint32_t a, uint32_t b) {
    return (uint64_t)a << 32 | b;
}

enum { HEED_NO_KEY = 0 };

/* Where the search for a key begins. The high half of the product is well mixed. */
static inline size_t heed_number_map_first(const heed_number_map *pairs, uint64_t key) {
    uint64_t mixed = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (pairs->slots - 1);
}

/* The key's slot, or the empty one where it belongs. */
static inline size_t heed_number_map_seek(const heed_number_map *pairs, uint64_t key) {
    size_t mask = pairs->slots - 1, at = heed_number_map_first(pairs, key);
    while (pairs->slot[at].key != HEED_NO_KEY && pairs->slot[at].key != key + 1) {
        at = (at + 1) & mask;
    }
    return at;
}

/* NULL where the key is absent. Inline: it is what merging and walking a trie do most. */
static inline const uint64_t *heed_number_map_find(const heed_number_map *pairs, uint64_t key) {
    if (pairs->n == 0) {
        return NULL;
    }
    const heed_number_entry *found = &pairs->slot[heed_number_map_seek(pairs, key)];
    return found->key == key + 1 ? &found->value : NULL;
}

/* The value's place, 0 for a new key; valid until the next put. NULL when memory fails. */
uint64_t *heed_number_map_put(heed_number_map *pairs, uint64_t key, heed_error *err);
/* Asks the processor for the key's place ahead of time; of no other effect. */
void heed_number_map_prefetch(const heed_number_map *pairs, uint64_t key);
/* Room for n keys in all, so that none has to be moved. */
bool heed_number_map_reserve(heed_number_map *pairs, size_t n, heed_error *err);
void heed_number_map_free(heed_number_map *pairs);

#endif
