/* bench_text.c: continuing a text, and translating, with token ids.
 * SPDX-License-Identifier: MIT
 */
#include "cli/bench.h"
#include "heed_generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 25 }; /* tokens of a sentence, and of its translation */

/* ---- Continuing a text ---- */

typedef struct {
    heed_model *model;
    heed_generator *generator;
    int32_t *prompt;
    int64_t rows, fresh, seen;
    double first; /* when the first new token was there */
} decode;

static void free_decode(void *state) {
    decode *d = state;
    heed_generator_free(d->generator);
    heed_model_free(d->model);
    free(d->prompt);
    free(d);
}

static bool on_token(void *ctx, const heed_generated_token *token) {
    decode *d = ctx;
    (void)token;
    if (d->seen++ == 0) {
        d->first = bench_now();
    }
    return true;
}

/* The prompt's time where one token is wanted, else that of the tokens behind the first. */
static double run_decode(void *state, heed_error *err) {
    decode *d = state;
    heed_generation out;
    double start = bench_now();
    d->seen = 0;
    if (!heed_generate(d->generator, d->prompt, d->rows, &out, err)) {
        return -1;
    }
    if (d->seen < d->fresh) {
        err->code = HEED_VALUE;
        snprintf(err->text, sizeof err->text, "the text ended after %" PRId64 " tokens of %" PRId64,
                 d->seen, d->fresh);
        return -1;
    }
    return d->fresh > 1 ? bench_now() - d->first : d->first - start;
}

static void cost_decode(const bench_line *line, bench_cost *c) {
    const bench_model *m = bench_model_called(line->model);
    double rows = (double)line->n[0], fresh = (double)line->n[1] - 1;
    double layers = bench_matrices(m), output = (double)(m->width * m->vocab);
    if (fresh > 0) {
        *c = (bench_cost){.operations = 2 * fresh * (layers + output),
                          .bytes = bench_bytes(line->type) * fresh * (layers + output),
                          .traffic = bench_bytes(line->type) * fresh * (layers + output),
                          .units = fresh};
        return;
    }
    double attention = (double)m->decoders * bench_attention(m, 1, rows, true);
    *c = (bench_cost){.operations = 2 * rows * layers + 2 * output + attention,
                      .traffic = bench_bytes(line->type) * (layers + output),
                      .units = rows};
}

bool bench_make_decode(const bench_line *line, heed_engine *engine, const char *path,
                       bench_work *out, heed_error *err) {
    decode *d = calloc(1, sizeof *d);
    *out = (bench_work){.state = d, .run = run_decode, .free = free_decode};
    if (d) {
        d->rows = line->n[0];
        d->fresh = line->n[1];
        d->prompt = calloc((size_t)d->rows, sizeof *d->prompt);
    }
    if (!d || !d->prompt) {
        err->code = HEED_NOMEM;
        return false;
    }
    for (int64_t i = 0; i < d->rows; i++) {
        d->prompt[i] = (int32_t)(7 + 31 * i % 20000);
    }
    d->model = bench_open(line, engine, path, err);
    heed_generate_options o = {
        .max_new = d->fresh, .longest = d->rows + d->fresh, .token = on_token, .ctx = d};
    d->generator = d->model ? heed_generator_new(d->model, &o, err) : NULL;
    if (!d->generator) {
        return false;
    }
    cost_decode(line, &out->cost);
    out->memory = heed_generator_need(d->generator).values;
    return true;
}

/* ---- Translating ---- */

typedef struct {
    heed_model *model;
    heed_translator *translator;
    heed_translations out;
    int32_t *id;
    int64_t *start, n;
} translation;

static void free_translation(void *state) {
    translation *t = state;
    heed_translations_free(&t->out);
    heed_translator_free(t->translator);
    heed_model_free(t->model);
    free(t->id);
    free(t->start);
    free(t);
}

static double run_translation(void *state, heed_error *err) {
    translation *t = state;
    double start = bench_now();
    return heed_translate_ids(t->translator, t->id, t->start, t->n, &t->out, err)
               ? bench_now() - start
               : -1;
}

static void cost_translation(const bench_line *line, bench_cost *c) {
    const bench_model *m = bench_model_called(line->model);
    double batch = (double)line->n[0], beams = (double)line->n[1], n = (double)line->n[2];
    double width = (double)m->width, rows = n * LENGTH, steps = LENGTH * n / batch;
    double encoder = (double)m->encoders * bench_layer(m, false);
    /* Keys and values of the cross-attention are made once for each source row. */
    double memory = (double)m->decoders * 2 * width * width;
    double decoder = (double)m->decoders * bench_layer(m, true) - memory + width * (double)m->vocab;
    double seen = (double)m->decoders * 4 * width * beams * rows * (LENGTH * 1.5);
    double own = (double)m->encoders * bench_attention(m, n, LENGTH, false);
    double bytes = bench_bytes(line->type) * (steps * decoder + n / batch * (encoder + memory));
    *c = (bench_cost){.operations = 2 * rows * (encoder + memory + beams * decoder) + seen + own,
                      .bytes = bytes,
                      .traffic = bytes,
                      .units = n};
}

static bool roll(translation *t, const bench_line *line, heed_error *err) {
    uint32_t state = 1;
    t->n = line->n[2];
    t->id = calloc((size_t)t->n * LENGTH, sizeof *t->id);
    t->start = calloc((size_t)t->n + 1, sizeof *t->start);
    if (!t->id || !t->start) {
        err->code = HEED_NOMEM;
        return false;
    }
    for (int64_t i = 0; i < t->n * LENGTH; i++) {
        state = state * 1664525u + 1013904223u;
        t->id[i] = 10 + (int32_t)((state >> 8) % 30000);
        t->start[i / LENGTH + 1] = i + 1;
    }
    return true;
}

bool bench_make_translate(const bench_line *line, heed_engine *engine, const char *path,
                          bench_work *out, heed_error *err) {
    translation *t = calloc(1, sizeof *t);
    *out = (bench_work){.state = t, .run = run_translation, .free = free_translation};
    if (!t) {
        err->code = HEED_NOMEM;
        return false;
    }
    t->model = roll(t, line, err) ? bench_open(line, engine, path, err) : NULL;
    if (!t->model) {
        return false;
    }
    heed_translate_options o = heed_translate_defaults(t->model);
    o.beam = line->n[1];
    o.n_best = 1;
    o.min_length = o.max_length = LENGTH + 1; /* the start token counts */
    o.batch_tokens = line->n[0] * LENGTH;
    o.max_source = LENGTH;
    t->translator = heed_translator_new(t->model, &o, err);
    if (!t->translator) {
        return false;
    }
    heed_need need = heed_translator_need(t->translator);
    cost_translation(line, &out->cost);
    out->memory = need.values + need.cache;
    return true;
}
