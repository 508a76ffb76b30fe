/* recipe_value.h: one value of a recipe, from text and to text.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_RECIPE_VALUE_H
#define HEED_TRAIN_RECIPE_VALUE_H

#include "train/recipe.h"

/* Reads n bytes as the key's value, checks the range, stores it, and notes `where` it came from.
 * plain: the text stood without quotes, as numbers, flags and choices must. Errors begin with the
 * key's path. */
bool heed_recipe_assign(heed_recipe *recipe, const heed_recipe_key *key, const char *text, size_t n,
                        bool plain, const char *where, heed_error *err);
/* The value as YAML that reads back to the same. */
bool heed_recipe_print_value(const heed_recipe *recipe, const heed_recipe_key *key, heed_buf *out);
/* What set this field, or NULL where it has its default: heed_recipe_where(r, &r->train.lr). */
const char *heed_recipe_where(const heed_recipe *recipe, const void *field);
/* "'text'" cut to a readable length on a whole character, for messages. */
enum { HEED_SHOWN = 72 };
const char *heed_recipe_show(char out[HEED_SHOWN], const char *text, size_t n);

#endif
