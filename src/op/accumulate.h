/* accumulate.h: where the gradient of an op's input goes.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_ACCUMULATE_H
#define HEED_OP_ACCUMULATE_H

#include "graph/op.h"

/* Hands gradient d on: added to the sum of a weight, else returned through *d_in. */
void heed_pass_gradient(heed_build *b, heed_value in, heed_value d, heed_value *d_in);

/* The sum of gradients of v where it is a weight that wants one; absent otherwise. */
heed_value heed_gradient_or_absent(heed_build *b, heed_value v);

#endif
