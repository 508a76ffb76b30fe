/* simd_math.h: exp, the normal distribution, the logistic function; the same on every path of a
 * set.
 *
 * As in ref.h, with fused multiply-adds.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_MATH_H
#define HEED_KERNEL_SIMD_MATH_H

#include "kernel/vec.h"

#include <math.h>

/* An x whose e^x is what that of x is, with 2^n in reach of v_power; NaN stays NaN. */
WORD vec v_power_argument(vec x) {
#ifdef HEED_VEC_SCALES
    return v_min(v_set(128.0f), v_max(v_set(-160.0f), x));
#else
    return x;
#endif
}

/* p 2^n, the end of e^x; n stands in the low bits of t too. */
WORD vec v_power(vec p, vec n, vec t, vec x) {
#ifdef HEED_VEC_SCALES
    (void)t, (void)x;
    return v_scale(p, n);
#else
    (void)n;
    p = v_scale_by_low_bits(p, t);
    p = v_if_less(x, v_set(0x1.62e43p+6f), p, v_add(x, v_set(INFINITY))); /* infinity, or NaN */
    return v_if_less(x, v_set(-0x1.5d589ep+6f), v_zero(), p);
#endif
}

/* e^x = 2^n e^r, n = round(x / ln 2), e^r = 1 + r + r^2 P(r); coefficients by
 * tools/fit_kernels.py. */
WORD vec v_exp(vec x) {
    x = v_power_argument(x);
    vec round = v_set(12582912.0f); /* 1.5 * 2^23 */
    vec t = v_fma(x, v_set(0x1.715476p+0f), round), n = v_sub(t, round);
    vec r = v_fnma(n, v_set(0x1.0bfbe8p-15f), v_fnma(n, v_set(0x1.62ep-1f), x));
    vec p = v_fma(v_set(0x1.6a2352p-10f), r, v_set(0x1.123a6cp-7f));
    p = v_fma(p, r, v_set(0x1.5558f4p-5f));
    p = v_fma(p, r, v_set(0x1.55549p-3f));
    p = v_fma(p, r, v_set(0x1.fffffcp-2f));
    return v_power(v_add(v_fma(p, v_mul(r, r), r), v_set(1.0f)), n, t, x);
}

WORD float exp_one(float x) {
    return v_first(v_exp(v_set(x)));
}

/* P(X > x) of the normal distribution, x >= 0, from e = exp(-x^2/2). */
WORD vec v_tail(vec x, vec e) {
    vec t = v_div(v_set(1.0f), v_fma(v_set(0.35f), x, v_set(1.0f)));
    vec sum = v_fma(v_set(-0x1.dd86d8p-6f), t, v_set(0x1.26da9ap-3f));
    sum = v_fma(sum, t, v_set(-0x1.05d9eep-2f));
    sum = v_fma(sum, t, v_set(0x1.45fd08p-3f));
    sum = v_fma(sum, t, v_set(-0x1.7aa148p-6f));
    sum = v_fma(sum, t, v_set(0x1.b0291ep-4f));
    sum = v_fma(sum, t, v_set(0x1.ead5e2p-4f));
    sum = v_fma(sum, t, v_set(0x1.1e6fe6p-3f));
    sum = v_fma(sum, t, v_set(0x1.1df1d4p-3f));
    return v_mul(e, v_mul(t, sum));
}

WORD vec v_density(vec x) {
    return v_exp(v_mul(v_mul(v_set(-0.5f), x), x));
} /* times sqrt(2 pi) */

/* P(X <= x), from e = exp(-x^2/2). */
WORD vec v_normal(vec x, vec e) {
    vec tail = v_tail(v_abs(x), e);
    return v_if_less(x, v_zero(), tail, v_sub(v_set(1.0f), tail));
}

WORD vec v_sigmoid(vec x) {
    return v_div(v_set(1.0f), v_add(v_set(1.0f), v_exp(v_sub(v_zero(), x))));
}

/* As heed_ref_tanh. */
WORD vec v_tanh(vec x) {
    vec size = v_abs(x), z = v_mul(x, x);
    vec p = v_fma(v_set(-0x1.75e1ccp-8f), z, v_set(0x1.52269cp-6f));
    p = v_fma(p, z, v_set(-0x1.b83c5ap-5f));
    p = v_fma(p, z, v_set(0x1.110726p-3f));
    p = v_fma(p, z, v_set(-0x1.555532p-2f));
    vec e = v_exp(v_add(size, size));
    vec far = v_sub(v_set(1.0f), v_div(v_set(2.0f), v_add(e, v_set(1.0f))));
    far = v_if_less(x, v_zero(), v_sub(v_zero(), far), far);
    return v_if_less(size, v_set(0.625f), v_fma(p, v_mul(z, x), x), far);
}

/* 2 sqrt(2/pi) (x + 0.044715 x^3): 0.5 (1 + tanh) of half of it is its logistic function. */
WORD vec v_gelu_angle(vec x) {
    vec cube = v_mul(v_mul(x, x), x);
    return v_mul(v_set(1.5957691216057308f), v_fma(v_set(0.044715f), cube, x));
}

WORD vec v_relu(vec x) {
    return v_max(v_zero(), x);
} /* NaN stays NaN */
WORD vec v_gelu(vec x) {
    return v_mul(x, v_normal(x, v_density(x)));
}
WORD vec v_gelu_tanh(vec x) {
    return v_mul(x, v_sigmoid(v_gelu_angle(x)));
}
WORD vec v_silu(vec x) {
    return v_mul(x, v_sigmoid(x));
}

WORD vec v_quick_gelu(vec x) {
    return v_mul(x, v_sigmoid(v_mul(v_set(1.702f), x)));
}
WORD vec v_relu2(vec x) {
    vec y = v_relu(x);
    return v_mul(y, y);
}

WORD vec v_relu_back(vec x, vec dy) {
    return v_if_less(v_zero(), x, dy, v_zero());
}
WORD vec v_gelu_back(vec x, vec dy) {
    vec e = v_density(x), slope = v_mul(v_mul(x, v_set(0.39894228040143268f)), e);
    return v_mul(dy, v_add(v_normal(x, e), slope));
}
WORD vec v_silu_back(vec x, vec dy) {
    vec s = v_sigmoid(x);
    return v_mul(dy, v_fma(v_mul(x, s), v_sub(v_set(1.0f), s), s));
}
WORD vec v_tanh_back(vec x, vec dy) {
    vec y = v_tanh(x);
    return v_mul(dy, v_fnma(y, y, v_set(1.0f)));
}
WORD vec v_sigmoid_back(vec x, vec dy) {
    vec s = v_sigmoid(x);
    return v_mul(dy, v_mul(s, v_sub(v_set(1.0f), s)));
}
WORD vec v_quick_gelu_back(vec x, vec dy) {
    vec y = v_mul(v_set(1.702f), x), s = v_sigmoid(y);
    return v_mul(dy, v_fma(v_mul(y, s), v_sub(v_set(1.0f), s), s));
}
WORD vec v_relu2_back(vec x, vec dy) {
    return v_if_less(v_zero(), x, v_mul(v_add(x, x), dy), v_zero());
}
/* Beyond +-16 the bell s (1 - s) is 0, and so must be its product with the slope. */
WORD vec v_gelu_tanh_back(vec x, vec dy) {
    vec s = v_sigmoid(v_gelu_angle(x)), near = v_max(v_set(-16.0f), v_min(v_set(16.0f), x));
    vec slope =
        v_mul(v_set(1.5957691216057308f), v_fma(v_set(0.134145f), v_mul(near, near), v_set(1.0f)));
    vec bell = v_mul(v_mul(near, s), v_sub(v_set(1.0f), s));
    return v_mul(dy, v_fma(bell, slope, s));
}

#endif
