/* map.c: a table of indices into one array of entries.
 *
 * Method: linear probing over a power of two of slots; a slot holds index+1. Nothing is ever
 * removed, so there are no tombstones and a probe ends at the first empty slot.
 * Invariant: slots >= 2*count, so that slot exists; a failed put leaves the map as it was.
 * SPDX-License-Identifier: MIT
 */
#include "base/map.h"

#include <string.h>

#include "base/error.h"
#include "base/philox.h"

enum { FIRST_SLOTS = 16 };

void heed_map_init(heed_map *map, const heed_host *host) {
    *map = (heed_map){.host = host, .keys = {.host = host}};
}

/* The slot that holds the key, or the empty one where it belongs. */
static size_t seek(const heed_map *map, const char *key, size_t n) {
    size_t mask = map->slots - 1;
    size_t at = (size_t)heed_hash(key, n) & mask;
    while (map->slot[at] != 0) {
        const heed_map_entry *e = &map->entry[map->slot[at] - 1];
        if (e->n == n && (n == 0 || memcmp(e->key, key, n) == 0)) {
            break;
        }
        at = (at + 1) & mask;
    }
    return at;
}

heed_map_entry *heed_map_find(const heed_map *map, const char *key, size_t n) {
    if (map->count == 0) {
        return NULL;
    }
    uint32_t index = map->slot[seek(map, key, n)];
    return index ? &map->entry[index - 1] : NULL;
}

static bool rehash(heed_map *map, heed_error *err) {
    size_t slots = map->slots ? map->slots * 2 : FIRST_SLOTS;
    uint32_t *slot = heed_alloc(map->host, slots, sizeof *slot, err);
    if (!slot) {
        return false;
    }
    heed_free(map->host, map->slot);
    map->slot = slot;
    map->slots = slots;
    for (size_t i = 0; i < map->count; i++) {
        slot[seek(map, map->entry[i].key, map->entry[i].n)] = (uint32_t)(i + 1);
    }
    return true;
}

heed_map_entry *heed_map_put(heed_map *map, const char *key, size_t n, int64_t value, bool *added,
                             heed_error *err) {
    heed_map_entry *old = heed_map_find(map, key, n);
    if (added) {
        *added = !old;
    }
    if (old) {
        return old;
    }
    if (map->count >= UINT32_MAX - 1) {
        heed_fail(err, HEED_LIMIT, "a map holds at most %zu keys", map->count);
        return NULL;
    }
    if (map->slots < 2 * (map->count + 1) && !rehash(map, err)) {
        return NULL;
    }
    if (!heed_reserve(map->host, (void **)&map->entry, &map->cap, map->count + 1,
                      sizeof *map->entry, err)) {
        return NULL;
    }
    const char *copy = heed_region_text(&map->keys, key, n, err);
    if (!copy) {
        return NULL;
    }
    heed_map_entry *e = &map->entry[map->count++];
    *e = (heed_map_entry){.key = copy, .n = n, .value = value};
    map->slot[seek(map, key, n)] = (uint32_t)map->count; /* the only empty slot the key can reach */
    return e;
}

void heed_map_free(heed_map *map) {
    heed_free(map->host, map->entry);
    heed_free(map->host, map->slot);
    heed_region_free(&map->keys);
    heed_map_init(map, map->host);
}
