/* norm.h: what layernorm and rmsnorm share: their weights and the gradients of these.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_NORM_H
#define HEED_OP_NORM_H

#include "op/accumulate.h"

typedef struct {
    double eps;
} heed_norm_attr;

/* False unless x is a matrix of numbers and eps > 0: the build has been refused. */
bool heed_check_norm(heed_build *b, const char *op, heed_value x, double eps);
heed_value heed_norm_gain(heed_build *b, heed_value x, const char *name);  /* "name.weight", ones */
heed_value heed_norm_shift(heed_build *b, heed_value x, const char *name); /* "name.bias", zeros */

/* Records what adds to the gradients of gain and shift; mean and shift may be absent. */
void heed_norm_params(heed_build *b, heed_value x, heed_value mean, heed_value rstd, heed_value dy,
                      heed_value gain, heed_value shift);

#endif
