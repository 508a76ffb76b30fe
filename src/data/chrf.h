/* chrf.h: chrF and chrF++ as sacreBLEU 2.6.0 computes and prints them.
 *
 * An F score over character n-grams (white space left out) and, for chrF++, word n-grams; precision
 * and recall are averaged over the orders that both sides have. Sources: Popović 2015, 2017.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_CHRF_H
#define HEED_DATA_CHRF_H

#include "base/mem.h"
#include "data/lines.h"

enum { HEED_CHRF_ORDERS = 16 };

/* Zero is sacreBLEU's default, chrF2: 6 characters, no words, beta 2. */
typedef struct {
    int char_order; /* 0: 6 */
    int word_order; /* 2 for chrF++ */
    int beta;       /* 0: 2 */
    bool lowercase;
    bool whitespace; /* count white space as characters */
} heed_chrf_opts;

typedef struct {
    int64_t hyp[HEED_CHRF_ORDERS], ref[HEED_CHRF_ORDERS], match[HEED_CHRF_ORDERS];
} heed_chrf_stats;

typedef struct {
    double score; /* percent */
    heed_chrf_stats stats;
    char name[16];       /* "chrF2", "chrF2++" */
    char signature[120]; /* "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0" */
} heed_chrf_result;

/* As heed_bleu. With several references each segment takes the one that scores best. */
bool heed_chrf(const heed_host *host, const heed_line *hyp, const heed_line *const *refs,
               int64_t n_refs, int64_t n, const heed_chrf_opts *opts, heed_chrf_result *result,
               heed_chrf_stats *segment, heed_error *err);
double heed_chrf_score(const heed_chrf_stats *stats, const heed_chrf_opts *opts);

#endif
