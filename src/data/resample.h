/* resample.h: is one system better than another, or was it luck?
 *
 * Paired bootstrap resampling as sacreBLEU's --paired-bs does it: both systems are scored on the
 * same resamples of the segments; the p-value is how often the difference moves away from its own
 * mean by more than the difference seen. The resamples are those of sacreBLEU for the same seed.
 * Source: Koehn 2004; Riezler and Maxwell 2005.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_RESAMPLE_H
#define HEED_DATA_RESAMPLE_H

#include "data/bleu.h"
#include "data/chrf.h"
#include "heed_look.h"

enum { HEED_RESAMPLES = 1000, HEED_RESAMPLE_SEED = 12345 };

/* heed_paired stands in heed_look.h. */

/* From the segments' statistics, n of each, that heed_bleu or heed_chrf gave for the same
 * references. HEED_VALUE where n or samples is below 1 or n beyond 2^32 - 1. */
bool heed_bleu_paired(const heed_host *host, const heed_bleu_stats *baseline,
                      const heed_bleu_stats *system, int64_t n, const heed_bleu_opts *opts,
                      int64_t samples, uint64_t seed, heed_paired *result, heed_error *err);
bool heed_chrf_paired(const heed_host *host, const heed_chrf_stats *baseline,
                      const heed_chrf_stats *system, int64_t n, const heed_chrf_opts *opts,
                      int64_t samples, uint64_t seed, heed_paired *result, heed_error *err);

#endif
