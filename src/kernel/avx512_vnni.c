/* avx512_vnni.c: AVX-512 with VNNI: products of whole numbers, four of them a lane and instruction.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/isa.h"

#ifdef HEED_X86
#define HEED_WITH_VNNI
#include "kernel/vec_avx512.h"

#include "kernel/simd_ints.h"
#include "kernel/simd_probe_ints.h"
#include "kernel/x86.h"

const char *heed_missing_avx512_vnni(void) {
#ifdef HEED_SIMDE
    return NULL;
#else
    return heed_x86_has(HEED_X86_VNNI) ? NULL : "the processor has no AVX-512 VNNI";
#endif
}

void heed_kernels_avx512_vnni(heed_kernels *k) {
    k->isa = "avx512_vnni";
    use_ints(k);
    use_probe_ints(k);
}
#endif
