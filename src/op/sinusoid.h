/* sinusoid.h: the table of sinusoidal positions, for those who store it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_SINUSOID_H
#define HEED_OP_SINUSOID_H

#include "kernel/kernel.h"

/* Rows `from` up to `to` of a table of d columns, as heed_sinusoid adds them; `table` is its row 0.
 */
void heed_fill_sinusoids(heed_real *table, int64_t d, bool interleaved, int64_t from, int64_t to);

#endif
