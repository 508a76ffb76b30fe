/* neon_i8mm.c: NEON with i8mm: as neon_dotprod.c, by products of unsigned with signed bytes.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/isa.h"

#ifdef HEED_ARM
#define HEED_WITH_I8MM
#include "kernel/vec_neon.h"

#include "kernel/arm.h"
#include "kernel/simd_ints.h"
#include "kernel/simd_probe_ints.h"

const char *heed_missing_neon_i8mm(void) {
    return heed_arm_has(HEED_ARM_I8MM)
               ? NULL
               : "the processor has no dot products of unsigned with signed bytes (i8mm)";
}

void heed_kernels_neon_i8mm(heed_kernels *k) {
    k->isa = "neon_i8mm";
    use_ints(k);
    use_probe_ints(k);
}
#endif
