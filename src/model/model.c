/* model.c: the object: config, weights and tokenizer under one handle.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include "base/mem.h"
#include "graph/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

heed_model *heed_model_without_weights(heed_engine *engine, heed_error *err) {
    const heed_host *host = heed_engine_host(engine);
    heed_model *m = heed_alloc(host, 1, sizeof *m, err);
    if (!m)
        return NULL;
    m->engine = engine;
    heed_map_init(&m->claims, host);
    m->weights = heed_weights_new(host, err);
    if (m->weights)
        return m;
    heed_free(host, m);
    return NULL;
}

void heed_model_free(heed_model *m) {
    if (!m)
        return;
    heed_weights_free(m->weights);
    heed_tensors_free(m->own);
    heed_gguf_free(m->gguf);
    heed_free(heed_engine_host(m->engine), m->stored);
    heed_map_free(&m->claims);
    heed_tokenizer_free(m->tokenizer);
    heed_tokenizer_free(m->target_tokenizer);
    heed_free(heed_engine_host(m->engine), m);
}

/* Recording declares; the recording itself is thrown away. */
bool heed_model_declare(heed_model *m, heed_error *err) {
    heed_build *b = heed_build_new(m->engine, HEED_INFER, m->weights, err);
    if (!b)
        return false;
    m->family->record(b, &m->config, &(heed_want){.logits = true});
    bool fine = heed_build_check(b, err);
    heed_build_free(b);
    heed_weight_entry *bias = heed_weights_find(m->weights, "logits.bias");
    if (bias)
        bias->frozen = true;
    return fine;
}

static bool ids_in_vocab(const heed_config *c, heed_error *err) {
    const int32_t ids[] = {c->pad,           c->bos,        c->eos,       c->unk,
                           c->decoder_start, c->forced_eos, c->forced_bos};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i] >= c->vocab)
            return heed_fail(err, HEED_VALUE, "token id %d is outside the vocabulary of %" PRId64,
                             ids[i], c->vocab);
    return true;
}

/* A model of one stack has one vocabulary. */
static int64_t source_vocab(const heed_config *c) {
    return c->kind == HEED_ENCODER_DECODER ? c->source_vocab : c->vocab;
}

static bool fits(const heed_tokenizer *t, int64_t vocab, heed_error *err) {
    return !t || heed_vocab_size(t) <= vocab ||
           heed_fail(err, HEED_SHAPE, "the tokenizer has %d ids, the model's vocabulary %" PRId64,
                     heed_vocab_size(t), vocab);
}

bool heed_model_tokenizer_fits(const heed_model *m, heed_error *err) {
    return fits(m->tokenizer, source_vocab(&m->config), err) &&
           fits(heed_model_target_tokenizer(m), m->config.vocab, err);
}

heed_model *heed_model_sketch(heed_engine *engine, const heed_config *config,
                              heed_tokenizer *tokenizer, heed_error *err) {
    heed_model *m = heed_model_without_weights(engine, err);
    if (!m) {
        heed_tokenizer_free(tokenizer);
        return NULL;
    }
    m->config = *config;
    m->tokenizer = tokenizer;
    m->family = heed_family_called(config->family);
    if (!m->family)
        heed_fail(err, HEED_NAME, "there is no family '%s'", config->family);
    else if (ids_in_vocab(config, err) && heed_model_tokenizer_fits(m, err) &&
             heed_model_declare(m, err))
        return m;
    heed_model_free(m);
    return NULL;
}

heed_model *heed_model_new(heed_engine *engine, const heed_config *config,
                           heed_tokenizer *tokenizer, uint64_t seed, heed_error *err) {
    heed_model *m = heed_model_sketch(engine, config, tokenizer, err);
    if (!m || heed_weights_init(m->weights, seed, err))
        return m;
    heed_model_free(m);
    return NULL;
}

heed_model *heed_model_random(heed_engine *engine, const char *config, size_t n, uint64_t seed,
                              heed_compute compute, heed_error *err) {
    heed_model *m = heed_model_without_weights(engine, err);
    if (m)
        heed_weights_compute(m->weights, compute);
    if (m && heed_model_read_config(m, config, n, err) && ids_in_vocab(&m->config, err) &&
        heed_model_declare(m, err) && heed_weights_init(m->weights, seed, err))
        return m;
    heed_model_free(m);
    return NULL;
}

/* Takes a new model, NULL after a failure; with or without the weights' numbers. */
static heed_model *opened(heed_model *m, const char *path, bool numbers, heed_error *err) {
    if (m && heed_model_read(m, path, err) && heed_model_match(m, NULL, err) &&
        (!numbers || heed_model_take(m, err)) && ids_in_vocab(&m->config, err) &&
        heed_model_tokenizer_fits(m, err))
        return m;
    if (m)
        heed_error_at(err, "cannot open '%s'", path);
    heed_model_free(m);
    return NULL;
}

static heed_model *with_options(heed_engine *engine, const heed_open_options *options,
                                heed_error *err) {
    heed_model *m = heed_model_without_weights(engine, err);
    if (m) {
        m->untie = options->untie;
        heed_weights_compute(m->weights, options->compute);
    }
    return m;
}

heed_model *heed_model_open_with(heed_engine *engine, const char *path,
                                 const heed_open_options *options, heed_error *err) {
    return opened(with_options(engine, options, err), path, true, err);
}

heed_model *heed_model_open_encoder(heed_engine *engine, const char *path,
                                    const heed_open_options *options, heed_error *err) {
    heed_model *m = with_options(engine, options, err);
    if (m)
        m->encoder_alone = true;
    return opened(m, path, true, err);
}

heed_model *heed_model_open_matched(heed_engine *engine, const char *path, heed_error *err) {
    return opened(heed_model_without_weights(engine, err), path, false, err);
}

heed_model *heed_model_inspect(heed_engine *engine, const char *path, json_t *misfits, bool *fits,
                               heed_error *err) {
    heed_model *m = heed_model_without_weights(engine, err);
    if (m)
        m->bare = true;
    bool fine = m && heed_model_read(m, path, err) && ids_in_vocab(&m->config, err);
    *fits = fine && heed_model_match(m, misfits, err);
    if (m && !*fits)
        heed_error_at(err, "cannot open '%s'", path);
    if (fine)
        return m;
    heed_model_free(m);
    return NULL;
}

heed_model *heed_model_open(heed_engine *engine, const char *path, heed_error *err) {
    return heed_model_open_with(engine, path, &(heed_open_options){0}, err);
}

heed_engine *heed_model_engine(const heed_model *m) {
    return m->engine;
}
const heed_host *heed_model_host(const heed_model *m) {
    return heed_engine_host(m->engine);
}
const heed_config *heed_model_config(const heed_model *m) {
    return &m->config;
}
heed_weights *heed_model_weights(const heed_model *m) {
    return m->weights;
}
const heed_tokenizer *heed_model_tokenizer(const heed_model *m) {
    return m->tokenizer;
}

const heed_tokenizer *heed_model_target_tokenizer(const heed_model *m) {
    return m->target_tokenizer ? m->target_tokenizer : m->tokenizer;
}

const char *heed_model_vocabulary(const heed_model *m) {
    return m->vocabulary[0] ? m->vocabulary : NULL;
}

int64_t heed_model_parameters(const heed_model *m) {
    int64_t n = 0;
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++) {
        const heed_weight_entry *e = heed_weights_at(m->weights, i);
        if (!e->frozen)
            n += e->rows * e->cols;
    }
    return n;
}

int64_t heed_model_positions(const heed_model *m) {
    const heed_stack *s = m->config.kind == HEED_ENCODER ? &m->config.encoder : &m->config.decoder;
    bool endless = s->positions == HEED_POSITIONS_NONE || s->positions == HEED_POSITIONS_ALIBI ||
                   s->positions == HEED_POSITIONS_T5;
    return endless ? 0 : s->max_positions;
}

void heed_config_drop_nothing(heed_config *c) {
    c->encoder.dropout = c->decoder.dropout = 0;
    c->encoder.attention_dropout = c->decoder.attention_dropout = 0;
    c->encoder.activation_dropout = c->decoder.activation_dropout = 0;
    c->embed_dropout = c->head_dropout = 0;
}

heed_outputs heed_model_record(const heed_model *m, heed_build *b, const heed_want *want) {
    heed_config config = m->config;
    if (want->no_dropout)
        heed_config_drop_nothing(&config);
    return m->family->record(b, &config, want);
}

heed_place heed_model_place(const heed_model *m) {
    return m->family->place;
}

bool heed_model_must_be(const heed_model *m, heed_model_kind kind, const char *what,
                        heed_error *err) {
    static const char *const names[] = {"an encoder-decoder", "a decoder", "an encoder"};
    return m->config.kind == kind ||
           heed_fail(err, HEED_VALUE, "%s takes %s, family '%s' is %s", what, names[kind],
                     m->family->type, names[m->config.kind]);
}

/* The file's name of a weight, NULL where it came from none. */
static const char *stored_name(const heed_model *m, const char *ours) {
    for (int64_t i = 0; m->stored && i < heed_weights_count(m->weights); i++)
        if (!strcmp(heed_weights_at(m->weights, i)->name, ours))
            return m->stored[i];
    return NULL;
}

bool heed_model_weight_name(const heed_model *m, const char *ours, char *theirs, size_t size) {
    const char *stored = stored_name(m, ours);
    if (stored)
        return (size_t)snprintf(theirs, size, "%s", stored) < size;
    return heed_renamed(m->family->weights, ours, 0, theirs, size);
}

int heed_model_weight_shape(const heed_model *m, const heed_weight_entry *w,
                            int64_t dim[HEED_TENSOR_RANK]) {
    const char *stored = stored_name(m, w->name);
    const heed_tensor *t = stored ? heed_tensors_find(m->tensors, stored) : NULL;
    if (t) {
        memcpy(dim, t->dim, sizeof t->dim);
        return t->rank;
    }
    dim[0] = w->vector ? w->cols : w->rows;
    dim[1] = w->cols;
    return w->vector ? 1 : 2;
}

bool heed_model_value_name(const heed_model *m, const char *ours, char *theirs, size_t size) {
    bool alone = m->config.kind != m->family->kind; /* the encoder of both */
    return heed_renamed(alone ? heed_encoder_values : m->family->values, ours, 0, theirs, size);
}
