/* philox.c: Philox4x32-10 and what is drawn from it.
 *
 * Source: Salmon, Moraes, Dror, Shaw 2011, sections 3.3 and 4; constants from its table 2. log and
 * cos are our own, of additions and multiplications only, so that a seed gives the same initial
 * weights whatever the processor and the C library.
 * SPDX-License-Identifier: MIT
 */
#include "base/philox.h"

#include <math.h>

static void bump(uint32_t c[4], uint32_t k0, uint32_t k1) {
    uint64_t a = UINT64_C(0xd2511f53) * c[0], b = UINT64_C(0xcd9e8d57) * c[2];
    uint32_t next0 = (uint32_t)(b >> 32) ^ c[1] ^ k0, next2 = (uint32_t)(a >> 32) ^ c[3] ^ k1;
    c[0] = next0;
    c[1] = (uint32_t)b;
    c[2] = next2;
    c[3] = (uint32_t)a;
}

void heed_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    for (uint32_t round = 0; round < 10; round++) {
        bump(c, key[0] + round * 0x9e3779b9U, key[1] + round * 0xbb67ae85U);
    }
    for (int i = 0; i < 4; i++) {
        out[i] = c[i];
    }
}

uint32_t heed_random_u32(heed_random *r) {
    uint64_t block = r->at / 4;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)r->stream,
                           (uint32_t)(r->stream >> 32)};
    uint32_t key[2] = {(uint32_t)r->seed, (uint32_t)(r->seed >> 32)}, out[4];
    heed_philox(counter, key, out);
    return out[r->at++ % 4];
}

static uint64_t next_u64(heed_random *r) {
    uint64_t high = heed_random_u32(r);
    return high << 32 | heed_random_u32(r);
}

/* The lowest 2^64 mod n numbers are drawn again: what is left is a whole number of rounds of n. */
uint64_t heed_random_below(heed_random *r, uint64_t n) {
    uint64_t reject = (UINT64_MAX - n + 1) % n, x;
    do {
        x = next_u64(r);
    } while (x < reject);
    return x % n;
}

double heed_random_unit(heed_random *r) {
    return (double)(next_u64(r) >> 11) * 0x1p-53;
}

/* log x for 0 < x <= 1: x = m 2^e with m in [sqrt(1/2), sqrt(2)), then log m = 2
 * atanh((m-1)/(m+1)). The odd series is cut where |t| <= 0.1716 leaves less than 2^-56 of it. */
static double natural_log(double x) {
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double t = (m - 1) / (m + 1), t2 = t * t, sum = 0;
    for (int k = 21; k >= 1; k -= 2) {
        sum = sum * t2 + 1.0 / k;
    }
    return 2 * t * sum + e * 0.69314718055994531;
}

/* cos of `turn` whole turns, 0 <= turn < 1: folded to a quarter, then Taylor's series to x^22/22!.
 */
static double cos_turns(double turn) {
    double fold = turn <= 0.5 ? turn : 1 - turn;
    double sign = fold <= 0.25 ? 1 : -1;
    double x = 6.2831853071795865 * (fold <= 0.25 ? fold : 0.5 - fold), x2 = x * x, sum = 1;
    for (int k = 22; k >= 2; k -= 2) {
        sum = 1 - sum * x2 / (k * (k - 1));
    }
    return sign * sum;
}

double heed_random_normal(heed_random *r) {
    double radius = sqrt(-2 * natural_log(1 - heed_random_unit(r))); /* 1-u lies in (0, 1] */
    return radius * cos_turns(heed_random_unit(r));
}

uint64_t heed_hash(const void *data, size_t n) {
    const unsigned char *byte = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) {
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    /* FNV's low bits mix well, its high bits poorly; two rounds of multiply and fold even them out.
     */
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}
