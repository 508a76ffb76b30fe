/* simd_probe.h: how many multiply-adds a core can do: independent chains of them, nothing else.
 *
 * The chains are as many as latency times throughput anywhere, and few enough for the registers;
 * their sum decides the result, so that no compiler leaves them out.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_PROBE_H
#define HEED_KERNEL_SIMD_PROBE_H

#include "kernel/vec.h"

enum { CHAINS = 12 };

KERNEL double probe(int64_t rounds) {
    vec sum[CHAINS], factor = v_set(0.5f), more = v_set(0.25f);
    UNROLL
    for (int i = 0; i < CHAINS; i++) {
        sum[i] = v_set((float)i);
    }
    for (int64_t r = 0; r < rounds; r++) {
        UNROLL
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = v_fma(sum[i], factor, more);
        }
    }
    float total = 0;
    UNROLL
    for (int i = 0; i < CHAINS; i++) {
        total += v_total(sum[i]);
    }
    return total > 0 ? 2.0 * LANES * CHAINS * (double)rounds : 0;
}

static inline void use_probe(heed_kernels *k) {
    k->probe[HEED_PROBE_F32] = probe;
}

#endif
