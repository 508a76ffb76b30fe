/* avx512_bf16.c: AVX-512 with BF16: products of pairs of bfloat16, two multiply-adds a lane and
 * instruction.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/isa.h"

#ifdef HEED_X86
#include "kernel/simd_pairs.h"
#include "kernel/x86.h"

const char *heed_missing_avx512_bf16(void) {
#ifdef HEED_SIMDE
    return NULL;
#else
    return heed_x86_has(HEED_X86_BF16) ? NULL : "the processor has no AVX-512 BF16";
#endif
}

void heed_kernels_avx512_bf16(heed_kernels *k) {
    k->isa = "avx512_bf16";
    use_pairs(k);
}
#endif
