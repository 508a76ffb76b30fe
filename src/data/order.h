/* order.h: which pairs make which batch of an epoch; inside of batch.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_ORDER_H
#define HEED_DATA_ORDER_H

#include "data/batch.h"

typedef struct {
    const heed_host *host;
    heed_batch_opts opts; /* with max_source and max_target resolved */
    int64_t n;            /* pairs kept */
    int64_t *pair;        /* n: their index in the heed_pairs */
    int64_t *rows[2];     /* n: rows of source and target, special tokens included */
    int64_t *long_line;   /* lines of over-long pairs */
    heed_batch_report report;
    heed_batch_bounds bounds;

    int64_t epoch;  /* what the rest describes; -1: nothing yet */
    int64_t *place; /* n: kept pairs in the order of this epoch */
    int64_t *spare, *bucket;
    int64_t *first; /* batch b is place[first[b]] up to place[first[b + 1]] */
    int64_t *batch; /* the order in which batches come */
    int64_t count;
} heed_order;

/* Chooses the pairs and takes all memory. */
bool heed_order_init(heed_order *o, const heed_host *host, const heed_pairs *pairs,
                     const heed_batch_opts *opts, heed_error *err);
void heed_order_free(heed_order *o);
/* Puts the epoch's batches together; nothing to do where it is the current one. Takes no memory. */
void heed_order_epoch(heed_order *o, int64_t epoch);

#endif
