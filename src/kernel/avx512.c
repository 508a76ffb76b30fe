/* avx512.c: the kernels for AVX-512: simd_*.h in words of 16 lanes.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/isa.h"

#ifdef HEED_X86
#include "kernel/vec_avx512.h"

#include "kernel/simd_attention.h"
#include "kernel/simd_attention_back.h"
#include "kernel/simd_drop.h"
#include "kernel/simd_elements.h"
#include "kernel/simd_gemm.h"
#include "kernel/simd_probe.h"
#include "kernel/simd_rows.h"
#include "kernel/x86.h"

const char *heed_missing_avx512(void) {
#ifdef HEED_SIMDE
    return NULL;
#else
    return heed_x86_lacks_avx512();
#endif
}

void heed_kernels_avx512(heed_kernels *k) {
    k->isa = "avx512";
    use_gemm(k);
    use_attention(k);
    use_attention_back(k);
    use_elements(k);
    use_rows(k);
    use_drop(k);
    use_probe(k);
}
#endif
