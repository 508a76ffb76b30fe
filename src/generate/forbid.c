/* forbid.c: what the text so far makes of the tokens that may follow it.
 *
 * A run of n tokens comes again where the last n - 1 tokens stood before: what followed them then
 * may not follow now (Paulus et al. 2017). Tokens that have come already are listed for the penalty
 * of top.c; a text that only grows is not gone through again.
 * SPDX-License-Identifier: MIT
 */
#include "generate/search.h"

#include <string.h>

bool heed_listed(const int32_t *token, int64_t n, int32_t one) {
    for (int64_t i = 0; i < n; i++) {
        if (token[i] == one) {
            return true;
        }
    }
    return false;
}

void heed_forbid(heed_bans *bans, int32_t token, int64_t vocab) {
    if (token >= 0 && token < vocab && !heed_listed(bans->token, bans->n, token)) {
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

void heed_punish(heed_bans *bans, heed_seen *seen, const int32_t *text, int64_t n, double penalty,
                 int64_t vocab) {
    for (; seen->noted < n && penalty != 1; seen->noted++) {
        int32_t token = text[seen->noted];
        if (token >= 0 && token < vocab && !heed_listed(seen->token, seen->n, token)) {
            seen->token[seen->n++] = token;
        }
    }
    bans->seen = seen->token;
    bans->n_seen = seen->n;
    bans->penalty = penalty;
}
