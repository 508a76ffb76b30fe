/* heed_measure.c: scores of texts and models for heed_look.h.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "data/resample.h"
#include "generate/encode.h"
#include "generate/score.h"

#include <inttypes.h>
#include <string.h>

/* ---- BLEU and chrF ---- */

typedef struct {
    heed_bleu_opts bleu;
    heed_chrf_opts chrf;
} metrics;

static bool choose(const heed_score_options *o, metrics *m, heed_error *err) {
    *m = (metrics){{0}, {0}};
    if (!o) {
        return true;
    }
    m->bleu.lowercase = m->chrf.lowercase = o->lowercase;
    m->chrf.word_order = o->words;
    if (o->tokens && !heed_bleu_tokens_find(o->tokens, &m->bleu.tokens)) {
        return heed_fail(err, HEED_NAME,
                         "BLEU has no tokenizer '%s'; it has 13a, zh, char, intl and none",
                         o->tokens);
    }
    return true;
}

bool heed_score(const heed_host *host, const heed_line *hypotheses, const heed_line *references,
                int64_t n, const heed_score_options *options, heed_scores *out, heed_error *err) {
    metrics m;
    heed_bleu_result bleu;
    heed_chrf_result chrf;
    if (!choose(options, &m, err) ||
        !heed_bleu(host, hypotheses, &references, 1, n, &m.bleu, &bleu, NULL, err) ||
        !heed_chrf(host, hypotheses, &references, 1, n, &m.chrf, &chrf, NULL, err)) {
        return false;
    }
    *out = (heed_scores){.bleu = bleu.score, .chrf = chrf.score};
    memcpy(out->bleu_detail, bleu.verbose, sizeof out->bleu_detail);
    memcpy(out->bleu_signature, bleu.signature, sizeof out->bleu_signature);
    memcpy(out->chrf_signature, chrf.signature, sizeof out->chrf_signature);
    memcpy(out->chrf_name, chrf.name, sizeof out->chrf_name);
    return true;
}

/* Statistics of each segment: [0] baseline, [1] system. */
typedef struct {
    heed_bleu_stats *bleu[2];
    heed_chrf_stats *chrf[2];
} segments;

static bool measure(const heed_host *host, const heed_line *lines, const heed_line *references,
                    int64_t n, const metrics *m, segments *s, int which, heed_error *err) {
    heed_bleu_result bleu;
    heed_chrf_result chrf;
    s->bleu[which] = heed_alloc(host, (size_t)n, sizeof *s->bleu[which], err);
    s->chrf[which] = heed_alloc(host, (size_t)n, sizeof *s->chrf[which], err);
    return s->bleu[which] && s->chrf[which] &&
           heed_bleu(host, lines, &references, 1, n, &m->bleu, &bleu, s->bleu[which], err) &&
           heed_chrf(host, lines, &references, 1, n, &m->chrf, &chrf, s->chrf[which], err);
}

bool heed_score_paired(const heed_host *host, const heed_line *baseline, const heed_line *system,
                       const heed_line *references, int64_t n, const heed_score_options *options,
                       heed_paired *bleu, heed_paired *chrf, heed_error *err) {
    metrics m;
    segments s = {{NULL, NULL}, {NULL, NULL}};
    bool ok = choose(options, &m, err) && measure(host, baseline, references, n, &m, &s, 0, err) &&
              measure(host, system, references, n, &m, &s, 1, err) &&
              heed_bleu_paired(host, s.bleu[0], s.bleu[1], n, &m.bleu, HEED_RESAMPLES,
                               HEED_RESAMPLE_SEED, bleu, err) &&
              heed_chrf_paired(host, s.chrf[0], s.chrf[1], n, &m.chrf, HEED_RESAMPLES,
                               HEED_RESAMPLE_SEED, chrf, err);
    for (int i = 0; i < 2; i++) {
        heed_free(host, s.bleu[i]);
        heed_free(host, s.chrf[i]);
    }
    return ok;
}

/* ---- Likelihood ---- */

static bool make_pairs(heed_pairs *pairs, const heed_ragged *s, const heed_ragged *t, int64_t n,
                       int64_t *empty, heed_error *err) {
    for (int64_t i = 0; i < n; i++) {
        int64_t source = s->start[i + 1] - s->start[i], target = t->start[i + 1] - t->start[i];
        if (source == 0 || target == 0) {
            ++*empty;
        } else if (!heed_pairs_add(pairs, s->id + s->start[i], source, t->id + t->start[i], target,
                                   i + 1, err)) {
            return false;
        }
    }
    return true;
}

static bool encode_pairs(const heed_model *m, const heed_line *sources, const heed_line *targets,
                         int64_t n, heed_pairs *pairs, int64_t *empty, heed_error *err) {
    const heed_tokenizer *source = heed_model_tokenizer(m),
                         *target = heed_model_target_tokenizer(m);
    const heed_host *host = heed_model_host(m);
    heed_ragged s = {0}, t = {0};
    bool ok = heed_encode_lines(source, host, sources, n, false, "source line", &s, err) &&
              heed_encode_lines(target, host, targets, n, false, "target line", &t, err) &&
              make_pairs(pairs, &s, &t, n, empty, err);
    void *all[] = {s.id, s.start, t.id, t.start};
    for (int i = 0; i < 4; i++) {
        heed_free(host, all[i]);
    }
    return ok;
}

bool heed_likelihood_of(heed_model *model, const heed_line *sources, const heed_line *targets,
                        int64_t n, heed_likelihood *out, heed_error *err) {
    heed_pairs pairs = {.host = heed_model_host(model)};
    heed_scorer *scorer = NULL;
    int64_t empty = 0;
    bool ok = encode_pairs(model, sources, targets, n, &pairs, &empty, err);
    if (ok) {
        scorer = heed_scorer_new(model, &pairs, &(heed_scorer_options){0}, err);
        ok = scorer && heed_scorer_run(scorer, out, err);
    }
    if (ok) {
        out->left_out += empty;
    }
    heed_scorer_free(scorer);
    heed_pairs_free(&pairs);
    return ok;
}
