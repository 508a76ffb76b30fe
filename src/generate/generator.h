/* generator.h: what the files of generating share. Its interface stands in heed.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_GENERATOR_H
#define HEED_GENERATE_GENERATOR_H

#include "heed_generate.h"
#include "model/model.h"

/* Rows that a text may have: as many as a table of positions, else no fewer than 2^31-1. */
int64_t heed_most_rows(const heed_stack *stack);

/* What may follow a text: logits and their softmax. */
typedef struct {
    const heed_number *logits, *probs;
    int64_t vocab;
} heed_next_row;

/* pick.c: the likeliest token; of equal ones that with the lowest id. False where a logit is no
 * number or none is finite. */
bool heed_pick_likeliest(const heed_next_row *row, heed_generated_token *out);

#endif
