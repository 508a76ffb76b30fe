/* vec_avx2.h: the vector words of AVX2 with FMA: 8 lanes of float.
 *
 * simd_*.h write the kernels in these words only; another instruction set is another file like this
 * one. Words with a count touch the first n lanes of memory, 0 < n <= LANES, and read 0 behind
 * them. With HEED_SIMDE the intrinsics are emulated in plain C, so that tests run where the
 * processor lacks them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_VEC_WORDS
#define HEED_KERNEL_VEC_WORDS

#include "kernel/kernel.h"

#ifdef HEED_SIMDE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>
#define HEED_TARGET
#else
#include <immintrin.h>
#define HEED_TARGET __attribute__((target("avx2,fma,f16c")))
#endif

#define KERNEL HEED_TARGET static inline
#define WORD HEED_TARGET __attribute__((always_inline)) static inline

enum { LANES = 8 };
#define TILE_ROWS 6 /* x 2 sums, 2 vectors of B and 1 of A: 15 of the 16 registers */

typedef __m256 vec;
typedef __m256i ints;

/* ---- Memory ---- */

WORD vec v_load(const float *p) {
    return _mm256_loadu_ps(p);
}
WORD void v_store(float *p, vec x) {
    _mm256_storeu_ps(p, x);
}
WORD ints first_lanes(int64_t n) {
    static const int32_t OPEN[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(OPEN + LANES - n));
}
WORD vec v_get(const float *p, int64_t n) {
    return n == LANES ? v_load(p) : _mm256_maskload_ps(p, first_lanes(n));
}
WORD void v_put(float *p, int64_t n, vec x) {
    if (n == LANES) {
        v_store(p, x);
    } else {
        _mm256_maskstore_ps(p, first_lanes(n), x);
    }
}

/* LANES numbers of binary16; of bfloat16, the upper halves of floats. */
WORD vec v_load_halves(const void *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
WORD vec v_load_bf16(const void *p) {
    ints x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16));
}

/* Asks for the two vectors at p to be brought near; any address will do. */
WORD void v_fetch(const float *p) {
    _mm_prefetch((const char *)p, _MM_HINT_T1);
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
    __asm__("" : "+x"(x));
#endif
    return x;
}

/* ---- Arithmetic ---- */

WORD vec v_set(float x) {
    return _mm256_set1_ps(x);
}
WORD vec v_zero(void) {
    return _mm256_setzero_ps();
}
WORD float v_first(vec x) {
    return _mm256_cvtss_f32(x);
}
WORD vec v_add(vec a, vec b) {
    return _mm256_add_ps(a, b);
}
WORD vec v_sub(vec a, vec b) {
    return _mm256_sub_ps(a, b);
}
WORD vec v_mul(vec a, vec b) {
    return _mm256_mul_ps(a, b);
}
WORD vec v_div(vec a, vec b) {
    return _mm256_div_ps(a, b);
}
WORD vec v_sqrt(vec a) {
    return _mm256_sqrt_ps(a);
}
/* b where one of them is NaN, here and in v_min */
WORD vec v_max(vec a, vec b) {
    return _mm256_max_ps(a, b);
}
WORD vec v_min(vec a, vec b) {
    return _mm256_min_ps(a, b);
}
/* a b + c */
WORD vec v_fma(vec a, vec b, vec c) {
    return _mm256_fmadd_ps(a, b, c);
}
/* c - a b */
WORD vec v_fnma(vec a, vec b, vec c) {
    return _mm256_fnmadd_ps(a, b, c);
}
WORD vec v_abs(vec a) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
WORD vec v_if_less(vec a, vec b, vec yes, vec no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
/* yes in the lanes whose bit is set. */
WORD vec v_if_bit(uint64_t bits, vec yes, vec no) {
    ints lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    ints set = _mm256_and_si256(_mm256_set1_epi32((int)(bits & 255)), lane);
    return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lane)));
}
/* x in the first n lanes. */
WORD vec v_only(int64_t n, vec x, vec behind) {
    return n == LANES ? x : _mm256_blendv_ps(behind, x, _mm256_castsi256_ps(first_lanes(n)));
}
WORD bool v_all_finite(vec x) { /* x - x is 0, or NaN */
    vec zero = _mm256_sub_ps(x, x);
    return _mm256_movemask_ps(_mm256_cmp_ps(zero, zero, _CMP_UNORD_Q)) == 0;
}
/* p 2^n where n stands in the low bits of t: added to the exponent. */
WORD vec v_scale_by_low_bits(vec p, vec t) {
    ints n = _mm256_slli_epi32(_mm256_castps_si256(t), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), n));
}

/* ---- Across lanes: one fixed tree ---- */

/* Sums of lanes 0 and 2, 1 and 3 of each half of a, then of b. */
WORD vec v_half_sums(vec a, vec b) {
    return _mm256_add_ps(_mm256_blend_ps(a, b, 0xcc), _mm256_shuffle_ps(a, b, 0x4e));
}
/* Sums of neighbours of a, then of b, in each half. */
WORD vec v_pair_sums(vec a, vec b) {
    return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}
/* The same tree for one. */
WORD float v_total(vec x) {
    vec a = v_half_sums(x, x);
    a = v_pair_sums(a, a);
    return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
}
WORD float v_greatest(vec x) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}
WORD void v_transpose(vec x[LANES]) {
    vec t[LANES];
    for (int i = 0; i < 4; i++) { /* pairs of rows 2i, 2i+1 */
        t[2 * i] = _mm256_unpacklo_ps(x[2 * i], x[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_ps(x[2 * i], x[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) { /* fours of rows, in each half of the lanes */
        vec *y = x + 4 * i, *s = t + 4 * i;
        y[0] = _mm256_shuffle_ps(s[0], s[2], 0x44);
        y[1] = _mm256_shuffle_ps(s[0], s[2], 0xee);
        y[2] = _mm256_shuffle_ps(s[1], s[3], 0x44);
        y[3] = _mm256_shuffle_ps(s[1], s[3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        vec low = x[i], high = x[i + 4];
        x[i] = _mm256_permute2f128_ps(low, high, 0x20);
        x[i + 4] = _mm256_permute2f128_ps(low, high, 0x31);
    }
}
WORD vec v_pairs(float even, float odd) {
    return _mm256_setr_ps(even, odd, even, odd, even, odd, even, odd);
}
/* Neighbours change places: 1 0 3 2 ... */
WORD vec v_swap_pairs(vec x) {
    return _mm256_permute_ps(x, 0xb1);
}
/* The first n numbers at p, n <= LANES/2, each twice: 0 0 1 1 2 2 ... */
WORD vec v_load_twice(const float *p, int64_t n) {
    vec x = v_get(p, n);
    return _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
}

/* ---- Sums in double ---- */

typedef struct {
    __m256d low, high;
} wide;

WORD wide w_zero(void) {
    return (wide){_mm256_setzero_pd(), _mm256_setzero_pd()};
}
WORD wide w_of(vec x) {
    return (wide){_mm256_cvtps_pd(_mm256_castps256_ps128(x)),
                  _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))};
}
WORD wide w_add(wide sum, vec x) {
    wide y = w_of(x);
    return (wide){_mm256_add_pd(sum.low, y.low), _mm256_add_pd(sum.high, y.high)};
}
WORD wide w_add_square(wide sum, vec x) {
    wide y = w_of(x);
    return (wide){_mm256_fmadd_pd(y.low, y.low, sum.low),
                  _mm256_fmadd_pd(y.high, y.high, sum.high)};
}
WORD double w_total(wide sum) {
    __m256d s = _mm256_add_pd(sum.low, sum.high);
    __m128d t = _mm_add_pd(_mm256_castpd256_pd128(s), _mm256_extractf128_pd(s, 1));
    return _mm_cvtsd_f64(_mm_add_sd(t, _mm_unpackhi_pd(t, t)));
}

/* ---- Whole numbers, for Philox ---- */

WORD ints i_set(uint32_t x) {
    return _mm256_set1_epi32((int)x);
}
WORD ints i_xor(ints a, ints b) {
    return _mm256_xor_si256(a, b);
}
/* first + a number for each lane, such that i_interleave gives the four words of each in order. */
WORD ints i_counters(uint32_t first) {
    return _mm256_add_epi32(i_set(first), _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}
/* The high and the low halves of the products a m. */
WORD void i_mul(ints a, uint32_t m, ints *high, ints *low) {
    ints even = _mm256_mul_epu32(a, i_set(m)),
         odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), i_set(m));
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}
/* word[w] of each lane, to word 0 1 2 3 of the first counter, of the next ... */
WORD void i_interleave(ints word[4]) {
    ints a = _mm256_unpacklo_epi32(word[0], word[1]), b = _mm256_unpackhi_epi32(word[0], word[1]);
    ints c = _mm256_unpacklo_epi32(word[2], word[3]), d = _mm256_unpackhi_epi32(word[2], word[3]);
    word[0] = _mm256_unpacklo_epi64(a, c);
    word[1] = _mm256_unpackhi_epi64(a, c);
    word[2] = _mm256_unpacklo_epi64(b, d);
    word[3] = _mm256_unpackhi_epi64(b, d);
}
/* A bit for each lane whose number, without sign, is at least `least`. */
WORD uint32_t i_at_least(ints x, uint32_t least) {
    ints low = i_set(least), same = _mm256_cmpeq_epi32(_mm256_max_epu32(x, low), x);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same));
}

/* ---- Whole numbers of 8 bits, for products (simd_ints.h) ---- */

WORD ints i_load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}
/* As v_hold. */
WORD ints i_hold(ints x) {
#ifndef HEED_SIMDE
    __asm__("" : "+x"(x));
#endif
    return x;
}
WORD vec v_of_ints(ints x) {
    return _mm256_cvtepi32_ps(x);
}
WORD ints i_nearest(vec x) {
    return _mm256_cvtps_epi32(x);
}
WORD ints i_add(ints a, ints b) {
    return _mm256_add_epi32(a, b);
}
WORD ints i_greater(ints a, ints b) { /* of each two */
    return _mm256_max_epi32(a, b);
}
/* The greatest of the lanes, and their sum. */
WORD int32_t i_greatest(ints x) {
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}
WORD int32_t i_total(ints x) {
    __m128i m = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    m = _mm_add_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}
WORD ints i_bits_of(vec x) {
    return _mm256_castps_si256(x);
}
WORD vec v_of_bits(ints x) {
    return _mm256_castsi256_ps(x);
}
WORD void i_put_bytes(int8_t *p, ints x) { /* each lies in -128 ... 127 */
    __m128i two = _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packs_epi16(two, two));
}
/* Bytes below 16 of two vectors, in the halves of one. */
WORD ints i_or_halves(ints low, ints high) {
    return _mm256_or_si256(low, _mm256_slli_epi16(high, 4));
}
WORD ints i_low_halves(ints x) {
    return _mm256_and_si256(x, _mm256_set1_epi8(15));
}
WORD ints i_high_halves(ints x) {
    return _mm256_and_si256(_mm256_srli_epi16(x, 4), _mm256_set1_epi8(15));
}
/* What i_dot takes off each of its weights, when i_ready has made them signed: two products of
 * unsigned ones would overflow their 16 bits. */
#define DOT_ZERO 128
WORD ints i_ready(ints w) {
    return _mm256_xor_si256(w, _mm256_set1_epi8((char)0x80));
}
WORD ints sum_pairs(ints sum, ints pairs) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
/* sum += in each lane the product of its four weights and of the four bytes of `four`. */
WORD ints i_dot(ints sum, ints w, ints four) {
    return sum_pairs(sum, _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(four, w)));
}
/* The same for weights of 4 bits, from which nothing is taken off. */
WORD ints i_dot_small(ints sum, ints w, ints four) {
    return sum_pairs(sum, _mm256_maddubs_epi16(w, four));
}

#endif
