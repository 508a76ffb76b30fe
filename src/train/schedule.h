/* schedule.h: the learning rate of each step.
 *
 * All schedules rise in a straight line over `warmup` steps to `peak`, then:
 *   inverse_sqrt  peak * sqrt(warmup / step). Vaswani et al. 2017, eq. 3, which is
 *                 factor * width^-0.5 * min(step^-0.5, step * warmup^-1.5), is this one with
 *                 peak = factor * (width * warmup)^-0.5
 *   cosine        half a cosine to `floor` at step `total` (Loshchilov and Hutter 2017)
 *   linear        a straight line to `floor` at step `total`
 *   constant      peak
 * Steps count from 1; once the warm-up is over the rate never falls under `floor`.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_SCHEDULE_H
#define HEED_TRAIN_SCHEDULE_H

#include "heed.h"

typedef enum { HEED_INVERSE_SQRT, HEED_COSINE, HEED_LINEAR, HEED_CONSTANT } heed_schedule_kind;

typedef struct {
    heed_schedule_kind kind;
    double peak, floor;
    int64_t warmup, total; /* total: last step of cosine and linear */
} heed_schedule;

double heed_schedule_rate(const heed_schedule *schedule, int64_t step);
/* The peak that the paper's formula with factor 1 reaches at step `warmup` (at least 1). */
double heed_schedule_peak(int64_t width, int64_t warmup);

#endif
