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
static heed_real hyper(heed_real x) { /* the hyperbolic tangent */
    return heed_ref_tanh(x);
}
static heed_real quick_gelu(heed_real x) {
    return x * sigmoid(R(1.702) * x);
}
static heed_real relu2(heed_real x) {
    return relu(x) * relu(x);
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
static heed_real hyper_slope(heed_real x, heed_real dy) {
    heed_real y = heed_ref_tanh(x);
    return dy * (1 - y * y);
}
static heed_real sigmoid_slope(heed_real x, heed_real dy) {
    heed_real s = sigmoid(x);
    return dy * (s * (1 - s));
}
static heed_real quick_gelu_slope(heed_real x, heed_real dy) {
    heed_real s = sigmoid(R(1.702) * x);
    return dy * (s + R(1.702) * x * s * (1 - s));
}
static heed_real relu2_slope(heed_real x, heed_real dy) {
    return x > 0 ? 2 * x * dy : 0;
}
/* Beyond +-16 the bell s (1 - s) is 0, and so must be its product with the slope. */
static heed_real gelu_tanh_slope(heed_real x, heed_real dy) {
    heed_real s = sigmoid(R(1.5957691216057308) * (x + R(0.044715) * x * x * x));
    heed_real near = x > 16 ? 16 : x < -16 ? -16 : x;
    heed_real slope = R(1.5957691216057308) * (1 + R(0.134145) * near * near);
    return dy * (s + near * s * (1 - s) * slope);
}

/* A function and its slope over n numbers. */
#define OVER_ALL(name)                                                                             \
    static void name##_all(int64_t n, const heed_real *x, heed_real *out) {                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            out[i] = name(x[i]);                                                                   \
        }                                                                                          \
    }                                                                                              \
    static void name##_slopes(int64_t n, const heed_real *x, const heed_real *dy,                  \
                              heed_real *out) {                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            out[i] = name##_slope(x[i], dy[i]);                                                    \
        }                                                                                          \
    }

OVER_ALL(relu)
OVER_ALL(gelu)
OVER_ALL(gelu_tanh)
OVER_ALL(silu)
OVER_ALL(hyper)
OVER_ALL(sigmoid)
OVER_ALL(quick_gelu)
OVER_ALL(relu2)

static const struct {
    void (*all)(int64_t n, const heed_real *x, heed_real *out);
    void (*slopes)(int64_t n, const heed_real *x, const heed_real *dy, heed_real *out);
} ACTIVATION[] = {[HEED_RELU] = {relu_all, relu_slopes},
                  [HEED_GELU] = {gelu_all, gelu_slopes},
                  [HEED_GELU_TANH] = {gelu_tanh_all, gelu_tanh_slopes},
                  [HEED_SILU] = {silu_all, silu_slopes},
                  [HEED_TANH] = {hyper_all, hyper_slopes},
                  [HEED_SIGMOID] = {sigmoid_all, sigmoid_slopes},
                  [HEED_QUICK_GELU] = {quick_gelu_all, quick_gelu_slopes},
                  [HEED_RELU2] = {relu2_all, relu2_slopes}};

static void act(heed_activation f, int64_t n, const heed_real *x, heed_real *out) {
    ACTIVATION[f].all(n, x, out);
}

static void act_back(heed_activation f, int64_t n, const heed_real *x, const heed_real *dy,
                     heed_real *out) {
    ACTIVATION[f].slopes(n, x, dy, out);
}

static void adam(const heed_adam *a, int64_t n, const heed_real *grad, heed_real *w, heed_real *m,
                 heed_real *v) {
    heed_real rate = a->lr / a->bias1, shrink = a->lr * a->decay, root = heed_ref_sqrt(a->bias2);
    for (int64_t i = 0; i < n; i++) {
        heed_real g = grad[i] * a->grad_scale + a->l2 * w[i];
        m[i] = a->beta1 * m[i] + a->rest1 * g;
        v[i] = a->beta2 * v[i] + a->rest2 * (g * g);
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
