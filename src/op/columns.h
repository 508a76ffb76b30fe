/* columns.h: vectors that stand beside every row, and their gradients: sums down the columns.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_COLUMNS_H
#define HEED_OP_COLUMNS_H

#include "graph/op.h"

/* Hands the sum over the rows of d on to v, 1 x n: added to the weight's sum of gradients, or
 * *d_v. */
void heed_pass_column_sums(heed_build *b, heed_value v, heed_value d, heed_value *d_v);

/* False unless x is a matrix of numbers and v, id 0 or not, a row of numbers as wide: the build has
 * been refused. */
bool heed_check_row(heed_build *b, const char *op, heed_value x, heed_value v);

/* out = body(x, v, out) for each row of x (in[0]) with v (in[1]). */
void heed_each_row_with(const heed_work *w, void (*body)(int64_t n, const heed_real *x,
                                                         const heed_real *v, heed_real *out));

#endif
