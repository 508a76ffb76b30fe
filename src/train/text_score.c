/* text_score.c: see text_score.h.
 * SPDX-License-Identifier: MIT
 */
#include "train/text_score.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

struct heed_text_scorer {
    const heed_host *host;
    heed_windows *windows;
    heed_plan *plan;
    heed_session *session;
    heed_value loss;
};

static bool make_plan(heed_text_scorer *s, heed_model *model, bool plan_only, heed_error *err) {
    heed_batch_bounds most = heed_windows_bounds(s->windows);
    heed_build *b =
        heed_build_new(heed_model_engine(model), HEED_INFER, heed_model_weights(model), err);
    if (!b) {
        return false;
    }
    s->loss = heed_model_record(model, b, &(heed_want){.loss = true}).loss;
    const heed_capacity capacity[] = {
        {"target", most.target_rows, most.sequences, most.target_longest, most.target_pairs}, {0}};
    const heed_value keep[] = {s->loss, {0}};
    s->plan = heed_plan_new(
        b, &(heed_plan_options){.capacity = capacity, .keep = keep, .measure = plan_only}, err);
    return s->plan != NULL;
}

heed_text_scorer *heed_text_scorer_new(heed_model *model, const heed_id_texts *texts,
                                       const heed_window_opts *windows, const volatile bool *cancel,
                                       bool plan_only, heed_error *err) {
    const heed_host *host = heed_model_host(model);
    heed_text_scorer *s = heed_alloc(host, 1, sizeof *s, err);
    if (!s) {
        return NULL;
    }
    s->host = host;
    s->windows = heed_windows_new(host, texts, windows, err);
    bool ok = s->windows && make_plan(s, model, plan_only, err);
    if (ok && !plan_only) {
        s->session = heed_session_new(s->plan, err);
        ok = s->session != NULL;
    }
    if (!ok) {
        heed_text_scorer_free(s);
        return NULL;
    }
    if (s->session) {
        heed_set_cancel(s->session, cancel);
    }
    return s;
}

void heed_text_scorer_free(heed_text_scorer *s) {
    if (!s) {
        return;
    }
    heed_session_free(s->session);
    heed_plan_free(s->plan);
    heed_windows_free(s->windows);
    heed_free(s->host, s);
}

size_t heed_text_scorer_bytes(const heed_text_scorer *s) {
    heed_memory m = heed_plan_memory(s->plan);
    return m.constants + m.arena + m.inputs + m.cache;
}

static bool score_batch(heed_text_scorer *s, const heed_batch *b, double *sum, heed_error *err) {
    size_t rows = (size_t)b->target_start[b->n];
    memcpy(heed_ints(s->session, "input_ids"), b->target_id, rows * sizeof(int32_t));
    memcpy(heed_ints(s->session, "labels"), b->label, rows * sizeof(int32_t));
    if (!heed_set_rows(s->session, "target", b->n, b->target_start, NULL, err) ||
        !heed_run(s->session, err)) {
        return false;
    }
    *sum += (double)heed_read_value(s->session, s->loss).data[0];
    return true;
}

bool heed_text_scorer_run(heed_text_scorer *s, heed_likelihood *out, heed_error *err) {
    double sum = 0;
    *out = (heed_likelihood){.left_out = heed_windows_report(s->windows).single};
    if (!heed_windows_seek(s->windows, 0, 0, err)) {
        return false;
    }
    for (bool more = true; more;) {
        const heed_batch *b = heed_windows_next(s->windows);
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
