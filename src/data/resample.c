/* resample.c: paired bootstrap over segment statistics, which are rows of int64_t whatever the
 * metric.
 * SPDX-License-Identifier: MIT
 */
#include "data/resample.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "data/numpy_random.h"

_Static_assert(sizeof(heed_bleu_stats) == 10 * sizeof(int64_t), "no gaps: it is summed as numbers");
_Static_assert(sizeof(heed_chrf_stats) == 3 * HEED_CHRF_ORDERS * sizeof(int64_t), "no gaps");

enum { WIDEST = 3 * HEED_CHRF_ORDERS };

typedef struct {
    const int64_t *rows[2]; /* baseline and system: n rows of `width` numbers */
    int64_t n;
    int width;
    double (*score)(const int64_t *sum, const void *opts);
    const void *opts;
} trial;

static double bleu_score(const int64_t *sum, const void *opts) {
    heed_bleu_stats s;
    heed_bleu_result r;
    memcpy(&s, sum, sizeof s);
    heed_bleu_score(&s, opts, 1, &r);
    return r.score;
}

static double chrf_score(const int64_t *sum, const void *opts) {
    heed_chrf_stats s;
    memcpy(&s, sum, sizeof s);
    return heed_chrf_score(&s, opts);
}

static void add_row(int64_t *sum, const trial *t, int system, int64_t row) {
    const int64_t *from = t->rows[system] + row * t->width;
    for (int k = 0; k < t->width; k++)
        sum[k] += from[k];
}

/* Both systems' scores on one resample, or, without a generator, on the corpus itself. */
static void score_both(const trial *t, heed_numpy_random *r, double out[2]) {
    int64_t sum[2][WIDEST] = {{0}};
    for (int64_t i = 0; i < t->n; i++) {
        int64_t row = r ? (int64_t)heed_numpy_below(r, (uint32_t)t->n) : i;
        add_row(sum[0], t, 0, row);
        add_row(sum[1], t, 1, row);
    }
    for (int k = 0; k < 2; k++)
        out[k] = t->score(sum[k], t->opts);
}

static int by_value(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double mean_of(const double *x, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* How often a resample's difference, less their mean, is above the one seen. */
static double p_value(double *const score[2], int64_t samples, double seen, double *difference) {
    int64_t above = 0;
    for (int64_t i = 0; i < samples; i++)
        difference[i] = fabs(score[1][i] - score[0][i]);
    double mean = mean_of(difference, samples);
    for (int64_t i = 0; i < samples; i++)
        above += difference[i] - mean > seen;
    return (double)(above + 1) / (double)(samples + 1);
}

static void resample(const trial *t, int64_t samples, uint64_t seed, double *const score[2],
                     double *spare, heed_paired *result) {
    heed_numpy_random r;
    heed_numpy_seed(&r, seed);
    score_both(t, NULL, result->score);
    for (int64_t i = 0; i < samples; i++) {
        double both[2];
        score_both(t, &r, both);
        score[0][i] = both[0];
        score[1][i] = both[1];
    }
    result->p = p_value(score, samples, fabs(result->score[1] - result->score[0]), spare);
    for (int k = 0; k < 2; k++) {
        result->mean[k] = mean_of(score[k], samples);
        qsort(score[k], (size_t)samples, sizeof *score[k], by_value);
        result->ci[k] = 0.5 * (score[k][samples - 1 - samples / 40] - score[k][samples / 40]);
    }
}

static bool run(const heed_host *host, const trial *t, int64_t samples, uint64_t seed,
                heed_paired *result, heed_error *err) {
    if (t->n < 1 || t->n > UINT32_MAX || samples < 1)
        return heed_fail(err, HEED_VALUE,
                         "cannot draw %" PRId64 " resamples of %" PRId64 " segments", samples,
                         t->n);
    double *all = heed_alloc(host, 3 * (size_t)samples, sizeof *all, err);
    if (!all)
        return false;
    resample(t, samples, seed, (double *const[]){all, all + samples}, all + 2 * samples, result);
    heed_free(host, all);
    return true;
}

bool heed_bleu_paired(const heed_host *host, const heed_bleu_stats *baseline,
                      const heed_bleu_stats *system, int64_t n, const heed_bleu_opts *opts,
                      int64_t samples, uint64_t seed, heed_paired *result, heed_error *err) {
    trial t = {{(const int64_t *)baseline, (const int64_t *)system}, n, 10, bleu_score, opts};
    return run(host, &t, samples, seed, result, err);
}

bool heed_chrf_paired(const heed_host *host, const heed_chrf_stats *baseline,
                      const heed_chrf_stats *system, int64_t n, const heed_chrf_opts *opts,
                      int64_t samples, uint64_t seed, heed_paired *result, heed_error *err) {
    trial t = {{(const int64_t *)baseline, (const int64_t *)system}, n, WIDEST, chrf_score, opts};
    return run(host, &t, samples, seed, result, err);
}
