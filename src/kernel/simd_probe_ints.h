/* simd_probe_ints.h: how many products of bytes a core can do, in the words of simd_ints.h.
 *
 * Method as in simd_probe.h. Each chain's neighbour is its weights, so that no compiler takes a
 * product out of the loop or computes it once for two.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_PROBE_INTS_H
#define HEED_KERNEL_SIMD_PROBE_INTS_H

#include "kernel/vec.h"

enum { INT_CHAINS = 12 };

KERNEL double probe_ints(int64_t rounds) {
    ints sum[INT_CHAINS], four = i_set(0x01020304);
    UNROLL
    for (int i = 0; i < INT_CHAINS; i++) {
        sum[i] = i_set((uint32_t)i);
    }
    for (int64_t r = 0; r < rounds; r++) {
        UNROLL
        for (int i = 0; i < INT_CHAINS; i++) {
            sum[i] = i_dot(sum[i], sum[(i + 1) % INT_CHAINS], four);
        }
    }
    UNROLL
    for (int i = 1; i < INT_CHAINS; i++) {
        sum[0] = i_add(sum[0], sum[i]);
    }
    float total = v_total(v_of_ints(sum[0]));
    return total == total ? 8.0 * LANES * INT_CHAINS * (double)rounds : 0;
}

static inline void use_probe_ints(heed_kernels *k) {
    k->probe[HEED_PROBE_INT8] = probe_ints;
}

#endif
