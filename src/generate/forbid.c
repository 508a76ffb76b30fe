/* forbid.c: what the text so far makes of the tokens that may follow it.
 *
 * A run of n tokens comes again where the last n - 1 tokens stood before: what followed them then
 * may not follow now (Paulus et al. 2017). Tokens that have come already are listed for the penalty
 * of top.c.
 * SPDX-License-Identifier: MIT
 */
#include "generate/search.h"

#include <string.h>

static bool listed(const int32_t *token, int64_t n, int32_t one) {
    for (int64_t i = 0; i < n; i++) {
        if (token[i] == one) {
            return true;
        }
    }
    return false;
}

void heed_forbid(heed_bans *bans, int32_t token, int64_t vocab) {
    if (token >= 0 && token < vocab && !listed(bans->token, bans->n, token)) {
        bans->token[bans->n++] = token;
    }
}

void heed_forbid_repeats(heed_bans *bans, const int32_t *text, int64_t n, int64_t run,
                         int64_t vocab) {
    int64_t before = run - 1;
    if (before < 0 || n < before) {
        return;
    }
    const int32_t *last = text + n - before;
    for (int64_t i = 0; i + before < n; i++) {
        if (!memcmp(text + i, last, (size_t)before * sizeof *last)) {
            heed_forbid(bans, text[i + before], vocab);
        }
    }
}

void heed_punish(heed_bans *bans, int32_t *seen, const int32_t *text, int64_t n, double penalty,
                 int64_t vocab) {
    bans->seen = seen;
    bans->penalty = penalty;
    for (int64_t i = 0; i < n && penalty != 1; i++) {
        if (text[i] >= 0 && text[i] < vocab && !listed(seen, bans->n_seen, text[i]) &&
            !listed(bans->token, bans->n, text[i])) {
            seen[bans->n_seen++] = text[i];
        }
    }
}
