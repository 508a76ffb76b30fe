/* bench_drill.c: encoders, and training steps of every family.
 * SPDX-License-Identifier: MIT
 */
#include "cli/bench.h"
#include "heed_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SENTENCES = 1000 };

typedef struct {
    heed_model *model;
    heed_drill *drill;
    int64_t length[MOST_SENTENCES];
} drill;

static void free_drill(void *state) {
    drill *d = state;
    heed_drill_free(d->drill);
    heed_model_free(d->model);
    free(d);
}

static double run_drill(void *state, heed_error *err) {
    double start = bench_now();
    return heed_drill_run(((drill *)state)->drill, err) ? bench_now() - start : -1;
}

static bool make(const bench_line *line, heed_engine *engine, const char *path,
                 const heed_drill_options *options, bench_work *out, heed_error *err) {
    drill *d = calloc(1, sizeof *d);
    *out = (bench_work){.state = d, .run = run_drill, .free = free_drill};
    if (!d) {
        err->code = HEED_NOMEM;
        return false;
    }
    heed_drill_options o = *options;
    if (o.lengths) {
        memcpy(d->length, o.lengths, (size_t)o.sequences * sizeof *d->length);
        o.lengths = d->length; /* they live as long as the drill */
    }
    d->model = bench_open(line, engine, path, err);
    d->drill = d->model ? heed_drill_new(d->model, &o, err) : NULL;
    if (d->drill) {
        heed_need need = heed_drill_need(d->drill);
        out->memory = need.values;
        out->kept = o.train ? need.weights + need.gradients + need.moments : 0;
    }
    return d->drill != NULL;
}

/* Operations of a pass forward over sequences of n rows in each stack. */
static double forward(const bench_model *m, double sequences, double n) {
    double own = (double)m->encoders * bench_attention(m, sequences, n, false) +
                 (double)m->decoders * bench_attention(m, sequences, n, true);
    double cross = m->encoders ? (double)m->decoders * bench_attention(m, sequences, n, false) : 0;
    return 2 * bench_matrices(m) * sequences * n + own + cross;
}

bool bench_make_encode(const bench_line *line, heed_engine *engine, const char *path,
                       bench_work *out, heed_error *err) {
    const heed_drill_options o = {.sequences = line->n[0], .source = line->n[1]};
    if (!make(line, engine, path, &o, out, err)) {
        return false;
    }
    const bench_model *m = bench_model_called(line->model);
    out->cost.operations = forward(m, (double)line->n[0], (double)line->n[1]);
    out->cost.traffic = bench_bytes(line->type) * bench_matrices(m);
    out->cost.units = line->n[0] > 1 ? (double)line->n[0] : 0;
    return true;
}

/* Lengths as those of real sentences, longest first: the n quantiles of a log-normal with median
 * 17, cut to 5 and 60, straight between its tenths. bench/peers/models.py has the same. */
static void fill_lengths(int64_t *length, int64_t n) {
    static const int64_t tenth[] = {5, 8, 11, 13, 15, 17, 20, 23, 27, 34, 60};
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 10 * (n - 1 - i), k = at / n;
        length[i] = tenth[k] + (tenth[k + 1] - tenth[k]) * (at % n) / n;
    }
}

bool bench_make_sentences(const bench_line *line, heed_engine *engine, const char *path,
                          bench_work *out, heed_error *err) {
    int64_t length[MOST_SENTENCES];
    const heed_drill_options o = {
        .sequences = line->n[0], .lengths = length, .batch_rows = line->n[1]};
    const bench_model *m = bench_model_called(line->model);
    fill_lengths(length, o.sequences);
    if (!make(line, engine, path, &o, out, err)) {
        return false;
    }
    double rows = 0;
    for (int64_t i = 0; i < o.sequences; i++) {
        rows += (double)length[i];
        out->cost.operations += forward(m, 1, (double)length[i]);
    }
    double batches = ceil(rows / (double)o.batch_rows);
    out->cost.traffic = bench_bytes(line->type) * bench_matrices(m) * batches;
    out->cost.units = (double)o.sequences;
    return true;
}

/* Backward costs twice a product's forward pass and 2.5 times attention's: three times is taken for
 * all. The output layer of a decoder is a product for each of its rows. */
bool bench_make_train(const bench_line *line, heed_engine *engine, const char *path,
                      bench_work *out, heed_error *err) {
    int64_t sequences = line->n[0], n = line->n[1];
    const bench_model *m = bench_model_called(line->model);
    const heed_drill_options o = {.sequences = sequences,
                                  .source = n,
                                  .target = n,
                                  .train = true,
                                  .smoothing = m->encoders && m->decoders ? 0.1 : 0};
    if (!make(line, engine, path, &o, out, err)) {
        return false;
    }
    double rows = (double)(sequences * n), output = 0;
    if (m->decoders) {
        output = 2 * rows * (double)(m->width * m->vocab);
    }
    out->cost.operations = 3 * (forward(m, (double)sequences, (double)n) + output);
    out->cost.traffic = 2 * (double)out->kept;
    if (strcmp(line->unit, "ms") != 0) {
        out->cost.units = m->decoders && !m->encoders ? rows : (double)sequences;
    }
    return true;
}
