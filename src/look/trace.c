/* trace.c: every named value of one run, padded as transformers has it.
 *
 * One plan: HEED_INFER, or HEED_TRAIN without dropout where gradients are wanted; both give the
 * same bits. What was watched is written under the names of the family's tables.
 * SPDX-License-Identifier: MIT
 */
#include "look/trace.h"

#include <inttypes.h>
#include <string.h>

/* Every path that has a name there; which stacks a model has decides which are found. */
static const char *const HIDDEN[] = {"encoder.hidden.*", "decoder.hidden.*", NULL};
static const char *const WEIGHTS[] = {"encoder.*.*.weights", "decoder.*.*.weights", NULL};

static heed_capacity room(const char *space, const heed_padded *p) {
    return (heed_capacity){space, p->rows, p->batch, p->longest, 0};
}

static bool plan(heed_trace_run *t, heed_error *err) {
    const char *watch[5] = {NULL};
    int n = 0, spaces = 0;
    for (int i = 0; t->options->hidden && HIDDEN[i]; i++)
        watch[n++] = HIDDEN[i];
    for (int i = 0; t->options->attention && WEIGHTS[i]; i++)
        watch[n++] = WEIGHTS[i];
    heed_mode mode = t->options->grads ? HEED_TRAIN : HEED_INFER;
    heed_build *b =
        heed_build_new(heed_model_engine(t->model), mode, heed_model_weights(t->model), err);
    if (!b)
        return false;
    bool head = t->config->head != HEED_HEAD_NONE;
    heed_want want = {.logits = head,
                      .loss = t->loss,
                      .numbers = t->floats,
                      .choices = t->choices,
                      .no_dropout = true,
                      .grid = {t->grid[0], t->grid[1]}};
    t->value = heed_model_record(t->model, b, &want);
    heed_capacity capacity[3] = {{0}};
    if (t->source.start)
        capacity[spaces++] = room("source", &t->source);
    if (t->target.start)
        capacity[spaces++] = room("target", &t->target);
    heed_value all[] = {t->value.memory, t->value.hidden, t->value.pooled, t->value.logits,
                        t->value.loss};
    heed_value keep[6] = {{0}};
    for (size_t i = 0, k = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].id)
            keep[k++] = all[i];
    t->plan = heed_plan_new(
        b,
        &(heed_plan_options){.capacity = capacity,
                             .loss = t->options->grads ? t->value.loss : (heed_value){0},
                             .watch = watch,
                             .keep = keep},
        err);
    t->session = t->plan ? heed_session_new(t->plan, err) : NULL;
    return t->session != NULL;
}

/* Gives an input its integers, row by row. */
static bool fill(heed_trace_run *t, const heed_trace_input *in, heed_error *err) {
    const heed_padded *p = in->side;
    int64_t rows = p ? p->rows : heed_trace_side(t)->batch;
    int32_t *out = heed_ints(t->session, in->name);
    for (int64_t r = 0; out && r < rows; r++) {
        int64_t id = in->cell[p ? p->cell[r] : r];
        if (id < INT32_MIN || id > INT32_MAX)
            return heed_fail(err, HEED_VALUE, "%s hold %" PRId64, in->name, id);
        out[r] = (int32_t)id;
        t->counted += in->label && id != in->idle;
    }
    return true;
}

static bool cut(heed_trace_run *t, const char *space, const heed_padded *p, heed_error *err) {
    return !p->start || heed_set_rows(t->session, space, p->batch, p->start, p->position, err);
}

static void fill_patches(heed_trace_run *t) {
    const heed_config *c = t->config;
    int64_t n = t->source.rows * c->channels * c->patch[0] * c->patch[1];
    float *out = heed_numbers(t->session, "pixel_values");
    if (out)
        memcpy(out, t->patches, (size_t)n * sizeof *out);
}

static bool run(heed_trace_run *t, heed_error *err) {
    if (!cut(t, "source", &t->source, err) || !cut(t, "target", &t->target, err))
        return false;
    for (int i = 0; i < t->inputs; i++)
        if (!fill(t, &t->input[i], err))
            return false;
    if (t->patches)
        fill_patches(t);
    if (t->numbers)
        memcpy(heed_numbers(t->session, "labels"), t->numbers,
               (size_t)t->n_numbers * sizeof *t->numbers);
    if (t->options->grads)
        heed_weights_zero_grad(heed_model_weights(t->model));
    return heed_run(t->session, err);
}

bool heed_trace(heed_model *model, const char *input, const char *output,
                const heed_trace_options *options, heed_error *err) {
    static const heed_trace_options none = {0};
    heed_trace_run t = {.model = model,
                        .host = heed_model_host(model),
                        .options = options ? options : &none,
                        .config = heed_model_config(model)};
    bool ok = heed_trace_read(&t, input, err) && plan(&t, err) && run(&t, err) &&
              heed_trace_write(&t, output, err);
    heed_session_free(t.session);
    heed_plan_free(t.plan);
    heed_padded_free(&t.source);
    heed_padded_free(&t.target);
    for (int i = 0; i < t.inputs; i++)
        heed_free(t.host, t.input[i].cell);
    heed_free(t.host, t.patches);
    heed_free(t.host, t.numbers);
    return ok;
}
