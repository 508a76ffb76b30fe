/* pack.h: a matrix packed for products, made once for all its readers.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_PACK_H
#define HEED_OP_PACK_H

#include "graph/op.h"

/* How a packed matrix is kept: as numbers, or as whole ones in blocks (form.bits is not 0). */
typedef struct {
    heed_panel_kind kind;
    heed_int_form form;
} heed_pack_way;

/* The way in which m, or its transpose, is packed: for weights by how they are kept and by what is
 * asked of the build; floats for all else. In training: floats, or pairs of bfloat16. For those who
 * pack a piece at a time. */
heed_pack_way heed_pack_way_of(const heed_build *b, heed_value m, bool transposed);

/* The packed form of m itself (rows are the axis that a product sums over), or of its transpose, in
 * that way, which it tells. Only a matrix of fixed size can be packed transposed. See op/gemm.h for
 * the form of numbers; whole ones lie in panels of heed_int_panel_bytes. */
heed_value heed_pack(heed_build *b, heed_value m, bool transposed, heed_pack_way *way);

/* pack_ints.c: heed_pack where the way is whole numbers. */
heed_value heed_pack_ints(heed_build *b, heed_value m, bool transposed, const heed_int_form *form);

/* Rows of x as whole numbers (quantize.c): R x depth bytes, R x blocks numbers twice, R x blocks
 * integers: the parts of heed_int_rows in their order, as outputs 0 to 3. Shared by all who ask for
 * the same. */
enum { HEED_INT_PARTS = 4 };
heed_value heed_quantize_rows(heed_build *b, heed_value x, const heed_int_form *form);
/* Those outputs, as inputs of another op that stand one after another; row `from` is the first. */
heed_int_rows heed_int_rows_at(const heed_mat part[HEED_INT_PARTS], int64_t from);

#endif
