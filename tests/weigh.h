/* weigh.h: a host that knows how many bytes are out, and the most that ever were.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_WEIGH_H
#define HEED_TESTS_WEIGH_H

#include "support.h"

/* Start with weighing_host_init; give &w.host to the code under test. */
typedef struct {
    heed_host host;
    atomic_size_t live, most;
} weighing_host;

enum { WEIGH_HEAD = 64 }; /* in front of each block: its size */

static inline void *weighing_alloc(void *self, size_t bytes) {
    weighing_host *w = self;
    char *p = aligned_alloc(64, (bytes + WEIGH_HEAD + 63) / 64 * 64);
    if (!p) {
        return NULL;
    }
    memcpy(p, &bytes, sizeof bytes);
    size_t live = atomic_fetch_add(&w->live, bytes) + bytes, most = w->most;
    while (live > most && !atomic_compare_exchange_weak(&w->most, &most, live)) {}
    return p + WEIGH_HEAD;
}

static inline void weighing_release(void *self, void *p) {
    weighing_host *w = self;
    if (p) {
        size_t bytes;
        memcpy(&bytes, (char *)p - WEIGH_HEAD, sizeof bytes);
        atomic_fetch_sub(&w->live, bytes);
        free((char *)p - WEIGH_HEAD);
    }
}

static inline void weighing_host_init(weighing_host *w) {
    w->host = (heed_host){.alloc = weighing_alloc, .release = weighing_release, .self = w};
    atomic_init(&w->live, 0);
    atomic_init(&w->most, 0);
}

/* `took` is `promised`, within 5 %. */
static inline void expect_near(const char *what, size_t promised, size_t took) {
    double ratio = (double)took / (double)promised;
    if (!(ratio >= 0.95 && ratio <= 1.05)) {
        fail_msg("%s: said %zu bytes, took %zu, which is %.3f of it", what, promised, took, ratio);
    }
}

#endif
