/* portable_math.c: logarithm, exponential and digamma from sums and products alone.
 *
 * Method: range reduction to a narrow interval (frexp and ldexp are exact), then a series long
 * enough for the last bits; digamma by its recurrence up to 8 and the asymptotic series (Abramowitz
 * and Stegun 1964, formulas 4.1.27, 4.2.1, 6.3.5, 6.3.18).
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "text/train.h"

static const double LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;

double heed_portable_log(double x) {
    int e = 0;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), z = s * s, sum = 0;
    for (int k = 23; k >= 3; k -= 2) {
        sum = (sum + 1.0 / k) * z;
    }
    return e * LN2_HIGH + (e * LN2_LOW + 2 * s * (1 + sum));
}

double heed_portable_exp(double x) {
    if (x < -745) {
        return 0;
    }
    if (x > 709) {
        return INFINITY;
    }
    double k = floor(x / (LN2_HIGH + LN2_LOW) + 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW, sum = 1;
    for (int i = 14; i >= 1; i--) {
        sum = 1 + sum * r / i;
    }
    return ldexp(sum, (int)k);
}

double heed_portable_digamma(double x) {
    double sum = 0;
    for (; x < 8; x++) {
        sum -= 1 / x;
    }
    double z = 1 / (x * x);
    double tail = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z / 132))));
    return sum + heed_portable_log(x) - 0.5 / x - tail;
}
