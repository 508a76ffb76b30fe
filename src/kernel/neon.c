/* neon.c: the kernels for AArch64's NEON: simd_*.h in words of 8 lanes.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/isa.h"

#ifdef HEED_ARM
#include "kernel/vec_neon.h"

#include "kernel/simd_attention.h"
#include "kernel/simd_attention_back.h"
#include "kernel/simd_drop.h"
#include "kernel/simd_elements.h"
#include "kernel/simd_gemm.h"
#include "kernel/simd_ints.h"
#include "kernel/simd_probe.h"
#include "kernel/simd_probe_ints.h"
#include "kernel/simd_rows.h"

const char *heed_missing_neon(void) {
    return NULL;
}

void heed_kernels_neon(heed_kernels *k) {
    k->isa = "neon";
    use_gemm(k);
    use_ints(k);
    use_attention(k);
    use_attention_back(k);
    use_elements(k);
    use_rows(k);
    use_drop(k);
    use_probe(k);
    use_probe_ints(k);
}
#endif
