/* attention.c: the attention weights of one sentence pair, watched in a plain run.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "generate/encode.h"
#include "generate/translate.h"
#include "heed_look.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct heed_attention {
    const heed_host *host;
    heed_region region; /* all that lives as long */
    char *source, *target;
    heed_attention_map map[3]; /* by heed_attention_kind */
};

/* A list of tokens while it is being made. */
typedef struct {
    heed_shown_token *item;
    int64_t n;
} token_list;

static const char *show(heed_attention *a, const heed_tokenizer *t, int32_t id, heed_error *err) {
    heed_buf text = {.host = a->host};
    const char *out = NULL;
    if (heed_token_show(t, id, &text)) {
        out = heed_region_text(&a->region, text.data ? text.data : "", text.n, err);
    } else {
        heed_fail(err, HEED_NOMEM, "no memory for a token's text");
    }
    heed_buf_free(&text);
    return out;
}

static bool make_list(heed_attention *a, token_list *list, int64_t n, heed_error *err) {
    list->n = n;
    list->item = heed_region_alloc(&a->region, (size_t)n + 1, sizeof *list->item, err);
    return list->item != NULL;
}

/* A space mark that was put in front of a word has the word's first character for its place; who
 * looks at it does not look at that character, so here it has none. */
static bool is_put(const char *shown, heed_line text, const heed_token *token) {
    static const char mark[] = "\xe2\x96\x81";
    size_t left = text.n - token->begin, n = sizeof mark - 1;
    const char *s = text.s + token->begin;
    bool space = left > 0 && (*s == ' ' || (left >= n && memcmp(s, mark, n) == 0));
    return token->end > token->begin && strcmp(shown, mark) == 0 && !space;
}

static bool list_text(heed_attention *a, const heed_tokenizer *t, heed_line text, token_list *list,
                      heed_error *err) {
    heed_tokens tokens = {.host = a->host};
    bool ok = heed_encode(t, text.s, text.n, true, &tokens, err) &&
              make_list(a, list, (int64_t)tokens.n, err);
    for (size_t i = 0; ok && i < tokens.n; i++) {
        const heed_token *token = &tokens.item[i];
        const char *shown = show(a, t, token->id, err);
        ok = shown != NULL;
        uint32_t end = ok && is_put(shown, text, token) ? token->begin : token->end;
        list->item[i] = (heed_shown_token){shown, token->id, token->begin, end};
    }
    heed_tokens_free(&tokens);
    return ok;
}

static bool list_ids(heed_attention *a, const heed_tokenizer *t, const int32_t *id, int64_t n,
                     token_list *list, heed_error *err) {
    if (!make_list(a, list, n, err)) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        const char *shown = show(a, t, id[i], err);
        list->item[i] = (heed_shown_token){shown, id[i], 0, 0};
        if (!shown) {
            return false;
        }
    }
    return true;
}

/* The model's own translation. */
static bool translate(heed_attention *a, heed_model *model, heed_line source, token_list *list,
                      heed_error *err) {
    heed_translations out = {0};
    heed_translator *t = heed_translator_new(model, NULL, err);
    bool ok = t && heed_translate(t, &source, 1, &out, err);
    if (ok) {
        const heed_translation *best = &out.item[0];
        a->target = heed_region_text(&a->region, best->text, strlen(best->text), err);
        ok = a->target &&
             list_ids(a, heed_model_target_tokenizer(model), best->id, best->n, list, err);
    }
    heed_translations_free(&out);
    heed_translator_free(t);
    return ok;
}

/* What the decoder reads: the start token, then all it writes but the last. */
static bool shift(heed_attention *a, const heed_model *model, const token_list *written,
                  token_list *read, heed_error *err) {
    int32_t start = heed_model_config(model)->decoder_start;
    const char *shown = show(a, heed_model_target_tokenizer(model), start, err);
    if (!shown || !make_list(a, read, written->n, err)) {
        return false;
    }
    for (int64_t i = 0; i < written->n; i++) {
        read->item[i] = i > 0 ? written->item[i - 1] : (heed_shown_token){shown, start, 0, 0};
    }
    return true;
}

static bool run(heed_session *s, const token_list *source, const token_list *read,
                heed_error *err) {
    const int64_t source_start[] = {0, source->n}, target_start[] = {0, read->n};
    if (!heed_set_rows(s, "source", 1, source_start, NULL, err) ||
        !heed_set_rows(s, "target", 1, target_start, NULL, err)) {
        return false;
    }
    int32_t *ids = heed_ints(s, "input_ids");
    for (int64_t i = 0; i < source->n; i++) {
        ids[i] = source->item[i].id;
    }
    ids = heed_ints(s, "decoder_input_ids");
    for (int64_t i = 0; i < read->n; i++) {
        ids[i] = read->item[i].id;
    }
    return heed_run_checked(s, err); /* a map of NaN would show nothing, and not say so */
}

/* Copies layer after layer of the values "scope.0.kind.weights", "scope.1.kind.weights" ... */
static bool copy_map(heed_attention *a, const heed_session *s, heed_attention_map *m,
                     const char *scope, const char *kind, heed_error *err) {
    size_t layer = (size_t)(m->heads * m->queries * m->keys);
    float *weight = heed_region_alloc(&a->region, layer * (size_t)m->layers, sizeof *weight, err);
    m->weight = weight;
    for (int64_t i = 0; weight && i < m->layers; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.%" PRId64 ".%s.weights", scope, i, kind);
        heed_matrix from = heed_read(s, path);
        if (!from.data) {
            return heed_fail(err, HEED_NAME, "the model has no attention '%s'", path);
        }
        memcpy(weight + (size_t)i * layer, from.data, layer * sizeof *weight);
    }
    return weight != NULL;
}

static heed_plan *plan(heed_model *model, int64_t sources, int64_t targets, heed_error *err) {
    heed_build *b =
        heed_build_new(heed_model_engine(model), HEED_INFER, heed_model_weights(model), err);
    if (!b) {
        return NULL;
    }
    heed_outputs out = heed_model_record(model, b, &(heed_want){.logits = true});
    const heed_capacity capacity[] = {
        {"source", sources, 1, sources, 0}, {"target", targets, 1, targets, 0}, {0}};
    const char *const watch[] = {"encoder.*.*.weights", "decoder.*.*.weights", NULL};
    const heed_value keep[] = {out.logits, {0}};
    return heed_plan_new(
        b, &(heed_plan_options){.capacity = capacity, .watch = watch, .keep = keep}, err);
}

static bool fill_maps(heed_attention *a, heed_model *model, const token_list *source,
                      const token_list *read, const token_list *written, heed_error *err) {
    const heed_config *c = heed_model_config(model);
    heed_plan *p = plan(model, source->n, read->n, err);
    heed_session *s = p ? heed_session_new(p, err) : NULL;
    a->map[HEED_ATTENTION_CROSS] = (heed_attention_map){
        written->item, source->item, c->decoder.layers, c->decoder.heads, written->n,
        source->n,     NULL};
    a->map[HEED_ATTENTION_ENCODER] = (heed_attention_map){
        source->item, source->item, c->encoder.layers, c->encoder.heads, source->n,
        source->n,    NULL};
    a->map[HEED_ATTENTION_DECODER] = (heed_attention_map){
        written->item, read->item, c->decoder.layers, c->decoder.heads, written->n, read->n, NULL};
    bool ok = s && run(s, source, read, err) &&
              copy_map(a, s, &a->map[HEED_ATTENTION_CROSS], "decoder", "cross", err) &&
              copy_map(a, s, &a->map[HEED_ATTENTION_ENCODER], "encoder", "self", err) &&
              copy_map(a, s, &a->map[HEED_ATTENTION_DECODER], "decoder", "self", err);
    heed_session_free(s);
    heed_plan_free(p);
    return ok;
}

static bool fill(heed_attention *a, heed_model *model, heed_line source, const heed_line *target,
                 heed_error *err) {
    const heed_tokenizer *t = heed_model_tokenizer(model);
    token_list from = {0}, written = {0}, read = {0};
    if (!t) {
        return heed_fail(err, HEED_NAME, "the model's folder has no tokenizer");
    }
    a->source = heed_region_text(&a->region, source.s, source.n, err);
    if (!a->source || !list_text(a, t, source, &from, err)) {
        return false;
    }
    if (target) {
        a->target = heed_region_text(&a->region, target->s, target->n, err);
        if (!a->target ||
            !list_text(a, heed_model_target_tokenizer(model), *target, &written, err)) {
            return false;
        }
    } else if (!translate(a, model, source, &written, err)) {
        return false;
    }
    if (from.n == 0 || written.n == 0) {
        return heed_fail(err, HEED_VALUE, "there is nothing to look at in an empty sentence");
    }
    return shift(a, model, &written, &read, err) &&
           fill_maps(a, model, &from, &read, &written, err);
}

heed_attention *heed_attention_new(heed_model *model, heed_line source, const heed_line *target,
                                   heed_error *err) {
    const heed_host *host = heed_model_host(model);
    if (!heed_model_must_be(model, HEED_ENCODER_DECODER, "this view", err)) {
        return NULL;
    }
    heed_attention *a = heed_alloc(host, 1, sizeof *a, err);
    if (!a) {
        return NULL;
    }
    a->host = host;
    a->region = (heed_region){.host = host};
    if (!fill(a, model, source, target, err)) {
        heed_attention_free(a);
        return NULL;
    }
    return a;
}

void heed_attention_free(heed_attention *a) {
    if (a) {
        heed_region_free(&a->region);
        heed_free(a->host, a);
    }
}

heed_attention_map heed_attention_of(const heed_attention *a, heed_attention_kind kind) {
    return a->map[kind];
}

const char *heed_attention_source(const heed_attention *a) {
    return a->source;
}

const char *heed_attention_target(const heed_attention *a) {
    return a->target;
}

bool heed_attention_mean(const heed_attention_map *m, int64_t layer, int64_t head, float *out,
                         heed_error *err) {
    if (layer >= m->layers) {
        return heed_fail(err, HEED_VALUE, "there is no layer %" PRId64 ": 0 to %" PRId64, layer,
                         m->layers - 1);
    }
    if (head >= m->heads) {
        return heed_fail(err, HEED_VALUE, "there is no head %" PRId64 ": 0 to %" PRId64, head,
                         m->heads - 1);
    }
    int64_t cells = m->queries * m->keys, from = layer < 0 ? 0 : layer;
    int64_t to = layer < 0 ? m->layers : layer + 1, first = head < 0 ? 0 : head;
    int64_t last = head < 0 ? m->heads : head + 1;
    float share = 1.0f / (float)((to - from) * (last - first));
    memset(out, 0, (size_t)cells * sizeof *out);
    for (int64_t l = from; l < to; l++) {
        for (int64_t h = first; h < last; h++) {
            const float *w = m->weight + (l * m->heads + h) * cells;
            for (int64_t i = 0; i < cells; i++) {
                out[i] += share * w[i];
            }
        }
    }
    return true;
}
