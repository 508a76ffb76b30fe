/* isa.h: what each instruction set of isa.def provides.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_ISA_H
#define HEED_KERNEL_ISA_H

#include "kernel/kernel.h"

/* The x86 sets are in the build: compiled for it, or emulated for the tests. */
#if !defined(HEED_REF_ONLY) && !defined(HEED_DOUBLE) &&                                            \
    ((defined(__x86_64__) && defined(__GNUC__)) || defined(HEED_SIMDE))
#define HEED_X86
#endif
#if !defined(HEED_REF_ONLY) && !defined(HEED_DOUBLE) && defined(__aarch64__) &&                    \
    defined(__GNUC__) && !defined(__AARCH64EB__)
#define HEED_ARM
#endif

#define HEED_ISA(name)                                                                             \
    void heed_kernels_##name(heed_kernels *k);                                                     \
    const char *heed_missing_##name(void);
#include "kernel/isa.def"
#undef HEED_ISA

#endif
