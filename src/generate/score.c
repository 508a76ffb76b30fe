/* score.c: teacher forcing over pairs, batch by batch, in one fixed order.
 * SPDX-License-Identifier: MIT
 */
#include "generate/score.h"

#include "base/error.h"
#include "data/batch.h"
#include "generate/generator.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SCORE_TOKENS = 2048 };

struct heed_scorer {
    const heed_host *host;
    heed_batches *batches;
    heed_plan *plan;
    heed_session *session;
    heed_value loss;
};

static int64_t longest(const heed_stack *stack, int64_t budget) {
    int64_t most = heed_most_rows(stack, budget);
    return most < budget ? most : budget;
}

static bool make_plan(heed_scorer *s, heed_model *model, const heed_scorer_options *o,
                      heed_error *err) {
    heed_batch_bounds bounds = heed_batches_bounds(s->batches);
    heed_build *b =
        heed_build_new(heed_model_engine(model), HEED_INFER, heed_model_weights(model), err);
    if (!b) {
        return false;
    }
    s->loss = heed_model_record(model, b, &(heed_want){.loss = true}).loss;
    const heed_capacity capacity[] = {
        {"source", bounds.source_rows, bounds.sequences, bounds.source_longest, 0},
        {"target", bounds.target_rows, bounds.sequences, bounds.target_longest, 0},
        {0},
    };
    const heed_value keep[] = {s->loss, {0}};
    s->plan = heed_plan_new(
        b,
        &(heed_plan_options){
            .capacity = capacity, .keep = keep, .frozen = !o->live, .measure = o->plan_only},
        err);
    return s->plan != NULL;
}

heed_scorer *heed_scorer_new(heed_model *model, const heed_pairs *pairs,
                             const heed_scorer_options *options, heed_error *err) {
    const heed_config *c = heed_model_config(model);
    const heed_host *host = heed_model_host(model);
    int64_t budget = options->batch_tokens > 0 ? options->batch_tokens : SCORE_TOKENS;
    if (!heed_model_must_be(model, HEED_ENCODER_DECODER, "scoring of pairs", err)) {
        return NULL;
    }
    if (c->head != HEED_HEAD_VOCAB || c->decoder_start < 0) {
        heed_fail(err, HEED_VALUE,
                  "scoring of pairs takes a model with an output layer and a "
                  "decoder_start_token_id");
        return NULL;
    }
    heed_scorer *s = heed_alloc(host, 1, sizeof *s, err);
    if (!s) {
        return NULL;
    }
    s->host = host;
    s->batches = heed_batches_new(host, pairs,
                                  &(heed_batch_opts){.in_order = true,
                                                     .tokens = budget,
                                                     .max_source = longest(&c->encoder, budget),
                                                     .max_target = longest(&c->decoder, budget),
                                                     .on_long = HEED_LONG_DROP,
                                                     .source_begin = -1,
                                                     .source_end = c->eos,
                                                     .target_begin = c->decoder_start,
                                                     .target_end = c->eos},
                                  err);
    bool ok = s->batches && make_plan(s, model, options, err);
    if (ok && !options->plan_only) {
        s->session = heed_session_new(s->plan, err);
        ok = s->session != NULL;
    }
    if (!ok) {
        heed_scorer_free(s);
        return NULL;
    }
    if (s->session) {
        heed_set_cancel(s->session, options->cancel);
    }
    return s;
}

void heed_scorer_free(heed_scorer *s) {
    if (!s) {
        return;
    }
    heed_session_free(s->session);
    heed_plan_free(s->plan);
    heed_batches_free(s->batches);
    heed_free(s->host, s);
}

size_t heed_scorer_bytes(const heed_scorer *s) {
    heed_memory m = heed_plan_memory(s->plan);
    return m.constants + m.arena + m.inputs + m.cache;
}

static bool score_batch(heed_scorer *s, const heed_batch *b, double *sum, heed_error *err) {
    size_t source = (size_t)b->source_start[b->n], target = (size_t)b->target_start[b->n];
    memcpy(heed_ints(s->session, "input_ids"), b->source_id, source * sizeof(int32_t));
    memcpy(heed_ints(s->session, "decoder_input_ids"), b->target_id, target * sizeof(int32_t));
    memcpy(heed_ints(s->session, "labels"), b->label, target * sizeof(int32_t));
    if (!heed_set_rows(s->session, "source", b->n, b->source_start, NULL, err) ||
        !heed_set_rows(s->session, "target", b->n, b->target_start, NULL, err) ||
        !heed_run(s->session, err)) {
        return false;
    }
    *sum += (double)heed_read_value(s->session, s->loss).data[0];
    return true;
}

bool heed_scorer_run(heed_scorer *s, heed_likelihood *out, heed_error *err) {
    double sum = 0;
    *out = (heed_likelihood){.left_out = heed_batches_report(s->batches).dropped};
    if (!heed_batches_seek(s->batches, 0, 0, err)) {
        return false;
    }
    for (bool more = true; more;) {
        const heed_batch *b = heed_batches_next(s->batches);
        if (!score_batch(s, b, &sum, err)) {
            return false;
        }
        out->labels += b->target_start[b->n];
        more = b->index + 1 < b->count;
    }
    out->loss = sum / (double)out->labels;
    out->perplexity = exp(out->loss);
    return isfinite(out->loss) ||
           heed_fail(err, HEED_NONFINITE, "the loss over %" PRId64 " labels is not finite",
                     out->labels);
}
