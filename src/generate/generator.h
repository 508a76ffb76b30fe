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

/* HEED_VALUE unless it is above 0. */
bool heed_penalty_sound(double penalty, heed_error *err);

#endif
