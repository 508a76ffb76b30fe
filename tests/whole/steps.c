/* steps.c: ten optimiser steps of each golden model follow PyTorch's losses.
 *
 * The batch of in.safetensors, with its padding and its label of -100, through the graph, the
 * gradients and the optimiser that a training uses; a loss is that before its step. Bound 1e-4:
 * PyTorch's own float32 stays within 2e-5 of its float64 there. With products in bfloat16, where
 * the processor has them, the course is the same within 2 in 100.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/mem.h"
#include "file/json.h"
#include "graph/op.h"
#include "look/padded.h"
#include "model/model.h"
#include "train/optimizer.h"

#include <math.h>

enum { STEPS = 10, MOST = 200 };

/* What a run gets, without padding. */
typedef struct {
    heed_padded source, target;
    int32_t id[MOST], decoder_id[MOST], label[MOST];
    int64_t counted; /* labels that count */
} batch;

typedef struct {
    heed_engine *engine;
    heed_model *model;
    batch batch;
    heed_plan *plan;
    heed_session *session;
    heed_value loss;
    heed_optimizer *optimizer;
} training;

/* ---- The batch ---- */

static int64_t *ints(const heed_tensors *file, const char *name, int64_t *rows, int64_t *width) {
    heed_error err = {0};
    int64_t *x = heed_padded_ints(NULL, file, name, NULL, rows, width, &err);
    expect_no_error(&err);
    return x;
}

static void real_rows(const heed_padded *p, const int64_t *padded, int32_t *out) {
    assert_in_range(p->rows, 1, MOST);
    for (int64_t r = 0; r < p->rows; r++) {
        out[r] = (int32_t)padded[p->cell[r]];
    }
}

/* Decoder inputs where the file has none: labels shifted right, -100 as padding. */
static int64_t *shifted(const int64_t *labels, int64_t rows, int64_t width, const heed_config *c) {
    int64_t *out = heed_alloc(NULL, (size_t)(rows * width), sizeof *out, NULL);
    for (int64_t i = 0; i < rows * width; i++) {
        int64_t before = i % width ? labels[i - 1] : c->decoder_start;
        out[i] = before == -100 ? c->pad : before;
    }
    return out;
}

static void read_batch(batch *b, const char *folder, const heed_config *c) {
    heed_error err = {0};
    char path[TEST_PATH];
    snprintf(path, sizeof path, "%s/in.safetensors", folder);
    heed_tensors *file = heed_tensors_open(NULL, path, &err);
    expect_no_error(&err);
    int64_t rows = 0, source = 0, target = 0;
    int64_t *id = ints(file, "input_ids", &rows, &source);
    int64_t *mask = ints(file, "attention_mask", &rows, &source);
    heed_padded_make(&b->source, NULL, rows, source, mask, NULL, 0, &err);
    target = 0;
    int64_t again = 0;
    int64_t *label = ints(file, "labels", &again, &target);
    assert_int_equal(again, rows);
    int64_t *decoder = ints(file, "decoder_input_ids", &rows, &target);
    int64_t *decoder_mask = ints(file, "decoder_attention_mask", &rows, &target);
    heed_padded_make(&b->target, NULL, rows, target, decoder_mask, NULL, 0, &err);
    expect_no_error(&err);
    decoder = decoder ? decoder : shifted(label, rows, target, c);
    real_rows(&b->source, id, b->id);
    real_rows(&b->target, decoder, b->decoder_id);
    real_rows(&b->target, label, b->label);
    b->counted = 0;
    for (int64_t r = 0; r < b->target.rows; r++) {
        b->counted += b->label[r] != -100;
    }
    int64_t *all[] = {id, mask, label, decoder, decoder_mask};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        heed_free(NULL, all[i]);
    }
    heed_tensors_free(file);
}

/* ---- The training ---- */

static void plan(training *t, double smoothing) {
    heed_error err = {0};
    heed_weights *weights = heed_model_weights(t->model);
    const batch *b = &t->batch;
    for (int64_t i = 0; i < heed_weights_count(weights); i++) {
        heed_weight_entry *e = heed_weights_at(weights, i);
        assert_true(heed_weights_own(weights, e->name, e->data, &err)); /* the file is mapped */
    }
    heed_build *build = heed_build_new(t->engine, HEED_TRAIN, weights, &err);
    expect_no_error(&err);
    heed_want want = {.loss = true, .smoothing = smoothing, .no_dropout = true};
    t->loss = heed_model_record(t->model, build, &want).loss;
    const heed_capacity capacity[] = {
        {"source", b->source.rows, b->source.batch, b->source.longest, 0},
        {"target", b->target.rows, b->target.batch, b->target.longest, 0},
        {0}};
    const heed_value keep[] = {t->loss, {0}};
    t->plan = heed_plan_new(
        build, &(heed_plan_options){.capacity = capacity, .loss = t->loss, .keep = keep}, &err);
    t->session = t->plan ? heed_session_new(t->plan, &err) : NULL;
    expect_no_error(&err);
}

/* Rows stay as they are for all steps. */
static void fill(training *t) {
    heed_error err = {0};
    const batch *b = &t->batch;
    heed_set_rows(t->session, "source", b->source.batch, b->source.start, b->source.position, &err);
    heed_set_rows(t->session, "target", b->target.batch, b->target.start, b->target.position, &err);
    expect_no_error(&err);
    memcpy(heed_ints(t->session, "input_ids"), b->id, (size_t)b->source.rows * sizeof *b->id);
    memcpy(heed_ints(t->session, "decoder_input_ids"), b->decoder_id,
           (size_t)b->target.rows * sizeof *b->id);
    memcpy(heed_ints(t->session, "labels"), b->label, (size_t)b->target.rows * sizeof *b->id);
}

static double number(const json_t *options, const char *key) {
    const json_t *value = json_object_get(options, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void make_optimizer(training *t, const json_t *o) {
    heed_error err = {0};
    const json_t *betas = json_object_get(o, "betas");
    heed_optimizer_options options = {
        .beta1 = json_number_value(json_array_get(betas, 0)),
        .beta2 = json_number_value(json_array_get(betas, 1)),
        .eps = number(o, "eps"),
        .weight_decay = number(o, "weight_decay"),
        .decoupled = strcmp(json_string_value(json_object_get(o, "optimizer")), "adamw") == 0,
        .clip = number(o, "clip")};
    heed_weights *weights = heed_model_weights(t->model);
    heed_param param[MOST];
    int64_t n = 0;
    for (int64_t i = 0; i < heed_weights_count(weights); i++) {
        const heed_weight_entry *e = heed_weights_at(weights, i);
        if (e->grad && !e->frozen) {
            assert_in_range(n, 0, MOST - 1);
            param[n++] = (heed_param){.name = e->name,
                                      .weight = e->data,
                                      .grad = e->grad,
                                      .n = e->rows * e->cols,
                                      .decay = !e->vector};
        }
    }
    t->optimizer =
        heed_optimizer_new(NULL, heed_engine_kernels(t->engine), param, n, &options, &err);
    expect_no_error(&err);
}

static void follow(const char *folder, const char *isa, const json_t *options,
                   heed_compute compute) {
    heed_error err = {0};
    training t = {0};
    t.engine = heed_engine_new(NULL, 2, isa, &err);
    bool rounded = compute == HEED_COMPUTE_BF16 && heed_engine_kernels(t.engine)->fast_pairs;
    const double bound = rounded ? 2e-2 : 1e-4;
    double farthest = 0;
    heed_open_options how = {.compute = compute};
    t.model = heed_model_open_with(t.engine, folder, &how, &err);
    expect_no_error(&err);
    read_batch(&t.batch, folder, heed_model_config(t.model));
    plan(&t, number(options, "label_smoothing"));
    make_optimizer(&t, options);
    fill(&t);
    const json_t *losses = json_object_get(options, "losses");
    assert_int_equal(json_array_size(losses), STEPS);
    for (int step = 0; step < STEPS; step++) {
        heed_weights_zero_grad(heed_model_weights(t.model));
        heed_run(t.session, &err);
        expect_no_error(&err);
        double count = (double)t.batch.counted,
               loss = (double)heed_read_value(t.session, t.loss).data[0] / count,
               wanted = json_number_value(json_array_get(losses, (size_t)step));
        farthest = fmax(farthest, fabs(loss - wanted));
        if (!(fabs(loss - wanted) <= bound)) {
            fail_msg("%s on %s, %s, step %d: loss %.7f, PyTorch has %.7f", folder, isa,
                     json_string_value(json_object_get(options, "optimizer")), step, loss, wanted);
        }
        heed_optimizer_step(t.optimizer, heed_engine_pool(t.engine), step + 1,
                            number(options, "lr"), 1 / count);
    }
    assert_true(!rounded || farthest > 1e-5); /* it was rounded */
    heed_optimizer_free(t.optimizer);
    heed_session_free(t.session);
    heed_plan_free(t.plan);
    heed_padded_free(&t.batch.source);
    heed_padded_free(&t.batch.target);
    heed_model_free(t.model);
    heed_engine_free(t.engine);
}

static void follow_all(const char *name) {
    heed_error err = {0};
    char folder[200], path[250];
    snprintf(folder, sizeof folder, "tests/golden/%s", name);
    snprintf(path, sizeof path, "%s/steps.json", folder);
    json_t *all = heed_json_read(NULL, path, 0, &err);
    expect_no_error(&err);
    assert_true(json_array_size(all) >= 2);
    for (int i = 0; heed_cpu_isa(i).name; i++) {
        for (size_t j = 0; heed_cpu_isa(i).usable && j < json_array_size(all); j++) {
            follow(folder, heed_cpu_isa(i).name, json_array_get(all, j), HEED_COMPUTE_FLOAT);
            follow(folder, heed_cpu_isa(i).name, json_array_get(all, j), HEED_COMPUTE_BF16);
        }
    }
    json_decref(all);
}

#define FOLDERS(X)                                                                                 \
    X(marian, a)                                                                                   \
    X(marian, b) X(marian, c) X(marian, d) X(pegasus, a) X(pegasus, b) X(pegasus, c) X(pegasus, d)
#define DEFINE(family, letter)                                                                     \
    static void family##_##letter(void **state) {                                                  \
        (void)state;                                                                               \
        follow_all(#family "-" #letter);                                                           \
    }
FOLDERS(DEFINE)

int main(void) {
#define LIST(family, letter) cmocka_unit_test(family##_##letter),
    const struct CMUnitTest tests[] = {FOLDERS(LIST)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
