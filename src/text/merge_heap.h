/* merge_heap.h: pairs of symbols that may be merged, the lowest rank first, of equal ones the
 * leftmost.
 *
 * A binary heap in memory that the caller sized; what has changed since it went in is for the
 * caller to notice.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_MERGE_HEAP_H
#define HEED_TEXT_MERGE_HEAP_H

#include "heed.h"

typedef struct {
    uint32_t rank, at;
    int32_t id; /* the caller's: what tells that the pair is still the same */
} heed_merge;

typedef struct {
    heed_merge *item;
    size_t n;
} heed_merge_heap;

static inline bool heed_merge_before(heed_merge a, heed_merge b) {
    return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
}

static inline void heed_merge_push(heed_merge_heap *h, heed_merge m) {
    size_t at = h->n++;
    while (at > 0 && heed_merge_before(m, h->item[(at - 1) / 2])) {
        h->item[at] = h->item[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->item[at] = m;
}

static inline heed_merge heed_merge_pop(heed_merge_heap *h) {
    heed_merge top = h->item[0], last = h->item[--h->n];
    size_t at = 0;
    for (size_t child = 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n && heed_merge_before(h->item[child + 1], h->item[child])) {
            child++;
        }
        if (!heed_merge_before(h->item[child], last)) {
            break;
        }
        h->item[at] = h->item[child];
        at = child;
    }
    h->item[at] = last;
    return top;
}

#endif
