/* pairs.h: pairs of token id rows, ragged: what batches are cut from.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_PAIRS_H
#define HEED_DATA_PAIRS_H

#include "base/mem.h"

/* Rows of ids one behind the other; sequence i is id[start[i]] up to id[start[i + 1]]. */
typedef struct {
    int32_t *id;
    int64_t *start; /* n + 1 of them */
    size_t id_cap, start_cap;
} heed_ragged;

/* Starts as {.host = h}. Ids are the sentences' own: begin and end tokens are added when a batch
 * is made. */
typedef struct {
    const heed_host *host;
    int64_t n;
    heed_ragged source, target;
    int64_t *line; /* number of pair i in its file */
    size_t line_cap;
} heed_pairs;

/* Appends one pair. After a failure (memory) the pairs are as they were. */
bool heed_pairs_add(heed_pairs *pairs, const int32_t *source, int64_t source_n,
                    const int32_t *target, int64_t target_n, int64_t line, heed_error *err);
void heed_pairs_free(heed_pairs *pairs);

#endif
