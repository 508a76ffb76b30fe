/* isa.h: what each instruction set of isa.def provides.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_ISA_H
#define HEED_KERNEL_ISA_H

#include "kernel/kernel.h"

#define HEED_ISA(name)                                                                             \
    void heed_kernels_##name(heed_kernels *k);                                                     \
    const char *heed_missing_##name(void);
#include "kernel/isa.def"
#undef HEED_ISA

#endif
