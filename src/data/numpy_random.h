/* numpy_random.h: the numbers of numpy's default generator, for what is defined on them.
 *
 * numpy.random.default_rng(seed).integers(0, n): SeedSequence, PCG64, and Lemire's bounded numbers
 * from its 32-bit halves. Sources: O'Neill 2014 (PCG XSL RR 128/64), 2015 (seed sequences); Lemire
 * 2019.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_NUMPY_RANDOM_H
#define HEED_DATA_NUMPY_RANDOM_H

#include "heed.h"

typedef struct {
    uint64_t high, low; /* state */
    uint64_t step_high, step_low;
    uint32_t kept; /* the upper half of the last number, */
    bool has_kept; /* where it was not used yet */
} heed_numpy_random;

void heed_numpy_seed(heed_numpy_random *r, uint64_t seed);
uint64_t heed_numpy_u64(heed_numpy_random *r);
/* In [0, n), 1 <= n <= 2^32 - 1. */
uint32_t heed_numpy_below(heed_numpy_random *r, uint32_t n);

#endif
