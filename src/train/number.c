/* number.c: numbers to text and back.
 *
 * The C library does the rounding; only its decimal point hangs on the locale, so that is
 * exchanged. Invariant: heed_number_read(heed_number_print(x)) has the bits of x for every finite
 * x.
 * SPDX-License-Identifier: MIT
 */
#include "train/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t digits(const char *s, size_t n, size_t at) {
    size_t from = at;
    while (at < n && s[at] >= '0' && s[at] <= '9') {
        at++;
    }
    return at - from;
}

static size_t sign(const char *s, size_t n, size_t at) {
    return at < n && (s[at] == '+' || s[at] == '-') ? 1 : 0;
}

/* Where the point is (n where there is none), or false if the bytes are no number. */
static bool find_point(const char *s, size_t n, size_t *point) {
    size_t at = sign(s, n, 0), whole = digits(s, n, at), part = 0;
    at += whole;
    *point = n;
    if (at < n && s[at] == '.') {
        *point = at++;
        part = digits(s, n, at);
        at += part;
    }
    if (whole + part == 0) {
        return false;
    }
    if (at < n && (s[at] == 'e' || s[at] == 'E')) {
        at += 1 + sign(s, n, at + 1);
        size_t power = digits(s, n, at);
        if (power == 0) {
            return false;
        }
        at += power;
    }
    return at == n;
}

bool heed_number_read(const char *s, size_t n, double *value) {
    char text[128];
    size_t point;
    if (!find_point(s, n, &point)) {
        return false;
    }
    const char *mark = localeconv()->decimal_point;
    size_t wide = strlen(mark), end = n;
    if (n + wide >= sizeof text) {
        return false;
    }
    memcpy(text, s, n);
    if (point < n) {
        memcpy(text + point, mark, wide);
        memcpy(text + point + wide, s + point + 1, n - point - 1);
        end = n - 1 + wide;
    }
    text[end] = '\0';
    *value = strtod(text, NULL);
    return isfinite(*value);
}
