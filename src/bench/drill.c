/* drill.c: random input through a whole model: batches forward, or a training step of one.
 *
 * What is recorded is the family's own; what is trained is every weight with a gradient, as in
 * train/update.c, by the same optimizer.
 * SPDX-License-Identifier: MIT
 */
#include "heed_bench.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/philox.h"
#include "graph/op.h"
#include "model/model.h"
#include "train/optimizer.h"

#include <inttypes.h>
#include <string.h>

struct heed_drill {
    heed_model *model;
    heed_drill_options options;
    heed_plan *plan;
    heed_session *session;
    heed_value loss;
    heed_optimizer *optimizer;
    int64_t *start;
    int64_t batch_rows; /* with lengths: most rows of a run */
    int64_t labels, step;
    double last;
};

#define RATE 1e-4
static const heed_optimizer_options ADAMW = {
    .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01, .decoupled = true};

/* ---- Sizes ---- */

static bool has(const heed_config *c, const char *space) {
    return c->kind == HEED_ENCODER_DECODER ||
           (c->kind == HEED_ENCODER) == (space[0] == 's'); /* "source", "target" */
}

/* Rows of the longest sequence; those of pictures are patches. */
static int64_t rows_of(const heed_drill *d, bool source) {
    const heed_config *c = heed_model_config(d->model);
    if (source && c->channels) {
        return (c->image[0] / c->patch[0]) * (c->image[1] / c->patch[1]);
    }
    if (d->options.lengths) {
        return d->options.lengths[0];
    }
    return source ? d->options.source : d->options.target;
}

/* Rows of a run at most. */
static int64_t most_rows(const heed_drill *d, bool source) {
    return d->options.lengths ? d->batch_rows : d->options.sequences * rows_of(d, source);
}

/* The lengths are lengths; how many rows a run has. */
static bool take_lengths(heed_drill *d, heed_error *err) {
    const heed_drill_options *o = &d->options;
    int64_t all = 0;
    if (!o->lengths) {
        return true;
    }
    if (o->train || heed_model_config(d->model)->channels) {
        return heed_fail(err, HEED_VALUE, "lengths are of texts, in a pass forward");
    }
    for (int64_t i = 0; i < o->sequences; i++) {
        if (o->lengths[i] < 1 || (i && o->lengths[i] > o->lengths[i - 1])) {
            return heed_fail(err, HEED_VALUE,
                             "length %" PRId64 " of sequence %" PRId64
                             ": longest first, none empty",
                             o->lengths[i], i);
        }
        all += o->lengths[i];
    }
    int64_t asked = o->batch_rows > 0 && o->batch_rows < all ? o->batch_rows : all;
    d->batch_rows = asked > o->lengths[0] ? asked : o->lengths[0];
    return true;
}

static bool fits(heed_drill *d, heed_error *err) {
    const heed_config *c = heed_model_config(d->model);
    if (d->options.sequences < 1) {
        return heed_fail(err, HEED_VALUE, "sequences: %" PRId64, d->options.sequences);
    }
    if (!take_lengths(d, err)) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        bool source = i == 0;
        const heed_stack *s = source ? &c->encoder : &c->decoder;
        int64_t rows = rows_of(d, source);
        if (!has(c, source ? "source" : "target") || (source && c->channels)) {
            continue;
        }
        if (rows < 1 || rows > s->max_positions) {
            return heed_fail(err, HEED_LIMIT,
                             "rows of a sequence: %" PRId64 ", the model has %" PRId64 " positions",
                             rows, s->max_positions);
        }
    }
    return true;
}

/* ---- Making ---- */

static heed_value last_rows(const heed_model *m, heed_outputs out) {
    return heed_model_config(m)->kind == HEED_ENCODER ? out.memory : out.hidden;
}

static bool make_plan(heed_drill *d, heed_error *err) {
    const heed_drill_options *o = &d->options;
    heed_capacity capacity[3] = {{0}};
    int n = 0;
    for (int i = 0; i < 2; i++) {
        const char *space = i ? "target" : "source";
        int64_t rows = rows_of(d, i == 0);
        if (has(heed_model_config(d->model), space)) {
            capacity[n++] = (heed_capacity){.space = space,
                                            .rows = most_rows(d, i == 0),
                                            .sequences = o->sequences,
                                            .longest = rows};
        }
    }
    heed_build *b = heed_build_new(heed_model_engine(d->model), o->train ? HEED_TRAIN : HEED_INFER,
                                   heed_model_weights(d->model), err);
    if (!b) {
        return false;
    }
    heed_want want = {.loss = o->train, .smoothing = o->smoothing};
    heed_outputs out = heed_model_record(d->model, b, &want);
    d->loss = out.loss;
    heed_value keep[] = {o->train ? out.loss : last_rows(d->model, out), {0}};
    if (o->train && !out.loss.id && heed_build_check(b, err)) {
        heed_build_free(b);
        return heed_fail(err, HEED_VALUE, "family '%s' has no loss with this head",
                         heed_model_config(d->model)->family);
    }
    d->plan = heed_plan_new(b,
                            &(heed_plan_options){.capacity = capacity,
                                                 .loss = o->train ? out.loss : (heed_value){0},
                                                 .keep = keep,
                                                 .frozen = !o->train},
                            err);
    return d->plan != NULL;
}

static bool make_optimizer(heed_drill *d, heed_error *err) {
    heed_weights *weights = heed_model_weights(d->model);
    const heed_host *host = heed_model_host(d->model);
    int64_t all = heed_weights_count(weights), count = 0;
    heed_param *param = heed_alloc(host, (size_t)all, sizeof *param, err);
    for (int64_t i = 0; param && i < all; i++) {
        const heed_weight_entry *e = heed_weights_at(weights, i);
        if (e->grad && !e->frozen) {
            param[count++] = (heed_param){.name = e->name,
                                          .weight = e->data,
                                          .grad = e->grad,
                                          .n = e->rows * e->cols,
                                          .decay = !e->vector};
        }
    }
    if (param) {
        d->optimizer = heed_optimizer_new(host, heed_engine_kernels(heed_model_engine(d->model)),
                                          param, count, &ADAMW, err);
    }
    heed_free(host, param);
    return d->optimizer != NULL;
}

/* ---- Input ---- */

/* Numbers of an input from a stream of its own; below `limit`. */
static void roll_ids(const heed_drill *d, const char *name, int64_t n, int64_t limit) {
    heed_random dice = {.seed = d->options.seed, .stream = heed_hash(name, strlen(name))};
    int32_t *id = heed_ints(d->session, name);
    for (int64_t i = 0; id && i < n; i++) {
        id[i] = (int32_t)heed_random_below(&dice, (uint64_t)limit);
    }
}

static void roll_pixels(const heed_drill *d, int64_t n) {
    heed_random dice = {.seed = d->options.seed};
    heed_number *x = heed_numbers(d->session, "pixel_values");
    for (int64_t i = 0; x && i < n; i++) {
        x[i] = (heed_number)(2 * heed_random_unit(&dice) - 1);
    }
}

static void roll(heed_drill *d) {
    const heed_config *c = heed_model_config(d->model);
    int64_t n = d->options.sequences, source = most_rows(d, true), target = most_rows(d, false);
    bool encoder = c->kind == HEED_ENCODER;
    roll_ids(d, "input_ids", c->kind == HEED_DECODER ? target : source,
             c->kind == HEED_ENCODER_DECODER ? c->source_vocab : c->vocab);
    roll_ids(d, "decoder_input_ids", target, c->vocab);
    if (c->types) {
        roll_ids(d, "token_type_ids", encoder ? source : target, c->types);
    }
    roll_pixels(d, source * c->channels * c->patch[0] * c->patch[1]);
    bool tokens = c->head == HEED_HEAD_VOCAB;
    d->labels = c->head == HEED_HEAD_SEQUENCES ? n : encoder ? source : target;
    roll_ids(d, "labels", d->labels, tokens ? c->vocab : c->labels);
}

/* n sequences that begin where `start` says. */
static bool cut(heed_drill *d, const char *space, int64_t n, heed_error *err) {
    return !has(heed_model_config(d->model), space) ||
           heed_set_rows(d->session, space, n, d->start, NULL, err);
}

static bool cut_evenly(heed_drill *d, bool source, heed_error *err) {
    for (int64_t i = 0; i <= d->options.sequences; i++) {
        d->start[i] = i * rows_of(d, source);
    }
    return cut(d, source ? "source" : "target", d->options.sequences, err);
}

static bool make_session(heed_drill *d, heed_error *err) {
    d->start = heed_alloc(heed_model_host(d->model), (size_t)d->options.sequences + 1,
                          sizeof *d->start, err);
    d->session = d->start ? heed_session_new(d->plan, err) : NULL;
    if (!d->session) {
        return false;
    }
    roll(d);
    return d->options.lengths || (cut_evenly(d, true, err) && cut_evenly(d, false, err));
}

/* ---- The public face ---- */

heed_drill *heed_drill_new(heed_model *model, const heed_drill_options *options, heed_error *err) {
    heed_drill *d = heed_alloc(heed_model_host(model), 1, sizeof *d, err);
    if (!d) {
        return NULL;
    }
    d->model = model;
    d->options = *options;
    if (fits(d, err) && make_plan(d, err) && make_session(d, err) &&
        (!options->train || make_optimizer(d, err))) {
        return d;
    }
    heed_drill_free(d);
    return NULL;
}

void heed_drill_free(heed_drill *d) {
    if (!d) {
        return;
    }
    const heed_host *host = heed_model_host(d->model);
    heed_optimizer_free(d->optimizer);
    heed_session_free(d->session);
    heed_plan_free(d->plan);
    heed_free(host, d->start);
    heed_free(host, d);
}

/* As many of the next sequences at a time as there are rows for. */
static bool run_batches(heed_drill *d, heed_error *err) {
    const int64_t *length = d->options.lengths;
    int64_t n;
    for (int64_t at = 0; at < d->options.sequences; at += n) {
        for (n = 0; at + n < d->options.sequences; n++) {
            d->start[n + 1] = d->start[n] + length[at + n];
            if (d->start[n + 1] > d->batch_rows) {
                break;
            }
        }
        if (!cut(d, "source", n, err) || !cut(d, "target", n, err) || !heed_run(d->session, err)) {
            return false;
        }
    }
    return true;
}

bool heed_drill_run(heed_drill *d, heed_error *err) {
    if (d->options.lengths) {
        return run_batches(d, err);
    }
    if (!d->options.train) {
        return heed_run(d->session, err);
    }
    heed_weights_zero_grad(heed_model_weights(d->model));
    heed_set_random(d->session, d->options.seed, (uint64_t)++d->step);
    if (!heed_run(d->session, err)) {
        return false;
    }
    d->last = (double)heed_read_value(d->session, d->loss).data[0] / (double)d->labels;
    heed_pool *pool = heed_engine_pool(heed_model_engine(d->model));
    return heed_optimizer_step(d->optimizer, pool, d->step, RATE, 1.0 / (double)d->labels).finite ||
           heed_fail(err, HEED_NONFINITE, "the gradient of step %" PRId64 " is not finite",
                     d->step);
}

heed_need heed_drill_need(const heed_drill *d) {
    heed_memory m = heed_plan_memory(d->plan);
    int64_t numbers = (int64_t)(m.gradients / sizeof(heed_real));
    heed_need need = {.weights = m.weights,
                      .packed = m.constants,
                      .gradients = m.gradients,
                      .moments = heed_optimizer_bytes(numbers),
                      .values = m.arena + m.inputs};
    need.total = need.weights + need.packed + need.gradients + need.moments + need.values;
    return need;
}

double heed_drill_loss(const heed_drill *d) {
    return d->last;
}
