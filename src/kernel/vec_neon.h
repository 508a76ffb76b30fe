/* vec_neon.h: the vector words of AArch64's NEON: 8 lanes of float in two registers of four.
 *
 * The words are those of vec_avx2.h. Thirty-two registers of 128 bits are sixteen of 256, so tiles
 * are those of AVX2, and its order of sums too. Products of bytes are asked for by name: compilers
 * hide those words where the whole build is not for a processor that has them.
 * Source: Arm Architecture Reference Manual for A-profile, chapter C7.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_VEC_WORDS
#define HEED_KERNEL_VEC_WORDS

#include "kernel/kernel.h"

#include <arm_neon.h>

/* What gcc takes for an architecture, clang takes for a feature. */
#if defined(HEED_WITH_I8MM) && defined(__clang__)
#define HEED_TARGET __attribute__((target("i8mm")))
#elif defined(HEED_WITH_I8MM)
#define HEED_TARGET __attribute__((target("arch=armv8.2-a+i8mm")))
#elif defined(HEED_WITH_DOTPROD) && defined(__clang__)
#define HEED_TARGET __attribute__((target("dotprod")))
#elif defined(HEED_WITH_DOTPROD)
#define HEED_TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#else
#define HEED_TARGET
#endif

#define KERNEL HEED_TARGET static inline
#define WORD HEED_TARGET __attribute__((always_inline)) static inline

enum { LANES = 8, HALF = LANES / 2 };
#define TILE_ROWS 6 /* x 4 registers of sums, 4 of B and 1 of A: 29 of the 32 */

typedef struct {
    float32x4_t low, high;
} vec;
typedef struct {
    uint32x4_t low, high;
} ints;

/* ---- Memory ---- */

WORD vec v_load(const float *p) {
    return (vec){vld1q_f32(p), vld1q_f32(p + HALF)};
}
WORD void v_store(float *p, vec x) {
    vst1q_f32(p, x.low);
    vst1q_f32(p + HALF, x.high);
}
/* The first n numbers at p, 0 <= n <= HALF; 0 behind them. */
WORD float32x4_t get_half(const float *p, int64_t n) {
    if (n >= HALF) {
        return vld1q_f32(p);
    }
    float32x4_t x = vdupq_n_f32(0);
    if (n >= 2) {
        x = vcombine_f32(vld1_f32(p), vdup_n_f32(0));
        return n > 2 ? vld1q_lane_f32(p + 2, x, 2) : x;
    }
    return n > 0 ? vld1q_lane_f32(p, x, 0) : x;
}
WORD void put_half(float *p, int64_t n, float32x4_t x) {
    if (n >= HALF) {
        vst1q_f32(p, x);
        return;
    }
    if (n >= 2) {
        vst1_f32(p, vget_low_f32(x));
        p += 2;
        x = vcombine_f32(vget_high_f32(x), vget_high_f32(x));
    }
    if (n & 1) {
        vst1q_lane_f32(p, x, 0);
    }
}
WORD vec v_get(const float *p, int64_t n) {
    if (n == LANES) {
        return v_load(p);
    }
    return n < HALF ? (vec){get_half(p, n), vdupq_n_f32(0)}
                    : (vec){vld1q_f32(p), get_half(p + HALF, n - HALF)};
}
WORD void v_put(float *p, int64_t n, vec x) {
    if (n == LANES) {
        v_store(p, x);
        return;
    }
    put_half(p, n, x.low);
    if (n > HALF) {
        put_half(p + HALF, n - HALF, x.high);
    }
}

/* LANES numbers of binary16; of bfloat16, the upper halves of floats. Any address will do. */
WORD vec v_load_halves(const void *p) {
    float16x8_t x = vreinterpretq_f16_u8(vld1q_u8(p));
    return (vec){vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x)};
}
WORD vec v_load_bf16(const void *p) {
    uint16x8_t x = vreinterpretq_u16_u8(vld1q_u8(p)), zero = vdupq_n_u16(0);
    return (vec){vreinterpretq_f32_u16(vzip1q_u16(zero, x)),
                 vreinterpretq_f32_u16(vzip2q_u16(zero, x))};
}

/* Asks for the two vectors at p to be brought near; any address will do. */
WORD void v_fetch(const float *p) {
    __builtin_prefetch(p);
}
WORD void v_fetch_to_write(float *p) {
    __builtin_prefetch(p, 1);
}
/* p, to be read from when x is there: loads brought forward would take registers from sums. */
WORD const float *v_after(const float *p, vec x) {
    __asm__("" : "+r"(p) : "w"(x.low), "w"(x.high));
    return p;
}
/* No instruction takes a number from memory, so what is loaded is held. */
WORD vec v_hold(vec x) {
    return x;
}

/* ---- Arithmetic ---- */

WORD vec v_set(float x) {
    return (vec){vdupq_n_f32(x), vdupq_n_f32(x)};
}
WORD vec v_zero(void) {
    return v_set(0);
}
WORD float v_first(vec x) {
    return vgetq_lane_f32(x.low, 0);
}
WORD vec v_add(vec a, vec b) {
    return (vec){vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)};
}
WORD vec v_sub(vec a, vec b) {
    return (vec){vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high)};
}
WORD vec v_mul(vec a, vec b) {
    return (vec){vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high)};
}
WORD vec v_div(vec a, vec b) {
    return (vec){vdivq_f32(a.low, b.low), vdivq_f32(a.high, b.high)};
}
WORD vec v_sqrt(vec a) {
    return (vec){vsqrtq_f32(a.low), vsqrtq_f32(a.high)};
}
WORD vec v_if_less(vec a, vec b, vec yes, vec no) {
    return (vec){vbslq_f32(vcltq_f32(a.low, b.low), yes.low, no.low),
                 vbslq_f32(vcltq_f32(a.high, b.high), yes.high, no.high)};
}
/* b where one of them is NaN, here and in v_min */
WORD vec v_max(vec a, vec b) {
    return v_if_less(b, a, a, b);
}
WORD vec v_min(vec a, vec b) {
    return v_if_less(a, b, a, b);
}
/* a b + c */
WORD vec v_fma(vec a, vec b, vec c) {
    return (vec){vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high)};
}
/* c - a b */
WORD vec v_fnma(vec a, vec b, vec c) {
    return (vec){vfmsq_f32(c.low, a.low, b.low), vfmsq_f32(c.high, a.high, b.high)};
}
WORD vec v_abs(vec a) {
    return (vec){vabsq_f32(a.low), vabsq_f32(a.high)};
}
WORD ints lane_bits(void) {
    static const uint32_t BITS[LANES] = {1, 2, 4, 8, 16, 32, 64, 128};
    return (ints){vld1q_u32(BITS), vld1q_u32(BITS + HALF)};
}
/* yes in the lanes whose bit is set. */
WORD vec v_if_bit(uint64_t bits, vec yes, vec no) {
    uint32x4_t all = vdupq_n_u32((uint32_t)(bits & 255));
    ints lane = lane_bits();
    return (vec){vbslq_f32(vtstq_u32(all, lane.low), yes.low, no.low),
                 vbslq_f32(vtstq_u32(all, lane.high), yes.high, no.high)};
}
/* x in the first n lanes. */
WORD vec v_only(int64_t n, vec x, vec behind) {
    return n == LANES ? x : v_if_bit((UINT64_C(1) << n) - 1, x, behind);
}
WORD bool v_all_finite(vec x) { /* x - x is 0, or NaN */
    vec zero = v_sub(x, x);
    uint32x4_t low = vceqq_f32(zero.low, zero.low), high = vceqq_f32(zero.high, zero.high);
    return vminvq_u32(vandq_u32(low, high)) != 0;
}
/* p 2^n where n stands in the low bits of t: added to the exponent. */
WORD float32x4_t scale_half(float32x4_t p, float32x4_t t) {
    uint32x4_t n = vshlq_n_u32(vreinterpretq_u32_f32(t), 23);
    return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(p), n));
}
WORD vec v_scale_by_low_bits(vec p, vec t) {
    return (vec){scale_half(p.low, t.low), scale_half(p.high, t.high)};
}

/* ---- Across lanes: one fixed tree ---- */

/* The same tree for one. */
WORD float v_total(vec x) {
    float32x4_t a = vaddq_f32(x.low, x.high);
    a = vpaddq_f32(a, a);
    return vgetq_lane_f32(vpaddq_f32(a, a), 0);
}
WORD float v_greatest(vec x) {
    return vmaxvq_f32(vmaxq_f32(x.low, x.high));
}
WORD float32x4_t low_pairs(float32x4_t a, float32x4_t b) { /* a0 a1 b0 b1 */
    return vcombine_f32(vget_low_f32(a), vget_low_f32(b));
}
WORD float32x4_t high_pairs(float32x4_t a, float32x4_t b) {
    return vcombine_f32(vget_high_f32(a), vget_high_f32(b));
}
WORD void transpose_half(float32x4_t x[HALF]) {
    float32x4_t a = vtrn1q_f32(x[0], x[1]), b = vtrn2q_f32(x[0], x[1]);
    float32x4_t c = vtrn1q_f32(x[2], x[3]), d = vtrn2q_f32(x[2], x[3]);
    x[0] = low_pairs(a, c);
    x[1] = low_pairs(b, d);
    x[2] = high_pairs(a, c);
    x[3] = high_pairs(b, d);
}
WORD void v_transpose(vec x[LANES]) {
    for (int i = 0; i < LANES; i += HALF) { /* columns of four rows, low and high ones */
        float32x4_t low[HALF] = {x[i].low, x[i + 1].low, x[i + 2].low, x[i + 3].low};
        float32x4_t high[HALF] = {x[i].high, x[i + 1].high, x[i + 2].high, x[i + 3].high};
        transpose_half(low);
        transpose_half(high);
        for (int j = 0; j < HALF; j++) {
            x[i + j] = (vec){low[j], high[j]};
        }
    }
    for (int j = 0; j < HALF; j++) {
        vec upper = x[j], lower = x[HALF + j];
        x[j] = (vec){upper.low, lower.low};
        x[HALF + j] = (vec){upper.high, lower.high};
    }
}
WORD vec v_pairs(float even, float odd) {
    float32x4_t x = vzip1q_f32(vdupq_n_f32(even), vdupq_n_f32(odd));
    return (vec){x, x};
}
/* Neighbours change places: 1 0 3 2 ... */
WORD vec v_swap_pairs(vec x) {
    return (vec){vrev64q_f32(x.low), vrev64q_f32(x.high)};
}
/* The first n numbers at p, n <= LANES/2, each twice: 0 0 1 1 2 2 ... */
WORD vec v_load_twice(const float *p, int64_t n) {
    float32x4_t x = get_half(p, n);
    return (vec){vzip1q_f32(x, x), vzip2q_f32(x, x)};
}

/* ---- Sums in double ---- */

typedef struct {
    float64x2_t quarter[4];
} wide;

WORD wide w_zero(void) {
    float64x2_t zero = vdupq_n_f64(0);
    return (wide){{zero, zero, zero, zero}};
}
WORD wide w_of(vec x) {
    return (wide){{vcvt_f64_f32(vget_low_f32(x.low)), vcvt_high_f64_f32(x.low),
                   vcvt_f64_f32(vget_low_f32(x.high)), vcvt_high_f64_f32(x.high)}};
}
WORD wide w_add(wide sum, vec x) {
    wide y = w_of(x);
    for (int q = 0; q < 4; q++) {
        y.quarter[q] = vaddq_f64(sum.quarter[q], y.quarter[q]);
    }
    return y;
}
WORD wide w_add_square(wide sum, vec x) {
    wide y = w_of(x);
    for (int q = 0; q < 4; q++) {
        y.quarter[q] = vfmaq_f64(sum.quarter[q], y.quarter[q], y.quarter[q]);
    }
    return y;
}
WORD double w_total(wide sum) {
    float64x2_t even = vaddq_f64(sum.quarter[0], sum.quarter[2]);
    return vaddvq_f64(vaddq_f64(even, vaddq_f64(sum.quarter[1], sum.quarter[3])));
}

/* ---- Whole numbers, for Philox ---- */

WORD ints i_set(uint32_t x) {
    return (ints){vdupq_n_u32(x), vdupq_n_u32(x)};
}
WORD ints i_xor(ints a, ints b) {
    return (ints){veorq_u32(a.low, b.low), veorq_u32(a.high, b.high)};
}
WORD ints i_add(ints a, ints b) {
    return (ints){vaddq_u32(a.low, b.low), vaddq_u32(a.high, b.high)};
}
/* first + a number for each lane, such that i_interleave gives the four words of each in order. */
WORD ints i_counters(uint32_t first) {
    static const uint32_t LANE[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    return i_add(i_set(first), (ints){vld1q_u32(LANE), vld1q_u32(LANE + HALF)});
}
WORD void multiply_half(uint32x4_t a, uint32_t m, uint32x4_t *high, uint32x4_t *low) {
    uint32x4_t by = vdupq_n_u32(m);
    uint32x4_t first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(a), vget_low_u32(by))),
               second = vreinterpretq_u32_u64(vmull_high_u32(a, by));
    *low = vuzp1q_u32(first, second);
    *high = vuzp2q_u32(first, second);
}
/* The high and the low halves of the products a m. */
WORD void i_mul(ints a, uint32_t m, ints *high, ints *low) {
    multiply_half(a.low, m, &high->low, &low->low);
    multiply_half(a.high, m, &high->high, &low->high);
}
/* word[w] of each lane, to word 0 1 2 3 of the first counter, of the next ... */
WORD void i_interleave(ints word[4]) {
    float32x4_t low[HALF], high[HALF];
    for (int w = 0; w < HALF; w++) {
        low[w] = vreinterpretq_f32_u32(word[w].low);
        high[w] = vreinterpretq_f32_u32(word[w].high);
    }
    transpose_half(low);
    transpose_half(high);
    for (int w = 0; w < HALF; w++) {
        const float32x4_t *from = w < 2 ? low + 2 * w : high + 2 * w - HALF;
        word[w] = (ints){vreinterpretq_u32_f32(from[0]), vreinterpretq_u32_f32(from[1])};
    }
}
/* A bit for each lane whose number, without sign, is at least `least`. */
WORD uint32_t i_at_least(ints x, uint32_t least) {
    uint32x4_t limit = vdupq_n_u32(least);
    ints lane = lane_bits();
    return vaddvq_u32(vorrq_u32(vandq_u32(vcgeq_u32(x.low, limit), lane.low),
                                vandq_u32(vcgeq_u32(x.high, limit), lane.high)));
}

#include "kernel/vec_neon_ints.h"

#endif
