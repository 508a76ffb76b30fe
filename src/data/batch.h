/* batch.h: pairs of id rows become batches of ragged rows, in an order that seed and epoch decide.
 *
 * Each epoch: the pairs are shuffled, cut into pools, sorted by length inside each pool (ties stay
 * shuffled), cut into batches under a budget of rows, and the batches are shuffled. The batch at
 * (epoch, index) is a function of pairs, options, epoch and index alone, so saving that place and
 * seeking to it resumes exactly. A thread makes the next batch while the caller uses this one; all
 * memory is taken by heed_batches_new.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_BATCH_H
#define HEED_DATA_BATCH_H

#include "data/pairs.h"

typedef enum { HEED_LONG_DROP, HEED_LONG_CUT } heed_on_long;

/* -1 as a token id means: none. */
typedef struct {
    uint64_t seed;
    /* No shuffling at all: sorted by length only, every epoch the same (validation). */
    bool in_order;
    int64_t tokens; /* rows a batch may have on either side, special tokens included; at least 1 */
    int64_t sequences;              /* pairs a batch may have; 0: any number */
    int64_t pool;                   /* pairs sorted together; 0: all */
    int64_t max_source, max_target; /* longest row, special tokens included; 0: `tokens` */
    heed_on_long on_long;
    int32_t source_begin, source_end; /* added round the source ids */
    int32_t target_begin; /* first row of the decoder's input: the start token; required */
    int32_t target_end;   /* last label */
} heed_batch_opts;

/* Valid until the next call on its heed_batches. With target ids t: target_id = begin t, label = t
 * end; without an end token the last of t is a label only. Rows of sequence i: source_start[i] up
 * to source_start[i + 1]. */
typedef struct {
    int64_t n;
    const int64_t *source_start, *target_start; /* n + 1 of each; the last is the rows of all */
    const int32_t *source_id, *target_id, *label;
    const int64_t *line;         /* n: where each pair came from */
    int64_t epoch, index, count; /* this is batch `index` of `count` in `epoch`, all from 0 */
} heed_batch;

/* What was too long. Lines are the pairs' numbers, in order. */
typedef struct {
    int64_t kept, dropped, cut;
    int64_t empty;            /* without a row on one side, special tokens included: left out */
    const int64_t *long_line; /* dropped + cut of them; lives as long as the heed_batches */
} heed_batch_report;

/* Upper bounds over all epochs: what a plan must have room for. pairs: query-key pairs of source
 * with itself, target with itself, target with source. */
typedef struct {
    int64_t sequences, source_rows, target_rows, source_longest, target_longest;
    int64_t source_pairs, target_pairs, cross_pairs;
} heed_batch_bounds;

typedef struct heed_batches heed_batches;

/* `pairs` must outlive it and stay unchanged. HEED_VALUE for options out of range, or when no
 * pair is left. */
heed_batches *heed_batches_new(const heed_host *host, const heed_pairs *pairs,
                               const heed_batch_opts *opts, heed_error *err);
void heed_batches_free(heed_batches *b); /* NULL allowed */

/* The next batch, over the end of an epoch into the next. Cannot fail. */
const heed_batch *heed_batches_next(heed_batches *b);
/* The next call gives batch `index` of `epoch`; index may equal the epoch's count: then the next
 * epoch's first. */
bool heed_batches_seek(heed_batches *b, int64_t epoch, int64_t index, heed_error *err);
/* Where the next batch will come from; what a checkpoint saves. */
void heed_batches_place(const heed_batches *b, int64_t *epoch, int64_t *index);

heed_batch_report heed_batches_report(const heed_batches *b);
heed_batch_bounds heed_batches_bounds(const heed_batches *b);

#endif
