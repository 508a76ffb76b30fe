/* validate.h: how good a model is on the validation pairs: loss, and BLEU or chrF of what it says.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_VALIDATE_H
#define HEED_TRAIN_VALIDATE_H

#include "data/windows.h"
#include "train/corpus.h"

typedef struct {
    double loss, perplexity; /* a target token, without label smoothing */
    double score;            /* BLEU or chrF, where the metric is one of them */
    double metric;           /* loss or score, as the recipe says */
} heed_validation;

typedef struct heed_validator heed_validator;

/* Model, corpus and recipe must outlive it. plan_only: only for heed_validator_bytes. */
heed_validator *heed_validator_new(heed_model *model, const heed_corpus *corpus,
                                   const heed_recipe *recipe, const volatile bool *cancel,
                                   bool plan_only, heed_error *err);
/* The same for the texts of a language model: their loss in windows of train.context tokens that
 * follow one another. */
heed_validator *heed_validator_of_texts(heed_model *model, const heed_id_texts *texts,
                                        const heed_recipe *recipe, const volatile bool *cancel,
                                        bool plan_only, heed_error *err);
void heed_validator_free(heed_validator *v);
size_t heed_validator_bytes(const heed_validator *v);
bool heed_validate(heed_validator *v, heed_validation *result, heed_error *err);
/* Is `a` better than `b` by the recipe's metric? */
bool heed_validation_better(const heed_recipe *recipe, double a, double b);

#endif
