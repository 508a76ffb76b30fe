/* top.c: the best continuations in one row of logits.
 *
 * Tokens are compared by their logits, which rounding cannot make equal, a penalty counted in; the
 * log-probability of token j is (x_j - x_max) + log p_max, p being the softmax that the plan
 * computed.
 * SPDX-License-Identifier: MIT
 */
#include "generate/search.h"

#include <math.h>

static bool forbidden(const heed_bans *bans, int32_t token) {
    return heed_listed(bans->token, bans->n, token);
}

static bool set_aside(const heed_bans *bans, int32_t token) {
    return forbidden(bans, token) || heed_listed(bans->seen, bans->n_seen, token);
}

/* The logit that a token has by its penalty. */
static float punished(const heed_next *row, const heed_bans *bans, int32_t token, float shift) {
    float penalty = (float)bans->penalty, x = row->logits[token];
    float score = bans->greedy ? x : x + shift;
    score = score < 0 ? score * penalty : score / penalty;
    return bans->greedy ? score : score - shift;
}

/* log of what is left to the allowed tokens; shift: from a logit to its log-probability. */
static float log_of_rest(const heed_next *row, const heed_bans *bans, float shift) {
    double sum = 0;
    for (int64_t j = 0; j < row->vocab; j++) {
        sum += (double)row->probs[j];
    }
    for (int64_t i = 0; i < bans->n; i++) {
        sum -= (double)row->probs[bans->token[i]];
    }
    for (int64_t i = 0; i < bans->n_seen && !bans->greedy; i++) {
        int32_t token = bans->seen[i];
        if (!forbidden(bans, token)) {
            sum += exp((double)(punished(row, bans, token, shift) + shift)) -
                   (double)row->probs[token];
        }
    }
    return (float)log(sum > 0 ? sum : 1e-300);
}

/* Puts c behind all that are as good; the last of `want` falls out. */
static int64_t insert(heed_candidate *list, int64_t n, int64_t want, heed_candidate c) {
    int64_t at = n < want ? n++ : n - 1;
    for (; at > 0 && c.log_prob > list[at - 1].log_prob; at--) {
        list[at] = list[at - 1];
    }
    list[at] = c;
    return n;
}

/* The best without a penalty, by their logits; *max: the largest of all. */
static int64_t best_plain(const heed_next *row, const heed_bans *bans, int64_t want,
                          heed_candidate *out, int64_t *max) {
    int64_t n = 0;
    float least = -INFINITY;
    *max = 0;
    for (int64_t j = 0; j < row->vocab; j++) {
        float x = row->logits[j];
        *max = x > row->logits[*max] ? j : *max;
        if (x > least && !set_aside(bans, (int32_t)j)) {
            n = insert(out, n, want, (heed_candidate){.token = (int32_t)j, .log_prob = x});
            least = n == want ? out[n - 1].log_prob : -INFINITY;
        }
    }
    return n;
}

int64_t heed_best_tokens(const heed_next *row, const heed_bans *bans, bool renormalize,
                         int64_t want, heed_candidate *out) {
    int64_t max, n = best_plain(row, bans, want, out, &max);
    float top = row->logits[max], log_max = logf(row->probs[max]);
    if (!isfinite(top) || !isfinite(log_max)) {
        return -1;
    }
    for (int64_t i = 0; i < bans->n_seen; i++) {
        int32_t token = bans->seen[i];
        float x = punished(row, bans, token, log_max - top);
        if ((n < want || x > out[n - 1].log_prob) && !forbidden(bans, token)) {
            n = insert(out, n, want, (heed_candidate){.token = token, .log_prob = x});
        }
    }
    float rest = renormalize ? log_of_rest(row, bans, log_max - top) : 0;
    for (int64_t i = 0; i < n; i++) {
        float x = bans->greedy ? row->logits[out[i].token] : out[i].log_prob;
        out[i].log_prob = (x - top) + (log_max - rest);
    }
    return n;
}
