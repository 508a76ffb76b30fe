/* sample.c: see sample.h. Weights change between samples, and a generator packs them: each sample
 * has a generator of its own.
 * SPDX-License-Identifier: MIT
 */
#include "train/sample.h"

#include <string.h>

#include "base/error.h"
#include "heed_generate.h"

/* The prompt's ids, and a generator for them. */
typedef struct {
    heed_tokens tokens;
    int32_t *id;
    heed_generator *generator;
} sampling;

static void done(sampling *s) {
    heed_generator_free(s->generator);
    heed_free(s->tokens.host, s->id);
    heed_tokens_free(&s->tokens);
}

static bool begin(sampling *s, heed_model *model, const heed_recipe *recipe, bool plan_only,
                  const volatile bool *cancel, heed_error *err) {
    const heed_recipe_train *t = &recipe->train;
    s->tokens.host = heed_model_host(model);
    if (!heed_prompt_ids(model, t->sample_prompt, strlen(t->sample_prompt), &s->tokens, err)) {
        heed_error_at(err, "train.sample_prompt");
        return false;
    }
    int64_t n = (int64_t)s->tokens.n, most = heed_model_positions(model);
    heed_generate_options o = {.max_new = t->sample_tokens,
                               .longest = n + t->sample_tokens,
                               .plan_only = plan_only,
                               .cancel = cancel};
    o.longest = most > 0 && o.longest > most ? most : o.longest;
    if (n >= o.longest) {
        return heed_fail(err, HEED_LIMIT,
                         "train.sample_prompt has %lld tokens, the model %lld positions",
                         (long long)n, (long long)most);
    }
    s->id = heed_alloc(s->tokens.host, s->tokens.n, sizeof *s->id, err);
    for (size_t i = 0; s->id && i < s->tokens.n; i++) {
        s->id[i] = s->tokens.item[i].id;
    }
    s->generator = s->id ? heed_generator_new(model, &o, err) : NULL;
    return s->generator != NULL;
}

bool heed_sample_bytes(heed_model *model, const heed_recipe *recipe, size_t *bytes,
                       heed_error *err) {
    sampling s = {.id = NULL};
    *bytes = 0;
    if (recipe->train.sample_every == 0) {
        return true;
    }
    bool ok = begin(&s, model, recipe, true, NULL, err);
    if (ok) {
        heed_need need = heed_generator_need(s.generator);
        *bytes = need.total - need.weights;
    }
    done(&s);
    return ok;
}

/* Prompt and answer together, since what a token looks like may depend on what stands before. */
static bool decode(sampling *s, const heed_model *model, const heed_generation *g, heed_buf *out,
                   heed_error *err) {
    size_t n = s->tokens.n, all = n + (size_t)g->n;
    int32_t *id = heed_alloc(s->tokens.host, all, sizeof *id, err);
    if (!id) {
        return false;
    }
    memcpy(id, s->id, n * sizeof *id);
    memcpy(id + n, g->id, (size_t)g->n * sizeof *id);
    bool ok = heed_decode(heed_model_tokenizer(model), id, all, true, out, err);
    heed_free(s->tokens.host, id);
    return ok;
}

bool heed_sample(heed_model *model, const heed_recipe *recipe, const volatile bool *cancel,
                 heed_buf *out, heed_error *err) {
    sampling s = {.id = NULL};
    heed_generation g;
    bool ok =
        begin(&s, model, recipe, false, cancel, err) &&
        heed_generate(s.generator, s.id, (int64_t)s.tokens.n, &g, err) &&
        decode(&s, model, &g, out, err) &&
        (heed_buf_add(out, "", 1) || heed_fail(err, HEED_NOMEM, "out of memory for a sample"));
    done(&s);
    return ok;
}
