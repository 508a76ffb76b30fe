/* philox.h: random numbers as a function of a counter (Philox4x32-10; Salmon et al. 2011, "Parallel
 * random numbers: as easy as 1, 2, 3"). No state: the same counter and key give the same numbers,
 * in any order.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_PHILOX_H
#define HEED_BASE_PHILOX_H

#include "heed.h"

void heed_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* A stream for places that want "the next number": shuffles, initial weights, sampling. Copy it to
 * fork it; its three numbers are its whole state (save them to resume). */
typedef struct {
    uint64_t seed, stream, at; /* at: index of the next 32-bit number */
} heed_random;
uint32_t heed_random_u32(heed_random *r);
/* Uniform in [0, n), n >= 1, without modulo bias. */
uint64_t heed_random_below(heed_random *r, uint64_t n);
/* Uniform in [0, 1), 53 bits. */
double heed_random_unit(heed_random *r);
/* Mean 0, deviation 1 (Box and Muller 1958); four 32-bit numbers each, the same bits everywhere. */
double heed_random_normal(heed_random *r);

/* 64-bit hash of bytes (FNV-1a, then a finaliser): paths to streams, keys to slots. No secrets. */
uint64_t heed_hash(const void *data, size_t n);

#endif
