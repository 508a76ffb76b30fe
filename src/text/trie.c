/* trie.c: edges in one hash table, so that a node costs what its edges cost.
 * SPDX-License-Identifier: MIT
 */
#include "text/trie.h"

#include "base/error.h"

void heed_trie_init(heed_trie *trie, const heed_host *host) {
    *trie = (heed_trie){.edge = {.host = host}};
}

static uint32_t add_node(heed_trie *trie, heed_error *err) {
    if (trie->n >= UINT32_MAX) {
        heed_fail(err, HEED_LIMIT, "a trie holds at most %zu nodes", trie->n);
        return 0;
    }
    size_t need = trie->n > 0 ? trie->n + 1 : 2; /* the root comes with the first node */
    if (!heed_reserve(trie->edge.host, (void **)&trie->value, &trie->cap, need, sizeof *trie->value,
                      err)) {
        return 0;
    }
    trie->value[0] = trie->n == 0 ? -1 : trie->value[0];
    trie->n = need;
    trie->value[need - 1] = -1;
    return (uint32_t)(need - 1);
}

/* The node behind the edge, made where there is none; 0 when memory fails. */
static uint32_t open_edge(heed_trie *trie, uint32_t node, unsigned char byte, heed_error *err) {
    uint32_t to = heed_trie_step(trie, node, byte);
    if (to || !(to = add_node(trie, err))) {
        return to;
    }
    if (node == 0) {
        return trie->first[byte] = to;
    }
    uint64_t *edge = heed_number_map_put(&trie->edge, (uint64_t)node << 8 | byte, err);
    if (!edge) {
        return 0;
    }
    *edge = to;
    return to;
}

bool heed_trie_add(heed_trie *trie, const char *text, size_t n, int32_t value, heed_error *err) {
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        node = open_edge(trie, node, (unsigned char)text[i], err);
        if (!node) {
            return false;
        }
    }
    if (node) {
        trie->value[node] = value;
    }
    return true;
}

void heed_trie_free(heed_trie *trie) {
    const heed_host *host = trie->edge.host;
    heed_number_map_free(&trie->edge);
    heed_free(host, trie->value);
    heed_trie_init(trie, host);
}
