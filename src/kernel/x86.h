/* x86.h: what an x86 processor can do and the system lets it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_X86_H
#define HEED_KERNEL_X86_H

#include "kernel/kernel.h"

/* NULL where the set is usable, else what is missing, in words. */
const char *heed_x86_lacks_avx2(void);
const char *heed_x86_lacks_avx512(void);

/* What an AVX-512 processor may have besides: byte products summed in 32 bits, bf16 products summed
 * in float. */
typedef enum { HEED_X86_VNNI, HEED_X86_BF16 } heed_x86_part;
bool heed_x86_has(heed_x86_part part);

#endif
