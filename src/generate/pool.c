/* pool.c: rows of a text to one vector.
 *
 * One loop over the rows in order for each way, in double, so that a vector is a function of its
 * rows alone. Source: Reimers and Gurevych 2019 (mean, max, first); Muennighoff 2022 (weighted).
 * SPDX-License-Identifier: MIT
 */
#include "generate/sentence.h"

#include <math.h>
#include <string.h>

/* Adds every row, times its number from 1 where `weighted`; returns what the weights sum to. */
static double add_rows(const float *rows, int64_t n, int64_t width, bool weighted, double *sum) {
    double total = 0;
    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int64_t r = 0; r < n; r++) {
        double weight = weighted ? (double)(r + 1) : 1;
        total += weight;
        for (int64_t c = 0; c < width; c++)
            sum[c] += weight * (double)rows[r * width + c];
    }
    return total;
}

static void largest(const float *rows, int64_t n, int64_t width, float *out) {
    memcpy(out, rows, (size_t)width * sizeof *out);
    for (int64_t i = width; i < n * width; i++)
        if (rows[i] > out[i % width])
            out[i % width] = rows[i];
}

void heed_pool_text(heed_pooling pooling, const float *rows, int64_t n, int64_t width, double *sum,
                    float *out) {
    double by;
    switch (pooling) {
    case HEED_POOLING_FIRST:
        memcpy(out, rows, (size_t)width * sizeof *out);
        return;
    case HEED_POOLING_LAST:
        memcpy(out, rows + (n - 1) * width, (size_t)width * sizeof *out);
        return;
    case HEED_POOLING_MAX:
        largest(rows, n, width, out);
        return;
    case HEED_POOLING_STATED:
    case HEED_POOLING_MEAN:
    case HEED_POOLING_MEAN_ROOT:
    case HEED_POOLING_WEIGHTED:
        break;
    }
    by = add_rows(rows, n, width, pooling == HEED_POOLING_WEIGHTED, sum);
    if (pooling == HEED_POOLING_MEAN_ROOT)
        by = sqrt(by);
    for (int64_t c = 0; c < width; c++)
        out[c] = (float)(sum[c] / by);
}

void heed_normalize_vector(float *x, int64_t width) {
    double squares = 0;
    for (int64_t c = 0; c < width; c++)
        squares += (double)x[c] * (double)x[c];
    double length = sqrt(squares);
    for (int64_t c = 0; length > 0 && c < width; c++)
        x[c] = (float)((double)x[c] / length);
}
