/* bleu.h: BLEU as sacreBLEU 2.6.0 computes and prints it.
 *
 * Statistics of a segment are sums over clipped n-grams of order 1 to 4, so a corpus is the sum of
 * its segments and resampling needs no text. Sources: Papineni et al. 2002; Chen and Cherry 2014
 * (smoothing); Post 2018 (signatures).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_BLEU_H
#define HEED_DATA_BLEU_H

#include "base/mem.h"
#include "data/lines.h"

typedef enum {
    HEED_BLEU_13A,
    HEED_BLEU_ZH,
    HEED_BLEU_CHAR,
    HEED_BLEU_INTL,
    HEED_BLEU_NONE
} heed_bleu_tokens;
typedef enum {
    HEED_SMOOTH_EXP,
    HEED_SMOOTH_FLOOR,
    HEED_SMOOTH_ADD_K,
    HEED_SMOOTH_NONE
} heed_bleu_smooth;

/* Zero is sacreBLEU's default: 13a, mixed case, exp. */
typedef struct {
    heed_bleu_tokens tokens;
    heed_bleu_smooth smooth;
    bool smooth_value_set; /* otherwise 0.1 for floor, 1 for add-k */
    double smooth_value;
    bool lowercase;
    bool effective_order; /* for single sentences */
} heed_bleu_opts;

/* From "13a", "zh", "char", "intl", "none"; from "exp", "floor", "add-k", "none". */
bool heed_bleu_tokens_find(const char *name, heed_bleu_tokens *out);
bool heed_bleu_smooth_find(const char *name, heed_bleu_smooth *out);

typedef struct {
    int64_t hyp_len, ref_len, correct[4], total[4];
} heed_bleu_stats;

typedef struct {
    double score, precision[4], bp, ratio; /* in percent but bp and ratio */
    heed_bleu_stats stats;
    char verbose
        [160]; /* "71.0/46.6/31.9/21.9 (BP = 1.000 ratio = 1.01 hyp_len = 12 ref_len = 11)" */
    char signature[120]; /* "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0" */
} heed_bleu_result;

/* hyp has n segments; refs has n_refs lists of n segments each. segment (NULL, or n entries) gets
 * each segment's own statistics. HEED_VALUE when n or n_refs is below 1. */
bool heed_bleu(const heed_host *host, const heed_line *hyp, const heed_line *const *refs,
               int64_t n_refs, int64_t n, const heed_bleu_opts *opts, heed_bleu_result *result,
               heed_bleu_stats *segment, heed_error *err);
/* The score of given statistics (sums of segments', or one segment's). */
void heed_bleu_score(const heed_bleu_stats *stats, const heed_bleu_opts *opts, int64_t n_refs,
                     heed_bleu_result *result);

/* The line cut into tokens joined by single spaces, appended to out: what "tok:13a" stands for. */
bool heed_bleu_tokenize(heed_line line, const heed_bleu_opts *opts, heed_buf *out, heed_error *err);

#endif
