/* generator.c: a decoder that continues one text: the prompt in pieces, then one row a run, all
 * with one plan.
 *
 * Logits are made for the last row of a run alone, so that a long prompt costs no rows x vocabulary
 * matrix. Invariant: with a cache, `fed` rows of g->id are in it; without one every run begins at
 * row 0.
 * SPDX-License-Identifier: MIT
 */
#include "generate/generator.h"

#include "base/error.h"
#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_NEW = 256, LONGEST = 2048, PIECE = 512, SOME = 2 * HEED_BANNED + HEED_ENDS + 1 };

struct heed_generator {
    heed_model *model;
    const heed_host *host;
    heed_generate_options options;
    heed_plan *plan;
    heed_session *session;
    heed_value logits, probs;
    int64_t vocab, longest, piece;
    double penalty;
    /* The prompt and what follows it (longest of them), the tokens seen (as many), what may not
     * follow (as many, and SOME). */
    int32_t *id;
    heed_seen seen;
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static bool sound(const heed_generate_options *o, heed_error *err) {
    const int64_t counts[] = {o->max_new, o->longest, o->piece};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0 || counts[i] > INT32_MAX)
            return heed_fail(err, HEED_VALUE, "a number of tokens is %" PRId64 ", not 0 to %d",
                             counts[i], INT32_MAX);
    return true;
}

bool heed_penalty_sound(double penalty, heed_error *err) {
    return (isfinite(penalty) && penalty > 0) ||
           heed_fail(err, HEED_VALUE, "repetition_penalty %g: wanted a number above 0, 1 for none",
                     penalty);
}

static void set_sizes(heed_generator *g) {
    const heed_config *c = heed_model_config(g->model);
    const heed_generate_options *o = &g->options;
    g->longest = o->longest ? o->longest : least(c->decoder.max_positions, LONGEST);
    g->longest = least(g->longest, heed_most_rows(&c->decoder, INT32_MAX));
    g->piece = o->uncached ? g->longest : least(g->longest, o->piece ? o->piece : PIECE);
    g->options.max_new = o->max_new ? o->max_new : MAX_NEW;
    g->vocab = c->vocab;
    g->penalty = o->repetition_penalty != 0 ? o->repetition_penalty : c->repetition_penalty;
}

int64_t heed_most_rows(const heed_stack *s, int64_t otherwise) {
    bool table = s->positions == HEED_POSITIONS_LEARNED ||
                 s->positions == HEED_POSITIONS_SINUSOIDAL ||
                 s->positions == HEED_POSITIONS_SINUSOIDAL_INTERLEAVED;
    return table ? s->max_positions : otherwise;
}

bool heed_must_continue(const heed_model *model, const char *what, heed_error *err) {
    if (!heed_model_must_be(model, HEED_DECODER, what, err))
        return false;
    return heed_model_config(model)->head == HEED_HEAD_VOCAB ||
           heed_fail(err, HEED_VALUE, "%s takes an output layer, the model has none", what);
}

heed_need heed_need_of(const heed_plan *plan, size_t arrays) {
    heed_memory m = heed_plan_memory(plan);
    heed_need need = {.weights = m.weights,
                      .packed = m.constants,
                      .values = m.arena + m.inputs + arrays,
                      .cache = m.cache};
    need.total = need.weights + need.packed + need.values + need.cache;
    return need;
}

static bool make_plan(heed_generator *g, heed_error *err) {
    const heed_generate_options *o = &g->options;
    heed_build *b =
        heed_build_new(heed_model_engine(g->model), HEED_INFER, heed_model_weights(g->model), err);
    if (!b)
        return false;
    g->logits = heed_model_record(g->model, b, &(heed_want){.logits = true, .last = true}).logits;
    g->probs = heed_softmax(b, g->logits);
    const heed_capacity capacity[] = {
        {.space = "target", .rows = g->piece, .sequences = 1, .longest = g->piece}, {0}};
    const heed_value keep[] = {g->logits, g->probs, {0}};
    g->plan = heed_plan_new(b,
                            &(heed_plan_options){.capacity = capacity,
                                                 .keep = keep,
                                                 .step = o->uncached ? NULL : "target",
                                                 .cached = !o->uncached,
                                                 .cache_longest = g->longest,
                                                 .frozen = true,
                                                 .measure = o->plan_only,
                                                 .limit = o->limit},
                            err);
    return g->plan != NULL;
}

static size_t ids_of(const heed_generator *g) {
    return 3 * (size_t)g->longest + SOME;
}

static bool make_session(heed_generator *g, heed_error *err) {
    g->id = heed_alloc(g->host, ids_of(g), sizeof *g->id, err);
    g->session = g->id ? heed_session_new(g->plan, err) : NULL;
    if (g->session)
        heed_set_cancel(g->session, g->options.cancel);
    return g->session != NULL;
}

heed_generator *heed_generator_new(heed_model *model, const heed_generate_options *options,
                                   heed_error *err) {
    const heed_generate_options none = {0};
    options = options ? options : &none;
    if (!heed_must_continue(model, "continuing a text", err) || !sound(options, err))
        return NULL;
    heed_generator *g = heed_alloc(heed_model_host(model), 1, sizeof *g, err);
    if (!g)
        return NULL;
    g->model = model;
    g->host = heed_model_host(model);
    g->options = *options;
    set_sizes(g);
    if (heed_penalty_sound(g->penalty, err) && make_plan(g, err) &&
        (options->plan_only || make_session(g, err)))
        return g;
    heed_generator_free(g);
    return NULL;
}

void heed_generator_free(heed_generator *g) {
    if (!g)
        return;
    heed_session_free(g->session);
    heed_plan_free(g->plan);
    heed_free(g->host, g->id);
    heed_free(g->host, g);
}

heed_need heed_generator_need(const heed_generator *g) {
    return heed_need_of(g->plan, ids_of(g) * sizeof *g->id);
}

/* Runs rows [from, to) of the text. */
static bool run(heed_generator *g, int64_t from, int64_t to, heed_error *err) {
    const int64_t starts[] = {0, to - from};
    memcpy(heed_ints(g->session, "input_ids"), g->id + from, (size_t)(to - from) * sizeof *g->id);
    return heed_set_rows(g->session, "target", 1, starts, NULL, err) && heed_run(g->session, err);
}

/* Makes the logits behind row `end`; *fed rows are known to the cache already. */
static bool feed(heed_generator *g, int64_t *fed, int64_t end, heed_error *err) {
    if (g->options.uncached)
        return run(g, 0, end, err);
    while (*fed < end) {
        int64_t to = least(end, *fed + g->piece);
        if (!run(g, *fed, to, err))
            return false;
        *fed = to;
    }
    return true;
}

static bool ends_text(const heed_config *c, int32_t id) {
    for (int64_t i = 0; i < c->ends; i++)
        if (c->end[i] == id)
            return true;
    return !c->ends && id == c->eos;
}

/* What may not follow `rows` tokens of which `prompt` were given, and what has come already. */
static heed_bans bans_of(heed_generator *g, int64_t prompt, int64_t rows) {
    const heed_config *c = heed_model_config(g->model);
    heed_bans bans = {.token = g->id + 2 * g->longest, .greedy = true};
    for (int64_t i = 0; i < c->bans; i++)
        heed_forbid(&bans, c->banned[i], g->vocab);
    for (int64_t i = 0; i < c->begin_bans && rows == prompt; i++)
        heed_forbid(&bans, c->begin_banned[i], g->vocab);
    for (int64_t i = 0; i < c->ends && rows < c->min_length; i++)
        heed_forbid(&bans, c->end[i], g->vocab);
    if (rows < c->min_length)
        heed_forbid(&bans, c->eos, g->vocab);
    heed_forbid_repeats(&bans, g->id, rows, c->no_repeat, g->vocab);
    heed_punish(&bans, &g->seen, g->id, rows, g->penalty, g->vocab);
    return bans;
}

/* One token behind the `rows` that are there. */
static bool step(heed_generator *g, int64_t *fed, int64_t prompt, int64_t rows,
                 heed_generated_token *token, heed_error *err) {
    heed_candidate best;
    if (!feed(g, fed, rows, err))
        return false;
    heed_next row = {heed_read_value(g->session, g->logits).data,
                     heed_read_value(g->session, g->probs).data, g->vocab};
    heed_bans bans = bans_of(g, prompt, rows);
    int64_t found = heed_best_tokens(&row, &bans, false, 1, &best);
    *token = (heed_generated_token){.id = best.token, .log_prob = (double)best.log_prob};
    if (found < 0)
        return heed_fail(err, HEED_NONFINITE, "the logits behind token %" PRId64 " are not finite",
                         rows);
    return found > 0 || heed_fail(err, HEED_VALUE,
                                  "no token may follow token %" PRId64
                                  ": the model's generation_config.json forbids all",
                                  rows);
}

static bool fits(const heed_generator *g, int64_t n, heed_error *err) {
    if (n < 1)
        return heed_fail(err, HEED_VALUE, "the prompt has no tokens");
    return n < g->longest ||
           heed_fail(err, HEED_LIMIT,
                     "the prompt has %" PRId64 " tokens, there is room for %" PRId64
                     " and one more at least",
                     n, g->longest - 1);
}

bool heed_generate(heed_generator *g, const int32_t *prompt, int64_t n, heed_generation *out,
                   heed_error *err) {
    const heed_config *c = heed_model_config(g->model);
    int64_t most = least(g->longest, n + g->options.max_new), rows = n, fed = 0;
    *out = (heed_generation){.why = HEED_GENERATED_MOST};
    if (!fits(g, n, err))
        return false;
    memcpy(g->id, prompt, (size_t)n * sizeof *g->id);
    g->seen = (heed_seen){.token = g->id + g->longest};
    heed_cache_clear(g->session);
    out->id = g->id + n;
    if (most < n + g->options.max_new)
        out->why = HEED_GENERATED_FULL;
    for (bool more = true; more && rows < most;) {
        heed_generated_token token;
        if (!step(g, &fed, n, rows, &token, err))
            return false;
        g->id[rows++] = token.id;
        out->n++;
        out->log_prob += token.log_prob;
        if (g->options.token && !g->options.token(g->options.ctx, &token)) {
            out->why = HEED_GENERATED_ENOUGH;
            more = false;
        }
        if (ends_text(c, token.id)) {
            out->why = HEED_GENERATED_END;
            more = false;
        }
    }
    return true;
}

bool heed_prompt_ids(const heed_model *model, const char *text, size_t n, heed_tokens *out,
                     heed_error *err) {
    const heed_tokenizer *tokenizer = heed_model_tokenizer(model);
    const heed_config *c = heed_model_config(model);
    size_t before = out->n;
    if (n > 0 && !tokenizer)
        return heed_fail(err, HEED_NAME,
                         "the model has no tokenizer: give token ids, or put its files beside "
                         "the weights");
    if (tokenizer && !heed_encode(tokenizer, text, n, true, out, err))
        return false;
    if (out->n > before)
        return true;
    if (c->bos < 0)
        return heed_fail(err, HEED_NAME,
                         "the prompt is empty, and the model has no token that "
                         "begins a text");
    if (!heed_reserve(out->host, (void **)&out->item, &out->cap, out->n + 1, sizeof *out->item,
                      err))
        return false;
    out->item[out->n++] = (heed_token){.id = c->bos};
    return true;
}
