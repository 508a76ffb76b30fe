/* train_seeds.c: the substrings of the words that occur twice or more: what unigram begins with.
 *
 * Method: all suffixes of all segments, cut at the longest piece, sorted (radix sort from the last
 * symbol to the first); common prefixes of neighbours; and over those, with a stack, each longest
 * common prefix of a group of suffixes. A substring that is always followed by the same symbol is
 * left out: the longer one stands for it. The counts of the segments weigh in.
 * Source: Abouelhoda, Kurtz and Ohlebusch 2004, "Replacing suffix trees with enhanced suffix
 * arrays", algorithm 4.4; Kudo 2018 for the use.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/train.h"

typedef struct {
    const heed_train *train;
    size_t n;          /* symbols */
    uint32_t *order;   /* suffixes, sorted */
    uint32_t *other;   /* room for sorting */
    uint32_t *left;    /* symbols from here to the end of the segment, at most max_piece */
    uint32_t *segment; /* of each symbol */
    size_t *bucket;
    heed_seed *seed;
    size_t n_seeds, cap_seeds;
} sorter;

typedef struct {
    uint32_t depth; /* length of the prefix that the group has in common */
    size_t first;   /* its first suffix in order */
    int64_t count;
} group;

static bool take_room(sorter *s) {
    const heed_train *t = s->train;
    s->order = heed_alloc(t->host, s->n, sizeof *s->order, t->err);
    s->other = heed_alloc(t->host, s->n, sizeof *s->other, t->err);
    s->left = heed_alloc(t->host, s->n, sizeof *s->left, t->err);
    s->segment = heed_alloc(t->host, s->n, sizeof *s->segment, t->err);
    s->bucket = heed_alloc(t->host, t->n_pieces + 2, sizeof *s->bucket, t->err);
    return s->order && s->other && s->left && s->segment && s->bucket;
}

static void mark_segments(sorter *s) {
    const heed_train *t = s->train;
    uint32_t most = (uint32_t)t->set.max_piece;
    for (size_t i = 0; i < t->n_segments; i++) {
        heed_segment seg = t->segment[i];
        for (size_t k = 0; k < seg.n; k++) {
            uint32_t left = seg.n - k < most ? (uint32_t)(seg.n - k) : most;
            s->left[seg.from + k] = left;
            s->segment[seg.from + k] = (uint32_t)i;
        }
    }
}

/* The symbol `depth` behind a suffix's begin, plus one; 0 behind its end. */
static size_t key(const sorter *s, uint32_t suffix, uint32_t depth) {
    return depth < s->left[suffix] ? (size_t)s->train->symbol[suffix + depth] + 1 : 0;
}

static void sort_by(sorter *s, uint32_t depth) {
    size_t buckets = s->train->n_pieces + 1;
    memset(s->bucket, 0, (buckets + 1) * sizeof *s->bucket);
    for (size_t i = 0; i < s->n; i++) {
        s->bucket[key(s, s->order[i], depth) + 1]++;
    }
    for (size_t b = 0; b < buckets; b++) {
        s->bucket[b + 1] += s->bucket[b];
    }
    for (size_t i = 0; i < s->n; i++) {
        s->other[s->bucket[key(s, s->order[i], depth)]++] = s->order[i];
    }
    uint32_t *sorted = s->other;
    s->other = s->order;
    s->order = sorted;
}

static uint32_t common(const sorter *s, uint32_t a, uint32_t b) {
    uint32_t most = s->left[a] < s->left[b] ? s->left[a] : s->left[b], n = 0;
    while (n < most && s->train->symbol[a + n] == s->train->symbol[b + n]) {
        n++;
    }
    return n;
}

static bool add_seed(sorter *s, size_t at, uint32_t n, int64_t count) {
    const heed_train *t = s->train;
    if (n < 2 || count < 2) {
        return true;
    }
    if (!heed_reserve(t->host, (void **)&s->seed, &s->cap_seeds, s->n_seeds + 1, sizeof *s->seed,
                      t->err)) {
        return false;
    }
    s->seed[s->n_seeds++] = (heed_seed){s->order[at], n, count};
    return true;
}

/* Closes the groups deeper than `depth`; what they counted goes to the group around them. */
static bool close_groups(sorter *s, group *stack, size_t *top, uint32_t depth, group *open) {
    while (*top > 0 && stack[*top - 1].depth > depth) {
        group g = stack[--*top];
        if (!add_seed(s, g.first, g.depth, g.count)) {
            return false;
        }
        open->first = g.first;
        if (*top > 0 && stack[*top - 1].depth >= depth) {
            stack[*top - 1].count += g.count;
        } else {
            open->count += g.count;
        }
    }
    return true;
}

/* Each suffix is a group of its own as deep as it is long, within those it shares a prefix with. */
static bool gather(sorter *s) {
    group stack[258]; /* depths rise by at least one; max_piece is at most 256 */
    size_t top = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t here = s->order[i];
        uint32_t depth = i > 0 ? common(s, s->order[i - 1], here) : 0;
        int64_t count = s->train->segment[s->segment[here]].count;
        group open = {depth, i, 0};
        if (!close_groups(s, stack, &top, depth, &open)) {
            return false;
        }
        if (depth > 0 && (top == 0 || stack[top - 1].depth < depth)) {
            stack[top++] = open;
        }
        if (top > 0 && stack[top - 1].depth == s->left[here]) {
            stack[top - 1].count += count;
        } else {
            stack[top++] = (group){s->left[here], i, count};
        }
    }
    group rest = {0, 0, 0};
    return close_groups(s, stack, &top, 0, &rest);
}

static int by_gain(const void *a, const void *b) {
    const heed_seed *x = a, *y = b;
    int64_t p = x->count * (int64_t)x->n, q = y->count * (int64_t)y->n;
    if (p != q) {
        return p > q ? -1 : 1;
    }
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->n < y->n ? -1 : x->n > y->n);
}

bool heed_train_seeds(heed_train *train, size_t most, heed_seed **seeds, size_t *n) {
    sorter s = {.train = train, .n = train->n_symbols};
    bool ok = take_room(&s);
    if (ok) {
        mark_segments(&s);
        for (size_t i = 0; i < s.n; i++) {
            s.order[i] = (uint32_t)i;
        }
        for (uint32_t depth = (uint32_t)train->set.max_piece; depth-- > 0;) {
            sort_by(&s, depth);
        }
        ok = gather(&s);
    }
    if (ok && s.n_seeds > 1) {
        qsort(s.seed, s.n_seeds, sizeof *s.seed, by_gain);
    }
    heed_free(train->host, s.order);
    heed_free(train->host, s.other);
    heed_free(train->host, s.left);
    heed_free(train->host, s.segment);
    heed_free(train->host, s.bucket);
    if (!ok) {
        heed_free(train->host, s.seed);
        return false;
    }
    *seeds = s.seed;
    *n = s.n_seeds < most ? s.n_seeds : most;
    return true;
}
