/* vocab_map.h: byte strings to ids: what every word is looked up in.
 *
 * A slot holds a text's first eight bytes, so that looking up a short word touches one slot and
 * nothing else; the text itself lies with the caller. Invariant: load at most 1/2; nothing is
 * removed.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_VOCAB_MAP_H
#define HEED_TEXT_VOCAB_MAP_H

#include "base/mem.h"

typedef struct {
    uint64_t head; /* the first bytes, the rest zero */
    const char *s; /* NULL: an empty slot */
    uint32_t n;
    int32_t id;
} heed_vocab_slot;

typedef struct {
    const heed_host *host;
    heed_vocab_slot *slot;
    size_t n, slots;
} heed_vocab_map;

/* The id of a text, -1 where it is absent. */
int32_t heed_vocab_map_find(const heed_vocab_map *map, const char *s, size_t n);
/* Asks the processor for the text's place ahead of time, and gives the text's hash. */
uint64_t heed_vocab_map_prefetch(const heed_vocab_map *map, const char *s, size_t n);
/* heed_vocab_map_find of a text whose hash is known. */
int32_t heed_vocab_map_find_hashed(const heed_vocab_map *map, const char *s, size_t n,
                                   uint64_t hash);
/* Adds a text, which the caller keeps, or returns the id that it has already; -1 when memory
 * fails. */
int32_t heed_vocab_map_put(heed_vocab_map *map, const char *s, size_t n, int32_t id,
                           heed_error *err);
/* Room for n texts in all, so that none has to be moved. */
bool heed_vocab_map_reserve(heed_vocab_map *map, size_t n, heed_error *err);
void heed_vocab_map_free(heed_vocab_map *map);

#endif
