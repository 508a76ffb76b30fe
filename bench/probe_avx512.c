/* probe_avx512.c: the probe for AVX-512.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/vec_avx512.h"

#include "probe.h"

HEED_TARGET double heed_probe_avx512(long rounds) {
    return probe(rounds);
}
