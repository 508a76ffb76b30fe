/* trace.c: every named value of one run, padded as transformers has it.
 *
 * One plan: HEED_INFER, or HEED_TRAIN without dropout where gradients are wanted; both give the
 * same bits. What was watched is written under the names of the family's tables.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "heed_look.h"
#include "look/padded.h"
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 300 };

typedef struct {
    heed_model *model;
    const heed_host *host;
    const heed_trace_options *options;
    heed_padded source, target;
    int64_t *ids, *decoder_ids, *labels; /* padded; labels NULL: none */
    int64_t counted;                     /* labels that count */
    heed_value memory, loss;
    heed_plan *plan;
    heed_session *session;
    heed_region region; /* what is written */
    heed_tensor *tensor;
    size_t tensor_cap;
    int64_t tensors;
} trace;

/* ---- Inputs ---- */

/* The labels shifted right behind the start token. */
static bool shift_labels(trace *t, int64_t batch, int64_t width, heed_error *err) {
    const heed_config *c = heed_model_config(t->model);
    t->decoder_ids = heed_alloc(t->host, (size_t)(batch * width), sizeof *t->decoder_ids, err);
    for (int64_t i = 0; t->decoder_ids && i < batch * width; i++) {
        int64_t before = i % width ? t->labels[i - 1] : c->decoder_start;
        t->decoder_ids[i] = before == -100 ? c->pad : before;
    }
    return t->decoder_ids != NULL;
}

static bool read_source(trace *t, const heed_tensors *file, int64_t *batch, heed_error *err) {
    int64_t width = 0;
    t->ids = heed_padded_ints(t->host, file, "input_ids", batch, &width, err);
    if (!t->ids) {
        return heed_fail(err, HEED_NAME, "there is no tensor 'input_ids'");
    }
    heed_error inner = {0};
    int64_t *mask = heed_padded_ints(t->host, file, "attention_mask", batch, &width, &inner);
    int64_t *positions = heed_padded_ints(t->host, file, "position_ids", batch, &width, &inner);
    bool ok = inner.code
                  ? heed_fail(err, inner.code, "%s", inner.text)
                  : heed_padded_make(&t->source, t->host, *batch, width, mask, positions, err);
    heed_free(t->host, mask);
    heed_free(t->host, positions);
    return ok;
}

static bool read_target(trace *t, const heed_tensors *file, int64_t batch, heed_error *err) {
    int64_t width = 0, wanted = batch;
    heed_error inner = {0};
    batch = 0;
    t->labels = heed_padded_ints(t->host, file, "labels", &batch, &width, &inner);
    t->decoder_ids = heed_padded_ints(t->host, file, "decoder_input_ids", &batch, &width, &inner);
    int64_t *mask =
        heed_padded_ints(t->host, file, "decoder_attention_mask", &batch, &width, &inner);
    bool ok = true;
    if (inner.code) {
        ok = heed_fail(err, inner.code, "%s", inner.text);
    } else if (!t->labels && !t->decoder_ids) {
        ok = heed_fail(err, HEED_NAME, "there is neither 'decoder_input_ids' nor 'labels'");
    } else if (batch != wanted) {
        ok = heed_fail(err, HEED_SHAPE,
                       "input_ids has a batch of %" PRId64 ", the decoder's %" PRId64, wanted,
                       batch);
    }
    ok = ok && (t->decoder_ids || shift_labels(t, batch, width, err)) &&
         heed_padded_make(&t->target, t->host, batch, width, mask, NULL, err);
    heed_free(t->host, mask);
    return ok;
}

static bool read_inputs(trace *t, const char *path, heed_error *err) {
    int64_t batch = 0;
    heed_tensors *file = heed_tensors_open(t->host, path, err);
    if (!file) {
        return false;
    }
    bool ok = read_source(t, file, &batch, err) && read_target(t, file, batch, err);
    heed_tensors_free(file);
    if (!ok) {
        heed_error_at(err, "'%s'", path);
    } else if (t->options->grads && !t->labels) {
        return heed_fail(err, HEED_NAME, "'%s': gradients want 'labels'", path);
    }
    return ok;
}

/* ---- The run ---- */

static bool plan(trace *t, heed_error *err) {
    static const char *const watched[] = {"logits",
                                          "encoder.hidden.*",
                                          "decoder.hidden.*",
                                          "encoder.*.*.weights",
                                          "decoder.*.*.weights",
                                          NULL};
    const char *watch[6] = {watched[0]};
    int n = 1;
    for (int i = 1; watched[i]; i++) {
        if (i < 3 ? t->options->hidden : t->options->attention) {
            watch[n++] = watched[i];
        }
    }
    heed_mode mode = t->options->grads ? HEED_TRAIN : HEED_INFER;
    heed_build *b =
        heed_build_new(heed_model_engine(t->model), mode, heed_model_weights(t->model), err);
    if (!b) {
        return false;
    }
    heed_want want = {.logits = true, .loss = t->labels != NULL, .no_dropout = true};
    heed_outputs out = heed_model_record(t->model, b, &want);
    t->memory = out.memory;
    t->loss = out.loss;
    const heed_capacity capacity[] = {
        {"source", t->source.rows, t->source.batch, t->source.longest, 0},
        {"target", t->target.rows, t->target.batch, t->target.longest, 0},
        {0},
    };
    const heed_value keep[] = {t->memory, t->loss, {0}};
    t->plan =
        heed_plan_new(b,
                      &(heed_plan_options){.capacity = capacity,
                                           .loss = t->options->grads ? t->loss : (heed_value){0},
                                           .watch = watch,
                                           .keep = keep},
                      err);
    t->session = t->plan ? heed_session_new(t->plan, err) : NULL;
    return t->session != NULL;
}

static bool fill(const heed_padded *p, const int64_t *padded, int32_t *out, const char *name,
                 heed_error *err) {
    for (int64_t r = 0; r < p->rows; r++) {
        int64_t id = padded[p->cell[r]];
        if (id < INT32_MIN || id > INT32_MAX) {
            return heed_fail(err, HEED_VALUE, "%s hold %" PRId64, name, id);
        }
        out[r] = (int32_t)id;
    }
    return true;
}

static bool run(trace *t, heed_error *err) {
    heed_session *s = t->session;
    int32_t *labels = t->labels ? heed_ints(s, "labels") : NULL;
    if (!heed_set_rows(s, "source", t->source.batch, t->source.start, t->source.position, err) ||
        !heed_set_rows(s, "target", t->target.batch, t->target.start, t->target.position, err) ||
        !fill(&t->source, t->ids, heed_ints(s, "input_ids"), "input_ids", err) ||
        !fill(&t->target, t->decoder_ids, heed_ints(s, "decoder_input_ids"), "decoder_input_ids",
              err) ||
        (labels && !fill(&t->target, t->labels, labels, "labels", err))) {
        return false;
    }
    for (int64_t r = 0; labels && r < t->target.rows; r++) {
        t->counted += labels[r] != -100;
    }
    if (t->options->grads) {
        heed_weights_zero_grad(heed_model_weights(t->model));
    }
    return heed_run(s, err);
}

/* ---- Outputs ---- */

/* A tensor to be written, all zeros. */
static float *add(trace *t, const char *name, int rank, const int64_t *dim, heed_error *err) {
    size_t n = 1;
    for (int i = 0; i < rank; i++) {
        n *= (size_t)dim[i];
    }
    float *data = heed_region_alloc(&t->region, n, sizeof *data, err);
    const char *own = heed_region_text(&t->region, name, strlen(name), err);
    if (!data || !own ||
        !heed_reserve(t->host, (void **)&t->tensor, &t->tensor_cap, (size_t)t->tensors + 1,
                      sizeof *t->tensor, err)) {
        return NULL;
    }
    heed_tensor *out = &t->tensor[t->tensors++];
    *out = (heed_tensor){.name = own, .type = HEED_F32, .rank = rank, .data = data};
    memcpy(out->dim, dim, (size_t)rank * sizeof *dim);
    return data;
}

static bool add_rows(trace *t, const char *name, const heed_padded *p, heed_matrix m,
                     heed_error *err) {
    float *out = add(t, name, 3, (int64_t[]){p->batch, p->width, m.cols}, err);
    if (out) {
        heed_padded_put(p, m.data, m.cols, out);
    }
    return out != NULL;
}

static bool add_weights(trace *t, const char *name, const char *path, heed_matrix m,
                        heed_error *err) {
    bool encoder = strncmp(path, "encoder.", 8) == 0;
    const heed_padded *q = encoder ? &t->source : &t->target;
    const heed_padded *k = encoder || strstr(path, ".cross.") ? &t->source : &t->target;
    const heed_config *c = heed_model_config(t->model);
    int64_t heads = encoder ? c->encoder.heads : c->decoder.heads;
    float *out = add(t, name, 4, (int64_t[]){q->batch, heads, q->width, k->width}, err);
    if (out) {
        heed_padded_put_pairs(q, k, m.data, heads, out);
    }
    return out != NULL;
}

static bool add_watched(trace *t, heed_error *err) {
    for (int64_t i = 0; i < heed_watched_count(t->plan); i++) {
        const char *path = heed_watched_path(t->plan, i);
        size_t n = strlen(path);
        char name[NAME];
        if (!heed_model_value_name(t->model, path, name, sizeof name)) {
            continue;
        }
        heed_matrix m = heed_read(t->session, path);
        bool weights = n > 8 && strcmp(path + n - 8, ".weights") == 0;
        const heed_padded *p = strncmp(path, "encoder.", 8) == 0 ? &t->source : &t->target;
        if (weights ? !add_weights(t, name, path, m, err) : !add_rows(t, name, p, m, err)) {
            return false;
        }
    }
    return add_rows(t, "encoder_last_hidden_state", &t->source,
                    heed_read_value(t->session, t->memory), err);
}

static bool add_loss(trace *t, heed_error *err) {
    float *out = add(t, "loss", 0, (const int64_t[]){0}, err);
    if (out) {
        out[0] = heed_read_value(t->session, t->loss).data[0] / (float)t->counted;
    }
    return out != NULL;
}

static bool add_grads(trace *t, heed_error *err) {
    heed_weights *weights = heed_model_weights(t->model);
    for (int64_t i = 0; i < heed_weights_count(weights); i++) {
        const heed_weight_entry *w = heed_weights_at(weights, i);
        char name[NAME] = "grad.";
        if (w->frozen || !w->grad ||
            !heed_model_weight_name(t->model, w->name, name + 5, sizeof name - 5)) {
            continue;
        }
        int64_t dim[] = {w->rows, w->cols};
        float *out = add(t, name, w->vector ? 1 : 2, w->vector ? dim + 1 : dim, err);
        if (!out) {
            return false;
        }
        for (int64_t j = 0; j < w->rows * w->cols; j++) {
            out[j] = w->grad[j] / (float)t->counted;
        }
    }
    return true;
}

static bool write_outputs(trace *t, const char *path, heed_error *err) {
    static const heed_meta meta = {"format", "pt"};
    return add_watched(t, err) && (!t->labels || add_loss(t, err)) &&
           (!t->options->grads || add_grads(t, err)) &&
           heed_tensors_write(t->host, path, t->tensor, t->tensors, &meta, 1, err);
}

bool heed_trace(heed_model *model, const char *input, const char *output,
                const heed_trace_options *options, heed_error *err) {
    const heed_host *host = heed_model_host(model);
    static const heed_trace_options none = {0};
    trace t = {.model = model,
               .host = host,
               .options = options ? options : &none,
               .region = {.host = host}};
    bool ok = read_inputs(&t, input, err) && plan(&t, err) && run(&t, err) &&
              write_outputs(&t, output, err);
    heed_session_free(t.session);
    heed_plan_free(t.plan);
    heed_padded_free(&t.source);
    heed_padded_free(&t.target);
    heed_free(host, t.ids);
    heed_free(host, t.decoder_ids);
    heed_free(host, t.labels);
    heed_free(host, t.tensor);
    heed_region_free(&t.region);
    return ok;
}
