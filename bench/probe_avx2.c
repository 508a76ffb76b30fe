/* probe_avx2.c: the probe for AVX2 with FMA.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/vec_avx2.h"

#include "probe.h"

HEED_TARGET double heed_probe_avx2(long rounds) {
    return probe(rounds);
}
