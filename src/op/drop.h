/* drop.h: which elements a dropout drops.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_DROP_H
#define HEED_OP_DROP_H

#include "graph/op.h"

/* The mask of this run and micro-step for the stream that the recording fixed. */
heed_drop heed_drop_of(const heed_work *w, uint64_t stream, double p);
/* False unless 0 <= p < 1: the build has been refused. */
bool heed_check_share(heed_build *b, const char *what, double p);

#endif
