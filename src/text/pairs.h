/* pairs.h: 64-bit keys to 64-bit values: pairs of pieces, edges of a trie.
 * Invariant: load at most 1/2; nothing is removed.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_PAIRS_H
#define HEED_TEXT_PAIRS_H

#include "base/mem.h"

typedef struct {
    uint64_t key, value;
} heed_pair; /* key UINT64_MAX: an empty slot, so that key is not allowed */

typedef struct {
    const heed_host *host;
    heed_pair *slot;
    size_t slots, n;
} heed_pairs;

static inline uint64_t heed_pair_key(uint32_t a, uint32_t b) {
    return (uint64_t)a << 32 | b;
}

/* NULL where the key is absent. */
const uint64_t *heed_pairs_find(const heed_pairs *pairs, uint64_t key);
/* The value's place, 0 for a new key; valid until the next put. NULL when memory fails. */
uint64_t *heed_pairs_put(heed_pairs *pairs, uint64_t key, heed_error *err);
void heed_pairs_free(heed_pairs *pairs);

#endif
