/* Element-wise kernels: every length, every shift, hostile numbers, against double.
 *
 * Bounds follow from the arithmetic, with u = 2^-24: an operation of one rounding has the bits of
 * C's; a slope adds u for each rounding of a factor, and 1 - s, which is off by u, times what
 * multiplies it.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <float.h>

static walled a_buf, b_buf, out_buf, short_buf;

/* One kernel: what it computes from a and b, in double, and how far off it may be. */
typedef struct {
    const char *name;
    void (*run)(const heed_kernels *k, int64_t n, const float *a, const float *b, float *out);
    double (*want)(float a, float b);
    double (*bound)(float a, float b);
    bool exact; /* one rounding: the bits of the float nearest to `want` */
} subject;

static void run_add(const heed_kernels *k, int64_t n, const float *a, const float *b, float *out) {
    k->add(n, a, b, out);
}
static double want_add(float a, float b) {
    return (double)a + (double)b;
}
static void run_mul(const heed_kernels *k, int64_t n, const float *a, const float *b, float *out) {
    k->mul(n, a, b, out);
}
static double want_mul(float a, float b) {
    return (double)a * (double)b;
}
static void run_scale(const heed_kernels *k, int64_t n, const float *a, const float *b,
                      float *out) {
    (void)b;
    k->scale(n, 0.3f, a, out);
}
static double want_scale(float a, float b) {
    (void)b;
    return (double)a * (double)0.3f;
}
static void run_exp(const heed_kernels *k, int64_t n, const float *a, const float *b, float *out) {
    (void)b;
    k->exp(n, a, out);
}
static double want_exp(float a, float b) {
    (void)b;
    return (double)a > log((double)FLT_MAX) ? (double)INFINITY : exp((double)a);
}
static double bound_exp(float a, float b) {
    return 4 * U * want_exp(a, b) + 0x1p-126;
}

static double normal(double x) {
    return 0.5 * erfc(-x * 0.70710678118654752440);
}
static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static double angle(double x) {
    return 1.5957691216057308 * (x + 0.044715 * x * x * x);
}

#define ACTIVATION(name, code, value, slope, slope_bound)                                          \
    static void run_##name(const heed_kernels *k, int64_t n, const float *a, const float *b,       \
                           float *out) {                                                           \
        (void)b;                                                                                   \
        k->act(code, n, a, out);                                                                   \
    }                                                                                              \
    static void run_##name##_back(const heed_kernels *k, int64_t n, const float *a,                \
                                  const float *b, float *out) {                                    \
        k->act_back(code, n, a, b, out);                                                           \
    }                                                                                              \
    static double want_##name(float a, float b) {                                                  \
        double x = (double)a;                                                                      \
        (void)b;                                                                                   \
        return value;                                                                              \
    }                                                                                              \
    static double want_##name##_back(float a, float b) {                                           \
        double x = (double)a;                                                                      \
        return (double)b * (slope);                                                                \
    }                                                                                              \
    static double bound_##name##_back(float a, float b) {                                          \
        double x = (double)a;                                                                      \
        (void)x;                                                                                   \
        return U * fabs((double)b) * (slope_bound) + 0x1p-149;                                     \
    }

ACTIVATION(relu, HEED_RELU, x > 0 ? x : 0, x > 0 ? 1 : 0, 0)
ACTIVATION(gelu, HEED_GELU, x *normal(x), normal(x) + x * 0.39894228040143268 * exp(-0.5 * x * x),
           12)
ACTIVATION(silu, HEED_SILU, x *sigmoid(x), sigmoid(x) * (1 + x * (1 - sigmoid(x))), 8 + 2 * fabs(x))
ACTIVATION(gelu_tanh, HEED_GELU_TANH, x *sigmoid(angle(x)),
           sigmoid(angle(x)) + (fabs(x) > 16 ? 0
                                             : x * sigmoid(angle(x)) * (1 - sigmoid(angle(x))) *
                                                   1.5957691216057308 * (1 + 0.134145 * x * x)),
           8 + 4 * fmin(fabs(x), 16) * (1 + 0.134145 * fmin(x * x, 256)))

ACTIVATION(tanh, HEED_TANH, tanh(x), 1 - tanh(x) * tanh(x), 12)
ACTIVATION(sigmoid, HEED_SIGMOID, sigmoid(x), sigmoid(x) * (1 - sigmoid(x)), 10)
ACTIVATION(quick_gelu, HEED_QUICK_GELU, x *sigmoid(1.702 * x),
           sigmoid(1.702 * x) * (1 + 1.702 * x * (1 - sigmoid(1.702 * x))), 8 + 4 * fabs(x))
ACTIVATION(relu2, HEED_RELU2, x > 0 ? x * x : 0, x > 0 ? 2 * x : 0, 0)

static double bound_sigmoid(float a, float b) {
    return 6 * U * want_sigmoid(a, b) + 0x1p-126;
}
static double bound_act(float a, float b) {
    (void)b;
    return 4 * U * fabs((double)a) + 0x1p-149;
}
static double bound_zero(float a, float b) {
    (void)a, (void)b;
    return 0;
}

#define SUBJECT(name, bound, exact)                                                                \
    { #name, run_##name, want_##name, bound, exact }
static const subject SUBJECTS[] = {
    SUBJECT(add, bound_zero, true),         SUBJECT(mul, bound_zero, true),
    SUBJECT(scale, bound_zero, true),       SUBJECT(exp, bound_exp, false),
    SUBJECT(relu, bound_zero, true),        SUBJECT(relu_back, bound_relu_back, true),
    SUBJECT(gelu, bound_act, false),        SUBJECT(gelu_back, bound_gelu_back, false),
    SUBJECT(silu, bound_act, false),        SUBJECT(silu_back, bound_silu_back, false),
    SUBJECT(gelu_tanh, bound_act, false),   SUBJECT(gelu_tanh_back, bound_gelu_tanh_back, false),
    SUBJECT(tanh, bound_act, false),        SUBJECT(tanh_back, bound_tanh_back, false),
    SUBJECT(sigmoid, bound_sigmoid, false), SUBJECT(sigmoid_back, bound_sigmoid_back, false),
    SUBJECT(quick_gelu, bound_act, false),  SUBJECT(quick_gelu_back, bound_quick_gelu_back, false),
    SUBJECT(relu2, bound_zero, true),       SUBJECT(relu2_back, bound_relu2_back, true),
};
enum { COUNT = sizeof SUBJECTS / sizeof SUBJECTS[0] };

static void check_values(const subject *s, int64_t n, const float *a, const float *b,
                         const float *out) {
    for (int64_t i = 0; i < n; i++) {
        double want = s->want(a[i], b[i]);
        if (s->exact) {
            want = (double)(float)want;
        }
        check_near((double)out[i], want, s->bound(a[i], b[i]), s->name, i, n);
    }
}

static void check_length(const heed_kernels *k, const subject *s, int64_t n, int shift, int kind,
                         dice *d) {
    const float *a = walled_fill(&a_buf, n, shift, d, kind);
    const float *b = walled_fill(&b_buf, n, (shift * 7 + 3) % 16, d, kind);
    float *out = walled_make(&out_buf, n, (shift * 5 + 1) % 16);
    s->run(k, n, a, b, out);
    walled_check(&out_buf, s->name);
    check_values(s, n, a, b, out);
    /* a shorter call gives the same elements, and so does writing over an input */
    int64_t less = n ? roll_below(d, n) : 0;
    float *again = walled_make(&short_buf, less, shift);
    s->run(k, less, a, b, again);
    assert_true(same_bits(again, out, less));
    s->run(k, n, a, b, a_buf.p);
    walled_check(&a_buf, s->name);
    assert_true(same_bits(a_buf.p, out, n));
}

static void check_elements(const heed_kernels *k) {
    dice d = {3};
    for (int i = 0; i < COUNT; i++) {
        for (int64_t n = 0; n <= 67; n++) {
            for (int shift = 0; shift < 16; shift++) {
                check_length(k, &SUBJECTS[i], n, shift, shift % KINDS, &d);
            }
        }
        for (int kind = 0; kind < KINDS; kind++) {
            check_length(k, &SUBJECTS[i], CHECK_MAX - kind, kind, kind, &d);
        }
    }
}

static void test_elements(void **state) {
    (void)state;
    FOR_EACH_SET(add, check_elements);
}

/* tanh in small steps, across the place where its two forms meet: good to 4 u of its own size. */
static void check_tanh(const heed_kernels *k) {
    for (double x = -12; x < 12; x += 0.00017) {
        float a = (float)x, y;
        k->act(HEED_TANH, 1, &a, &y);
        check_near((double)y, tanh((double)a), 4 * U * fabs(tanh((double)a)), k->isa, 0, 1);
    }
    const float ends[] = {INFINITY, -INFINITY, 0.0f, 0.625f, -0.625f, 0x1p-140f};
    for (int i = 0; i < 6; i++) {
        float y;
        k->act(HEED_TANH, 1, ends + i, &y);
        check_near((double)y, tanh((double)ends[i]), 4 * U * fabs(tanh((double)ends[i])), k->isa, i,
                   6);
    }
}

static void test_tanh(void **state) {
    (void)state;
    FOR_EACH_SET(act, check_tanh);
}

/* exp over its whole range in small steps, and at its ends; NaN stays NaN everywhere. */
static void check_exp(const heed_kernels *k) {
    for (double x = -90; x < 90; x += 0.003) {
        float a = (float)x, e;
        k->exp(1, &a, &e);
        check_near((double)e, want_exp(a, 0), bound_exp(a, 0), k->isa, 0, 1);
    }
    const float ends[] = {INFINITY, -INFINITY, 0.0f, -0.0f, 88.72284f, -104.0f, 1e30f, -1e30f};
    const float want[] = {INFINITY, 0, 1, 1, INFINITY, 0, INFINITY, 0};
    for (int i = 0; i < 8; i++) {
        float e;
        k->exp(1, ends + i, &e);
        assert_true(e == want[i]);
    }
    float nan[3] = {NAN, -NAN, wall_value()}, out[3];
    k->exp(3, nan, out);
    for (int i = 0; i < 3; i++) {
        assert_true(isnan(out[i]));
    }
    for (int f = HEED_RELU; f <= HEED_RELU2; f++) {
        k->act((heed_activation)f, 3, nan, out);
        assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
    }
}

static void test_exp(void **state) {
    (void)state;
    FOR_EACH_SET(exp, check_exp);
}

static void check_one(const heed_kernels *k, heed_activation f, float x, double want) {
    float y;
    k->act(f, 1, &x, &y);
    check_near((double)y, want, 0.5e-6, k->isa, 0, 1); /* the digits that are given */
}

static void check_known(const heed_kernels *k) {
    check_one(k, HEED_GELU, 1, 0.841345);
    check_one(k, HEED_GELU_TANH, 1, 0.841192);
    check_one(k, HEED_GELU, -3, -0.004050);
    check_one(k, HEED_GELU_TANH, -3, -0.003637);
    check_one(k, HEED_SILU, 1, 0.731059);
    check_one(k, HEED_TANH, 1, 0.761594);
    check_one(k, HEED_QUICK_GELU, 1, 0.845796);
}

static void test_known_values(void **state) {
    (void)state;
    FOR_EACH_SET(act, check_known);
}

static void check_sums(const heed_kernels *k) {
    dice d = {4};
    for (int64_t n = 0; n < 70; n++) {
        for (int kind = 0; kind < KINDS; kind++) {
            const float *x = walled_fill(&a_buf, n, (int)n % 16, &d, kind);
            double sum = 0, size = 0, squares = 0;
            for (int64_t i = 0; i < n; i++) {
                sum += (double)x[i];
                size += fabs((double)x[i]);
                squares += (double)x[i] * (double)x[i];
            }
            check_near(k->sum(n, x), sum, 2 * (double)n * 0x1p-53 * size, "sum", 0, n);
            check_near(k->sum_squares(n, x), squares, 2 * (double)n * 0x1p-53 * squares, "squares",
                       0, n);
            assert_true(k->all_finite(n, x));
        }
        const float bad[] = {NAN, INFINITY, -INFINITY};
        for (int64_t i = 0; i < n; i++) {
            float *x = walled_fill(&a_buf, n, 3, &d, LARGE);
            x[i] = bad[i % 3];
            assert_false(k->all_finite(n, x));
        }
    }
}

static void test_sums(void **state) {
    (void)state;
    FOR_EACH_SET(sum, check_sums);
}

/* Probes count operations: twice the rounds, twice as many; F32 is there on every set. */
static void check_probes(const heed_kernels *k) {
    assert_non_null(k->probe[HEED_PROBE_F32]);
    for (int p = 0; p < HEED_PROBES; p++) {
        if (k->probe[p]) {
            double one = k->probe[p](100);
            assert_true(one >= 200 && k->probe[p](200) == 2 * one);
        }
    }
}

static void test_probes(void **state) {
    (void)state;
    FOR_EACH_SET(isa, check_probes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements), cmocka_unit_test(test_exp),
        cmocka_unit_test(test_tanh),     cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
