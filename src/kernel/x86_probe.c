/* x86_probe.c: the probes of what products of reduced types are made of.
 *
 * Method as in simd_probe.h. Without VNNI bytes are widened to 16 bits first, since vpmaddubsw
 * saturates: vpmaddwd and a sum are what is left. The barriers keep the compiler from taking a
 * product out of the loop.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/x86.h"

#include "kernel/isa.h"

#if defined(HEED_X86) && !defined(HEED_SIMDE)
#include <immintrin.h>

enum { CHAINS = 12 };
#define KEPT(x) __asm__ volatile("" : "+x"(x))

__attribute__((target("avx2"))) static double probe_words(int64_t rounds) {
    __m256i sum[CHAINS], a = _mm256_set1_epi16(1), b = _mm256_set1_epi16(3);
    for (int i = 0; i < CHAINS; i++) {
        sum[i] = _mm256_setzero_si256();
    }
    for (int64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < CHAINS; i++) {
            KEPT(a);
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(a, b));
        }
    }
    for (int i = 0; i < CHAINS; i++) {
        KEPT(sum[i]);
    }
    return 32.0 * CHAINS * (double)rounds;
}

__attribute__((target("avx512f,avx512vnni"))) static double probe_vnni(int64_t rounds) {
    __m512i sum[CHAINS], a = _mm512_set1_epi32(0x01010101), b = a;
    for (int i = 0; i < CHAINS; i++) {
        sum[i] = _mm512_setzero_si512();
    }
    for (int64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = _mm512_dpbusd_epi32(sum[i], a, b);
        }
    }
    for (int i = 0; i < CHAINS; i++) {
        KEPT(sum[i]);
    }
    return 128.0 * CHAINS * (double)rounds;
}

__attribute__((target("avx512f,avx512bf16"))) static double probe_bf16(int64_t rounds) {
    __m512 sum[CHAINS];
    __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.5f)), b = a;
    for (int i = 0; i < CHAINS; i++) {
        sum[i] = _mm512_setzero_ps();
    }
    for (int64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = _mm512_dpbf16_ps(sum[i], a, b);
        }
    }
    for (int i = 0; i < CHAINS; i++) {
        KEPT(sum[i]);
    }
    return 64.0 * CHAINS * (double)rounds;
}

void heed_x86_probes(heed_kernels *k, bool wide) {
    if (!wide) {
        k->probe[HEED_PROBE_INT8] = probe_words;
        return;
    }
    if (heed_x86_has(HEED_X86_VNNI)) {
        k->probe[HEED_PROBE_INT8] = probe_vnni;
    }
    if (heed_x86_has(HEED_X86_BF16)) {
        k->probe[HEED_PROBE_BF16] = probe_bf16;
    }
}
#else
void heed_x86_probes(heed_kernels *k, bool wide) {
    (void)k, (void)wide;
}
#endif
