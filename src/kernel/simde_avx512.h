/* simde_avx512.h: words of AVX-512 that the emulation of the tests lacks, made of halves.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMDE_AVX512_H
#define HEED_KERNEL_SIMDE_AVX512_H
#ifdef HEED_SIMDE

#include <math.h>
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>

static inline __m512 heed_512_floats(__m256 low, __m256 high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
static inline __m512i heed_512_ints(__m256i low, __m256i high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
#define _mm512_cvtph_ps(x)                                                                         \
    heed_512_floats(_mm256_cvtph_ps(_mm256_castsi256_si128(x)),                                    \
                    _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1)))
#define _mm512_cvtepu16_epi32(x)                                                                   \
    heed_512_ints(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(x)),                                \
                  _mm256_cvtepu16_epi32(_mm256_extracti128_si256(x, 1)))
#define _mm512_cvtepi32_ps(x)                                                                      \
    heed_512_floats(_mm256_cvtepi32_ps(_mm512_castsi512_si256(x)),                                 \
                    _mm256_cvtepi32_ps(_mm512_extracti64x4_epi64(x, 1)))
#define _mm512_cvtps_epi32(x)                                                                      \
    heed_512_ints(                                                                                 \
        _mm256_cvtps_epi32(_mm512_castps512_ps256(x)),                                             \
        _mm256_cvtps_epi32(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1))))

/* bfloat16 numbers of 16 floats, rounded to the nearest, ties to even. */
static inline __m256i heed_512_bf16(__m512 x) {
    __m512i bits = _mm512_castps_si512(x);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    bits = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    bits = _mm512_srli_epi32(bits, 16);
    return _mm256_permute4x64_epi64(
        _mm256_packus_epi32(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1)),
        0xd8);
}
#define _mm512_cvtneps_pbh(x) heed_512_bf16(x)

/* a 2^n for whole n, also where 2^n alone is no float. */
static inline __m512 heed_512_scale(__m512 a, __m512 n) {
    float x[16], y[16];
    _mm512_storeu_ps(x, a);
    _mm512_storeu_ps(y, n);
    for (int i = 0; i < 16; i++) {
        x[i] = y[i] == y[i] ? ldexpf(x[i], (int)y[i]) : y[i];
    }
    return _mm512_loadu_ps(x);
}
#undef _mm512_scalef_ps
#define _mm512_scalef_ps(a, n) heed_512_scale(a, n)

#endif
#endif
