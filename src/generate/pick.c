/* pick.c: one token out of a row of logits.
 * SPDX-License-Identifier: MIT
 */
#include "generate/generator.h"

#include <math.h>

bool heed_pick_likeliest(const heed_next *row, heed_generated_token *out) {
    int64_t best = 0;
    bool numbers = true;
    for (int64_t i = 0; i < row->vocab; i++) {
        numbers = numbers && !isnan(row->logits[i]);
        if (row->logits[i] > row->logits[best])
            best = i;
    }
    *out = (heed_generated_token){.id = (int32_t)best, .log_prob = log((double)row->probs[best])};
    return numbers && isfinite(row->logits[best]);
}
