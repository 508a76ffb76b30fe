/* validate.c: loss by teacher forcing; BLEU or chrF of beam search as the recipe's translate says.
 *
 * Text is compared in lower case where the tokenizer makes it so.
 * SPDX-License-Identifier: MIT
 */
#include "train/validate.h"

#include <string.h>

#include "base/mem.h"
#include "data/bleu.h"
#include "data/chrf.h"
#include "generate/score.h"
#include "generate/translate.h"
#include "train/text_score.h"

struct heed_validator {
    const heed_host *host;
    const heed_recipe *recipe;
    heed_scorer *scorer;
    heed_text_scorer *texts;                /* of a language model, in place of scorer */
    heed_translator *translator;            /* NULL: only the loss is wanted */
    heed_line *source, *reference, *answer; /* of each pair */
    int64_t n;
};

static bool translates(const heed_recipe *recipe) {
    return recipe->train.metric != HEED_RECIPE_BY_LOSS;
}

static bool make_lines(heed_validator *v, const heed_corpus *corpus, heed_error *err) {
    v->n = corpus->valid_text.n;
    v->source = heed_alloc(v->host, (size_t)v->n, sizeof *v->source, err);
    v->reference = v->source ? heed_alloc(v->host, (size_t)v->n, sizeof *v->source, err) : NULL;
    v->answer = v->reference ? heed_alloc(v->host, (size_t)v->n, sizeof *v->source, err) : NULL;
    for (int64_t i = 0; v->answer && i < v->n; i++) {
        v->source[i] = corpus->valid_text.pair[i].source;
        v->reference[i] = corpus->valid_text.pair[i].target;
    }
    return v->answer != NULL;
}

static bool make_translator(heed_validator *v, heed_model *model, const volatile bool *cancel,
                            bool plan_only, heed_error *err) {
    const heed_recipe_translate *t = &v->recipe->translate;
    heed_translate_options options = heed_translate_defaults(model);
    options.n_best = 1;
    options.max_ratio = t->max_length_ratio;
    options.max_extra = t->max_length_extra;
    options.batch_tokens = t->batch_tokens;
    options.live = true;
    options.plan_only = plan_only;
    options.cancel = cancel;
    v->translator = heed_translator_new(model, &options, err);
    return v->translator != NULL;
}

heed_validator *heed_validator_new(heed_model *model, const heed_corpus *corpus,
                                   const heed_recipe *recipe, const volatile bool *cancel,
                                   bool plan_only, heed_error *err) {
    const heed_host *host = heed_model_host(model);
    heed_validator *v = heed_alloc(host, 1, sizeof *v, err);
    if (!v) {
        return NULL;
    }
    v->host = host;
    v->recipe = recipe;
    heed_scorer_options scoring = {.batch_tokens = recipe->train.batch_tokens,
                                   .live = true,
                                   .plan_only = plan_only,
                                   .cancel = cancel};
    v->scorer = heed_scorer_new(model, &corpus->valid, &scoring, err);
    if (v->scorer && (!translates(recipe) || (make_lines(v, corpus, err) &&
                                              make_translator(v, model, cancel, plan_only, err)))) {
        return v;
    }
    heed_validator_free(v);
    return NULL;
}

heed_validator *heed_validator_of_texts(heed_model *model, const heed_id_texts *texts,
                                        const heed_recipe *recipe, const volatile bool *cancel,
                                        bool plan_only, heed_error *err) {
    const heed_host *host = heed_model_host(model);
    heed_validator *v = heed_alloc(host, 1, sizeof *v, err);
    if (!v) {
        return NULL;
    }
    v->host = host;
    v->recipe = recipe;
    heed_window_opts windows = {.in_order = true,
                                .join = recipe->data.join,
                                .context = recipe->train.context,
                                .tokens = recipe->train.batch_tokens};
    v->texts = heed_text_scorer_new(model, texts, &windows, cancel, plan_only, err);
    if (v->texts) {
        return v;
    }
    heed_validator_free(v);
    return NULL;
}

void heed_validator_free(heed_validator *v) {
    if (!v) {
        return;
    }
    heed_text_scorer_free(v->texts);
    heed_scorer_free(v->scorer);
    heed_translator_free(v->translator);
    heed_free(v->host, v->source);
    heed_free(v->host, v->reference);
    heed_free(v->host, v->answer);
    heed_free(v->host, v);
}

size_t heed_validator_bytes(const heed_validator *v) {
    size_t bytes = v->texts ? heed_text_scorer_bytes(v->texts) : heed_scorer_bytes(v->scorer);
    if (v->translator) {
        heed_need need = heed_translator_need(v->translator);
        bytes += need.total - need.weights;
    }
    return bytes;
}

static bool score_answers(heed_validator *v, double *score, heed_error *err) {
    const heed_recipe_train *t = &v->recipe->train;
    const heed_line *const references[] = {v->reference};
    bool lowercase = v->recipe->tokenizer.lowercase;
    if (t->metric == HEED_RECIPE_BY_CHRF) {
        heed_chrf_opts opts = {.lowercase = lowercase};
        heed_chrf_result result;
        bool ok = heed_chrf(v->host, v->answer, references, 1, v->n, &opts, &result, NULL, err);
        *score = ok ? result.score : 0.0;
        return ok;
    }
    heed_bleu_opts opts = {.lowercase = lowercase, .tokens = (heed_bleu_tokens)t->bleu_tokens};
    heed_bleu_result result;
    bool ok = heed_bleu(v->host, v->answer, references, 1, v->n, &opts, &result, NULL, err);
    *score = ok ? result.score : 0.0;
    return ok;
}

static bool translate_all(heed_validator *v, double *score, heed_error *err) {
    heed_translations out = {0};
    bool ok = heed_translate(v->translator, v->source, v->n, &out, err);
    for (int64_t i = 0; ok && i < v->n; i++) {
        const char *text = out.item[i * out.n_best].text;
        v->answer[i] = (heed_line){.s = text ? text : "", .n = text ? strlen(text) : 0};
    }
    ok = ok && score_answers(v, score, err);
    heed_translations_free(&out);
    return ok;
}

bool heed_validate(heed_validator *v, heed_validation *result, heed_error *err) {
    heed_likelihood likelihood;
    *result = (heed_validation){0};
    if (v->texts ? !heed_text_scorer_run(v->texts, &likelihood, err)
                 : !heed_scorer_run(v->scorer, &likelihood, err)) {
        return false;
    }
    result->loss = result->metric = likelihood.loss;
    result->perplexity = likelihood.perplexity;
    if (!v->translator) {
        return true;
    }
    bool ok = translate_all(v, &result->score, err);
    result->metric = result->score;
    return ok;
}

bool heed_validation_better(const heed_recipe *recipe, double a, double b) {
    return recipe->train.metric == HEED_RECIPE_BY_LOSS ? a < b : a > b;
}
