/* translator.c: the plan, the session and the arrays of a translator.
 *
 * One plan serves all batches. Its room for decoder rows is bounded by their logits (ROW_NUMBERS),
 * its cache by what translations usually take.
 * SPDX-License-Identifier: MIT
 */
#include "generate/translator.h"
#include "base/error.h"
#include "generate/generator.h"

#include <inttypes.h>
#include <math.h>

enum { BATCH_TOKENS = 2048, MOST_SENTENCES = 256, ROW_NUMBERS = 1 << 24 };

heed_translate_options heed_translate_defaults(const heed_model *model) {
    const heed_config *c = heed_model_config(model);
    return (heed_translate_options){
        .beam = c->beam > 0 ? c->beam : 1,
        .n_best = 1,
        .length_penalty = c->length_penalty,
        .stop = c->stop,
        .renormalize = c->renormalize,
        .max_length = c->max_new > 0 ? c->max_new + 1 : c->max_length,
        .min_length = c->min_length,
        .no_repeat = c->no_repeat,
        .repetition_penalty = c->repetition_penalty,
        .force_end = c->forced_eos >= 0,
    };
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A number of rows or tokens that can be counted. */
static bool countable(int64_t n) {
    return n >= 0 && n <= INT32_MAX;
}

static int32_t start_of(const heed_translate_options *o, const heed_config *c) {
    return o->start ? *o->start : c->decoder_start >= 0 ? c->decoder_start : c->bos;
}

static int32_t first_of(const heed_translate_options *o, const heed_config *c) {
    return o->first ? *o->first : c->forced_bos;
}

static double penalty_of(const heed_translate_options *o, const heed_config *c) {
    return o->repetition_penalty != 0 ? o->repetition_penalty : c->repetition_penalty;
}

/* What a translation begins with. */
static bool tokens_sound(const heed_translate_options *o, const heed_config *c, heed_error *err) {
    int32_t start = start_of(o, c), first = first_of(o, c);
    if (start < 0) {
        return heed_fail(err, HEED_VALUE,
                         "nothing says what a translation begins with: the model's config names "
                         "neither decoder_start_token_id nor bos_token_id");
    }
    if (start >= c->vocab || first >= c->vocab || first < -1) {
        return heed_fail(err, HEED_VALUE,
                         "start token %" PRId32 " and first token %" PRId32
                         ": the model has 0 to %" PRId64,
                         start, first, c->vocab - 1);
    }
    if (o->no_repeat < 0) {
        return heed_fail(err, HEED_VALUE, "no run of %" PRId64 " tokens can come twice",
                         o->no_repeat);
    }
    return c->head == HEED_HEAD_VOCAB ||
           heed_fail(err, HEED_VALUE, "the class that config.json names has no output layer");
}

static bool sound(const heed_translate_options *o, const heed_config *c, heed_error *err) {
    if (o->beam < 1 || o->n_best < 1 || o->n_best > o->beam) {
        return heed_fail(err, HEED_VALUE,
                         "beam %" PRId64 " and n_best %" PRId64 ": wanted 1 <= n_best <= beam",
                         o->beam, o->n_best);
    }
    if (o->beam > c->vocab) {
        return heed_fail(err, HEED_VALUE, "beam %" PRId64 " is more than the %" PRId64 " tokens",
                         o->beam, c->vocab);
    }
    if (o->max_length < 2 || o->min_length < 0 || o->min_length > o->max_length) {
        return heed_fail(err, HEED_VALUE,
                         "min_length %" PRId64 " and max_length %" PRId64
                         ": wanted 0 <= min_length <= max_length and max_length >= 2",
                         o->min_length, o->max_length);
    }
    if (!isfinite(o->length_penalty) || !(o->max_ratio >= 0) || !isfinite(o->max_ratio) ||
        !countable(o->max_extra) || !countable(o->batch_tokens) || !countable(o->max_source) ||
        !countable(o->max_length)) {
        return heed_fail(err, HEED_VALUE, "a length, ratio or penalty of the search is not usable");
    }
    if (c->ends > 1) {
        return heed_fail(err, HEED_VALUE,
                         "the model's eos_token_id lists %" PRId64
                         " tokens, a translation ends with one",
                         c->ends);
    }
    return heed_penalty_sound(penalty_of(o, c), err) && tokens_sound(o, c, err);
}

static void set_rules(heed_translator *t, const heed_config *c) {
    const heed_translate_options *o = &t->options;
    t->rules = (heed_search_rules){
        .beam = o->beam,
        .min_length = o->min_length,
        .length_penalty = o->length_penalty,
        .stop = o->beam == 1 ? HEED_STOP_FIRST : o->stop,
        .end = c->eos,
        .forced_end = !o->force_end        ? -1
                      : c->forced_eos >= 0 ? c->forced_eos
                                           : c->eos,
        .start = start_of(o, c),
        .forced_first = first_of(o, c),
        .no_repeat = o->no_repeat,
        .renormalize = o->renormalize,
        .penalty = penalty_of(o, c),
        .late = c->begin_banned,
        .n_late = c->begin_bans,
    };
    for (int i = 0; i < HEED_SEARCH_NEVER; i++) {
        t->rules.never[i] = i < c->bans ? c->banned[i] : -1;
    }
    t->rules.never[HEED_SEARCH_NEVER - 2] = c->pad;
    t->rules.never[HEED_SEARCH_NEVER - 1] = o->no_unk ? c->unk : -1;
}

static void set_sizes(heed_translator *t, const heed_config *c) {
    heed_translate_options *o = &t->options;
    o->batch_tokens = o->batch_tokens ? o->batch_tokens : BATCH_TOKENS;
    int64_t source = heed_most_rows(&c->encoder, o->max_source ? o->max_source : o->batch_tokens);
    source = o->max_source ? least(source, o->max_source) : source;
    o->max_source = source;
    t->limit = least(o->max_length, heed_most_rows(&c->decoder, INT32_MAX) + 1);
    t->vocab = c->vocab;
    t->source_rows = o->batch_tokens > source ? o->batch_tokens : source;
    t->sentences = least(ROW_NUMBERS / (o->beam * c->vocab), MOST_SENTENCES);
    t->sentences = t->sentences < 1 ? 1 : least(t->sentences, t->source_rows);
    int64_t usual = o->batch_tokens + o->batch_tokens / 4;
    usual = least(usual, t->sentences * (t->limit - 1));
    t->cache_rows = o->beam * (usual > t->limit ? usual : t->limit);
}

static bool make_plan(heed_translator *t, heed_error *err) {
    heed_build *b =
        heed_build_new(heed_model_engine(t->model), HEED_INFER, heed_model_weights(t->model), err);
    if (!b) {
        return false;
    }
    heed_outputs out = heed_model_record(t->model, b, &(heed_want){.logits = true});
    t->logits = out.logits;
    t->probs = heed_softmax(b, out.logits);
    int64_t rows = t->sentences * t->options.beam;
    const heed_capacity capacity[] = {
        {.space = "source",
         .rows = t->source_rows,
         .sequences = t->sentences,
         .longest = t->options.max_source},
        {.space = "target", .rows = rows, .sequences = rows, .longest = 1},
        {0},
    };
    const heed_value keep[] = {t->logits, t->probs, {0}};
    t->plan = heed_plan_new(b,
                            &(heed_plan_options){.capacity = capacity,
                                                 .keep = keep,
                                                 .step = "target",
                                                 .cached = true,
                                                 .cache_rows = t->cache_rows,
                                                 .cache_longest = t->limit - 1,
                                                 .frozen = !t->options.live,
                                                 .measure = t->options.plan_only,
                                                 .limit = t->options.limit},
                            err);
    return t->plan != NULL;
}

static size_t array_bytes(const heed_translator *t) {
    size_t n = (size_t)t->sentences, beams = n * (size_t)t->options.beam;
    size_t histories = (beams + n) * (size_t)t->limit * 2 * sizeof(int32_t);
    return histories + n * sizeof *t->work + beams * (2 * sizeof(int32_t) + sizeof(int64_t));
}

static bool make_arrays(heed_translator *t, heed_error *err) {
    size_t n = (size_t)t->sentences, beams = n * (size_t)t->options.beam;
    t->work = heed_alloc(t->host, n, sizeof *t->work, err);
    t->source_start = heed_alloc(t->host, n + 1, sizeof *t->source_start, err);
    t->target_start = heed_alloc(t->host, beams + 1, sizeof *t->target_start, err);
    t->join = heed_alloc(t->host, beams, sizeof *t->join, err);
    t->from = heed_alloc(t->host, beams, sizeof *t->from, err);
    t->list = heed_alloc(t->host, 4 * (size_t)t->options.beam, sizeof *t->list, err);
    if (!t->work || !t->source_start || !t->target_start || !t->join || !t->from || !t->list) {
        return false;
    }
    for (size_t i = 0; i <= beams; i++) {
        t->target_start[i] = (int64_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        if (!heed_search_make(&t->work[i].search, t->host, &t->rules, t->limit, err)) {
            return false;
        }
    }
    return true;
}

heed_translator *heed_translator_new(heed_model *model, const heed_translate_options *options,
                                     heed_error *err) {
    const heed_config *config = heed_model_config(model);
    const heed_host *host = heed_model_host(model);
    heed_translate_options o = options ? *options : heed_translate_defaults(model);
    if (!heed_model_must_be(model, HEED_ENCODER_DECODER, "translating", err) ||
        !sound(&o, config, err)) {
        return NULL;
    }
    heed_translator *t = heed_alloc(host, 1, sizeof *t, err);
    if (!t) {
        return NULL;
    }
    t->model = model;
    t->host = host;
    t->options = o;
    set_sizes(t, config);
    set_rules(t, config);
    bool ok = make_plan(t, err);
    if (ok && !o.plan_only) {
        t->session = make_arrays(t, err) ? heed_session_new(t->plan, err) : NULL;
        ok = t->session != NULL;
    }
    if (!ok) {
        heed_translator_free(t);
        return NULL;
    }
    if (t->session) {
        heed_set_cancel(t->session, o.cancel);
    }
    return t;
}

void heed_translator_free(heed_translator *t) {
    if (!t) {
        return;
    }
    for (int64_t i = 0; t->work && i < t->sentences; i++) {
        heed_search_drop(&t->work[i].search, t->host);
    }
    heed_free(t->host, t->work);
    heed_free(t->host, t->source_start);
    heed_free(t->host, t->target_start);
    heed_free(t->host, t->join);
    heed_free(t->host, t->from);
    heed_free(t->host, t->list);
    heed_session_free(t->session);
    heed_plan_free(t->plan);
    heed_free(t->host, t);
}

heed_need heed_translator_need(const heed_translator *t) {
    return heed_need_of(t->plan, array_bytes(t));
}
