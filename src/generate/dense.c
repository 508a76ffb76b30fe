/* dense.c: layers behind pooling: y = act(x W' + b), in a plan of their own over rows of vectors.
 *
 * A product's elements do not depend on the number of rows, so neither does a vector. Source:
 * Reimers and Gurevych 2019; Ni et al. 2022 (Sentence-T5).
 * SPDX-License-Identifier: MIT
 */
#include "generate/dense.h"

#include "base/error.h"
#include "file/safetensors.h"
#include "graph/op.h"
#include "heed_ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 64, NAME = 64 };

struct heed_dense {
    const heed_host *host;
    int64_t in, out;
    heed_weights *weights;
    heed_plan *plan;
    heed_session *session;
    heed_value vectors;
};

/* "dense.0.linear.weight": the module's own "linear.weight". */
static bool take(heed_dense *d, const heed_tensors *file, int layer, const char *name,
                 heed_error *err) {
    char ours[NAME], shape[180];
    snprintf(ours, sizeof ours, "dense.%d.%s", layer, name);
    const heed_tensor *t = heed_tensors_find(file, name);
    const heed_weight_entry *e = heed_weights_find(d->weights, ours);
    if (!t)
        return heed_fail(err, HEED_NAME, "there is no tensor '%s'", name);
    if (t->rank != (e->vector ? 1 : 2) || t->dim[t->rank - 1] != e->cols ||
        (!e->vector && t->dim[0] != e->rows))
        return heed_fail(err, HEED_SHAPE, "'%s' is %s, config.json says (%" PRId64 ",%" PRId64 ")",
                         name, heed_tensor_shape(t, shape), e->rows, e->cols);
    return heed_weights_own(d->weights, ours, NULL, err) && heed_tensor_to_f32(t, e->data, err);
}

static bool load(heed_dense *d, const heed_sentence_dense *layer, int i, heed_error *err) {
    heed_tensors *file = heed_tensors_open(d->host, layer->folder, err);
    bool ok = file && take(d, file, i, "linear.weight", err) &&
              (!layer->bias || take(d, file, i, "linear.bias", err));
    heed_tensors_free(file);
    if (!ok)
        heed_error_at(err, "'%s'", layer->folder);
    return ok;
}

static heed_value record(heed_build *b, const heed_sentence_rules *rules, int64_t width) {
    heed_value x = heed_input_numbers(b, "vectors", heed_rows(b, "texts"), width);
    for (int i = 0; i < rules->n_dense; i++) {
        const heed_sentence_dense *layer = &rules->dense[i];
        heed_enter(b, "dense", i);
        x = heed_linear(b, x, "linear", layer->out, layer->bias);
        if (!layer->plain)
            x = heed_act(b, x, layer->act);
        heed_leave(b);
    }
    return x;
}

/* The widths of one layer after the other. */
static bool chained(const heed_sentence_rules *rules, int64_t width, heed_error *err) {
    for (int i = 0; i < rules->n_dense; i++) {
        if (rules->dense[i].in != width)
            return heed_fail(err, HEED_SHAPE,
                             "'%s' takes vectors of %" PRId64 " numbers, here they have %" PRId64,
                             rules->dense[i].folder, rules->dense[i].in, width);
        width = rules->dense[i].out;
    }
    return true;
}

static bool make(heed_dense *d, heed_engine *engine, const heed_sentence_rules *rules,
                 heed_error *err) {
    d->weights = heed_weights_new(d->host, err);
    heed_build *b = d->weights ? heed_build_new(engine, HEED_INFER, d->weights, err) : NULL;
    if (!b)
        return false;
    d->vectors = record(b, rules, d->in);
    bool ok = heed_build_check(b, err);
    for (int i = 0; ok && i < rules->n_dense; i++)
        ok = load(d, &rules->dense[i], i, err);
    if (!ok) {
        heed_build_free(b);
        return false;
    }
    const heed_capacity capacity[] = {
        {.space = "texts", .rows = ROWS, .sequences = 1, .longest = ROWS}, {0}};
    d->plan = heed_plan_new(b,
                            &(heed_plan_options){.capacity = capacity,
                                                 .keep = (heed_value[]){d->vectors, {0}},
                                                 .frozen = true},
                            err);
    d->session = d->plan ? heed_session_new(d->plan, err) : NULL;
    return d->session != NULL;
}

heed_dense *heed_dense_new(heed_engine *engine, const heed_sentence_rules *rules, int64_t width,
                           heed_error *err) {
    const heed_host *host = heed_engine_host(engine);
    if (!chained(rules, width, err))
        return NULL;
    heed_dense *d = heed_alloc(host, 1, sizeof *d, err);
    if (!d)
        return NULL;
    d->host = host;
    d->in = width;
    d->out = rules->dense[rules->n_dense - 1].out;
    if (make(d, engine, rules, err))
        return d;
    heed_dense_free(d);
    return NULL;
}

void heed_dense_free(heed_dense *d) {
    if (!d)
        return;
    heed_session_free(d->session);
    heed_plan_free(d->plan);
    heed_weights_free(d->weights);
    heed_free(d->host, d);
}

int64_t heed_dense_width(const heed_dense *d) {
    return d->out;
}

bool heed_dense_run(heed_dense *d, const float *in, int64_t n, float *out, heed_error *err) {
    for (int64_t at = 0; at < n; at += ROWS) {
        int64_t rows = n - at < ROWS ? n - at : ROWS;
        const int64_t starts[] = {0, rows};
        memcpy(heed_numbers(d->session, "vectors"), in + at * d->in,
               (size_t)(rows * d->in) * sizeof *in);
        if (!heed_set_rows(d->session, "texts", 1, starts, NULL, err) || !heed_run(d->session, err))
            return false;
        memcpy(out + at * d->out, heed_read_value(d->session, d->vectors).data,
               (size_t)(rows * d->out) * sizeof *out);
    }
    return true;
}
