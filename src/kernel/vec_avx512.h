/* vec_avx512.h: the vector words of AVX-512 (F, BW, DQ, VL): 16 lanes of float.
 *
 * The words are those of vec_avx2.h. The first n lanes of memory are touched by AVX's masked moves,
 * half by half: only at the end of a row, and the emulation of the tests has them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_VEC_WORDS
#define HEED_KERNEL_VEC_WORDS

#include "kernel/kernel.h"

#ifdef HEED_SIMDE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#define HEED_TARGET

#include "kernel/simde_avx512.h"
#else
#include <immintrin.h>
#define HEED_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"
#if defined(HEED_WITH_BF16)
#define HEED_TARGET __attribute__((target(HEED_AVX512 ",avx512bf16")))
#elif defined(HEED_WITH_VNNI)
#define HEED_TARGET __attribute__((target(HEED_AVX512 ",avx512vnni")))
#else
#define HEED_TARGET __attribute__((target(HEED_AVX512)))
#endif
#endif

#define KERNEL HEED_TARGET static inline
#define WORD HEED_TARGET __attribute__((always_inline)) static inline

enum { LANES = 16 };
#define TILE_ROWS 8 /* x 2 sums hide the latency of a product; more were slower on Zen 4 */

typedef __m512 vec;
typedef __m512i ints;

/* ---- Memory ---- */

WORD vec v_load(const float *p) {
    return _mm512_loadu_ps(p);
}
WORD void v_store(float *p, vec x) {
    _mm512_storeu_ps(p, x);
}
WORD vec v_join(__m256 low, __m256 high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
WORD __m256 v_low(vec x) {
    return _mm512_castps512_ps256(x);
}
WORD __m256 v_high(vec x) {
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));
}
/* Lanes from `from` to `from` + 8 of a mask that is open in the first n. */
WORD __m256i first_lanes(int64_t n, int64_t from) {
    static const int32_t OPEN[2 * LANES + 8] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                -1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(OPEN + LANES - n + from));
}
WORD vec v_get(const float *p, int64_t n) {
    if (n == LANES) {
        return v_load(p);
    }
    return v_join(_mm256_maskload_ps(p, first_lanes(n, 0)),
                  _mm256_maskload_ps(p + 8, first_lanes(n, 8)));
}
WORD void v_put(float *p, int64_t n, vec x) {
    if (n == LANES) {
        v_store(p, x);
        return;
    }
    _mm256_maskstore_ps(p, first_lanes(n, 0), v_low(x));
    _mm256_maskstore_ps(p + 8, first_lanes(n, 8), v_high(x));
}

/* LANES numbers of binary16; of bfloat16, the upper halves of floats. */
WORD vec v_load_halves(const void *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
WORD vec v_load_bf16(const void *p) {
    ints x = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16));
}

/* Asks for the two vectors at p to be brought near; any address will do. */
WORD void v_fetch(const float *p) {
    _mm_prefetch((const char *)p, _MM_HINT_T0);
    _mm_prefetch((const char *)(p + LANES), _MM_HINT_T0);
}
WORD void v_fetch_to_write(float *p) {
    __builtin_prefetch(p, 1);
}
/* p, to be read from when x is there. A product takes its number from memory here: no matter. */
WORD const float *v_after(const float *p, vec x) {
    (void)x;
    return p;
}
/* x, held in a register: a compiler may not load it again for each use. */
WORD vec v_hold(vec x) {
#ifndef HEED_SIMDE
    __asm__("" : "+v"(x));
#endif
    return x;
}

/* ---- Arithmetic ---- */

WORD vec v_set(float x) {
    return _mm512_set1_ps(x);
}
WORD vec v_zero(void) {
    return _mm512_setzero_ps();
}
WORD float v_first(vec x) {
    return _mm_cvtss_f32(_mm512_castps512_ps128(x));
}
WORD vec v_add(vec a, vec b) {
    return _mm512_add_ps(a, b);
}
WORD vec v_sub(vec a, vec b) {
    return _mm512_sub_ps(a, b);
}
WORD vec v_mul(vec a, vec b) {
    return _mm512_mul_ps(a, b);
}
WORD vec v_div(vec a, vec b) {
    return _mm512_div_ps(a, b);
}
WORD vec v_sqrt(vec a) {
    return _mm512_sqrt_ps(a);
}
/* b where one of them is NaN, here and in v_min */
WORD vec v_max(vec a, vec b) {
    return _mm512_max_ps(a, b);
}
WORD vec v_min(vec a, vec b) {
    return _mm512_min_ps(a, b);
}
/* a b + c */
WORD vec v_fma(vec a, vec b, vec c) {
    return _mm512_fmadd_ps(a, b, c);
}
/* c - a b */
WORD vec v_fnma(vec a, vec b, vec c) {
    return _mm512_fnmadd_ps(a, b, c);
}
WORD vec v_abs(vec a) {
    return _mm512_abs_ps(a);
}
WORD vec v_if_less(vec a, vec b, vec yes, vec no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}
/* yes in the lanes whose bit is set. */
WORD vec v_if_bit(uint64_t bits, vec yes, vec no) {
    return _mm512_mask_blend_ps((uint16_t)bits, no, yes);
}
/* x in the first n lanes. */
WORD vec v_only(int64_t n, vec x, vec behind) {
    return n == LANES ? x : v_if_bit((UINT64_C(1) << n) - 1, x, behind);
}
WORD bool v_all_finite(vec x) { /* x - x is 0, or NaN */
    vec zero = _mm512_sub_ps(x, x);
    return _mm512_cmp_ps_mask(zero, zero, _CMP_UNORD_Q) == 0;
}
/* p 2^n for a whole n, rounded where that is no normal number. */
#define HEED_VEC_SCALES
WORD vec v_scale(vec p, vec n) {
    return _mm512_scalef_ps(p, n);
}

/* ---- Across lanes: one fixed tree ---- */

/* Quarters of a (0 to 3) and of b (4 to 7), in the order named. */
WORD vec v_quarters(vec a, vec b, int q0, int q1, int q2, int q3) {
    q0 *= 4, q1 *= 4, q2 *= 4, q3 *= 4;
    return _mm512_permutex2var_ps(a,
                                  _mm512_setr_epi32(q0, q0 + 1, q0 + 2, q0 + 3, q1, q1 + 1, q1 + 2,
                                                    q1 + 3, q2, q2 + 1, q2 + 2, q2 + 3, q3, q3 + 1,
                                                    q3 + 2, q3 + 3),
                                  b);
}
WORD vec v_low_pairs(vec a, vec b) { /* a0 a1 b0 b1 of each quarter */
    return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}
WORD vec v_high_pairs(vec a, vec b) {
    return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}
WORD float v_total(vec x) {
    __m256 half = _mm256_add_ps(v_low(x), v_high(x));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
WORD float v_greatest(vec x) {
    __m256 half = _mm256_max_ps(v_low(x), v_high(x));
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}
WORD void v_transpose(vec x[LANES]) {
    for (int g = 0; g < LANES;
         g += 4) { /* four rows: x[g + e] becomes their columns e, 4 + e ... */
        vec a = _mm512_unpacklo_ps(x[g], x[g + 1]), b = _mm512_unpackhi_ps(x[g], x[g + 1]);
        vec c = _mm512_unpacklo_ps(x[g + 2], x[g + 3]), d = _mm512_unpackhi_ps(x[g + 2], x[g + 3]);
        x[g] = v_low_pairs(a, c);
        x[g + 1] = v_high_pairs(a, c);
        x[g + 2] = v_low_pairs(b, d);
        x[g + 3] = v_high_pairs(b, d);
    }
    vec y[LANES];
    for (int e = 0; e < 4;
         e++) { /* the quarters of x[e], x[4 + e], x[8 + e], x[12 + e] change places */
        vec a = v_quarters(x[e], x[4 + e], 0, 4, 1, 5), b = v_quarters(x[e], x[4 + e], 2, 6, 3, 7);
        vec c = v_quarters(x[8 + e], x[12 + e], 0, 4, 1, 5),
            d = v_quarters(x[8 + e], x[12 + e], 2, 6, 3, 7);
        y[e] = v_quarters(a, c, 0, 1, 4, 5);
        y[4 + e] = v_quarters(a, c, 2, 3, 6, 7);
        y[8 + e] = v_quarters(b, d, 0, 1, 4, 5);
        y[12 + e] = v_quarters(b, d, 2, 3, 6, 7);
    }
    for (int i = 0; i < LANES; i++) {
        x[i] = y[i];
    }
}
WORD vec v_pairs(float even, float odd) {
    return _mm512_setr_ps(even, odd, even, odd, even, odd, even, odd, even, odd, even, odd, even,
                          odd, even, odd);
}
/* Neighbours change places: 1 0 3 2 ... */
WORD vec v_swap_pairs(vec x) {
    return _mm512_shuffle_ps(x, x, 0xb1);
}
/* The first n numbers at p, n <= LANES/2, each twice: 0 0 1 1 2 2 ... */
WORD vec v_load_twice(const float *p, int64_t n) {
    vec x = v_join(_mm256_maskload_ps(p, first_lanes(n, 0)), _mm256_setzero_ps());
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7),
                                 x);
}

/* ---- Sums in double ---- */

typedef struct {
    __m256d quarter[4];
} wide;

WORD wide w_zero(void) {
    __m256d zero = _mm256_setzero_pd();
    return (wide){{zero, zero, zero, zero}};
}
WORD wide w_of(vec x) {
    __m256 low = v_low(x), high = v_high(x);
    return (wide){{_mm256_cvtps_pd(_mm256_castps256_ps128(low)),
                   _mm256_cvtps_pd(_mm256_extractf128_ps(low, 1)),
                   _mm256_cvtps_pd(_mm256_castps256_ps128(high)),
                   _mm256_cvtps_pd(_mm256_extractf128_ps(high, 1))}};
}
WORD wide w_add(wide sum, vec x) {
    wide y = w_of(x);
    for (int q = 0; q < 4; q++) {
        y.quarter[q] = _mm256_add_pd(sum.quarter[q], y.quarter[q]);
    }
    return y;
}
WORD wide w_add_square(wide sum, vec x) {
    wide y = w_of(x);
    for (int q = 0; q < 4; q++) {
        y.quarter[q] = _mm256_fmadd_pd(y.quarter[q], y.quarter[q], sum.quarter[q]);
    }
    return y;
}
WORD double w_total(wide sum) {
    __m256d s = _mm256_add_pd(_mm256_add_pd(sum.quarter[0], sum.quarter[2]),
                              _mm256_add_pd(sum.quarter[1], sum.quarter[3]));
    __m128d t = _mm_add_pd(_mm256_castpd256_pd128(s), _mm256_extractf128_pd(s, 1));
    return _mm_cvtsd_f64(_mm_add_sd(t, _mm_unpackhi_pd(t, t)));
}

/* ---- Whole numbers, for Philox ---- */

WORD ints i_set(uint32_t x) {
    return _mm512_set1_epi32((int)x);
}
WORD ints i_xor(ints a, ints b) {
    return _mm512_xor_si512(a, b);
}
/* first + a number for each lane, such that i_interleave gives the four words of each in order. */
WORD ints i_counters(uint32_t first) {
    return _mm512_add_epi32(
        i_set(first), _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
}
/* The high and the low halves of the products a m. */
WORD void i_mul(ints a, uint32_t m, ints *high, ints *low) {
    ints even = _mm512_mul_epu32(a, i_set(m)),
         odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), i_set(m));
    *low = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
    *high = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
}
/* word[w] of each lane, to word 0 1 2 3 of the first counter, of the next ... */
WORD void i_interleave(ints word[4]) {
    ints a = _mm512_unpacklo_epi32(word[0], word[1]), b = _mm512_unpackhi_epi32(word[0], word[1]);
    ints c = _mm512_unpacklo_epi32(word[2], word[3]), d = _mm512_unpackhi_epi32(word[2], word[3]);
    word[0] = _mm512_unpacklo_epi64(a, c);
    word[1] = _mm512_unpackhi_epi64(a, c);
    word[2] = _mm512_unpacklo_epi64(b, d);
    word[3] = _mm512_unpackhi_epi64(b, d);
}
/* A bit for each lane whose number, without sign, is at least `least`. */
WORD uint32_t i_at_least(ints x, uint32_t least) {
    return (uint32_t)_mm512_cmpge_epu32_mask(x, i_set(least));
}

/* ---- Whole numbers of 8 bits, for products (simd_ints.h): as in vec_avx2.h ---- */

#ifdef HEED_WITH_VNNI
WORD ints i_load(const void *p) {
    return _mm512_loadu_si512(p);
}
/* As v_hold. */
WORD ints i_hold(ints x) {
#ifndef HEED_SIMDE
    __asm__("" : "+v"(x));
#endif
    return x;
}
WORD vec v_of_ints(ints x) {
    return _mm512_cvtepi32_ps(x);
}
WORD ints i_nearest(vec x) {
    return _mm512_cvtps_epi32(x);
}
WORD ints i_add(ints a, ints b) {
    return _mm512_add_epi32(a, b);
}
WORD ints i_greater(ints a, ints b) {
    return _mm512_max_epi32(a, b);
}
/* The greatest of the lanes, and their sum. */
WORD int32_t i_greatest(ints x) {
    __m256i y = _mm256_max_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}
WORD int32_t i_total(ints x) {
    __m256i y = _mm256_add_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    __m128i m = _mm_add_epi32(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
    m = _mm_add_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}
WORD ints i_bits_of(vec x) {
    return _mm512_castps_si512(x);
}
WORD vec v_of_bits(ints x) {
    return _mm512_castsi512_ps(x);
}
WORD void i_put_bytes(int8_t *p, ints x) {
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtsepi32_epi8(x));
}
/* Bytes below 16 of two vectors, in the halves of one. */
WORD ints i_or_halves(ints low, ints high) {
    return _mm512_or_si512(low, _mm512_slli_epi16(high, 4));
}
WORD ints i_low_halves(ints x) {
    return _mm512_and_si512(x, _mm512_set1_epi8(15));
}
WORD ints i_high_halves(ints x) {
    return _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi8(15));
}
#define DOT_ZERO 0
WORD ints i_ready(ints w) {
    return w;
}
WORD ints i_dot(ints sum, ints w, ints four) {
    return _mm512_dpbusd_epi32(sum, w, four);
}
WORD ints i_dot_small(ints sum, ints w, ints four) {
    return i_dot(sum, w, four);
}
#endif

#endif
