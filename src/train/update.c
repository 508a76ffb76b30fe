/* update.c: one update: zero, accumulate, divide once, clip, step.
 * SPDX-License-Identifier: MIT
 */
#include "train/update.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "graph/op.h"

struct heed_updater {
    heed_model *model;
    heed_feed feed;
    heed_update_options options;
    heed_plan *plan;
    heed_session *session;
    heed_value loss;
    heed_optimizer *optimizer;
    int32_t *source_id, *target_id, *label; /* the session's inputs */
};

/* ---- Making --------------------------------------------------------------------------------- */

static bool make_plan(heed_updater *u, heed_error *err) {
    heed_batch_bounds most = heed_feed_bounds(&u->feed);
    heed_capacity capacity[] = {
        {"target", most.target_rows, most.sequences, most.target_longest, most.target_pairs},
        {"source", most.source_rows, most.sequences, most.source_longest, most.source_pairs},
        {0}};
    if (!u->feed.pairs) {
        capacity[1] = (heed_capacity){0};
    }
    heed_build *b =
        heed_build_new(heed_model_engine(u->model), HEED_TRAIN, heed_model_weights(u->model), err);
    if (!b) {
        return false;
    }
    heed_want want = {.loss = true, .smoothing = u->options.smoothing};
    u->loss = heed_model_record(u->model, b, &want).loss;
    heed_value keep[] = {u->loss, {0}};
    heed_plan_options options = {.capacity = capacity,
                                 .loss = u->loss,
                                 .keep = keep,
                                 .recompute = u->options.recompute ? "*" : NULL,
                                 .measure = u->options.plan_only};
    u->plan = heed_plan_new(b, &options, err);
    return u->plan != NULL;
}

static bool make_session(heed_updater *u, heed_error *err) {
    u->session = heed_session_new(u->plan, err);
    if (!u->session) {
        return false;
    }
    heed_set_cancel(u->session, u->options.cancel);
    bool pairs = u->feed.pairs;
    u->source_id = pairs ? heed_ints(u->session, "input_ids") : NULL;
    u->target_id = heed_ints(u->session, pairs ? "decoder_input_ids" : "input_ids");
    u->label = heed_ints(u->session, "labels");
    return ((u->source_id || !pairs) && u->target_id && u->label) ||
           heed_fail(err, HEED_NAME, "family '%s' cannot be trained on %s",
                     heed_model_config(u->model)->family, pairs ? "pairs" : "text");
}

static bool is_trained(const heed_weight_entry *e) {
    return e->grad && !e->frozen;
}

/* Every weight that has a gradient; biases and norms are vectors and do not decay. */
static bool make_optimizer(heed_updater *u, const heed_optimizer_options *options,
                           heed_error *err) {
    heed_engine *engine = heed_model_engine(u->model);
    heed_weights *weights = heed_model_weights(u->model);
    const heed_host *host = heed_model_host(u->model);
    int64_t all = heed_weights_count(weights), count = 0;
    heed_param *param = heed_alloc(host, (size_t)all, sizeof *param, err);
    for (int64_t i = 0; param && i < all; i++) {
        const heed_weight_entry *e = heed_weights_at(weights, i);
        if (is_trained(e)) {
            param[count++] = (heed_param){.name = e->name,
                                          .weight = e->data,
                                          .grad = e->grad,
                                          .n = e->rows * e->cols,
                                          .decay = !e->vector};
        }
    }
    if (param) {
        u->optimizer =
            heed_optimizer_new(host, heed_engine_kernels(engine), param, count, options, err);
    }
    heed_free(host, param);
    return u->optimizer != NULL;
}

heed_updater *heed_updater_new(heed_model *model, heed_feed feed,
                               const heed_update_options *options,
                               const heed_optimizer_options *optimizer, heed_error *err) {
    if (!heed_model_must_be(model, feed.pairs ? HEED_ENCODER_DECODER : HEED_DECODER,
                            feed.pairs ? "training on pairs" : "training on text", err)) {
        return NULL;
    }
    heed_updater *u = heed_alloc(heed_model_host(model), 1, sizeof *u, err);
    if (!u) {
        return NULL;
    }
    u->model = model;
    u->feed = feed;
    u->options = *options;
    if (make_plan(u, err) &&
        (options->plan_only || (make_session(u, err) && make_optimizer(u, optimizer, err)))) {
        return u;
    }
    heed_updater_free(u);
    return NULL;
}

void heed_updater_free(heed_updater *u) {
    if (!u) {
        return;
    }
    heed_optimizer_free(u->optimizer);
    heed_session_free(u->session);
    heed_plan_free(u->plan);
    heed_free(heed_model_host(u->model), u);
}

/* ---- Running -------------------------------------------------------------------------------- */

static bool feed(heed_updater *u, const heed_batch *b, int64_t number, heed_error *err) {
    int64_t targets = b->target_start[b->n];
    if (u->source_id) {
        if (!heed_set_rows(u->session, "source", b->n, b->source_start, NULL, err)) {
            return false;
        }
        memcpy(u->source_id, b->source_id, (size_t)b->source_start[b->n] * sizeof(int32_t));
    }
    if (!heed_set_rows(u->session, "target", b->n, b->target_start, NULL, err)) {
        return false;
    }
    memcpy(u->target_id, b->target_id, (size_t)targets * sizeof(int32_t));
    memcpy(u->label, b->label, (size_t)targets * sizeof(int32_t));
    heed_set_random(u->session, u->options.seed, (uint64_t)number);
    return true;
}

static void list_lines(const heed_batch *b, char *out, size_t size) {
    size_t at = 0;
    for (int64_t i = 0; i < b->n && at + 24 < size; i++) {
        at += (size_t)snprintf(out + at, size - at, "%s%" PRId64, i > 0 ? ", " : "", b->line[i]);
    }
    if (at + 24 >= size) {
        snprintf(out + at, size - at, " and more");
    }
}

static bool refuse_batch(const heed_updater *u, const heed_batch *b, int64_t step, const char *what,
                         heed_error *err) {
    char lines[160];
    list_lines(b, lines, sizeof lines);
    return heed_fail(err, HEED_NONFINITE,
                     "update %" PRId64 ": %s, with the %s %s: "
                     "lower train.lr, set train.clip, or look at these %s",
                     step, what, heed_feed_lines(&u->feed), lines,
                     u->feed.pairs ? "lines" : "texts");
}

/* The loss is no number: runs the batch once more, looking at every value. */
static bool explain_loss(heed_updater *u, const heed_batch *b, int64_t step, double loss,
                         heed_error *err) {
    heed_error found = {0};
    char what[300];
    const char *kind = isnan(loss) ? "not a number" : "infinite"; /* printf may say -nan */
    if (heed_run_checked(u->session, &found)) {
        snprintf(what, sizeof what, "the loss is %s", kind);
    } else {
        snprintf(what, sizeof what, "the loss is %s; %.200s", kind, found.text);
    }
    return refuse_batch(u, b, step, what, err);
}

static bool run_batch(heed_updater *u, const heed_batch *b, int64_t step, int64_t number,
                      heed_update_report *report, heed_error *err) {
    if (!feed(u, b, number, err) || !heed_run(u->session, err)) {
        return false;
    }
    double loss = (double)heed_read_value(u->session, u->loss).data[0];
    if (!isfinite(loss)) {
        return explain_loss(u, b, step, loss, err);
    }
    report->loss += loss;
    report->tokens += b->target_start[b->n];
    return true;
}

bool heed_update(heed_updater *u, int64_t step, double lr, heed_update_report *report,
                 heed_error *err) {
    const heed_batch *b = NULL;
    *report = (heed_update_report){0};
    heed_weights_zero_grad(heed_model_weights(u->model));
    for (int64_t i = 0; i < u->options.accumulate; i++) {
        b = heed_feed_next(&u->feed);
        if (!run_batch(u, b, step, (step - 1) * u->options.accumulate + i, report, err)) {
            return false;
        }
    }
    heed_pool *pool = heed_engine_pool(heed_model_engine(u->model));
    heed_step_report taken =
        heed_optimizer_step(u->optimizer, pool, step, lr, 1.0 / (double)report->tokens);
    report->norm = taken.norm;
    if (taken.finite) {
        return true;
    }
    int64_t count;
    char what[200] = "the gradient is not finite";
    const heed_param *params = heed_optimizer_params(u->optimizer, &count);
    if (taken.bad >= 0) {
        snprintf(what, sizeof what, "the gradient of '%.120s' is not finite",
                 params[taken.bad].name);
    }
    return refuse_batch(u, b, step, what, err);
}

bool heed_updater_probe(heed_updater *u, int64_t step, heed_error *err) {
    heed_update_report thrown = {0};
    int64_t epoch, index;
    heed_feed_place(&u->feed, &epoch, &index);
    return run_batch(u, heed_feed_next(&u->feed), step, (step - 1) * u->options.accumulate, &thrown,
                     err) &&
           heed_feed_seek(&u->feed, epoch, index, err);
}

heed_need heed_updater_need(const heed_updater *u) {
    heed_memory m = heed_plan_memory(u->plan);
    int64_t numbers = (int64_t)(m.gradients / sizeof(heed_real)); /* that are trained */
    heed_need need = {.weights = m.weights,
                      .packed = m.constants,
                      .gradients = m.gradients,
                      .moments = heed_optimizer_bytes(numbers),
                      .values = m.arena + m.inputs,
                      .cache = m.cache};
    need.total =
        need.weights + need.packed + need.gradients + need.moments + need.values + need.cache;
    return need;
}

const heed_param *heed_updater_params(const heed_updater *u, int64_t *count) {
    return heed_optimizer_params(u->optimizer, count);
}
