/* rope.h: the angles of rotary positions, for the op that turns by them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_ROPE_H
#define HEED_OP_ROPE_H

#include "graph/op.h"
#include "heed_ops.h"

/* What the angles are a function of; see rope_angles.c. */
typedef struct {
    double base, factor;
    double low, high;      /* LLAMA3: factors of frequency; YARN: where the ramp begins and ends */
    double stretch;        /* cosines and sines are multiplied by it */
    int64_t d;             /* numbers of a head that turn */
    int64_t original;      /* positions that the model was trained with */
    const double *part[2]; /* LONGROPE: what slows each pair, up to `original` and beyond */
    int64_t kind; /* heed_rope_kind, as wide as the rest: nodes are compared byte by byte */
} heed_rope_angles_attr;

/* False where the scaling cannot be: the build has been refused. o->base > 0, d even. */
bool heed_rope_angles_of(heed_build *b, const heed_rope_options *o, int64_t d,
                         heed_rope_angles_attr *a);

/* R x d: d/2 cosines, then d/2 sines of each row's angles; `back` of the angles less than 0. Shared
 * by all who ask for the same. */
heed_value heed_rope_angles(heed_build *b, heed_value positions, const heed_rope_angles_attr *a,
                            bool back);

#endif
