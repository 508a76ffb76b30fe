/* number_map.c: open addressing, linear probing, a multiplicative hash (Fibonacci hashing; Knuth,
 * The Art of Computer Programming, volume 3, section 6.4).
 * SPDX-License-Identifier: MIT
 */
#include "text/number_map.h"

enum { FIRST_SLOTS = 16 };

void heed_number_map_prefetch(const heed_number_map *pairs, uint64_t key) {
#ifdef __GNUC__
    if (pairs->slots > 0) {
        __builtin_prefetch(&pairs->slot[heed_number_map_first(pairs, key)], 1);
    }
#else
    (void)pairs, (void)key;
#endif
}

static bool rehash(heed_number_map *pairs, size_t slots, heed_error *err) {
    heed_number_map old = *pairs;
    heed_number_entry *slot = heed_alloc(pairs->host, slots, sizeof *slot, err);
    if (!slot) {
        return false;
    }
    pairs->slot = slot;
    pairs->slots = slots;
    for (size_t i = 0; i < old.slots; i++) {
        if (old.slot[i].key != HEED_NO_KEY) {
            slot[heed_number_map_seek(pairs, old.slot[i].key - 1)] = old.slot[i];
        }
    }
    heed_free(pairs->host, old.slot);
    return true;
}

bool heed_number_map_reserve(heed_number_map *pairs, size_t n, heed_error *err) {
    size_t slots = pairs->slots ? pairs->slots : FIRST_SLOTS;
    while (slots / 3 * 2 < n) {
        slots *= 2;
    }
    return slots == pairs->slots || rehash(pairs, slots, err);
}

uint64_t *heed_number_map_put(heed_number_map *pairs, uint64_t key, heed_error *err) {
    if (pairs->slots / 3 * 2 < pairs->n + 1 && !heed_number_map_reserve(pairs, pairs->n + 1, err)) {
        return NULL;
    }
    heed_number_entry *at = &pairs->slot[heed_number_map_seek(pairs, key)];
    if (at->key == HEED_NO_KEY) {
        *at = (heed_number_entry){key + 1, 0};
        pairs->n++;
    }
    return &at->value;
}

void heed_number_map_free(heed_number_map *pairs) {
    heed_free(pairs->host, pairs->slot);
    *pairs = (heed_number_map){.host = pairs->host};
}
