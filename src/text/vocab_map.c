/* vocab_map.c: open addressing, linear probing, a hash that takes eight bytes at a time.
 * SPDX-License-Identifier: MIT
 */
#include "text/vocab_map.h"

#include <string.h>

#include "base/error.h"

enum { FIRST_SLOTS = 64 };

/* Bytes 0 to 7 at s as one number; n of them are there. */
static uint64_t load(const char *s, size_t n) {
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++) {
        word = word << 8 | (unsigned char)s[i];
    }
    return word;
}

static uint64_t hash_of(const char *s, size_t n) {
    const uint64_t mix = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = n * mix;
    for (; n >= 8; s += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, s, 8);
        h = (h ^ word) * mix;
        h ^= h >> 32;
    }
    h = (h ^ load(s, n)) * mix;
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

/* The slot of the text, or the empty one where it belongs. */
static heed_vocab_slot *seek(const heed_vocab_map *map, uint64_t hash, const char *s, size_t n) {
    size_t mask = map->slots - 1, at = (size_t)hash & mask;
    for (;; at = (at + 1) & mask) {
        heed_vocab_slot *slot = &map->slot[at];
        if (!slot->entry) {
            return slot;
        }
        const heed_vocab_entry *e = &map->entry[slot->entry - 1];
        if (slot->hash == (uint32_t)(hash >> 32) && e->n == n && memcmp(e->s, s, n) == 0) {
            return slot;
        }
    }
}

int32_t heed_vocab_map_find(const heed_vocab_map *map, const char *s, size_t n) {
    if (map->n == 0) {
        return -1;
    }
    uint32_t entry = seek(map, hash_of(s, n), s, n)->entry;
    return entry ? map->entry[entry - 1].id : -1;
}

static bool rehash(heed_vocab_map *map, size_t slots, heed_error *err) {
    heed_vocab_slot *slot = heed_alloc(map->host, slots, sizeof *slot, err);
    if (!slot) {
        return false;
    }
    heed_free(map->host, map->slot);
    map->slot = slot;
    map->slots = slots;
    for (size_t i = 0; i < map->n; i++) {
        const heed_vocab_entry *e = &map->entry[i];
        uint64_t hash = hash_of(e->s, e->n);
        *seek(map, hash, e->s, e->n) = (heed_vocab_slot){(uint32_t)(hash >> 32), (uint32_t)(i + 1)};
    }
    return true;
}

bool heed_vocab_map_reserve(heed_vocab_map *map, size_t n, heed_error *err) {
    size_t slots = map->slots ? map->slots : FIRST_SLOTS;
    while (slots < 2 * n) {
        slots *= 2;
    }
    return heed_reserve(map->host, (void **)&map->entry, &map->cap, n, sizeof *map->entry, err) &&
           (slots == map->slots || rehash(map, slots, err));
}

int32_t heed_vocab_map_put(heed_vocab_map *map, const char *s, size_t n, int32_t id,
                           heed_error *err) {
    if (n > UINT32_MAX || map->n >= UINT32_MAX / 2) {
        heed_fail(err, HEED_LIMIT, "a vocabulary of %zu texts, one of %zu bytes, is too large",
                  map->n, n);
        return -1;
    }
    if (2 * (map->n + 1) > map->slots && !heed_vocab_map_reserve(map, map->n + 1, err)) {
        return -1;
    }
    if (!heed_reserve(map->host, (void **)&map->entry, &map->cap, map->n + 1, sizeof *map->entry,
                      err)) {
        return -1;
    }
    uint64_t hash = hash_of(s, n);
    heed_vocab_slot *slot = seek(map, hash, s, n);
    if (slot->entry) {
        return map->entry[slot->entry - 1].id;
    }
    map->entry[map->n++] = (heed_vocab_entry){s, (uint32_t)n, id};
    *slot = (heed_vocab_slot){(uint32_t)(hash >> 32), (uint32_t)map->n};
    return id;
}

void heed_vocab_map_free(heed_vocab_map *map) {
    heed_free(map->host, map->entry);
    heed_free(map->host, map->slot);
    *map = (heed_vocab_map){.host = map->host};
}
