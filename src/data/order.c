/* order.c: the order of an epoch: shuffle, sort by length inside pools, cut, shuffle the batches.
 *
 * Sorting counts (two stable passes: source rows, then target rows), so it needs no comparison and
 * keeps the shuffled order among pairs of the same lengths. Shuffles are Fisher and Yates's, from
 * streams that belong to the epoch, so any epoch can be made without those before it.
 * SPDX-License-Identifier: MIT
 */
#include "data/order.h"

#include <string.h>

#include "base/philox.h"

enum { SOURCE, TARGET };

static void shuffle(int64_t *item, int64_t n, const char *what, uint64_t seed, int64_t epoch) {
    heed_random r = {.seed = seed, .stream = heed_hash(what, strlen(what)) + (uint64_t)epoch};
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)heed_random_below(&r, (uint64_t)i + 1), kept = item[i];
        item[i] = item[j];
        item[j] = kept;
    }
}

/* One stable counting pass over place[from..to) by rows of one side. */
static void sort_by(heed_order *o, int side, int64_t from, int64_t to) {
    int64_t most = side == SOURCE ? o->bounds.source_longest : o->bounds.target_longest, at = from;
    const int64_t *rows = o->rows[side];
    memset(o->bucket, 0, (size_t)(most + 1) * sizeof *o->bucket);
    for (int64_t i = from; i < to; i++)
        o->bucket[rows[o->place[i]]]++;
    for (int64_t r = 0; r <= most; r++) {
        int64_t here = o->bucket[r];
        o->bucket[r] = at;
        at += here;
    }
    for (int64_t i = from; i < to; i++)
        o->spare[o->bucket[rows[o->place[i]]]++] = o->place[i];
    memcpy(o->place + from, o->spare + from, (size_t)(to - from) * sizeof *o->place);
}

static void sort_pools(heed_order *o) {
    int64_t pool = o->opts.pool ? o->opts.pool : o->n;
    for (int64_t from = 0; from < o->n; from += pool) {
        int64_t to = o->n - from < pool ? o->n : from + pool;
        sort_by(o, SOURCE, from, to);
        sort_by(o, TARGET, from, to);
    }
}

/* A batch takes pairs until the next one would go over the budget of either side. */
static void cut(heed_order *o) {
    int64_t rows[2] = {0, 0}, sequences = 0;
    int64_t most = o->opts.sequences ? o->opts.sequences : o->n;
    o->count = 0;
    for (int64_t i = 0; i < o->n; i++) {
        int64_t s = o->rows[SOURCE][o->place[i]], t = o->rows[TARGET][o->place[i]];
        bool fits = i > 0 && sequences < most && s <= o->opts.tokens - rows[SOURCE] &&
                    t <= o->opts.tokens - rows[TARGET];
        if (!fits) {
            o->first[o->count++] = i;
            rows[SOURCE] = rows[TARGET] = sequences = 0;
        }
        rows[SOURCE] += s;
        rows[TARGET] += t;
        sequences++;
    }
    o->first[o->count] = o->n;
}

void heed_order_epoch(heed_order *o, int64_t epoch) {
    if (o->epoch == epoch)
        return;
    bool mixed = !o->opts.in_order;
    for (int64_t i = 0; i < o->n; i++)
        o->place[i] = i;
    if (mixed)
        shuffle(o->place, o->n, "data/pairs", o->opts.seed, epoch);
    sort_pools(o);
    cut(o);
    for (int64_t i = 0; i < o->count; i++)
        o->batch[i] = i;
    if (mixed)
        shuffle(o->batch, o->count, "data/batches", o->opts.seed, epoch);
    o->epoch = epoch;
}
