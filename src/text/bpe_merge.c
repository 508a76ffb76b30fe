/* bpe_merge.c: pairs of pieces merged, lowest rank first, leftmost of equal ranks.
 *
 * Method: a long word is cut where no merge can join (bpe_seam.c), and its runs are merged one by
 * one. A short word or run keeps the rank of every pair beside its symbols and takes the least each
 * time; a long one has a linked list and a heap of pairs, where a pair that has changed since it
 * went in is passed over when it comes out, and takes n log n.
 * Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword
 * units".
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "text/bpe.h"
#include "text/merge_heap.h"

enum { SHORT_WORD = 32 };

static const uint64_t NO_MERGE = UINT64_MAX; /* above every rank and id */
static const uint32_t NONE = UINT32_MAX;

static uint64_t find_merge(const heed_bpe *b, int32_t left, int32_t right) {
    const uint64_t *found =
        heed_number_map_find(&b->merges, heed_key_of_two((uint32_t)left, (uint32_t)right));
    return found ? *found : NO_MERGE;
}

/* ---- Short words --------------------------------------------------------------------------- */

static size_t least(const uint64_t *rank, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        best = rank[i] < rank[best] ? i : best;
    }
    return best;
}

/* rank[i]: of symbols i and i+1. Equal values are equal ranks, so the first is the leftmost. */
static size_t merge_short(const heed_bpe *b, heed_symbol *s, size_t n) {
    uint64_t rank[SHORT_WORD];
    for (size_t i = 0; i + 1 < n; i++) {
        rank[i] = find_merge(b, s[i].id, s[i + 1].id);
    }
    while (n > 1) {
        size_t at = least(rank, n - 1);
        if (rank[at] == NO_MERGE) {
            break;
        }
        s[at] = (heed_symbol){(int32_t)(uint32_t)rank[at], s[at].n + s[at + 1].n};
        n--;
        memmove(s + at + 1, s + at + 2, (n - at - 1) * sizeof *s);
        memmove(rank + at, rank + at + 1, (n - at - 1) * sizeof *rank);
        if (at + 1 < n) {
            rank[at] = find_merge(b, s[at].id, s[at + 1].id);
        }
        if (at > 0) {
            rank[at - 1] = find_merge(b, s[at - 1].id, s[at].id);
        }
    }
    return n;
}

/* ---- Long words ---------------------------------------------------------------------------- */

typedef struct {
    uint32_t before, next; /* NONE at the ends */
} link;

typedef struct {
    const heed_bpe *model;
    heed_symbol *symbol;
    link *link;
    heed_merge_heap heap;
} long_word;

static uint64_t pair_at(const long_word *w, uint32_t at) {
    uint32_t next = w->link[at].next;
    return next == NONE ? NO_MERGE : find_merge(w->model, w->symbol[at].id, w->symbol[next].id);
}

static void push_pair(long_word *w, uint32_t at) {
    uint64_t found = pair_at(w, at);
    if (found != NO_MERGE) {
        heed_merge_push(&w->heap,
                        (heed_merge){(uint32_t)(found >> 32), at, (int32_t)(uint32_t)found});
    }
}

static void join(long_word *w, heed_merge m) {
    uint32_t right = w->link[m.at].next;
    w->symbol[m.at] = (heed_symbol){m.id, w->symbol[m.at].n + w->symbol[right].n};
    w->symbol[right].n = 0;
    w->link[m.at].next = w->link[right].next;
    if (w->link[m.at].next != NONE) {
        w->link[w->link[m.at].next].before = m.at;
    }
    if (w->link[m.at].before != NONE) {
        push_pair(w, w->link[m.at].before);
    }
    push_pair(w, m.at);
}

/* Each merge takes one symbol away and adds at most two pairs: 3n places are enough. */
static size_t merge_long(long_word *w, size_t n) {
    for (uint32_t i = 0; i < n; i++) {
        w->link[i] = (link){i > 0 ? i - 1 : NONE, i + 1 < n ? i + 1 : NONE};
    }
    for (uint32_t i = 0; i + 1 < n; i++) {
        push_pair(w, i);
    }
    while (w->heap.n > 0) {
        heed_merge m = heed_merge_pop(&w->heap);
        uint64_t found = w->symbol[m.at].n == 0 ? NO_MERGE : pair_at(w, m.at);
        if (found != NO_MERGE && (int32_t)(uint32_t)found == m.id) {
            join(w, m);
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        w->symbol[kept] = w->symbol[i];
        kept += w->symbol[i].n > 0;
    }
    return kept;
}

/* ---- Runs ---------------------------------------------------------------------------------- */

static size_t merge_run(const heed_bpe *b, heed_work *work, heed_symbol *symbols, size_t n) {
    if (n <= SHORT_WORD) {
        return merge_short(b, symbols, n);
    }
    long_word w = {.model = b, .symbol = symbols};
    w.link = heed_work_room(work, HEED_ROOM_ORDER, n, sizeof *w.link);
    w.heap.item = heed_work_room(work, HEED_ROOM_HEAP, 3 * n, sizeof *w.heap.item);
    return w.link && w.heap.item ? merge_long(&w, n) : SIZE_MAX;
}

size_t heed_bpe_merge(const heed_bpe *b, heed_work *work, heed_symbol *symbols, size_t n) {
    if (n <= SHORT_WORD) {
        return merge_short(b, symbols, n);
    }
    size_t kept = 0;
    for (size_t from = 0, to; from < n; from = to) {
        to = heed_seams_run(b, symbols, from, n);
        size_t left = merge_run(b, work, symbols + from, to - from);
        if (left == SIZE_MAX) {
            return left;
        }
        memmove(symbols + kept, symbols + from, left * sizeof *symbols);
        kept += left;
    }
    return kept;
}
