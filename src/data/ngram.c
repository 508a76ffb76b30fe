/* ngram.c: counting runs of symbols in a map.
 * SPDX-License-Identifier: MIT
 */
#include "data/ngram.h"

bool heed_symbols_add(heed_symbols *s, uint32_t symbol, heed_error *err) {
    if (!heed_reserve(s->host, (void **)&s->item, &s->cap, s->n + 1, sizeof *s->item, err))
        return false;
    s->item[s->n++] = symbol;
    return true;
}

void heed_symbols_free(heed_symbols *s) {
    heed_free(s->host, s->item);
    *s = (heed_symbols){.host = s->host};
}

bool heed_ngrams_count(heed_map *counts, const heed_symbols *s, int order, heed_error *err) {
    size_t n = (size_t)order;
    for (size_t i = 0; i + n <= s->n; i++) {
        heed_map_entry *e =
            heed_map_put(counts, (const char *)(s->item + i), n * sizeof *s->item, 0, NULL, err);
        if (!e)
            return false;
        e->value++;
    }
    return true;
}

int heed_ngram_order(const heed_map_entry *entry) {
    return (int)(entry->n / sizeof(uint32_t));
}
