/* ref_drop.c: dropout, from counters: four elements share one call of Philox.
 *
 * Source: Srivastava et al. 2014, scaled at training; Salmon et al. 2011 (Philox).
 * SPDX-License-Identifier: MIT
 */
#include "base/philox.h"
#include "kernel/ref.h"

/* Bits of the elements 4*group .. 4*group + 3 of a row. */
static void four_words(const heed_drop *d, int64_t row, int64_t group, uint32_t word[4]) {
    const uint32_t counter[4] = {(uint32_t)group, (uint32_t)row, (uint32_t)d->stream,
                                 (uint32_t)(d->stream >> 32)};
    heed_philox(counter, d->key, word);
}

static void drop_mask(const heed_drop *d, int64_t row, int64_t n, uint8_t *keep) {
    uint32_t word[4] = {0};
    for (int64_t e = 0; e < n; e++) {
        if (e % 4 == 0) {
            four_words(d, row, e / 4, word);
        }
        keep[e] = word[e % 4] >= d->threshold;
    }
}

static void dropout(const heed_drop *d, int64_t row, int64_t n, const heed_real *x,
                    const heed_real *base, heed_real *out) {
    heed_real scale = heed_drop_scale(d->threshold);
    uint32_t word[4] = {0};
    for (int64_t e = 0; e < n; e++) {
        if (e % 4 == 0) {
            four_words(d, row, e / 4, word);
        }
        heed_real kept = word[e % 4] >= d->threshold ? x[e] * scale : 0;
        out[e] = base ? base[e] + kept : kept;
    }
}

void heed_ref_drop(heed_kernels *k) {
    k->dropout = dropout;
    k->drop_mask = drop_mask;
}
