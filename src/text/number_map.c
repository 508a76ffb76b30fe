/* number_map.c: open addressing, linear probing, a multiplicative hash (Fibonacci hashing; Knuth,
 * The Art of Computer Programming, volume 3, section 6.4).
 * SPDX-License-Identifier: MIT
 */
#include "text/number_map.h"

enum { FIRST_SLOTS = 16 };
static const uint64_t EMPTY = UINT64_MAX;

/* The key's slot, or the empty one where it belongs. The high half of the product is well mixed. */
static size_t seek(const heed_number_map *pairs, uint64_t key) {
    uint64_t mixed = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = pairs->slots - 1, at = (size_t)(mixed >> 32) & mask;
    while (pairs->slot[at].key != EMPTY && pairs->slot[at].key != key) {
        at = (at + 1) & mask;
    }
    return at;
}

const uint64_t *heed_number_map_find(const heed_number_map *pairs, uint64_t key) {
    if (pairs->n == 0) {
        return NULL;
    }
    const heed_number_entry *found = &pairs->slot[seek(pairs, key)];
    return found->key == key ? &found->value : NULL;
}

static bool rehash(heed_number_map *pairs, heed_error *err) {
    heed_number_map old = *pairs;
    size_t slots = old.slots ? old.slots * 2 : FIRST_SLOTS;
    heed_number_entry *slot = heed_alloc(pairs->host, slots, sizeof *slot, err);
    if (!slot) {
        return false;
    }
    for (size_t i = 0; i < slots; i++) {
        slot[i].key = EMPTY;
    }
    pairs->slot = slot;
    pairs->slots = slots;
    for (size_t i = 0; i < old.slots; i++) {
        if (old.slot[i].key != EMPTY) {
            slot[seek(pairs, old.slot[i].key)] = old.slot[i];
        }
    }
    heed_free(pairs->host, old.slot);
    return true;
}

uint64_t *heed_number_map_put(heed_number_map *pairs, uint64_t key, heed_error *err) {
    if (pairs->slots < 2 * (pairs->n + 1) && !rehash(pairs, err)) {
        return NULL;
    }
    heed_number_entry *at = &pairs->slot[seek(pairs, key)];
    if (at->key == EMPTY) {
        *at = (heed_number_entry){key, 0};
        pairs->n++;
    }
    return &at->value;
}

void heed_number_map_free(heed_number_map *pairs) {
    heed_free(pairs->host, pairs->slot);
    *pairs = (heed_number_map){.host = pairs->host};
}
