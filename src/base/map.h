/* map.h: byte strings to numbers; open addressing, linear probing, keys copied into the map.
 * Invariant: load at most 1/2; iteration order is insertion order (entries lie in one array).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_MAP_H
#define HEED_BASE_MAP_H

#include "base/mem.h"

typedef struct {
    const char *key; /* NUL-terminated copy, owned by the map; may contain NUL inside, so use n */
    size_t n;
    int64_t value;
} heed_map_entry;

typedef struct {
    const heed_host *host;
    heed_map_entry *entry; /* in order of insertion */
    size_t count, cap;
    uint32_t *slot; /* index+1 into entry, 0 = empty */
    size_t slots;   /* a power of two */
    heed_region keys;
} heed_map;

void heed_map_init(heed_map *map, const heed_host *host);
/* NULL where the key is absent; valid until the next put. */
heed_map_entry *heed_map_find(const heed_map *map, const char *key, size_t n);
/* Adds the key with `value`, or returns the entry that is there already (value unchanged). *added
 * tells which (may be NULL). NULL only when memory fails. */
heed_map_entry *heed_map_put(heed_map *map, const char *key, size_t n, int64_t value, bool *added,
                             heed_error *err);
void heed_map_free(heed_map *map);

#endif
