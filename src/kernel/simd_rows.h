/* simd_rows.h: kernels over one row: softmax, norms, cross-entropy, rotary positions; and sums down
 * columns.
 *
 * Sums over a row run in four vectors joined in one fixed order (vec.h); sums of exponentials go to
 * double every BLOCK elements, since a row may be a vocabulary.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_SIMD_ROWS_H
#define HEED_KERNEL_SIMD_ROWS_H

#include "kernel/simd_math.h"

enum { BLOCK = 1024, ROWS = 16 };

WORD float sum_row(int64_t n, const float *x) {
    vec s[4] = FOUR(v_zero());
    SUMS(n, s[u] = v_add(s[u], v_get(x + at, left)););
    return total_of(s);
}

WORD float dot_row(int64_t n, const float *a, const float *b) {
    vec s[4] = FOUR(v_zero());
    SUMS(n, s[u] = v_fma(v_get(a + at, left), v_get(b + at, left), s[u]););
    return total_of(s);
}

WORD float max_row(int64_t n, const float *x) { /* -infinity for n = 0; NaN is passed over */
    vec m[4] = FOUR(v_set(-INFINITY));
    SUMS(n, m[u] = v_max(v_only(left, v_get(x + at, left), m[u]), m[u]););
    return v_greatest(v_max(v_max(m[0], m[1]), v_max(m[2], m[3])));
}

/* The sums of exp(x - base), which are written to out where it is not NULL, and of x - base. */
WORD void exp_row(int64_t n, const float *x, float base, float *out, double *sum_exp,
                  double *sum_x) {
    wide exps = w_zero(), differences = w_zero();
    vec low = v_set(base);
    for (int64_t i = 0; i < n; i += BLOCK) {
        vec e_sum = v_zero(), d_sum = v_zero();
        EACH((n - i < BLOCK ? n - i : BLOCK), {
            vec d = v_sub(v_get(x + i + at, left), low), e = v_exp(d);
            if (out)
                v_put(out + i + at, left, e);
            e_sum = v_add(e_sum, v_only(left, e, v_zero()));
            d_sum = v_add(d_sum, v_only(left, d, v_zero()));
        });
        exps = w_add(exps, e_sum);
        differences = w_add(differences, d_sum);
    }
    *sum_exp = w_total(exps);
    *sum_x = w_total(differences);
}

/* x = x factor - less */
WORD void scale_row(int64_t n, float *x, float factor, float less) {
    vec f = v_set(factor), l = v_set(less);
    EACH(n, v_put(x + at, left, v_sub(v_mul(v_get(x + at, left), f), l)););
}

KERNEL void softmax(int64_t n, const float *x, float *out) {
    float max = max_row(n, x);
    double sum, unused;
    /* where nothing is above -infinity the base is 0, so that NaN is not hidden */
    exp_row(n, x, max == -INFINITY ? 0 : max, out, &sum, &unused);
    if (sum != 0) {
        scale_row(n, out, (float)(1 / sum), 0);
    }
}

KERNEL void softmax_back(int64_t n, const float *y, const float *dy, float *dx) {
    vec dot = v_set(dot_row(n, y, dy));
    EACH(n, v_put(dx + at, left, v_mul(v_get(y + at, left), v_sub(v_get(dy + at, left), dot))););
}

/* loss = log-sum-exp - (1-eps) x[target] - eps mean(x), all less the maximum. */
KERNEL float xent(int64_t n, float eps, const float *logits, int64_t target, float *d) {
    float max = max_row(n, logits), aim = logits[target];
    double sum, differences;
    exp_row(n, logits, max, d, &sum, &differences);
    if (d) {
        scale_row(n, d, (float)(1 / sum), eps / (float)n);
        d[target] -= 1 - eps;
    }
    double even = eps != 0 ? (double)eps * differences / (double)n : 0;
    return (float)(log(sum) - (1 - (double)eps) * (double)(aim - max) - even);
}

KERNEL void layernorm(int64_t n, float eps, const float *x, const float *gain, const float *shift,
                      float *y, float *mean, float *rstd) {
    *mean = sum_row(n, x) / (float)n;
    vec squares[4] = FOUR(v_zero()), m = v_set(*mean);
    SUMS(n, {
        vec d = v_only(left, v_sub(v_get(x + at, left), m), v_zero());
        squares[u] = v_fma(d, d, squares[u]);
    });
    *rstd = 1 / sqrtf(total_of(squares) / (float)n + eps);
    vec r = v_set(*rstd);
    EACH(n, {
        vec h = v_mul(v_mul(v_sub(v_get(x + at, left), m), r), v_get(gain + at, left));
        v_put(y + at, left, shift ? v_add(h, v_get(shift + at, left)) : h);
    });
}

/* With h = (x - mean) rstd and g = dy gain:  dx = rstd (g - mean(g) - h mean(g h)). */
KERNEL void layernorm_back(int64_t n, const float *x, const float *gain, float mean, float rstd,
                           const float *dy, float *dx) {
    vec s[4] = FOUR(v_zero()), t[4] = FOUR(v_zero()), m = v_set(mean), r = v_set(rstd);
    SUMS(n, {
        vec g = v_mul(v_get(dy + at, left), v_get(gain + at, left));
        s[u] = v_add(s[u], g); /* 0 behind the end */
        t[u] = v_fma(g, v_mul(v_sub(v_get(x + at, left), m), r), t[u]);
    });
    vec g_mean = v_set(total_of(s) / (float)n), gh_mean = v_set(total_of(t) / (float)n);
    EACH(n, {
        vec g = v_mul(v_get(dy + at, left), v_get(gain + at, left));
        vec h = v_mul(v_sub(v_get(x + at, left), m), r);
        v_put(dx + at, left, v_mul(r, v_fnma(h, gh_mean, v_sub(g, g_mean))));
    });
}

KERNEL void rmsnorm(int64_t n, float eps, const float *x, const float *gain, float *y,
                    float *rstd) {
    *rstd = 1 / sqrtf(dot_row(n, x, x) / (float)n + eps);
    vec r = v_set(*rstd);
    EACH(n, v_put(y + at, left, v_mul(v_mul(v_get(x + at, left), r), v_get(gain + at, left))););
}

/* With h = x rstd and g = dy gain:  dx = rstd (g - h mean(g h)). */
KERNEL void rmsnorm_back(int64_t n, const float *x, const float *gain, float rstd, const float *dy,
                         float *dx) {
    vec s[4] = FOUR(v_zero()), r = v_set(rstd);
    SUMS(n, {
        vec g = v_mul(v_get(dy + at, left), v_get(gain + at, left));
        s[u] = v_fma(g, v_mul(v_get(x + at, left), r), s[u]);
    });
    vec gh_mean = v_set(total_of(s) / (float)n);
    EACH(n, {
        vec g = v_mul(v_get(dy + at, left), v_get(gain + at, left));
        vec h = v_mul(v_get(x + at, left), r);
        v_put(dx + at, left, v_mul(r, v_fnma(h, gh_mean, g)));
    });
}

/* Columns are summed down ROWS rows at a time, which stay in the nearest cache. */
KERNEL void column_sums(int64_t rows, int64_t n, int64_t stride, const float *x, float *sum) {
    for (; rows > 0; rows -= ROWS, x += ROWS * stride) {
        EACH(n, {
            vec s = v_get(sum + at, left);
            for (int64_t i = 0; i < ROWS && i < rows; i++) {
                s = v_add(s, v_get(x + i * stride + at, left));
            }
            v_put(sum + at, left, s);
        });
    }
}

/* d_gain += dy (x - mean) rstd over at most ROWS rows; mean may be NULL. */
WORD void add_gain(int64_t rows, int64_t n, int64_t stride, const float *x, const float *mean,
                   const float *rstd, const float *dy, float *d_gain) {
    EACH(n, {
        vec s = v_get(d_gain + at, left);
        for (int64_t i = 0; i < ROWS && i < rows; i++) {
            vec d = v_sub(v_get(x + i * stride + at, left), v_set(mean ? mean[i] : 0.0f));
            s = v_fma(v_get(dy + i * stride + at, left), v_mul(d, v_set(rstd[i])), s);
        }
        v_put(d_gain + at, left, s);
    });
}

KERNEL void norm_params_back(int64_t rows, int64_t n, int64_t stride, const float *x,
                             const float *mean, const float *rstd, const float *dy, float *d_gain,
                             float *d_shift) {
    for (int64_t i = 0; d_gain && i < rows; i += ROWS) {
        add_gain(rows - i, n, stride, x + i * stride, mean ? mean + i : mean, rstd + i,
                 dy + i * stride, d_gain);
    }
    if (d_shift) {
        column_sums(rows, n, stride, dy, d_shift);
    }
}

/* Pairs (2i, 2i+1) beside each other: half a vector of angles serves a whole vector of x. */
WORD void turn_neighbours(int64_t d, const float *cosine, const float *sine, const float *x,
                          float *out) {
    vec sign = v_pairs(-1.0f, 1.0f);
    EACH(d, {
        vec c = v_load_twice(cosine + at / 2, left / 2), s = v_load_twice(sine + at / 2, left / 2);
        vec a = v_get(x + at, left), b = v_mul(v_swap_pairs(a), v_mul(s, sign));
        v_put(out + at, left, v_fma(a, c, b));
    });
}

WORD void turn_halves(int64_t half, const float *cosine, const float *sine, const float *x,
                      float *out) {
    EACH(half, {
        vec c = v_get(cosine + at, left), s = v_get(sine + at, left);
        vec a = v_get(x + at, left), b = v_get(x + half + at, left);
        v_put(out + at, left, v_fnma(b, s, v_mul(a, c)));
        v_put(out + half + at, left, v_fma(a, s, v_mul(b, c)));
    });
}

KERNEL void rope(int64_t heads, int64_t d, int64_t turned, bool interleaved, const float *cosine,
                 const float *sine, const float *x, float *out) {
    for (int64_t h = 0; h < heads; h++, x += d, out += d) {
        if (interleaved) {
            turn_neighbours(turned, cosine, sine, x, out);
        } else {
            turn_halves(turned / 2, cosine, sine, x, out);
        }
        EACH(d - turned, v_put(out + turned + at, left, v_get(x + turned + at, left)););
    }
}

static inline void use_rows(heed_kernels *k) {
    k->softmax = softmax;
    k->softmax_back = softmax_back;
    k->xent = xent;
    k->layernorm = layernorm;
    k->layernorm_back = layernorm_back;
    k->rmsnorm = rmsnorm;
    k->rmsnorm_back = rmsnorm_back;
    k->column_sums = column_sums;
    k->norm_params_back = norm_params_back;
    k->rope = rope;
}

#endif
