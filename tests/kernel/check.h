/* check.h: what the kernels' tests share: walled buffers, hostile inputs, every instruction set
 * found.
 *
 * A kernel under test gets its data from the middle of a buffer of NaN at any shift from a cache
 * line; what lies around must be as it was, and no NaN may reach a result. Numbers come from a seed
 * that a failure prints.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_KERNEL_CHECK_H
#define HEED_TESTS_KERNEL_CHECK_H

#include "kernel/kernel.h"

#include <inttypes.h>
#include <math.h>

#include "support.h"

enum { CHECK_MAX = 4096, WALLED_MAX = 3 * CHECK_MAX, CHECK_WALL = 64 };

#define U 0x1p-24 /* half a unit in the last place of float, relative */

/* ---- Numbers ---- */

typedef struct {
    uint64_t state;
} dice;

static inline uint32_t roll(dice *d) {
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(d->state >> 32);
}
static inline int64_t roll_below(dice *d, int64_t n) {
    return (int64_t)(roll(d) % (uint64_t)n);
}
static inline float roll_between(dice *d, float low, float high) {
    return low + (high - low) * ((float)(roll(d) >> 8) * 0x1p-24f);
}

/* Kinds of input: ordinary numbers, and those that break careless code. */
enum { PLAIN, ZEROS, SIGNED_ZEROS, TINY, LARGE, SPREAD, KINDS };

static inline float hostile(dice *d, int kind) {
    float x = roll_between(d, -2, 2);
    switch (kind) {
    case ZEROS:
        return 0;
    case SIGNED_ZEROS:
        return roll(d) % 2 ? 0.0f : -0.0f;
    case TINY:
        return x * 0x1p-130f; /* below the normal numbers */
    case LARGE:
        return x * 0x1p50f; /* squares and their sums stay finite */
    case SPREAD:
        return ldexpf(x, (int)(roll(d) % 41) - 20);
    default:
        return x;
    }
}

/* ---- Walled buffers ---- */

typedef struct {
    float cell[CHECK_WALL + WALLED_MAX + 2 * CHECK_WALL];
    int64_t n;
    float *p; /* n numbers, NaN on both sides */
} walled;

static inline float wall_value(void) {
    const uint32_t bits = 0x7fc0beef;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float *walled_make(walled *w, int64_t n, int shift) {
    assert_in_range(n, 0, WALLED_MAX);
    for (size_t i = 0; i < sizeof w->cell / sizeof w->cell[0]; i++) {
        w->cell[i] = wall_value();
    }
    uintptr_t line = (uintptr_t)(w->cell + CHECK_WALL) / 64 * 64;
    w->p = (float *)line + shift;
    w->n = n;
    return w->p;
}

static inline float *walled_fill(walled *w, int64_t n, int shift, dice *d, int kind) {
    walled_make(w, n, shift);
    for (int64_t i = 0; i < n; i++) {
        w->p[i] = hostile(d, kind);
    }
    return w->p;
}

static inline void walled_check(const walled *w, const char *what) {
    const float wall = wall_value();
    for (const float *c = w->cell; c < w->cell + sizeof w->cell / sizeof w->cell[0]; c++) {
        if ((c < w->p || c >= w->p + w->n) && memcmp(c, &wall, sizeof wall) != 0) {
            fail_msg("%s wrote at %td of %" PRId64 " numbers", what, c - w->p, w->n);
        }
    }
}

/* ---- Comparing ---- */

/* |got - want| <= bound, where NaN never passes. */
static inline void check_near(double got, double want, double bound, const char *what, int64_t i,
                              int64_t n) {
    if (!(fabs(got - want) <= bound) && !(got == want)) {
        fail_msg("%s: element %" PRId64 " of %" PRId64
                 ": got %.9g, want %.9g, off by %.3g, allowed %.3g",
                 what, i, n, got, want, fabs(got - want), bound);
    }
}

static inline bool same_bits(const float *a, const float *b, int64_t n) {
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* ---- Every instruction set ---- */

/* Calls fn with the table of each set that this machine has, best last, but for those that have
 * what is tested from the set before: the pointer at this place of the table says so. */
static inline void for_each_set(size_t place, void (*fn)(const heed_kernels *k)) {
    unsigned char last[sizeof(void (*)(void))];
    for (int i = 0; i < heed_isa_count(); i++) {
        heed_isa set = heed_isa_at(i);
        heed_kernels k;
        if (!set.usable) {
            print_message("%s left out: %s\n", set.name, set.why);
            continue;
        }
        assert_true(heed_kernels_init(&k, set.name));
        if (i == 0 || memcmp(last, (const unsigned char *)&k + place, sizeof last) != 0) {
            fn(&k);
        }
        memcpy(last, (const unsigned char *)&k + place, sizeof last);
    }
}
#define FOR_EACH_SET(slot, fn) for_each_set(offsetof(heed_kernels, slot), fn)

#endif
