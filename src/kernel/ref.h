/* ref.h: what the files of the reference share: scalar functions, sums, names of the kernels.
 *
 * Sums run in eight lanes (element i in lane i % 8) joined in one fixed order: a compiler may keep
 * the lanes in vector registers, and the error grows with n/8.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_REF_H
#define HEED_KERNEL_REF_H

#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

enum { HEED_REF_LANES = 8 };

#ifdef HEED_DOUBLE
static inline heed_real heed_ref_exp(heed_real x) {
    return exp(x);
}
static inline heed_real heed_ref_tanh(heed_real x) {
    return tanh(x);
}
static inline heed_real heed_ref_sqrt(heed_real x) {
    return sqrt(x);
}
/* P(X > x) of the normal distribution, x >= 0. */
static inline heed_real heed_ref_tail(heed_real x) {
    return 0.5 * erfc(x * 0.70710678118654752440);
}
#else
static inline heed_real heed_ref_sqrt(heed_real x) {
    return sqrtf(x);
}

/* e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln(2)/2; e^r = 1 + r + r^2 P(r), P by
 * tools/fit_kernels.py. Results below the smallest normal number are 0. */
static inline heed_real heed_ref_exp(heed_real x) {
    const float round =
        12582912.0f; /* 1.5 * 2^23: adding it leaves the nearest integer in the low bits */
    float t = x * 0x1.715476p+0f + round, n = t - round;
    float r = (x - n * 0x1.62ep-1f) - n * 0x1.0bfbe8p-15f;
    float p = 0x1.6a2352p-10f;
    p = p * r + 0x1.123a6cp-7f;
    p = p * r + 0x1.5558f4p-5f;
    p = p * r + 0x1.55549p-3f;
    p = p * r + 0x1.fffffcp-2f;
    p = p * (r * r) + r + 1.0f;
    uint32_t bits, shift;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&shift, &t, sizeof shift);
    bits += shift << 23;
    memcpy(&p, &bits, sizeof p);
    p = x > 0x1.62e42ep+6f ? INFINITY : p;
    p = x < -0x1.5d589ep+6f ? 0.0f : p;
    return x != x ? x : p;
}

/* x + x^3 P(x^2) where |x| < 5/8, P by tools/fit_kernels.py; else 1 - 2/(e^2x + 1), which has lost
 * no digits there. */
static inline heed_real heed_ref_tanh(heed_real x) {
    float size = fabsf(x), z = x * x;
    float p = -0x1.75e1ccp-8f;
    p = p * z + 0x1.52269cp-6f;
    p = p * z + -0x1.b83c5ap-5f;
    p = p * z + 0x1.110726p-3f;
    p = p * z + -0x1.555532p-2f;
    float far = 1.0f - 2.0f / (heed_ref_exp(size + size) + 1.0f);
    return size < 0.625f ? p * (z * x) + x : copysignf(far, x);
}

/* P(X > x) of the normal distribution, x >= 0: exp(-x^2/2) t T(t), t = 1/(1 + 0.35 x), T by
 * tools/fit_kernels.py. */
static inline heed_real heed_ref_tail(heed_real x) {
    static const float T[9] = {0x1.1df1d4p-3f,  0x1.1e6fe6p-3f,  0x1.ead5e2p-4f,
                               0x1.b0291ep-4f,  -0x1.7aa148p-6f, 0x1.45fd08p-3f,
                               -0x1.05d9eep-2f, 0x1.26da9ap-3f,  -0x1.dd86d8p-6f};
    float t = 1.0f / (1.0f + 0.35f * x), sum = T[8];
    for (int i = 7; i >= 0; i--) {
        sum = sum * t + T[i];
    }
    return heed_ref_exp(-0.5f * x * x) * (t * sum);
}
#endif

static inline heed_real heed_ref_total(const heed_real lane[HEED_REF_LANES]) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static inline heed_real heed_ref_dot(int64_t n, const heed_real *a, const heed_real *b) {
    heed_real lane[HEED_REF_LANES] = {0};
    int64_t i = 0;
    for (; i + HEED_REF_LANES <= n; i += HEED_REF_LANES) {
        for (int j = 0; j < HEED_REF_LANES; j++) {
            lane[j] += a[i + j] * b[i + j];
        }
    }
    for (int j = 0; i + j < n; j++) {
        lane[j] += a[i + j] * b[i + j];
    }
    return heed_ref_total(lane);
}

/* Fill in one part of the table each. */
void heed_ref_gemm(heed_kernels *k);
void heed_ref_attention(heed_kernels *k);
void heed_ref_attend(const heed_attention *a);
void heed_ref_attend_back(const heed_attention *a);
void heed_ref_elements(heed_kernels *k);
void heed_ref_rows(heed_kernels *k);
void heed_ref_drop(heed_kernels *k);
void heed_ref_ints(heed_kernels *k);

#endif
