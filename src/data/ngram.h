/* ngram.h: counting runs of symbols (words or characters as numbers); inside of bleu.h and chrf.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_NGRAM_H
#define HEED_DATA_NGRAM_H

#include "base/map.h"

/* Starts as {.host = h}. */
typedef struct {
    const heed_host *host;
    uint32_t *item;
    size_t n, cap;
} heed_symbols;

bool heed_symbols_add(heed_symbols *s, uint32_t symbol, heed_error *err);
void heed_symbols_free(heed_symbols *s);

/* Adds 1 to the count of every run of `order` symbols. The key of a run is its numbers' bytes, so
 * runs of different order never meet in one map. */
bool heed_ngrams_count(heed_map *counts, const heed_symbols *s, int order, heed_error *err);
int heed_ngram_order(const heed_map_entry *entry);

#endif
