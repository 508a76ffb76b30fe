/* generator.h: what the files of generating share. Its interface stands in heed.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_GENERATOR_H
#define HEED_GENERATE_GENERATOR_H

#include "generate/search.h"
#include "heed_generate.h"
#include "model/model.h"

/* Rows that a text may have: as many as a stack's table of positions has, `otherwise` where it has
 * none. */
int64_t heed_most_rows(const heed_stack *stack, int64_t otherwise);
/* A decoder with an output layer; false with HEED_VALUE, which `what` ("continuing a text") begins.
 */
bool heed_must_continue(const heed_model *model, const char *what, heed_error *err);
/* What a plan takes, and arrays beside its values. */
heed_need heed_need_of(const heed_plan *plan, size_t arrays);

/* pick.c: the likeliest token; of equal ones that with the lowest id. False where a logit is no
 * number or none is finite. */
bool heed_pick_likeliest(const heed_next *row, heed_generated_token *out);

#endif
