/* update.h: one update of a model's weights: batches in, gradients, Adam.
 *
 * The gradient of an update is the sum over all its batches' target tokens, divided once by their
 * number: batches of unequal size count by their tokens. Random numbers of a batch are a function
 * of seed and of its number in the training, so a resumed training draws the same.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_UPDATE_H
#define HEED_TRAIN_UPDATE_H

#include "model/model.h"
#include "train/feed.h"
#include "train/optimizer.h"

typedef struct {
    uint64_t seed;
    int64_t accumulate; /* batches for one update */
    double smoothing;
    bool recompute; /* layers compute their values again for the gradient, to save memory */
    bool plan_only; /* take no memory: for heed_updater_need; the model may be a sketch */
    const volatile bool *cancel;
} heed_update_options;

typedef struct {
    double loss;    /* sum over the target tokens, label smoothing included */
    int64_t tokens; /* of the target side */
    double norm;    /* of the gradient of the mean, before clipping */
} heed_update_report;

typedef struct heed_updater heed_updater;

/* Plans for the batches' bounds and takes all memory: an encoder-decoder is trained on pairs, a
 * decoder on texts. Model and batches must outlive it. */
heed_updater *heed_updater_new(heed_model *model, heed_feed feed,
                               const heed_update_options *options,
                               const heed_optimizer_options *optimizer, heed_error *err);
void heed_updater_free(heed_updater *u);

/* Update number `step` (from 1). HEED_NONFINITE: nothing was changed, err names update, value and
 * the lines of the batch. */
bool heed_update(heed_updater *u, int64_t step, double lr, heed_update_report *report,
                 heed_error *err);
/* Runs the next batch forward and backward and throws the result away: to see how long it takes. */
bool heed_updater_probe(heed_updater *u, int64_t step, heed_error *err);

/* Weights, gradients, moments, values: what training takes. */
heed_need heed_updater_need(const heed_updater *u);
/* Weights and moments, for checkpoints. */
const heed_param *heed_updater_params(const heed_updater *u, int64_t *count);

#endif
