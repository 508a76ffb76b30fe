/* translator.h: what a translator keeps. Inside of generate/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_TRANSLATOR_H
#define HEED_GENERATE_TRANSLATOR_H

#include "generate/search.h"
#include "generate/translate.h"

/* A line at work: its search, and its place in the batch. */
typedef struct {
    heed_search search;
    int64_t line;
    int32_t source; /* number of its sequence among the sources */
} heed_work_line;

struct heed_translator {
    heed_model *model;
    const heed_host *host;
    heed_translate_options options;
    heed_search_rules rules;
    heed_plan *plan;
    heed_session *session;
    heed_value logits, probs;
    int64_t vocab;
    int64_t source_rows, sentences, limit, cache_rows; /* capacities; limit: of decoder rows */
    heed_work_line *work;  /* sentences of them; those at work come first */
    int64_t *source_start; /* sentences + 1 */
    int64_t *target_start; /* sentences * beam + 1: 0, 1, 2 ... */
    int32_t *join, *from;  /* sentences * beam */
    heed_candidate *list;  /* 4 * beam */
};

/* Ids to translate: sequence i is id[start[i]] up to id[start[i + 1]]. */
typedef struct {
    const int32_t *id;
    const int64_t *start;
    int64_t n;
} heed_sources;

/* batch.c: translates lines order[*at] up to order[n], as many as fit, and moves *at behind them;
 * what had to be put back stands there again. Calls `emit` for each line that is done. */
typedef bool heed_emit(void *ctx, int64_t line, const heed_search *search, heed_error *err);
bool heed_translate_batch(heed_translator *t, const heed_sources *sources, int64_t *order,
                          int64_t n, int64_t *at, heed_emit *emit, void *ctx, heed_error *err);
/* Rows that source i takes: its own, or the most that the translator holds. */
int64_t heed_source_rows(const heed_translator *t, const heed_sources *sources, int64_t i);

#endif
