/* trace_outputs.c: what a run left, padded and named as transformers has it.
 * SPDX-License-Identifier: MIT
 */
#include "look/trace.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 300 };

/* Tensors on their way into a file. */
typedef struct {
    heed_trace_run *run;
    heed_region region; /* names and data */
    heed_tensor *tensor;
    size_t cap;
    int64_t n;
} output;

/* A tensor to be written, all zeros. */
static float *add(output *o, const char *name, int rank, const int64_t *dim, heed_error *err) {
    size_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= (size_t)dim[i];
    float *data = heed_region_alloc(&o->region, n, sizeof *data, err);
    const char *own = heed_region_text(&o->region, name, strlen(name), err);
    if (!data || !own ||
        !heed_reserve(o->run->host, (void **)&o->tensor, &o->cap, (size_t)o->n + 1,
                      sizeof *o->tensor, err))
        return NULL;
    heed_tensor *t = &o->tensor[o->n++];
    *t = (heed_tensor){.name = own, .type = HEED_F32, .rank = rank, .data = data};
    memcpy(t->dim, dim, (size_t)rank * sizeof *dim);
    return data;
}

static bool add_rows(output *o, const char *name, const heed_padded *p, heed_matrix m,
                     heed_error *err) {
    float *out = add(o, name, 3, (int64_t[]){p->batch, p->width, m.cols}, err);
    if (out)
        heed_padded_put(p, m.data, m.cols, out);
    return out != NULL;
}

/* One row for each sequence. */
static bool add_sequences(output *o, const char *name, heed_matrix m, heed_error *err) {
    int64_t batch = heed_trace_side(o->run)->batch;
    float *out = add(o, name, 2, (int64_t[]){batch, m.cols}, err);
    if (out)
        memcpy(out, m.data, (size_t)(batch * m.cols) * sizeof *out);
    return out != NULL;
}

/* One number for each row: a column of m. */
static bool add_column(output *o, const char *name, const heed_padded *p, heed_matrix m,
                       int64_t column, heed_error *err) {
    float *out = add(o, name, 2, (int64_t[]){p->batch, p->width}, err);
    for (int64_t r = 0; out && r < p->rows; r++)
        out[p->cell[r]] = m.data[r * m.cols + column];
    return out != NULL;
}

/* One number for each sequence, those of a question beside each other. */
static bool add_choices(output *o, heed_matrix m, heed_error *err) {
    int64_t batch = heed_trace_side(o->run)->batch, several = o->run->choices;
    float *out = add(o, "logits", 2, (int64_t[]){batch / several, several}, err);
    if (out)
        memcpy(out, m.data, (size_t)batch * sizeof *out);
    return out != NULL;
}

static const heed_padded *side_of(const heed_trace_run *t, const char *path) {
    bool one = t->config->kind != HEED_ENCODER_DECODER;
    bool encoder = one ? t->config->kind == HEED_ENCODER : strncmp(path, "encoder.", 8) == 0;
    return encoder ? &t->source : &t->target;
}

static bool add_weights(output *o, const char *name, const char *path, heed_matrix m,
                        heed_error *err) {
    const heed_trace_run *t = o->run;
    const heed_padded *q = side_of(t, path), *k = strstr(path, ".cross.") ? &t->source : q;
    int64_t heads = q == &t->source ? t->config->encoder.heads : t->config->decoder.heads;
    float *out = add(o, name, 4, (int64_t[]){q->batch, heads, q->width, k->width}, err);
    if (out)
        heed_padded_put_pairs(q, k, m.data, heads, out);
    return out != NULL;
}

static bool add_watched(output *o, heed_error *err) {
    heed_trace_run *t = o->run;
    for (int64_t i = 0; i < heed_watched_count(t->plan); i++) {
        const char *path = heed_watched_path(t->plan, i);
        size_t n = strlen(path);
        char name[NAME];
        if (!heed_model_value_name(t->model, path, name, sizeof name))
            continue;
        heed_matrix m = heed_read(t->session, path);
        bool weights = n > 8 && strcmp(path + n - 8, ".weights") == 0;
        if (weights ? !add_weights(o, name, path, m, err)
                    : !add_rows(o, name, side_of(t, path), m, err))
            return false;
    }
    return true;
}

static bool add_logits(output *o, heed_matrix m, heed_error *err) {
    const heed_padded *rows = side_of(o->run, "logits");
    switch (o->run->config->head) {
    case HEED_HEAD_MARKS:
        return add_column(o, "logits", rows, m, 0, err);
    case HEED_HEAD_SPAN:
        return add_column(o, "start_logits", rows, m, 0, err) &&
               add_column(o, "end_logits", rows, m, 1, err);
    case HEED_HEAD_SEQUENCES:
        return add_sequences(o, "logits", m, err);
    case HEED_HEAD_CHOICE:
        return add_choices(o, m, err);
    case HEED_HEAD_VOCAB:
    case HEED_HEAD_ROWS:
    case HEED_HEAD_NONE:
    case HEED_HEAD_TWO:
        break;
    }
    return add_rows(o, "logits", rows, m, err);
}

/* What has no path of its own: the last rows, the logits, the pooled row. */
static bool add_values(output *o, heed_error *err) {
    const heed_trace_run *t = o->run;
    const heed_config *c = t->config;
    bool both = c->kind == HEED_ENCODER_DECODER;
    const heed_outputs *v = &t->value;
    if (both && !add_rows(o, "encoder_last_hidden_state", &t->source,
                          heed_read_value(t->session, v->memory), err))
        return false;
    if (c->head == HEED_HEAD_NONE) {
        heed_value last = c->kind == HEED_ENCODER ? v->memory : v->hidden;
        if (!add_rows(o, "last_hidden_state", heed_trace_side(o->run),
                      heed_read_value(t->session, last), err))
            return false;
    }
    if (c->pooler && c->head == HEED_HEAD_NONE &&
        !add_sequences(o, "pooler_output", heed_read_value(t->session, v->pooled), err))
        return false;
    if (c->head == HEED_HEAD_NONE)
        return true;
    return add_logits(o, heed_read_value(t->session, v->logits), err);
}

static bool add_loss(output *o, heed_error *err) {
    const heed_trace_run *t = o->run;
    float *out = add(o, "loss", 0, (const int64_t[]){0}, err);
    if (out)
        out[0] = heed_read_value(t->session, t->value.loss).data[0] / (float)t->counted;
    return out != NULL;
}

/* Under the names and in the shapes of the checkpoint. */
static bool add_grads(output *o, heed_error *err) {
    const heed_trace_run *t = o->run;
    heed_weights *weights = heed_model_weights(t->model);
    for (int64_t i = 0; i < heed_weights_count(weights); i++) {
        const heed_weight_entry *w = heed_weights_at(weights, i);
        char name[NAME] = "grad.";
        if (w->frozen || !w->grad ||
            !heed_model_weight_name(t->model, w->name, name + 5, sizeof name - 5))
            continue;
        int64_t dim[HEED_TENSOR_RANK];
        int rank = heed_model_weight_shape(t->model, w, dim);
        float *out = add(o, name, rank, dim, err);
        if (!out)
            return false;
        for (int64_t j = 0; j < w->rows * w->cols; j++)
            out[j] = w->grad[j] / (float)t->counted;
    }
    return true;
}

/* Pictures have the class tokens as rows more than patches. */
static bool widen(heed_trace_run *t, heed_error *err) {
    heed_padded *p = &t->source;
    int64_t batch = p->batch, rows = heed_read_value(t->session, t->value.memory).rows;
    heed_padded_free(p);
    return heed_padded_make(p, t->host, batch, rows / batch, NULL, NULL, 0, err);
}

bool heed_trace_write(heed_trace_run *t, const char *path, heed_error *err) {
    static const heed_meta meta = {"format", "pt"};
    output o = {.run = t, .region = {.host = t->host}};
    bool ok = (!t->patches || widen(t, err)) && add_watched(&o, err) && add_values(&o, err) &&
              (!t->loss || add_loss(&o, err)) && (!t->options->grads || add_grads(&o, err)) &&
              heed_tensors_write(t->host, path, o.tensor, o.n, &meta, 1, err);
    heed_free(t->host, o.tensor);
    heed_region_free(&o.region);
    return ok;
}
