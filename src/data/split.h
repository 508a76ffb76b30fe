/* split.h: one part of a corpus; inside of parallel.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_SPLIT_H
#define HEED_DATA_SPLIT_H

#include "data/parallel.h"

/* Keeps the pairs of opts->part, in their order, and counts the others in p->report. */
bool heed_split_pairs(heed_parallel *p, const heed_parallel_opts *opts, heed_error *err);

#endif
