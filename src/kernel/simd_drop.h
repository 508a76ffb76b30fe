/* simd_drop.h: dropout: Philox4x32-10 for LANES counters at once, the same numbers as
 * base/philox.h.
 *
 * GROUP elements share one call; the counters are dealt to the lanes so that the words come out in
 * order.
 * Source: Salmon et al. 2011, section 4.3.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_DROP_H
#define HEED_KERNEL_SIMD_DROP_H

#include "kernel/vec.h"

#include <string.h>

enum { GROUP = 4 * LANES };

/* Bit b of kept[q]: element first + q*LANES + b of the row is kept. first is a multiple of
 * GROUP. */
WORD void keep_bits(const heed_drop *d, int64_t row, int64_t first, uint32_t kept[4]) {
    ints x[4] = {i_counters((uint32_t)(first / 4)), i_set((uint32_t)row),
                 i_set((uint32_t)d->stream), i_set((uint32_t)(d->stream >> 32))};
    uint32_t key0 = d->key[0], key1 = d->key[1];
    for (int round = 0; round < 10; round++) {
        ints high0, low0, high1, low1;
        i_mul(x[0], 0xD2511F53u, &high0, &low0);
        i_mul(x[2], 0xCD9E8D57u, &high1, &low1);
        x[0] = i_xor(i_xor(high1, x[1]), i_set(key0));
        x[2] = i_xor(i_xor(high0, x[3]), i_set(key1));
        x[1] = low1;
        x[3] = low0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    i_interleave(x);
    for (int q = 0; q < 4; q++) {
        kept[q] = i_at_least(x[q], d->threshold);
    }
}

KERNEL void dropout(const heed_drop *d, int64_t row, int64_t n, const float *x, const float *base,
                    float *out) {
    vec factor = v_set(heed_drop_scale(d->threshold));
    uint32_t kept[4] = {0};
    EACH(n, {
        int q = (int)(at / LANES % 4);
        if (q == 0)
            keep_bits(d, row, at, kept);
        vec y = v_if_bit(kept[q], v_mul(v_get(x + at, left), factor), v_zero());
        v_put(out + at, left, base ? v_add(v_get(base + at, left), y) : y);
    });
}

/* Bit b to byte b. */
static inline uint64_t spread_bits(uint32_t bits) {
    uint64_t each = (bits & 255) * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
    return (each + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101);
}

KERNEL void drop_mask(const heed_drop *d, int64_t row, int64_t n, uint8_t *keep) {
    for (int64_t i = 0; i < n; i += GROUP) {
        uint32_t kept[4];
        uint64_t bytes[GROUP / 8];
        keep_bits(d, row, i, kept);
        for (int b = 0; b < GROUP; b += 8) {
            bytes[b / 8] = spread_bits(kept[b / LANES] >> b % LANES);
        }
        memcpy(keep + i, bytes, (size_t)(n - i < GROUP ? n - i : GROUP));
    }
}

static inline void use_drop(heed_kernels *k) {
    k->dropout = dropout;
    k->drop_mask = drop_mask;
}

#endif
