/* x86.c: asks the processor by cpuid, and by xgetbv whether the system saves the wide registers.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, sections 14.3 and
 * 15.2.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/x86.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

enum { LEAF_FEATURES = 1, LEAF_EXTENDED = 7, SAVED_AVX = 0x06, SAVED_AVX512 = 0xe6, BF16 = 1 << 5 };

/* Bits of registers that the system saves: 1 and 2 SSE and AVX, 5 to 7 AVX-512. 0 where it does
 * not say. */
static uint32_t saved_registers(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(LEAF_FEATURES, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) {
        return 0;
    }
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}

const char *heed_x86_lacks_avx2(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(LEAF_FEATURES, &a, &b, &c, &d) || !(c & bit_FMA) || !(c & bit_F16C)) {
        return "the processor has no FMA or no F16C";
    }
    if (!__get_cpuid_count(LEAF_EXTENDED, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) {
        return "the processor has no AVX2";
    }
    return (saved_registers() & SAVED_AVX) == SAVED_AVX ? 0
                                                        : "the system does not save AVX registers";
}

const char *heed_x86_lacks_avx512(void) {
    const uint32_t want = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(LEAF_EXTENDED, 0, &a, &b, &c, &d) || (b & want) != want) {
        return "the processor has no AVX-512 F, BW, DQ and VL";
    }
    return (saved_registers() & SAVED_AVX512) == SAVED_AVX512
               ? 0
               : "the system does not save AVX-512 registers";
}

bool heed_x86_has(heed_x86_part part) {
    uint32_t a, b, c, d;
    if (heed_x86_lacks_avx512() || !__get_cpuid_count(LEAF_EXTENDED, 0, &a, &b, &c, &d)) {
        return false;
    }
    if (part == HEED_X86_VNNI) {
        return (c & bit_AVX512VNNI) != 0;
    }
    return a >= 1 && __get_cpuid_count(LEAF_EXTENDED, 1, &a, &b, &c, &d) && (a & BF16) != 0;
}
#else
const char *heed_x86_lacks_avx2(void) {
    return "the processor is not an x86";
}
const char *heed_x86_lacks_avx512(void) {
    return "the processor is not an x86";
}
bool heed_x86_has(heed_x86_part part) {
    (void)part;
    return false;
}
#endif
