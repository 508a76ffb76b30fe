/* ref_rows.c: kernels over one row: softmax, norms, cross-entropy, rotary positions, and sums down
 * columns.
 *
 * Source: Ba et al. 2016 (LayerNorm); Zhang and Sennrich 2019 (RMSNorm); Szegedy et al. 2016 (label
 * smoothing); Su et al. 2021 (RoPE).
 * SPDX-License-Identifier: MIT
 */
#include "kernel/ref.h"

static heed_real max_of(int64_t n,
                        const heed_real *x) { /* -infinity for n = 0; NaN is passed over */
    heed_real max = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        max = x[i] > max ? x[i] : max;
    }
    return max;
}

static heed_real sum_of(int64_t n, const heed_real *x) {
    heed_real lane[HEED_REF_LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        lane[i % HEED_REF_LANES] += x[i];
    }
    return heed_ref_total(lane);
}

/* out = exp(x - max), or exp(x) where all are -infinity, so that NaN is not hidden; out may be
 * NULL. */
static double sum_exp(int64_t n, const heed_real *x, heed_real max, heed_real *out) {
    heed_real base = max == -INFINITY ? 0 : max;
    double lane[HEED_REF_LANES] = {0}, total = 0;
    for (int64_t i = 0; i < n; i++) {
        heed_real e = heed_ref_exp(x[i] - base);
        lane[i % HEED_REF_LANES] += (double)e;
        if (out) {
            out[i] = e;
        }
    }
    for (int j = 0; j < HEED_REF_LANES; j++) {
        total += lane[j];
    }
    return total;
}

static void softmax(int64_t n, const heed_real *x, heed_real *out) {
    double sum = sum_exp(n, x, max_of(n, x), out);
    if (sum == 0) {
        return; /* nothing but zeros */
    }
    heed_real share = (heed_real)(1 / sum);
    for (int64_t i = 0; i < n; i++) {
        out[i] *= share;
    }
}

static void softmax_back(int64_t n, const heed_real *y, const heed_real *dy, heed_real *dx) {
    heed_real dot = heed_ref_dot(n, y, dy);
    for (int64_t i = 0; i < n; i++) {
        dx[i] = y[i] * (dy[i] - dot);
    }
}

static void layernorm(int64_t n, heed_real eps, const heed_real *x, const heed_real *gain,
                      const heed_real *shift, heed_real *y, heed_real *mean, heed_real *rstd) {
    heed_real middle = sum_of(n, x) / (heed_real)n, lane[HEED_REF_LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        lane[i % HEED_REF_LANES] += (x[i] - middle) * (x[i] - middle);
    }
    heed_real r = 1 / heed_ref_sqrt(heed_ref_total(lane) / (heed_real)n + eps);
    for (int64_t i = 0; i < n; i++) {
        heed_real scaled = (x[i] - middle) * r * gain[i];
        y[i] = shift ? scaled + shift[i] : scaled;
    }
    *mean = middle;
    *rstd = r;
}

/* With h = (x - mean) rstd and g = dy gain:  dx = rstd (g - mean(g) - h mean(g h)). */
static void layernorm_back(int64_t n, const heed_real *x, const heed_real *gain, heed_real mean,
                           heed_real rstd, const heed_real *dy, heed_real *dx) {
    heed_real g_lane[HEED_REF_LANES] = {0}, gh_lane[HEED_REF_LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        heed_real g = dy[i] * gain[i];
        g_lane[i % HEED_REF_LANES] += g;
        gh_lane[i % HEED_REF_LANES] += g * ((x[i] - mean) * rstd);
    }
    heed_real g_mean = heed_ref_total(g_lane) / (heed_real)n,
              gh_mean = heed_ref_total(gh_lane) / (heed_real)n;
    for (int64_t i = 0; i < n; i++) {
        heed_real h = (x[i] - mean) * rstd;
        dx[i] = rstd * (dy[i] * gain[i] - g_mean - h * gh_mean);
    }
}

static void rmsnorm(int64_t n, heed_real eps, const heed_real *x, const heed_real *gain,
                    heed_real *y, heed_real *rstd) {
    heed_real r = 1 / heed_ref_sqrt(heed_ref_dot(n, x, x) / (heed_real)n + eps);
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] * r * gain[i];
    }
    *rstd = r;
}

/* With h = x rstd and g = dy gain:  dx = rstd (g - h mean(g h)). */
static void rmsnorm_back(int64_t n, const heed_real *x, const heed_real *gain, heed_real rstd,
                         const heed_real *dy, heed_real *dx) {
    heed_real lane[HEED_REF_LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        lane[i % HEED_REF_LANES] += dy[i] * gain[i] * (x[i] * rstd);
    }
    heed_real gh_mean = heed_ref_total(lane) / (heed_real)n;
    for (int64_t i = 0; i < n; i++) {
        dx[i] = rstd * (dy[i] * gain[i] - x[i] * rstd * gh_mean);
    }
}

static void norm_params_back(int64_t rows, int64_t n, int64_t stride, const heed_real *x,
                             const heed_real *mean, const heed_real *rstd, const heed_real *dy,
                             heed_real *d_gain, heed_real *d_shift) {
    for (int64_t i = 0; i < rows; i++) {
        heed_real middle = mean ? mean[i] : 0;
        const heed_real *xi = x + i * stride, *dyi = dy + i * stride;
        for (int64_t j = 0; d_gain && j < n; j++) {
            d_gain[j] += dyi[j] * ((xi[j] - middle) * rstd[i]);
        }
        for (int64_t j = 0; d_shift && j < n; j++) {
            d_shift[j] += dyi[j];
        }
    }
}

static void column_sums(int64_t rows, int64_t n, int64_t stride, const heed_real *x,
                        heed_real *sum) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < n; j++) {
            sum[j] += x[i * stride + j];
        }
    }
}

/* loss = log-sum-exp - (1-eps) x[target] - eps mean(x); the sums run over a whole vocabulary, so in
 * double. */
static heed_real xent(int64_t n, heed_real eps, const heed_real *logits, int64_t target,
                      heed_real *d) {
    heed_real max = max_of(n, logits), aim = logits[target];
    double smooth = 0;
    for (int64_t i = 0; eps != 0 && i < n; i++) {
        smooth += (double)(logits[i] - max);
    }
    double sum = sum_exp(n, logits, max, d);
    if (d) {
        heed_real share = (heed_real)(1 / sum), spread = eps / (heed_real)n;
        for (int64_t i = 0; i < n; i++) {
            d[i] = d[i] * share - spread;
        }
        d[target] -= 1 - eps;
    }
    double even = eps != 0 ? (double)eps * smooth / (double)n : 0;
    return (heed_real)(log(sum) - (1 - (double)eps) * (double)(aim - max) - even);
}

static void turn(heed_real c, heed_real s, heed_real a, heed_real b, heed_real *out_a,
                 heed_real *out_b) {
    *out_a = a * c - b * s;
    *out_b = b * c + a * s;
}

static void rope(int64_t heads, int64_t d, int64_t turned, bool interleaved,
                 const heed_real *cosine, const heed_real *sine, const heed_real *x,
                 heed_real *out) {
    int64_t half = turned / 2, step = interleaved ? 1 : half, stride = interleaved ? 2 : 1;
    for (int64_t h = 0; h < heads; h++, x += d, out += d) {
        for (int64_t i = turned; i < d; i++) {
            out[i] = x[i];
        }
        for (int64_t i = 0; i < half; i++) {
            int64_t at = i * stride;
            turn(cosine[i], sine[i], x[at], x[at + step], out + at, out + at + step);
        }
    }
}

void heed_ref_rows(heed_kernels *k) {
    k->softmax = softmax;
    k->softmax_back = softmax_back;
    k->layernorm = layernorm;
    k->layernorm_back = layernorm_back;
    k->rmsnorm = rmsnorm;
    k->rmsnorm_back = rmsnorm_back;
    k->norm_params_back = norm_params_back;
    k->column_sums = column_sums;
    k->xent = xent;
    k->rope = rope;
}
