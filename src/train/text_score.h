/* text_score.h: how likely a model finds texts, as it trains.
 *
 * Sequences as data/windows.h cuts them in order: each id that has one before it is scored once,
 * with at most `context` before it. The loss is the mean over them, without dropout.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_TEXT_SCORE_H
#define HEED_TRAIN_TEXT_SCORE_H

#include "data/windows.h"
#include "heed_look.h"
#include "model/model.h"

typedef struct heed_text_scorer heed_text_scorer;

/* Model and texts must outlive it; weights may change between runs. plan_only: only for
 * heed_text_scorer_bytes. */
heed_text_scorer *heed_text_scorer_new(heed_model *model, const heed_id_texts *texts,
                                       const heed_window_opts *windows, const volatile bool *cancel,
                                       bool plan_only, heed_error *err);
void heed_text_scorer_free(heed_text_scorer *s); /* NULL allowed */
size_t heed_text_scorer_bytes(const heed_text_scorer *s);
/* The same bits for any number of threads. */
bool heed_text_scorer_run(heed_text_scorer *s, heed_likelihood *out, heed_error *err);

#endif
