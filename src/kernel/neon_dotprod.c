/* neon_dotprod.c: NEON with dotprod: products of whole numbers, four of them a lane and
 * instruction.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/isa.h"

#ifdef HEED_ARM
#define HEED_WITH_DOTPROD
#include "kernel/vec_neon.h"

#include "kernel/arm.h"
#include "kernel/simd_ints.h"
#include "kernel/simd_probe_ints.h"

const char *heed_missing_neon_dotprod(void) {
    return heed_arm_has(HEED_ARM_DOTPROD) ? NULL
                                          : "the processor has no dot products of bytes (dotprod)";
}

void heed_kernels_neon_dotprod(heed_kernels *k) {
    k->isa = "neon_dotprod";
    use_ints(k);
    use_probe_ints(k);
}
#endif
