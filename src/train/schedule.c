/* schedule.c: the learning rate of each step. Formulas: schedule.h.
 * SPDX-License-Identifier: MIT
 */
#include "train/schedule.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* How far the fall from peak to floor has gone, 0 to 1. */
static double fallen(const heed_schedule *s, int64_t step) {
    if (step >= s->total) {
        return 1.0;
    }
    return (double)(step - s->warmup) / (double)(s->total - s->warmup);
}

static double after_warmup(const heed_schedule *s, int64_t step) {
    double drop = s->peak - s->floor;
    switch (s->kind) {
    case HEED_INVERSE_SQRT:
        return s->peak * sqrt((double)(s->warmup > 0 ? s->warmup : 1) / (double)step);
    case HEED_COSINE:
        return s->floor + drop * 0.5 * (1.0 + cos(PI * fallen(s, step)));
    case HEED_LINEAR:
        return s->floor + drop * (1.0 - fallen(s, step));
    case HEED_CONSTANT:
        return s->peak;
    }
    return s->peak;
}

double heed_schedule_rate(const heed_schedule *schedule, int64_t step) {
    if (step < 1) {
        step = 1;
    }
    if (step < schedule->warmup) {
        return schedule->peak * (double)step / (double)schedule->warmup;
    }
    double rate = after_warmup(schedule, step);
    return rate > schedule->floor ? rate : schedule->floor;
}

double heed_schedule_peak(int64_t width, int64_t warmup) {
    return 1.0 / sqrt((double)width * (double)(warmup > 0 ? warmup : 1));
}
