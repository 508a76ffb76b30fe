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

/* NULL where the key is absent. */
const uint64_t *heed_number_map_find(const heed_number_map *pairs, uint64_t key);
/* The value's place, 0 for a new key; valid until the next put. NULL when memory fails. */
uint64_t *heed_number_map_put(heed_number_map *pairs, uint64_t key, heed_error *err);
/* Asks the processor for the key's place ahead of time; of no other effect. */
void heed_number_map_prefetch(const heed_number_map *pairs, uint64_t key);
/* Room for n keys in all, so that none has to be moved. */
bool heed_number_map_reserve(heed_number_map *pairs, size_t n, heed_error *err);
void heed_number_map_free(heed_number_map *pairs);

#endif
