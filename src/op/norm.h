/* norm.h: what layernorm and rmsnorm share: their weights and the gradients of these.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_NORM_H
#define HEED_OP_NORM_H

#include "heed_ops.h"
#include "op/accumulate.h"

typedef struct {
    double eps;
} heed_norm_attr;

/* The weights of one norm. */
typedef struct {
    int64_t heads;     /* parts of a row that are normalised each for itself */
    heed_value gain;   /* what the normalised row is multiplied by */
    heed_value weight; /* gain, or 1 + weight = gain */
    heed_value shift;  /* or absent */
} heed_norm_weights;

/* Weights "name.weight" and "name.bias" as wide as a head; false where the options do not fit: the
 * build has been refused. */
bool heed_norm_weights_of(heed_build *b, const char *op, heed_value x, const char *name,
                          const heed_norm_options *o, heed_norm_weights *w);

/* Records what adds to the gradients of weight and shift; mean and shift may be absent. */
void heed_norm_params(heed_build *b, heed_value x, heed_value mean, heed_value rstd, heed_value dy,
                      heed_value weight, heed_value shift);

#endif
