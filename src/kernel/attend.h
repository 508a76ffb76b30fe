/* attend.h: which keys a query may see, as bits: what every attention kernel asks first.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_ATTEND_H
#define HEED_KERNEL_ATTEND_H

#include "kernel/kernel.h"

/* Bits [from, to) of 64, where 0 <= from and to <= 64; none where from >= to. */
static inline uint64_t heed_bits_between(int64_t from, int64_t to) {
    if (from >= to) {
        return 0;
    }
    return (~UINT64_C(0) >> (64 - (to - from))) << from;
}

static inline int heed_lowest_bit(uint64_t bits) { /* bits != 0 */
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int i = 0;
    while (!(bits >> i & 1))
        i++;
    return i;
#endif
}

static inline int heed_highest_bit(uint64_t bits) { /* bits != 0 */
#if defined(__GNUC__)
    return 63 - __builtin_clzll(bits);
#else
    int i = 63;
    while (!(bits >> i & 1)) {
        i--;
    }
    return i;
#endif
}

/* Bit j is set where byte j of n is not 0; n <= 64. */
static inline uint64_t heed_bits_of_bytes(const uint8_t *byte, int64_t n) {
    uint64_t bits = 0;
    for (int64_t j = 0; j < n; j++) {
        bits |= (uint64_t)(byte[j] != 0) << j;
    }
    return bits;
}

/* Rows become columns: bit i of x[j] and bit j of x[i] change places. Squares of 32 x 32 bits off
 * the diagonal change places, then in each square those of half the size. Warren 2013, 7-3. */
static inline void heed_turn_bits(uint64_t x[64]) {
    uint64_t low = UINT64_C(0xffffffff);
    for (int half = 32; half > 0; half /= 2, low ^= low << half) {
        for (int j = 0; j < 64; j = ((j | half) + 1) & ~half) {
            uint64_t change = (x[j] >> half ^ x[j | half]) & low;
            x[j] ^= change << half;
            x[j | half] ^= change;
        }
    }
}

/* Bit j is set where query i may see key key0 + j of the piece that starts at key0. */
static inline uint64_t heed_allowed_keys(const heed_attention *a, int64_t i, int64_t key0) {
    int64_t from = a->begin[i] - key0, to = (a->end[i] < a->keys ? a->end[i] : a->keys) - key0;
    if (from < 0) {
        from = 0;
    }
    if (to > HEED_KEY_PIECE) {
        to = HEED_KEY_PIECE;
    }
    uint64_t allowed = heed_bits_between(from, to);
    if (!a->mask || !allowed) {
        return allowed;
    }
    return allowed & heed_bits_of_bytes(a->mask + i * a->mask_stride + key0, to);
}

static inline bool heed_has_bias(const heed_attention *a) {
    return a->bias || a->slope != 0;
}

static inline int64_t heed_distance(const heed_attention *a, int64_t i, int64_t j) {
    return (int64_t)a->k_pos[j] - a->q_pos[i];
}

/* Where the bias of a distance stands, from that of distance 0. */
static inline int64_t heed_bias_place(const heed_attention *a, int64_t distance) {
    if (distance < -a->bias_reach) {
        return -a->bias_reach;
    }
    return distance > a->bias_reach ? a->bias_reach : distance;
}

/* What the distance of query i and key j adds to their score. */
static inline heed_real heed_bias_of(const heed_attention *a, int64_t i, int64_t j) {
    int64_t distance = heed_distance(a, i, j), size = distance < 0 ? -distance : distance;
    heed_real bias = (heed_real)(-a->slope * (double)size);
    return a->bias ? bias + a->bias[heed_bias_place(a, distance)] : bias;
}

/* The row where key j lies. */
static inline int64_t heed_key_row(const heed_attention *a, int64_t j) {
    return a->rows ? a->rows[j] : j;
}

#endif
