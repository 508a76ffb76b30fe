/* search.h: beam search over one sentence, knowing nothing of models: rows of logits in, the next
 * tokens out. The rules stand in translate.h. Inside of generate/.
 *
 * Histories are kept as (token, parent) of each step, so that nothing is copied when beams change
 * places.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_SEARCH_H
#define HEED_GENERATE_SEARCH_H

#include "base/mem.h"

enum { HEED_SEARCH_NEVER = 20 };

typedef struct {
    int64_t beam, min_length;
    double length_penalty;
    heed_stop stop;
    int32_t start;                    /* what a translation begins with, uncounted */
    int32_t end, forced_end;          /* -1: none */
    int32_t forced_first;             /* the first token behind the start; -1: any */
    int32_t never[HEED_SEARCH_NEVER]; /* tokens that are never taken; -1: none */
    int64_t no_repeat; /* no run of so many tokens, the start among them, comes twice; 0: it may */
    bool renormalize;  /* over the tokens that are allowed */
    double penalty;    /* repetition_penalty; 1: none */
    const int32_t *late; /* tokens that are not taken where the first one is free */
    int64_t n_late;
} heed_search_rules;

/* A continuation of an open beam by a token. */
typedef struct {
    int32_t beam, token;
    float log_prob; /* of the whole so far */
} heed_candidate;

/* An ended translation: a beam of the step before, and the last token. */
typedef struct {
    heed_candidate last;
    int64_t length; /* generated tokens */
    float score;
} heed_hypothesis;

typedef struct {
    int64_t limit;           /* rows of the decoder, the start token counted */
    int64_t length;          /* rows so far */
    int64_t open;            /* beams that go on, best first */
    float *log_prob;         /* of each */
    int32_t *token, *parent; /* [step][beam]: step i made row i + 1 */
    int32_t *history;      /* a beam's tokens (limit), each of them once (limit), then what may not
                                follow them */
    heed_hypothesis *done; /* best first */
    int64_t n_done;
    bool over;
} heed_search;

/* One row of the decoder's output. */
typedef struct {
    const float *logits, *probs; /* probs: their softmax */
    int64_t vocab;
} heed_next;

/* Room for sentences of at most `limit` rows. */
bool heed_search_make(heed_search *s, const heed_host *host, const heed_search_rules *rules,
                      int64_t limit, heed_error *err);
void heed_search_drop(heed_search *s, const heed_host *host);
/* From the start token alone: one open beam. */
void heed_search_start(heed_search *s, int64_t limit);
/* Takes one row for each open beam (row i at stride i). Sets the new open beams' tokens and parents
 * (heed_search_last) and `over`. `list` is room for 4 * beam candidates. False where a row is
 * not finite. */
bool heed_search_step(heed_search *s, const heed_search_rules *rules, const heed_next *rows,
                      heed_candidate *list);
/* The token that open beam i ends with, and its number among the beams of the step before. */
heed_candidate heed_search_last(const heed_search *s, const heed_search_rules *rules, int64_t i);
/* The tokens of hypothesis h, `length` of them. */
void heed_search_read(const heed_search *s, const heed_search_rules *rules,
                      const heed_hypothesis *h, int32_t *id);

/* What one beam may not take now, and what it takes at a penalty; each token once in a list. */
typedef struct {
    int32_t *token;
    int64_t n;
    const int32_t *seen; /* tokens that have come before, forbidden ones among them */
    int64_t n_seen;
    double penalty; /* repetition_penalty (Keskar et al. 2019): a number below 0 times this, another
                       over it */
    bool greedy;    /* that number is the logit; else the log-probability */
} heed_bans;
/* The tokens of a text, each once, in room for all of them. */
typedef struct {
    int32_t *token;
    int64_t n;
    int64_t noted; /* tokens of the text that are in the list */
} heed_seen;
/* forbid.c: adds a token of the vocabulary; those that would repeat a run of `run` tokens (0: none)
 * of the text of n tokens; a penalty for those of the text, which are noted first. */
bool heed_listed(const int32_t *token, int64_t n, int32_t one);
void heed_forbid(heed_bans *bans, int32_t token, int64_t vocab);
void heed_forbid_repeats(heed_bans *bans, const int32_t *text, int64_t n, int64_t run,
                         int64_t vocab);
void heed_punish(heed_bans *bans, heed_seen *seen, const int32_t *text, int64_t n, double penalty,
                 int64_t vocab);
/* top.c: the best `want` continuations of one beam, best first, of equal ones those without a
 * penalty, then the lower token; returns how many: -1 where the row is not finite. Their
 * log-probabilities have the penalty in a search with beams alone. */
int64_t heed_best_tokens(const heed_next *row, const heed_bans *bans, bool renormalize,
                         int64_t want, heed_candidate *out);

#endif
