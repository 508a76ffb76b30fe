/* ref_elements.c: element-wise kernels, activations, Adam, sums in double.
 *
 * GELU's normal distribution is P(X <= x) = 1 - tail(x) or tail(-x), so that both sides keep their
 * digits. Source: Hendrycks and Gimpel 2016 (GELU, SiLU); Kingma and Ba 2015 (Adam).
 * SPDX-License-Identifier: MIT
 */
#include "kernel/ref.h"

#define R(x) ((heed_real)(x))

static void add(int64_t n, const heed_real *a, const heed_real *b, heed_real *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = a[i] + b[i];
    }
}

static void mul(int64_t n, const heed_real *a, const heed_real *b, heed_real *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = a[i] * b[i];
    }
}

static void scale(int64_t n, heed_real s, const heed_real *a, heed_real *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = s * a[i];
    }
}

static void exp_all(int64_t n, const heed_real *x, heed_real *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = heed_ref_exp(x[i]);
    }
}

static heed_real sigmoid(heed_real x) {
    return 1 / (1 + heed_ref_exp(-x));
}

/* P(X <= x) of the normal distribution. */
static heed_real normal(heed_real x) {
    heed_real tail = heed_ref_tail(x < 0 ? -x : x);
    return x < 0 ? tail : 1 - tail;
}

static heed_real relu(heed_real x) {
    return x < 0 ? 0 : x;
}
static heed_real gelu(heed_real x) {
    return x * normal(x);
}
static heed_real silu(heed_real x) {
    return x * sigmoid(x);
}
/* 0.5 x (1 + tanh(y)) = x sigmoid(2 y), y = sqrt(2/pi) (x + 0.044715 x^3) */
static heed_real gelu_tanh(heed_real x) {
    return x * sigmoid(R(1.5957691216057308) * (x + R(0.044715) * x * x * x));
}

static heed_real relu_slope(heed_real x, heed_real dy) {
    return x > 0 ? dy : 0;
}
static heed_real gelu_slope(heed_real x, heed_real dy) {
    heed_real density = R(0.39894228040143268) * heed_ref_exp(R(-0.5) * x * x);
    return dy * (normal(x) + x * density);
}
static heed_real silu_slope(heed_real x, heed_real dy) {
    heed_real s = sigmoid(x);
    return dy * (s + x * s * (1 - s));
}
/* Beyond +-16 the bell s (1 - s) is 0, and so must be its product with the slope. */
static heed_real gelu_tanh_slope(heed_real x, heed_real dy) {
    heed_real s = sigmoid(R(1.5957691216057308) * (x + R(0.044715) * x * x * x));
    heed_real near = x > 16 ? 16 : x < -16 ? -16 : x;
    heed_real slope = R(1.5957691216057308) * (1 + R(0.134145) * near * near);
    return dy * (s + near * s * (1 - s) * slope);
}

#define EACH(f)                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                \
    out[i] = f

static void act(heed_activation f, int64_t n, const heed_real *x, heed_real *out) {
    switch (f) {
    case HEED_RELU:
        EACH(relu(x[i]));
        break;
    case HEED_GELU:
        EACH(gelu(x[i]));
        break;
    case HEED_GELU_TANH:
        EACH(gelu_tanh(x[i]));
        break;
    case HEED_SILU:
        EACH(silu(x[i]));
        break;
    }
}

static void act_back(heed_activation f, int64_t n, const heed_real *x, const heed_real *dy,
                     heed_real *out) {
    switch (f) {
    case HEED_RELU:
        EACH(relu_slope(x[i], dy[i]));
        break;
    case HEED_GELU:
        EACH(gelu_slope(x[i], dy[i]));
        break;
    case HEED_GELU_TANH:
        EACH(gelu_tanh_slope(x[i], dy[i]));
        break;
    case HEED_SILU:
        EACH(silu_slope(x[i], dy[i]));
        break;
    }
}

static void adam(const heed_adam *a, int64_t n, const heed_real *grad, heed_real *w, heed_real *m,
                 heed_real *v) {
    heed_real rate = a->lr / a->bias1, shrink = a->lr * a->decay, root = heed_ref_sqrt(a->bias2);
    for (int64_t i = 0; i < n; i++) {
        heed_real g = grad[i] * a->grad_scale + a->l2 * w[i];
        m[i] = a->beta1 * m[i] + (1 - a->beta1) * g;
        v[i] = a->beta2 * v[i] + (1 - a->beta2) * (g * g);
        heed_real step = rate * m[i] / (heed_ref_sqrt(v[i]) / root + a->eps);
        w[i] = w[i] - shrink * w[i] - step;
    }
}

static double sum(int64_t n, const heed_real *x) {
    double lane[HEED_REF_LANES] = {0}, total = 0;
    for (int64_t i = 0; i < n; i++) {
        lane[i % HEED_REF_LANES] += (double)x[i];
    }
    for (int j = 0; j < HEED_REF_LANES; j++) {
        total += lane[j];
    }
    return total;
}

static double sum_squares(int64_t n, const heed_real *x) {
    double lane[HEED_REF_LANES] = {0}, total = 0;
    for (int64_t i = 0; i < n; i++) {
        lane[i % HEED_REF_LANES] += (double)x[i] * (double)x[i];
    }
    for (int j = 0; j < HEED_REF_LANES; j++) {
        total += lane[j];
    }
    return total;
}

static bool all_finite(int64_t n, const heed_real *x) {
    bool finite = true;
    for (int64_t i = 0; i < n; i++) {
        finite &= x[i] - x[i] == 0;
    }
    return finite;
}

void heed_ref_elements(heed_kernels *k) {
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
