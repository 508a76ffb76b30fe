/* score.h: how likely a model finds given translations: validation loss and perplexity.
 *
 * Teacher forcing without dropout or label smoothing. A scorer keeps plan and session, so that
 * training may validate again and again while its weights change.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_SCORE_H
#define HEED_GENERATE_SCORE_H

#include "data/pairs.h"
#include "heed_look.h"
#include "model/model.h"

typedef struct heed_scorer heed_scorer;

/* Zero is usable. */
typedef struct {
    int64_t batch_tokens;        /* rows of either side worked on at once; 0: 2048 */
    bool live;                   /* weights may change between runs */
    bool plan_only;              /* take no memory: for heed_scorer_bytes */
    const volatile bool *cancel; /* NULL: none */
} heed_scorer_options;

/* `pairs` (without begin and end tokens) and the model must outlive it. */
heed_scorer *heed_scorer_new(heed_model *model, const heed_pairs *pairs,
                             const heed_scorer_options *options, heed_error *err);
void heed_scorer_free(heed_scorer *s);
size_t heed_scorer_bytes(const heed_scorer *s);
/* The same bits for any number of threads. */
bool heed_scorer_run(heed_scorer *s, heed_likelihood *out, heed_error *err);

#endif
