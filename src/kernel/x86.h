/* x86.h: what an x86 processor can do and the system lets it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_X86_H
#define HEED_KERNEL_X86_H

/* NULL where the set is usable, else what is missing, in words. */
const char *heed_x86_lacks_avx2(void);
const char *heed_x86_lacks_avx512(void);

#endif
