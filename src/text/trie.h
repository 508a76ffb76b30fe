/* trie.h: texts to numbers, walked byte by byte: every piece that begins at a place in one pass.
 * Invariant: node 0 is the root; an edge leads to a node of a higher number.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_TRIE_H
#define HEED_TEXT_TRIE_H

#include "text/number_map.h"

typedef struct {
    heed_number_map edge; /* node and byte to node; from the root see `first` */
    uint32_t first[256];  /* 0: none */
    int32_t *value;       /* of each node; -1: no text ends here */
    size_t n, cap;
} heed_trie;

void heed_trie_init(heed_trie *trie, const heed_host *host);
/* Sets the text's value (>= 0); an empty text is not added. */
bool heed_trie_add(heed_trie *trie, const char *text, size_t n, int32_t value, heed_error *err);
/* The node behind an edge; 0 where there is none. */
static inline uint32_t heed_trie_step(const heed_trie *trie, uint32_t node, unsigned char byte) {
    if (node == 0) {
        return trie->first[byte];
    }
    const uint64_t *to = heed_number_map_find(&trie->edge, (uint64_t)node << 8 | byte);
    return to ? (uint32_t)*to : 0;
}
void heed_trie_free(heed_trie *trie);

#endif
