/* vec.h: the vector words (vec_*.h) that the file being compiled has chosen, those of AVX2 or NEON
 * where none was; and loops.
 *
 * A loop's body is written once for the vector at `at` that holds `left` elements: LANES of them, a
 * constant that the compiler sees, and once n % LANES at the end. Every lane is computed alike, so
 * an element's bits do not depend on n.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_VEC_LOOP_H
#define HEED_KERNEL_VEC_LOOP_H

#ifndef HEED_KERNEL_VEC_WORDS
#ifdef __aarch64__
#include "kernel/vec_neon.h"
#else
#include "kernel/vec_avx2.h"
#endif
#endif

/* Vectors in an array stay in registers only where the compiler takes loops over it apart early. */
#define UNROLL _Pragma("GCC unroll 32")

#define EACH(n, ...)                                                                               \
    do {                                                                                           \
        int64_t at = 0;                                                                            \
        for (; at + LANES <= (n); at += LANES) {                                                   \
            const int64_t left = LANES;                                                            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        if (at < (n)) {                                                                            \
            const int64_t left = (n)-at;                                                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } while (0)

/* The same for sums: s[u], u = 0 ... 3, takes vector u of each four, s[0] the last ones. */
#define SUMS(n, ...)                                                                               \
    do {                                                                                           \
        int64_t at = 0;                                                                            \
        while (at + 4 * LANES <= (n))                                                              \
            for (int u = 0; u < 4; u++, at += LANES) {                                             \
                const int64_t left = LANES;                                                        \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        const int u = 0;                                                                           \
        for (; at + LANES <= (n); at += LANES) {                                                   \
            const int64_t left = LANES;                                                            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        if (at < (n)) {                                                                            \
            const int64_t left = (n)-at;                                                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } while (0)

#define FOUR(x)                                                                                    \
    { x, x, x, x }

WORD float total_of(const vec s[4]) {
    return v_total(v_add(v_add(s[0], s[1]), v_add(s[2], s[3])));
}

#endif
