/* recipe_check.h: what the checks of a finished recipe share. Private to recipe_check.c and
 * recipe_lm.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_RECIPE_CHECK_H
#define HEED_TRAIN_RECIPE_CHECK_H

#include "train/recipe_value.h"

typedef struct {
    heed_recipe *r;
    heed_error *err;
} heed_recipe_checking;

/* Ends a check that failed: puts in front who set the first of the two fields that was set at all;
 * `other` may be NULL. False. */
bool heed_recipe_blame(const heed_recipe_checking *c, const void *field, const void *other);
/* model.name is a multiple of model.part_name. */
bool heed_recipe_multiple(const heed_recipe_checking *c, const char *name, const int64_t *whole,
                          const char *part_name, const int64_t *part);
/* Positions that go in pairs have an even width. */
bool heed_recipe_even(const heed_recipe_checking *c);

/* recipe_lm.c: model, tokenizer, data and batches of a language model; and that pairs ask for
 * nothing that language models alone have. */
bool heed_recipe_check_lm(const heed_recipe_checking *c);
bool heed_recipe_check_pairs(const heed_recipe_checking *c);

#endif
