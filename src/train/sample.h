/* sample.h: what a language model says while it is trained: train.sample_prompt continued with the
 * likeliest tokens.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_SAMPLE_H
#define HEED_TRAIN_SAMPLE_H

#include "train/recipe.h"

/* Appends prompt and answer as text; of the weights as they are. */
bool heed_sample(heed_model *model, const heed_recipe *recipe, const volatile bool *cancel,
                 heed_buf *out, heed_error *err);
/* Memory that it takes, 0 where the recipe wants none. Refuses a prompt that cannot be continued.
 */
bool heed_sample_bytes(heed_model *model, const heed_recipe *recipe, size_t *bytes,
                       heed_error *err);

#endif
