/* ints.h: how whole numbers lie in a panel: shared by the sets, with their own number of lanes.
 *
 * A panel has two vectors of `lanes` columns. Four rows of B are one step: four bytes of column 0,
 * four of column 1 and so on, first vector, second vector. With 4 bits two steps share their bytes,
 * the first in the low halves. Behind a block's steps stand its scales, then its leasts.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_INTS_H
#define HEED_KERNEL_INTS_H

#include "kernel/kernel.h"

#include <string.h>

enum { HEED_INT_ROWS = 4 }; /* of B in a step */

/* Numbers of a block that a panel holds together: all of them where block is 0. */
static inline int64_t heed_int_block_of(const heed_int_form *f, int64_t k) {
    return f->block ? f->block : heed_int_depth(k);
}

/* Rows before `done` have their numbers already, not their scales. */
void heed_pack_int_panel(const heed_int_form *f, const heed_int_columns *b, int64_t lanes,
                         int64_t done, uint8_t *panel);

#endif
