/* parallel.h: parallel text: line i of the source and line i of the target say the same.
 *
 * Two files of as many lines each, or one TSV file. A part of one corpus can be taken by a hash of
 * one side, so that no sentence of that side, compared without case, punctuation and space, is in
 * two parts: the same file and shares give the same parts on any machine.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_PARALLEL_H
#define HEED_DATA_PARALLEL_H

#include "data/lines.h"

typedef enum { HEED_PART_ALL, HEED_PART_TRAIN, HEED_PART_VALID, HEED_PART_TEST } heed_part;

/* Zero is a usable default for all but `source`. */
typedef struct {
    const char *source; /* file of the source side, or of both where target is NULL (then TSV) */
    const char *target;
    int64_t source_column, target_column; /* of a TSV, from 1; 0: 1 and 2 */
    heed_part part;
    double valid, test; /* shares of the sentences, 0 to 1; together below 1 */
    bool by_source;     /* which side is hashed and kept apart; false: the target */
    /* Valid and test also leave out pairs whose other side is in train, and count them. */
    bool both_apart;
    size_t limit; /* bytes of a file after unpacking, 0: 8 GiB */
} heed_parallel_opts;

/* What became of the lines: lines = pairs + empty_* + elsewhere + shared. */
typedef struct {
    int64_t lines, pairs;
    int64_t empty_source, empty_target,
        empty_both;      /* skipped; TSV lines that are all white count as both */
    int64_t first_empty; /* line number of the first of these, 0: none */
    int64_t elsewhere;   /* in another part */
    int64_t shared;      /* left out by both_apart */
} heed_parallel_report;

typedef struct {
    heed_line source, target; /* trimmed at both ends, never empty */
    int64_t line;             /* number in the file, from 1 */
} heed_pair;

typedef struct {
    const heed_host *host;
    heed_pair *pair;
    int64_t n;
    heed_lines text[2]; /* what the pairs point into */
    heed_parallel_report report;
} heed_parallel;

/* Failures: HEED_TEXT "source 'a.de' has 29000 lines, target 'a.en' has 28999: ...", a TSV line
 * with too few columns, bytes that are not UTF-8; HEED_VALUE for shares or columns out of range. On
 * failure *p is empty. */
bool heed_parallel_read(heed_parallel *p, const heed_host *host, const heed_parallel_opts *opts,
                        heed_error *err);
void heed_parallel_free(heed_parallel *p);

/* The sentence as it counts for "the same": compatibility-decomposed and case-folded code points
 * without punctuation, separators and control characters, appended as UTF-8. False when memory
 * fails or the text is not UTF-8. */
bool heed_sentence_key(heed_line sentence, heed_buf *out);

#endif
