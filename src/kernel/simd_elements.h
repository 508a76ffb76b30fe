/* simd_elements.h: element-wise kernels, Adam, sums in double.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_ELEMENTS_H
#define HEED_KERNEL_SIMD_ELEMENTS_H

#include "kernel/simd_math.h"

#define EACH_OF_ONE(f) EACH(n, v_put(out + at, left, f(v_get(x + at, left)));)
#define EACH_OF_TWO(f, a, b)                                                                       \
    EACH(n, v_put(out + at, left, f(v_get((a) + at, left), v_get((b) + at, left)));)

KERNEL void add(int64_t n, const float *a, const float *b, float *out) {
    EACH_OF_TWO(v_add, a, b);
}

KERNEL void mul(int64_t n, const float *a, const float *b, float *out) {
    EACH_OF_TWO(v_mul, a, b);
}

KERNEL void exp_all(int64_t n, const float *x, float *out) {
    EACH_OF_ONE(v_exp);
}

KERNEL void scale(int64_t n, float s, const float *a, float *out) {
    vec factor = v_set(s);
    EACH(n, v_put(out + at, left, v_mul(factor, v_get(a + at, left))););
}

KERNEL void act(heed_activation f, int64_t n, const float *x, float *out) {
    switch (f) {
    case HEED_RELU:
        EACH_OF_ONE(v_relu);
        break;
    case HEED_GELU:
        EACH_OF_ONE(v_gelu);
        break;
    case HEED_GELU_TANH:
        EACH_OF_ONE(v_gelu_tanh);
        break;
    case HEED_SILU:
        EACH_OF_ONE(v_silu);
        break;
    case HEED_TANH:
        EACH_OF_ONE(v_tanh);
        break;
    case HEED_SIGMOID:
        EACH_OF_ONE(v_sigmoid);
        break;
    case HEED_QUICK_GELU:
        EACH_OF_ONE(v_quick_gelu);
        break;
    case HEED_RELU2:
        EACH_OF_ONE(v_relu2);
        break;
    }
}

KERNEL void act_back(heed_activation f, int64_t n, const float *x, const float *dy, float *out) {
    switch (f) {
    case HEED_RELU:
        EACH_OF_TWO(v_relu_back, x, dy);
        break;
    case HEED_GELU:
        EACH_OF_TWO(v_gelu_back, x, dy);
        break;
    case HEED_GELU_TANH:
        EACH_OF_TWO(v_gelu_tanh_back, x, dy);
        break;
    case HEED_SILU:
        EACH_OF_TWO(v_silu_back, x, dy);
        break;
    case HEED_TANH:
        EACH_OF_TWO(v_tanh_back, x, dy);
        break;
    case HEED_SIGMOID:
        EACH_OF_TWO(v_sigmoid_back, x, dy);
        break;
    case HEED_QUICK_GELU:
        EACH_OF_TWO(v_quick_gelu_back, x, dy);
        break;
    case HEED_RELU2:
        EACH_OF_TWO(v_relu2_back, x, dy);
        break;
    }
}

KERNEL void adam(const heed_adam *a, int64_t n, const float *grad, float *w, float *m, float *v) {
    vec rate = v_set(a->lr / a->bias1), shrink = v_set(a->lr * a->decay), eps = v_set(a->eps);
    vec root = v_set(sqrtf(a->bias2)), grad_scale = v_set(a->grad_scale), l2 = v_set(a->l2);
    vec beta1 = v_set(a->beta1), rest1 = v_set(a->rest1);
    vec beta2 = v_set(a->beta2), rest2 = v_set(a->rest2);
    EACH(n, {
        vec old = v_get(w + at, left);
        vec g = v_fma(v_get(grad + at, left), grad_scale, v_mul(l2, old));
        vec mean = v_fma(beta1, v_get(m + at, left), v_mul(rest1, g));
        vec square = v_fma(beta2, v_get(v + at, left), v_mul(rest2, v_mul(g, g)));
        vec size = v_add(v_div(v_sqrt(square), root), eps);
        vec step = v_div(v_mul(rate, mean), size);
        v_put(w + at, left, v_sub(v_fnma(shrink, old, old), step));
        v_put(m + at, left, mean);
        v_put(v + at, left, square);
    });
}

KERNEL double sum(int64_t n, const float *x) {
    wide s = w_zero();
    EACH(n, s = w_add(s, v_get(x + at, left)););
    return w_total(s);
}

KERNEL double sum_squares(int64_t n, const float *x) {
    wide s = w_zero();
    EACH(n, s = w_add_square(s, v_get(x + at, left)););
    return w_total(s);
}

KERNEL bool all_finite(int64_t n, const float *x) {
    bool finite = true;
    EACH(n, finite &= v_all_finite(v_get(x + at, left)););
    return finite;
}

static inline void use_elements(heed_kernels *k) {
    k->add = add;
    k->mul = mul;
    k->scale = scale;
    k->exp = exp_all;
    k->act = act;
    k->act_back = act_back;
    k->adam = adam;
    k->sum = sum;
    k->sum_squares = sum_squares;
    k->all_finite = all_finite;
}

#endif
