/* pack.h: a matrix packed for products, made once for all its readers.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_PACK_H
#define HEED_OP_PACK_H

#include "graph/op.h"

/* The packed form of m itself (rows are the axis that a product sums over), or of its transpose.
 * Only a matrix of fixed size can be packed transposed. See op/gemm.h for the form. */
heed_value heed_pack(heed_build *b, heed_value m, bool transposed);

#endif
