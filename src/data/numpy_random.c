/* numpy_random.c: SeedSequence, PCG64 and bounded integers as numpy has them.
 * SPDX-License-Identifier: MIT
 */
#include "data/numpy_random.h"

/* ---- SeedSequence: a seed becomes 256 well mixed bits ---- */

enum { POOL = 4 };

static uint32_t hash_mix(uint32_t value, uint32_t *constant, uint32_t multiplier) {
    value ^= *constant;
    *constant *= multiplier;
    value *= *constant;
    return value ^ value >> 16;
}

static uint32_t mix(uint32_t x, uint32_t y) {
    uint32_t both = 0xca01f9ddu * x - 0x4973f715u * y;
    return both ^ both >> 16;
}

static void spread_seed(uint64_t seed, uint64_t out[4]) {
    uint32_t pool[POOL], constant = 0x43b0d7e5u;
    const uint32_t word[POOL] = {(uint32_t)seed, (uint32_t)(seed >> 32), 0, 0};
    for (int i = 0; i < POOL; i++)
        pool[i] = hash_mix(word[i], &constant, 0x931e8875u);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++)
            if (from != to)
                pool[to] = mix(pool[to], hash_mix(pool[from], &constant, 0x931e8875u));
    constant = 0x8b51f9ddu;
    for (int i = 0; i < 4; i++) {
        uint64_t low = hash_mix(pool[2 * i % POOL], &constant, 0x58f38dedu);
        uint64_t high = hash_mix(pool[(2 * i + 1) % POOL], &constant, 0x58f38dedu);
        out[i] = high << 32 | low;
    }
}

/* ---- PCG64: 128-bit arithmetic in halves ---- */

static void add(uint64_t *high, uint64_t *low, uint64_t by_high, uint64_t by_low) {
    *low += by_low;
    *high += by_high + (*low < by_low);
}

/* The upper 64 bits of a product of 64-bit numbers. */
static uint64_t upper(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t cross = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)cross;
    return ah * bh + (cross >> 32) + (other >> 32);
}

/* state = state * multiplier + step */
static void advance(heed_numpy_random *r) {
    const uint64_t high = UINT64_C(2549297995355413924), low = UINT64_C(4865540595714422341);
    uint64_t product = upper(r->low, low) + r->high * low + r->low * high;
    r->low *= low;
    r->high = product;
    add(&r->high, &r->low, r->step_high, r->step_low);
}

void heed_numpy_seed(heed_numpy_random *r, uint64_t seed) {
    uint64_t s[4];
    spread_seed(seed, s);
    *r = (heed_numpy_random){.step_high = s[2] << 1 | s[3] >> 63, .step_low = s[3] << 1 | 1};
    advance(r);
    add(&r->high, &r->low, s[0], s[1]);
    advance(r);
}

uint64_t heed_numpy_u64(heed_numpy_random *r) {
    advance(r);
    unsigned turn = (unsigned)(r->high >> 58);
    uint64_t x = r->high ^ r->low;
    return x >> turn | x << (-turn & 63);
}

static uint32_t next_u32(heed_numpy_random *r) {
    if (r->has_kept) {
        r->has_kept = false;
        return r->kept;
    }
    uint64_t x = heed_numpy_u64(r);
    r->kept = (uint32_t)(x >> 32);
    r->has_kept = true;
    return (uint32_t)x;
}

uint32_t heed_numpy_below(heed_numpy_random *r, uint32_t n) {
    if (n == 1)
        return 0; /* takes no number */
    uint64_t product = (uint64_t)next_u32(r) * n;
    uint32_t reject = (UINT32_MAX - (n - 1)) % n;
    while ((uint32_t)product < reject)
        product = (uint64_t)next_u32(r) * n;
    return (uint32_t)(product >> 32);
}
