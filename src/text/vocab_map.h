/* vocab_map.h: byte strings to ids: what every word is looked up in.
 *
 * A slot holds half of the hash beside the number of an entry, so a look-up reads the text of one
 * entry only, which lies with the caller. Invariant: load at most 1/2; nothing is removed.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_VOCAB_MAP_H
#define HEED_TEXT_VOCAB_MAP_H

#include "base/mem.h"

typedef struct {
    const char *s;
    uint32_t n;
    int32_t id;
} heed_vocab_entry;

typedef struct {
    uint32_t hash;
    uint32_t entry; /* plus 1; 0: an empty slot */
} heed_vocab_slot;

typedef struct {
    const heed_host *host;
    heed_vocab_entry *entry;
    heed_vocab_slot *slot;
    size_t n, cap, slots;
} heed_vocab_map;

/* The id of a text, -1 where it is absent. */
int32_t heed_vocab_map_find(const heed_vocab_map *map, const char *s, size_t n);
/* Adds a text, which the caller keeps, or returns the id that it has already; -1 when memory
 * fails. */
int32_t heed_vocab_map_put(heed_vocab_map *map, const char *s, size_t n, int32_t id,
                           heed_error *err);
/* Room for n entries in all, so that none has to be moved. */
bool heed_vocab_map_reserve(heed_vocab_map *map, size_t n, heed_error *err);
void heed_vocab_map_free(heed_vocab_map *map);

#endif
