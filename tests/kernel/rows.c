/* Kernels over one row, against the formulas in double, every length and shift.
 *
 * Bounds follow from the arithmetic, u = 2^-24: a sum of n terms is off by (n + c) u times the sum
 * of their sizes, c for what each term went through; exp(x - max) by (|x - max| + 5) u of itself; a
 * square root, a quotient and a product by u each.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

static walled x_buf, dy_buf, gain_buf, shift_buf, out_buf;

/* The smallest normal number: what is below it may come out as 0. */
#define FLOOR 0x1p-126

static double largest(int64_t n, const float *x) {
    double max = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        max = (double)x[i] > max ? (double)x[i] : max;
    }
    return max;
}

static double sum_exp(int64_t n, const float *x, double max) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += exp((double)x[i] - max);
    }
    return sum;
}

/* Relative error of exp(x_i - max) / sum. */
static double softmax_off(int64_t n, const float *x, double max, double difference) {
    double mean_off = 0, sum = sum_exp(n, x, max);
    for (int64_t i = 0; i < n; i++) {
        mean_off += exp((double)x[i] - max) / sum * fabs((double)x[i] - max);
    }
    return (fabs(difference) + mean_off + (double)(n < 1024 ? n : 1024) + 14) * U;
}

static void fill_logits(int64_t n, int shift, dice *d) {
    walled_make(&x_buf, n, shift);
    float size = shift % 3 ? 4.0f : 60.0f, middle = shift % 5 ? 0 : -500.0f;
    for (int64_t i = 0; i < n; i++) {
        x_buf.p[i] = middle + roll_between(d, -size, size);
    }
}

static void check_softmax(const heed_kernels *k, int64_t n, int shift, dice *d) {
    fill_logits(n, shift, d);
    float *out = walled_make(&out_buf, n, shift / 2);
    k->softmax(n, x_buf.p, out);
    walled_check(&out_buf, "softmax");
    double max = largest(n, x_buf.p), sum = sum_exp(n, x_buf.p, max);
    for (int64_t i = 0; i < n; i++) {
        double difference = (double)x_buf.p[i] - max, want = exp(difference) / sum;
        check_near((double)out[i], want, softmax_off(n, x_buf.p, max, difference) * want + FLOOR,
                   "softmax", i, n);
    }
    k->softmax(n, x_buf.p, x_buf.p);
    assert_true(same_bits(x_buf.p, out, n));
}

static void check_softmax_back(const heed_kernels *k, int64_t n, int shift, dice *d) {
    const float *y = walled_fill(&x_buf, n, shift, d, PLAIN);
    const float *dy = walled_fill(&dy_buf, n, 15 - shift, d, PLAIN);
    float *dx = walled_make(&out_buf, n, shift / 2);
    k->softmax_back(n, y, dy, dx);
    walled_check(&out_buf, "softmax_back");
    double dot = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        dot += (double)y[i] * (double)dy[i];
        size += fabs((double)y[i] * (double)dy[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        double want = (double)y[i] * ((double)dy[i] - dot);
        double off = (double)(n + 1) * U * size + 2 * U * (fabs((double)dy[i]) + fabs(dot));
        check_near((double)dx[i], want, fabs((double)y[i]) * off, "softmax_back", i, n);
    }
}

static void check_xent(const heed_kernels *k, int64_t n, int shift, dice *d) {
    if (n == 0) {
        return; /* there is no target */
    }
    fill_logits(n, shift, d);
    float eps = shift % 2 ? 0.1f : 0, *out = walled_make(&out_buf, n, shift / 2);
    int64_t target = roll_below(d, n);
    const float *x = x_buf.p;
    double max = largest(n, x), sum = sum_exp(n, x, max), e = (double)eps, mean = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        mean += ((double)x[i] - max) / (double)n;
        size += fabs((double)x[i] - max) / (double)n;
    }
    double aim = (double)x[target] - max, want = log(sum) - (1 - e) * aim - e * mean;
    float loss = k->xent(n, eps, x, target, out);
    walled_check(&out_buf, "xent");
    double off = softmax_off(n, x, max, 0) + 4 * U * (fabs(want) + fabs(aim)) +
                 e * (double)(n < 1024 ? n + 4 : 1028) * U * size;
    check_near((double)loss, want, off, "xent", target, n);
    for (int64_t i = 0; i < n; i++) {
        double difference = (double)x[i] - max, p = exp(difference) / sum;
        double hit = i == target ? 1 - e : 0, spread = e / (double)n;
        double bound = (softmax_off(n, x, max, difference) + U) * p + 3 * U * (hit + spread + p);
        check_near((double)out[i], p - hit - spread, bound + FLOOR, "xent gradient", i, n);
    }
    float alone = k->xent(n, eps, x, target, NULL), over = k->xent(n, eps, x, target, x_buf.p);
    assert_true(same_bits(&alone, &loss, 1) && same_bits(&over, &loss, 1));
    assert_true(same_bits(x_buf.p, out, n));
}

/* Mean, spread and their errors. */
typedef struct {
    double mean, mean_off, var, rstd, rstd_off; /* rstd_off is relative */
} moments;

static moments moments_of(int64_t n, const float *x, double eps, bool centred) {
    moments m = {0};
    double size = 0, absolute = 0;
    for (int64_t i = 0; i < n; i++) {
        m.mean += centred ? (double)x[i] / (double)n : 0;
        size += fabs((double)x[i]) / (double)n;
    }
    m.mean_off = centred ? (double)(n + 1) * U * size + 0x1p-149 : 0;
    for (int64_t i = 0; i < n; i++) {
        double difference = (double)x[i] - m.mean;
        m.var += difference * difference / (double)n;
        absolute += fabs(difference) / (double)n;
    }
    double var_off = 2 * absolute * m.mean_off + m.mean_off * m.mean_off +
                     (double)(n + 5) * U * m.var + 0x1p-149;
    m.rstd = 1 / sqrt(m.var + eps);
    m.rstd_off = var_off / (m.var + eps) + 4 * U;
    return m;
}

static void check_layernorm(const heed_kernels *k, int64_t n, int shift, dice *d) {
    if (n == 0) {
        return; /* there is no mean */
    }
    const float *x = walled_fill(&x_buf, n, shift, d, shift % KINDS);
    const float *gain = walled_fill(&gain_buf, n, 3, d, PLAIN);
    const float *add = shift % 2 ? walled_fill(&shift_buf, n, 5, d, PLAIN) : NULL;
    float *y = walled_make(&out_buf, n, shift / 2), mean, rstd, eps = 1e-5f;
    k->layernorm(n, eps, x, gain, add, y, &mean, &rstd);
    walled_check(&out_buf, "layernorm");
    moments m = moments_of(n, x, (double)eps, true);
    check_near((double)mean, m.mean, m.mean_off, "mean", 0, n);
    check_near((double)rstd, m.rstd, m.rstd_off * m.rstd, "rstd", 0, n);
    for (int64_t i = 0; i < n; i++) {
        double h = ((double)x[i] - m.mean) * m.rstd, g = (double)gain[i];
        double want = h * g + (add ? (double)add[i] : 0);
        double off = m.rstd * m.mean_off * (1 + m.rstd_off) + fabs(h) * (m.rstd_off + 4 * U);
        check_near((double)y[i], want, fabs(g) * off + U * fabs(want) + 0x1p-149, "layernorm", i,
                   n);
    }
}

static void check_rmsnorm(const heed_kernels *k, int64_t n, int shift, dice *d) {
    if (n == 0) {
        return;
    }
    const float *x = walled_fill(&x_buf, n, shift, d, shift % KINDS);
    const float *gain = walled_fill(&gain_buf, n, 3, d, PLAIN);
    float *y = walled_make(&out_buf, n, shift / 2), rstd, eps = 1e-6f;
    k->rmsnorm(n, eps, x, gain, y, &rstd);
    walled_check(&out_buf, "rmsnorm");
    moments m = moments_of(n, x, (double)eps, false);
    check_near((double)rstd, m.rstd, m.rstd_off * m.rstd, "rstd", 0, n);
    for (int64_t i = 0; i < n; i++) {
        double want = (double)x[i] * m.rstd * (double)gain[i];
        check_near((double)y[i], want, (m.rstd_off + 3 * U) * fabs(want) + 0x1p-149, "rmsnorm", i,
                   n);
    }
}

/* Both norms' gradients: with `centred` false the mean is 0 and the term of mean(g) is absent. */
static void check_norm_back(const heed_kernels *k, int64_t n, int shift, dice *d, bool centred) {
    if (n == 0) {
        return;
    }
    const float *x = walled_fill(&x_buf, n, shift, d, shift % 2 ? SPREAD : PLAIN);
    const float *gain = walled_fill(&gain_buf, n, 3, d, PLAIN);
    const float *dy = walled_fill(&dy_buf, n, 9, d, PLAIN);
    float *dx = walled_make(&out_buf, n, shift / 2), mean = centred ? 0.25f : 0, rstd = 0.75f;
    if (centred) {
        k->layernorm_back(n, x, gain, mean, rstd, dy, dx);
    } else {
        k->rmsnorm_back(n, x, gain, rstd, dy, dx);
    }
    walled_check(&out_buf, "norm_back");
    double r = (double)rstd, g_mean = 0, gh_mean = 0, g_size = 0, gh_size = 0;
    for (int64_t i = 0; i < n; i++) {
        double g = (double)dy[i] * (double)gain[i], h = ((double)x[i] - (double)mean) * r;
        g_mean += centred ? g / (double)n : 0;
        g_size += centred ? fabs(g) / (double)n : 0;
        gh_mean += g * h / (double)n;
        gh_size += fabs(g * h) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        double g = (double)dy[i] * (double)gain[i], h = ((double)x[i] - (double)mean) * r;
        double want = r * (g - g_mean - h * gh_mean);
        double off = (double)(n + 2) * U * g_size + fabs(h) * (double)(n + 8) * U * gh_size +
                     4 * U * (fabs(g) + fabs(g_mean) + fabs(h * gh_mean));
        check_near((double)dx[i], want, r * off, centred ? "layernorm_back" : "rmsnorm_back", i, n);
    }
}

/* Sums down columns are plain chains of float additions, so their bits are known. */
static void check_columns(const heed_kernels *k, int64_t n, int shift, dice *d) {
    int64_t rows = 1 + roll_below(d, 40), stride = n + 3;
    if (rows * stride > CHECK_MAX) {
        rows = CHECK_MAX / stride;
    }
    const float *x = walled_fill(&x_buf, rows * stride, shift, d, SPREAD);
    const float *dy = walled_fill(&dy_buf, rows * stride, 1, d, PLAIN);
    const float *mean = shift % 2 ? walled_fill(&gain_buf, rows, 2, d, PLAIN) : NULL;
    const float *rstd = walled_fill(&shift_buf, rows, 7, d, PLAIN);
    float *sum = walled_fill(&out_buf, n, shift / 2, d, PLAIN), old[CHECK_MAX], gain[CHECK_MAX];
    memcpy(old, sum, (size_t)n * sizeof *old);
    memcpy(gain, sum, (size_t)n * sizeof *gain);
    k->column_sums(rows, n, stride, x, sum);
    walled_check(&out_buf, "column_sums");
    for (int64_t j = 0; j < n; j++) {
        float want = old[j];
        for (int64_t i = 0; i < rows; i++) {
            want += x[i * stride + j];
        }
        check_near((double)sum[j], (double)want, 0, "column_sums", j, n);
    }
    k->norm_params_back(rows, n, stride, x, mean, rstd, dy, gain, NULL);
    memcpy(sum, old, (size_t)n * sizeof *sum);
    k->norm_params_back(rows, n, stride, x, mean, rstd, dy, NULL, sum);
    for (int64_t j = 0; j < n; j++) {
        double want = (double)old[j], size = fabs(want);
        float shift_want = old[j];
        for (int64_t i = 0; i < rows; i++) {
            double h = ((double)x[i * stride + j] - (mean ? (double)mean[i] : 0)) * (double)rstd[i];
            want += h * (double)dy[i * stride + j];
            size += fabs(h * (double)dy[i * stride + j]);
            shift_want += dy[i * stride + j];
        }
        check_near((double)gain[j], want, (double)(rows + 4) * U * size, "d_gain", j, n);
        check_near((double)sum[j], (double)shift_want, 0, "d_shift", j, n);
    }
}

static void check_adam(const heed_kernels *k, int64_t n, int shift, dice *d) {
    heed_adam a = {.lr = 1e-3f,
                   .beta1 = 0.9f,
                   .beta2 = 0.98f,
                   .rest1 = 0.1f,
                   .rest2 = 0.02f,
                   .eps = 1e-8f,
                   .decay = 0.01f,
                   .l2 = shift % 2 ? 1e-4f : 0,
                   .bias1 = 0.1f,
                   .bias2 = 0.02f,
                   .grad_scale = 0.5f};
    const float *grad = walled_fill(&dy_buf, n, shift, d, shift % KINDS);
    walled_fill(&x_buf, n, 15 - shift, d, PLAIN);
    walled_fill(&gain_buf, n, 3, d, PLAIN);
    walled_fill(&shift_buf, n, 5, d, PLAIN);
    for (int64_t i = 0; i < n; i++) {
        shift_buf.p[i] = fabsf(shift_buf.p[i]) + 0.1f;
    }
    float w0[CHECK_MAX], m0[CHECK_MAX], v0[CHECK_MAX];
    memcpy(w0, x_buf.p, (size_t)n * sizeof *w0);
    memcpy(m0, gain_buf.p, (size_t)n * sizeof *m0);
    memcpy(v0, shift_buf.p, (size_t)n * sizeof *v0);
    k->adam(&a, n, grad, x_buf.p, gain_buf.p, shift_buf.p);
    walled_check(&x_buf, "adam"), walled_check(&gain_buf, "adam"), walled_check(&shift_buf, "adam");
    for (int64_t i = 0; i < n; i++) {
        double b1 = (double)a.beta1, b2 = (double)a.beta2, w = (double)w0[i];
        double r1 = (double)a.rest1, r2 = (double)a.rest2;
        double g = (double)grad[i] * (double)a.grad_scale + (double)a.l2 * w;
        double g_off = 3 * U * (fabs(g) + 2 * fabs((double)a.l2 * w)) + 0x1p-148;
        double m = b1 * (double)m0[i] + r1 * g, v = b2 * (double)v0[i] + r2 * g * g;
        double m_off = r1 * g_off + 4 * U * (fabs(b1 * (double)m0[i]) + fabs(r1 * g));
        double v_off = r2 * (2 * fabs(g) * g_off + g_off * g_off) + 5 * U * v;
        double rate = (double)a.lr / (double)a.bias1;
        double size = sqrt(v) / sqrt((double)a.bias2) + (double)a.eps, step = rate * m / size;
        double off = rate * m_off / size + fabs(step) * (v_off / v + 10 * U) + 4 * U * fabs(w);
        check_near((double)gain_buf.p[i], m, m_off, "adam m", i, n);
        check_near((double)shift_buf.p[i], v, v_off, "adam v", i, n);
        check_near((double)x_buf.p[i], w - (double)a.lr * (double)a.decay * w - step, off, "adam w",
                   i, n);
    }
}

static void check_back(const heed_kernels *k, int64_t n, int shift, dice *d) {
    check_norm_back(k, n, shift, d, true);
    check_norm_back(k, n, shift, d, false);
}

static void (*const CHECKS[])(const heed_kernels *, int64_t, int, dice *) = {
    check_softmax, check_softmax_back, check_xent,    check_layernorm,
    check_rmsnorm, check_back,         check_columns, check_adam,
};

static void check_rows(const heed_kernels *k) {
    static const int64_t LONG[] = {127, 128, 255, 500, 512, 682};
    dice d = {5};
    for (size_t c = 0; c < sizeof CHECKS / sizeof CHECKS[0]; c++) {
        for (int64_t n = 0; n <= 67; n++) {
            for (int shift = 0; shift < 16; shift += 1 + (int)n % 3) {
                CHECKS[c](k, n, shift, &d);
            }
        }
        for (int i = 0; i < 6; i++) {
            CHECKS[c](k, LONG[i], i, &d);
        }
    }
    check_softmax(k, CHECK_MAX - 1, 1, &d);
    check_xent(k, CHECK_MAX - 1, 1, &d);
    check_layernorm(k, CHECK_MAX - 1, 0, &d);
}

static void test_rows(void **state) {
    (void)state;
    FOR_EACH_SET(softmax, check_rows);
}

/* No number above -infinity gives zeros; a NaN is never hidden. */
static void check_softmax_ends(const heed_kernels *k) {
    for (int64_t n = 1; n < 40; n++) {
        float x[40], y[40];
        for (int64_t i = 0; i < n; i++) {
            x[i] = -INFINITY;
        }
        k->softmax(n, x, y);
        for (int64_t i = 0; i < n; i++) {
            assert_true(y[i] == 0);
        }
        x[n / 2] = 3;
        k->softmax(n, x, y);
        assert_true(y[n / 2] == 1);
        x[n - 1] = NAN;
        k->softmax(n, x, y);
        assert_true(isnan(y[n - 1]));
        assert_true(isnan(k->xent(n, 0, x, 0, NULL)));
    }
}

static void test_softmax_ends(void **state) {
    (void)state;
    FOR_EACH_SET(softmax, check_softmax_ends);
}

static void check_known(const heed_kernels *k) {
    /* logits 2 1 0 -1, target 0: with smoothing 0.1 spread over all four */
    const float logits[4] = {2, 1, 0, -1};
    check_near((double)k->xent(4, 0, logits, 0, NULL), 0.440190, 1e-6, "xent", 0, 4);
    check_near((double)k->xent(4, 0.1f, logits, 0, NULL), 0.590190, 1e-6, "xent", 0, 4);
}

static void test_known_values(void **state) {
    (void)state;
    FOR_EACH_SET(softmax, check_known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_softmax_ends),
        cmocka_unit_test(test_known_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
