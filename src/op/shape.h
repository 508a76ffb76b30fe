/* shape.h: shape rules that several ops share. False: the build has been refused, or v had failed
 * before.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_SHAPE_H
#define HEED_OP_SHAPE_H

#include "graph/op.h"

/* v is a matrix of numbers. */
bool heed_check_numbers(heed_build *b, const char *op, heed_value v);
/* So are both, with the same rows and columns. */
bool heed_check_alike(heed_build *b, const char *op, heed_value a, heed_value v);

#endif
