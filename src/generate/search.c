/* search.c: one step of beam search for one sentence.
 * SPDX-License-Identifier: MIT
 */
#include "generate/search.h"

#include <math.h>

bool heed_search_make(heed_search *s, const heed_host *host, const heed_search_rules *rules,
                      int64_t limit, heed_error *err) {
    size_t beam = (size_t)rules->beam, steps = (size_t)limit * beam;
    *s = (heed_search){.limit = limit};
    s->log_prob = heed_alloc(host, beam, sizeof *s->log_prob, err);
    s->token = heed_alloc(host, steps, sizeof *s->token, err);
    s->parent = heed_alloc(host, steps, sizeof *s->parent, err);
    size_t bans = HEED_SEARCH_NEVER + (size_t)rules->n_late + 1;
    s->history = heed_alloc(host, 3 * (size_t)limit + bans, sizeof *s->history, err);
    s->done = heed_alloc(host, beam, sizeof *s->done, err);
    return s->log_prob && s->token && s->parent && s->history && s->done;
}

void heed_search_drop(heed_search *s, const heed_host *host) {
    heed_free(host, s->log_prob);
    heed_free(host, s->token);
    heed_free(host, s->parent);
    heed_free(host, s->history);
    heed_free(host, s->done);
}

void heed_search_start(heed_search *s, int64_t limit) {
    s->limit = limit;
    s->length = 1;
    s->open = 1;
    s->log_prob[0] = 0;
    s->n_done = 0;
    s->over = false;
}

/* Puts c where it belongs among the best `most`; equals stay behind those that were there. */
static int64_t insert(heed_candidate *list, int64_t n, int64_t most, heed_candidate c) {
    if (n == most && !(c.log_prob > list[n - 1].log_prob)) {
        return n;
    }
    int64_t at = n < most ? n++ : n - 1;
    for (; at > 0 && c.log_prob > list[at - 1].log_prob; at--) {
        list[at] = list[at - 1];
    }
    list[at] = c;
    return n;
}

/* ---- What a beam may not take ---- */

/* The tokens of open beam b, the start among them, into s->history. */
static void recall(const heed_search *s, const heed_search_rules *rules, int64_t b) {
    s->history[0] = rules->start;
    for (int64_t i = s->length - 2; i >= 0; i--) {
        int64_t at = i * rules->beam + b;
        s->history[i + 1] = s->token[at];
        b = s->parent[at];
    }
}

static heed_bans bans_of(const heed_search *s, const heed_search_rules *rules, int64_t b,
                         int64_t vocab) {
    heed_bans bans = {.token = s->history + 2 * s->limit, .greedy = rules->beam == 1};
    for (int i = 0; i < HEED_SEARCH_NEVER; i++) {
        heed_forbid(&bans, rules->never[i], vocab);
    }
    for (int64_t i = 0; i < rules->n_late && s->length == 1 + (rules->forced_first >= 0); i++) {
        heed_forbid(&bans, rules->late[i], vocab);
    }
    if (s->length < rules->min_length) {
        heed_forbid(&bans, rules->end, vocab);
    }
    if (rules->no_repeat > 0 || rules->penalty != 1) {
        recall(s, rules, b);
    }
    heed_forbid_repeats(&bans, s->history, s->length, rules->no_repeat, vocab);
    heed_seen seen = {.token = s->history + s->limit}; /* another beam's were others */
    heed_punish(&bans, &seen, s->history, s->length, rules->penalty, vocab);
    return bans;
}

/* The token that must come now; -1: any may. */
static int32_t forced(const heed_search *s, const heed_search_rules *rules) {
    if (rules->forced_end >= 0 && s->length == s->limit - 1) {
        return rules->forced_end;
    }
    return s->length == 1 ? rules->forced_first : -1;
}

/* The best 2 * beam continuations of all open beams into list, of one beam the best; -1 where a row
 * is not finite. With one beam a penalty chooses and counts in no sum, so there is no second. */
static int64_t gather(const heed_search *s, const heed_search_rules *rules, const heed_next *rows,
                      heed_candidate *list) {
    int64_t most = rules->beam == 1 ? 1 : 2 * rules->beam, n = 0;
    heed_candidate *own = list + most;
    for (int64_t b = 0; b < s->open; b++) {
        heed_next row = {rows->logits + b * rows->vocab, rows->probs + b * rows->vocab,
                         rows->vocab};
        int64_t found = 1;
        own[0] = (heed_candidate){.token = forced(s, rules)};
        if (own[0].token < 0) {
            heed_bans bans = bans_of(s, rules, b, rows->vocab);
            found = heed_best_tokens(&row, &bans, rules->renormalize, most, own);
        }
        if (found < 0) {
            return -1;
        }
        for (int64_t i = 0; i < found; i++) {
            own[i].beam = (int32_t)b;
            own[i].log_prob += s->log_prob[b];
            n = insert(list, n, most, own[i]);
        }
    }
    return n;
}

static float score_of(float log_prob, int64_t length, double penalty) {
    return log_prob / (float)pow((double)length, penalty);
}

static void finish(heed_search *s, const heed_search_rules *rules, heed_candidate c) {
    heed_hypothesis h = {.last = c, .length = s->length};
    h.score = score_of(c.log_prob, h.length, rules->length_penalty);
    if (s->n_done == rules->beam && !(h.score > s->done[s->n_done - 1].score)) {
        return;
    }
    int64_t at = s->n_done < rules->beam ? s->n_done++ : s->n_done - 1;
    for (; at > 0 && h.score > s->done[at - 1].score; at--) {
        s->done[at] = s->done[at - 1];
    }
    s->done[at] = h;
}

/* Whether an open beam may still become one of the best. */
static bool can_improve(const heed_search *s, const heed_search_rules *rules) {
    if (s->n_done < rules->beam) {
        return true;
    }
    if (rules->stop == HEED_STOP_FIRST) {
        return false;
    }
    bool longest = rules->stop == HEED_STOP_NEVER && rules->length_penalty > 0;
    int64_t length = longest ? s->limit - 1 : s->length - 1;
    return score_of(s->log_prob[0], length, rules->length_penalty) > s->done[s->n_done - 1].score;
}

bool heed_search_step(heed_search *s, const heed_search_rules *rules, const heed_next *rows,
                      heed_candidate *list) {
    int64_t n = gather(s, rules, rows, list), open = 0;
    int64_t step = (s->length - 1) * rules->beam;
    for (int64_t i = 0; i < n; i++) {
        bool ends = list[i].token == rules->end || s->length + 1 >= s->limit;
        if (ends && i < rules->beam) {
            finish(s, rules, list[i]);
        }
        if (!ends && open < rules->beam) {
            s->token[step + open] = list[i].token;
            s->parent[step + open] = list[i].beam;
            s->log_prob[open++] = list[i].log_prob;
        }
    }
    s->open = open;
    s->length++;
    s->over = open == 0 || !can_improve(s, rules);
    return n >= 0;
}

heed_candidate heed_search_last(const heed_search *s, const heed_search_rules *rules, int64_t i) {
    int64_t at = (s->length - 2) * rules->beam + i;
    return (heed_candidate){
        .beam = s->parent[at], .token = s->token[at], .log_prob = s->log_prob[i]};
}

void heed_search_read(const heed_search *s, const heed_search_rules *rules,
                      const heed_hypothesis *h, int32_t *id) {
    int32_t beam = h->last.beam;
    id[h->length - 1] = h->last.token;
    for (int64_t i = h->length - 2; i >= 0; i--) {
        id[i] = s->token[i * rules->beam + beam];
        beam = s->parent[i * rules->beam + beam];
    }
}
