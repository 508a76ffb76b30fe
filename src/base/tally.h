/* tally.h: a host in front of the caller's that knows how many bytes are out.
 *
 * Each block has its size in the 64 bytes in front of it, so that alignment stays; a block counts
 * with them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_TALLY_H
#define HEED_BASE_TALLY_H

#include <stdatomic.h>

#include "heed.h"

/* Give &t.host to what is to be counted; it must stay where it is while blocks are out. */
typedef struct {
    heed_host host;
    const heed_host *behind;  /* the caller's; NULL: the C library */
    atomic_size_t live, most; /* bytes that are out, and the most that ever were */
} heed_tally;

void heed_tally_init(heed_tally *t, const heed_host *behind);

#endif
