/* vocab_map.c: open addressing, linear probing, a hash that takes eight bytes at a time.
 * SPDX-License-Identifier: MIT
 */
#include "text/vocab_map.h"

#include <string.h>

#include "base/error.h"

enum { FIRST_SLOTS = 64, HEAD = 8 };

/* The first bytes of s as one number, as they lie in memory; n of them are there. */
static uint64_t head_of(const char *s, size_t n) {
    uint64_t word = 0;
    if (n >= HEAD) {
        memcpy(&word, s, HEAD);
        return word;
    }
    if (n >= 4) { /* two numbers that overlap, so that no byte is taken alone */
        uint32_t first, last;
        memcpy(&first, s, 4);
        memcpy(&last, s + n - 4, 4);
        return first | (uint64_t)last << 8 * (n - 4);
    }
    for (size_t i = 0; i < n; i++) {
        word |= (uint64_t)(unsigned char)s[i] << 8 * i;
    }
    return word;
}

static uint64_t hash_of(const char *s, size_t n, uint64_t head) {
    const uint64_t mix = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = (n * mix ^ head) * mix;
    for (; n > HEAD; n -= n < 2 * HEAD ? n - HEAD : HEAD) {
        s += n < 2 * HEAD ? n - HEAD : HEAD; /* the last eight overlap those before */
        h = (h ^ h >> 32 ^ head_of(s, HEAD)) * mix;
    }
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

static bool holds(const heed_vocab_slot *slot, uint64_t head, const char *s, size_t n) {
    return slot->head == head && slot->n == n &&
           (n <= HEAD || memcmp(slot->s + HEAD, s + HEAD, n - HEAD) == 0);
}

/* The slot of the text, or the empty one where it belongs. */
static heed_vocab_slot *seek(const heed_vocab_map *map, const char *s, size_t n, uint64_t head,
                             uint64_t hash) {
    size_t mask = map->slots - 1, at = (size_t)hash & mask;
    while (map->slot[at].s && !holds(&map->slot[at], head, s, n)) {
        at = (at + 1) & mask;
    }
    return &map->slot[at];
}

uint64_t heed_vocab_map_prefetch(const heed_vocab_map *map, const char *s, size_t n) {
    uint64_t hash = hash_of(s, n, head_of(s, n));
#ifdef __GNUC__
    if (map->slots > 0) {
        __builtin_prefetch(&map->slot[(size_t)hash & (map->slots - 1)]);
    }
#else
    (void)map;
#endif
    return hash;
}

int32_t heed_vocab_map_find_hashed(const heed_vocab_map *map, const char *s, size_t n,
                                   uint64_t hash) {
    if (map->n == 0) {
        return -1;
    }
    const heed_vocab_slot *slot = seek(map, s, n, head_of(s, n), hash);
    return slot->s ? slot->id : -1;
}

int32_t heed_vocab_map_find(const heed_vocab_map *map, const char *s, size_t n) {
    return heed_vocab_map_find_hashed(map, s, n, hash_of(s, n, head_of(s, n)));
}

static bool rehash(heed_vocab_map *map, size_t slots, heed_error *err) {
    heed_vocab_map old = *map;
    heed_vocab_slot *slot = heed_alloc(map->host, slots, sizeof *slot, err);
    if (!slot) {
        return false;
    }
    map->slot = slot;
    map->slots = slots;
    for (size_t i = 0; i < old.slots; i++) {
        if (old.slot[i].s) {
            uint64_t head = old.slot[i].head;
            uint64_t hash = hash_of(old.slot[i].s, old.slot[i].n, head);
            *seek(map, old.slot[i].s, old.slot[i].n, head, hash) = old.slot[i];
        }
    }
    heed_free(map->host, old.slot);
    return true;
}

bool heed_vocab_map_reserve(heed_vocab_map *map, size_t n, heed_error *err) {
    size_t slots = map->slots ? map->slots : FIRST_SLOTS;
    while (slots / 2 < n) {
        slots *= 2;
    }
    return slots == map->slots || rehash(map, slots, err);
}

int32_t heed_vocab_map_put(heed_vocab_map *map, const char *s, size_t n, int32_t id,
                           heed_error *err) {
    if (n > UINT32_MAX || map->n >= UINT32_MAX / 2) {
        heed_fail(err, HEED_LIMIT, "a vocabulary of %zu texts, one of %zu bytes, is too large",
                  map->n, n);
        return -1;
    }
    if (map->slots / 2 < map->n + 1 && !heed_vocab_map_reserve(map, map->n + 1, err)) {
        return -1;
    }
    uint64_t head = head_of(s, n);
    heed_vocab_slot *slot = seek(map, s, n, head, hash_of(s, n, head));
    if (slot->s) {
        return slot->id;
    }
    *slot = (heed_vocab_slot){head, s, (uint32_t)n, id};
    map->n++;
    return id;
}

void heed_vocab_map_free(heed_vocab_map *map) {
    heed_free(map->host, map->slot);
    *map = (heed_vocab_map){.host = map->host};
}
