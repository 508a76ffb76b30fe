/* tally.c: counting what a host gives.
 * SPDX-License-Identifier: MIT
 */
#include "base/tally.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum { HEAD = 64 };

static void add(heed_tally *t, size_t bytes) {
    size_t live = atomic_fetch_add(&t->live, bytes) + bytes, most = t->most;
    while (live > most && !atomic_compare_exchange_weak(&t->most, &most, live)) {}
}

static void *take(void *self, size_t bytes) {
    heed_tally *t = self;
    char *p = bytes <= SIZE_MAX - HEAD ? heed_take(t->behind, bytes + HEAD) : NULL;
    if (!p) {
        return NULL;
    }
    bytes += HEAD;
    memcpy(p, &bytes, sizeof bytes);
    add(t, bytes);
    return p + HEAD;
}

static void give_back(void *self, void *block) {
    heed_tally *t = self;
    if (block) {
        char *p = (char *)block - HEAD;
        size_t bytes;
        memcpy(&bytes, p, sizeof bytes);
        atomic_fetch_sub(&t->live, bytes);
        heed_free(t->behind, p);
    }
}

void heed_tally_init(heed_tally *t, const heed_host *behind) {
    t->host = (heed_host){.alloc = take, .release = give_back, .self = t};
    t->behind = behind;
    atomic_init(&t->live, 0);
    atomic_init(&t->most, 0);
}
