/* probe.h: how many multiply-adds a core can do: independent chains of v_fma, nothing else.
 *
 * Included by probe_*.c after the words of one instruction set; PROBE names the function.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BENCH_PROBE_H
#define HEED_BENCH_PROBE_H

#include "kernel/vec.h"

/* Runs `rounds` rounds of chains; returns how many operations they were, two for each multiply-add.
 */
double heed_probe_avx2(long rounds);
double heed_probe_avx512(long rounds);

enum {
    CHAINS = 12
}; /* more than latency times throughput anywhere, and few enough for registers */

WORD double probe(long rounds) {
    vec sum[CHAINS], factor = v_set(0.5f), more = v_set(0.25f);
    for (int i = 0; i < CHAINS; i++) {
        sum[i] = v_set((float)i);
    }
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = v_fma(sum[i], factor, more);
        }
    }
    float total = 0;
    for (int i = 0; i < CHAINS; i++) {
        total += v_total(sum[i]);
    }
    return total > 0 ? 2.0 * LANES * CHAINS * (double)rounds : 0; /* total is: it keeps the loop */
}

#endif
