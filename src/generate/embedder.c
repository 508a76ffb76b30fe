/* embedder.c: texts in, vectors out.
 *
 * Texts are cut into pieces, the pieces sorted by length and run in batches under a budget of rows;
 * each piece's rows are pooled into its vector. A text's vector is made of its pieces' in their
 * order, and goes through the layers behind pooling. No sum crosses a sequence, so neither batch
 * nor order changes a bit.
 * SPDX-License-Identifier: MIT
 */
#include "generate/embedder.h"

#include "base/error.h"
#include "graph/op.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_TOKENS = 4096 };

/* ---- Opening ---- */

static const heed_stack *stack_of(const heed_model *m) {
    const heed_config *c = heed_model_config(m);
    return c->kind == HEED_DECODER ? &c->decoder : &c->encoder;
}

static const char *space_of(const heed_embedder *e) {
    return heed_model_config(e->model)->kind == HEED_DECODER ? "target" : "source";
}

static bool choose_most(heed_embedder *e, heed_error *err) {
    int64_t positions = stack_of(e->model)->max_positions, wanted = e->options.max_tokens;
    e->most = positions;
    e->most_from = "the model's positions";
    if (wanted > positions || wanted < 0)
        return heed_fail(err, HEED_VALUE,
                         "max_tokens %" PRId64 ": the model has %" PRId64 " positions", wanted,
                         positions);
    if (e->rules.max_tokens && e->rules.max_tokens < e->most) {
        e->most = e->rules.max_tokens;
        e->most_from = e->rules.max_from;
    }
    if (wanted) {
        e->most = wanted;
        e->most_from = "max_tokens";
    }
    return true;
}

static bool sound(heed_embedder *e, heed_error *err) {
    const heed_config *c = heed_model_config(e->model);
    if (c->kind == HEED_ENCODER_DECODER)
        return heed_fail(err, HEED_VALUE,
                         "embedding takes an encoder or a decoder, family '%s' "
                         "is both",
                         c->family);
    if (!heed_model_tokenizer(e->model))
        return heed_fail(err, HEED_NAME, "the model's folder has no tokenizer");
    if (e->options.batch_tokens < 0 || e->options.batch_tokens > INT32_MAX)
        return heed_fail(err, HEED_VALUE, "batch_tokens is %" PRId64, e->options.batch_tokens);
    return choose_most(e, err);
}

static bool open_all(heed_embedder *e, const char *folder, heed_error *err) {
    if (!heed_sentence_read(e->host, folder, e->options.prompt, &e->rules, err)) {
        heed_error_at(err, "cannot open '%s'", folder);
        return false;
    }
    e->model = heed_model_open_encoder(e->engine, e->rules.model, &e->options.open, err);
    if (!e->model || !sound(e, err))
        return false;
    if (e->options.pooling != HEED_POOLING_STATED)
        e->rules.pooling = e->options.pooling;
    else if (e->rules.pooling == HEED_POOLING_STATED)
        e->rules.pooling = HEED_POOLING_MEAN;
    e->rules.normalize = e->rules.normalize || e->options.normalize;
    if (!e->options.batch_tokens)
        e->options.batch_tokens = BATCH_TOKENS;
    e->width = stack_of(e->model)->width;
    e->sum = heed_alloc(e->host, (size_t)e->width, sizeof *e->sum, err);
    if (e->sum && e->rules.n_dense)
        e->dense = heed_dense_new(e->engine, &e->rules, e->width, err);
    return e->sum && (e->dense || !e->rules.n_dense);
}

heed_embedder *heed_embedder_new(heed_engine *engine, const char *folder,
                                 const heed_embed_options *options, heed_error *err) {
    const heed_host *host = heed_engine_host(engine);
    heed_embedder *e = heed_alloc(host, 1, sizeof *e, err);
    if (!e)
        return NULL;
    e->host = host;
    e->engine = engine;
    e->options = options ? *options : (heed_embed_options){0};
    if (open_all(e, folder, err))
        return e;
    heed_embedder_free(e);
    return NULL;
}

static void drop_plan(heed_embedder *e) {
    heed_session_free(e->session);
    heed_plan_free(e->plan);
    e->session = NULL;
    e->plan = NULL;
}

void heed_embedder_free(heed_embedder *e) {
    if (!e)
        return;
    drop_plan(e);
    heed_dense_free(e->dense);
    heed_model_free(e->model);
    heed_free(e->host, e->sum);
    heed_free(e->host, e);
}

static int64_t vector_width(const heed_embedder *e) {
    return e->dense ? heed_dense_width(e->dense) : e->width;
}

heed_embedder_facts heed_embedder_about(const heed_embedder *e) {
    return (heed_embedder_facts){.width = vector_width(e),
                                 .max_tokens = e->most,
                                 .max_from = e->most_from,
                                 .pooling = e->rules.pooling,
                                 .pooling_name = heed_pooling_name(e->rules.pooling),
                                 .normalized = e->rules.normalize,
                                 .stated = e->rules.stated,
                                 .prompt = e->rules.prompt};
}

/* ---- Running ---- */

/* A plan for sequences of up to `longest` rows, and a session of it. */
static bool make_plan(heed_embedder *e, int64_t longest, heed_error *err) {
    int64_t rows = e->options.batch_tokens > longest ? e->options.batch_tokens : longest;
    if (e->plan && longest <= e->plan_longest)
        return true;
    drop_plan(e);
    heed_build *b = heed_build_new(e->engine, HEED_INFER, heed_model_weights(e->model), err);
    if (!b)
        return false;
    heed_outputs out = heed_model_record(e->model, b, &(heed_want){.logits = false});
    e->rows = heed_model_config(e->model)->kind == HEED_DECODER ? out.hidden : out.memory;
    heed_capacity capacity[] = {
        {.space = space_of(e), .rows = rows, .sequences = rows, .longest = longest}, {0}};
    e->plan = heed_plan_new(b,
                            &(heed_plan_options){.capacity = capacity,
                                                 .keep = (heed_value[]){e->rows, {0}},
                                                 .frozen = true,
                                                 .limit = e->options.limit},
                            err);
    e->session = e->plan ? heed_session_new(e->plan, err) : NULL;
    if (!e->session)
        return false;
    heed_set_cancel(e->session, e->options.cancel);
    e->plan_rows = rows;
    e->plan_longest = longest;
    return true;
}

/* A run over pieces order[0] ... order[n - 1]. */
static bool run(heed_embedder *e, const heed_pieces *p, const int64_t *order, int64_t n,
                int64_t *start, heed_error *err) {
    int32_t *ids = heed_ints(e->session, "input_ids");
    int32_t *types = heed_ints(e->session, "token_type_ids");
    start[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const heed_piece *piece = &p->piece[order[i]];
        memcpy(ids + start[i], p->ids.id + piece->start, (size_t)piece->n * sizeof *ids);
        start[i + 1] = start[i] + piece->n;
    }
    if (types)
        memset(types, 0, (size_t)start[n] * sizeof *types);
    if (!heed_set_rows(e->session, space_of(e), n, start, NULL, err) || !heed_run(e->session, err))
        return false;
    heed_matrix rows = heed_read_value(e->session, e->rows);
    for (int64_t i = 0; i < n; i++)
        heed_pool_text(e->rules.pooling, rows.data + start[i] * e->width, start[i + 1] - start[i],
                       e->width, e->sum, p->piece[order[i]].vector);
    return true;
}

/* Pieces from order[at] on that fit into a batch; the first always does. */
static int64_t fitting(const heed_embedder *e, const heed_pieces *p, const int64_t *order,
                       int64_t at) {
    int64_t n = 0, rows = 0;
    while (at + n < p->n && (!n || rows + p->piece[order[at + n]].n <= e->plan_rows))
        rows += p->piece[order[at + n++]].n;
    return n;
}

typedef struct {
    int64_t n, piece;
} place;

/* Longest first; equals in the order of the texts. */
static int by_length(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->piece < y->piece ? -1 : 1;
}

static bool sort(const heed_embedder *e, const heed_pieces *p, int64_t *order, heed_error *err) {
    place *list = heed_alloc(e->host, (size_t)p->n, sizeof *list, err);
    for (int64_t i = 0; list && i < p->n; i++)
        list[i] = (place){p->piece[i].n, i};
    if (list)
        qsort(list, (size_t)p->n, sizeof *list, by_length);
    for (int64_t i = 0; list && i < p->n; i++)
        order[i] = list[i].piece;
    heed_free(e->host, list);
    return list != NULL;
}

static bool all_batches(heed_embedder *e, const heed_pieces *p, int64_t texts, heed_error *err) {
    int64_t *order = heed_alloc(e->host, (size_t)p->n, sizeof *order, err);
    int64_t *start = heed_alloc(e->host, (size_t)p->n + 1, sizeof *start, err);
    bool ok = order && start && sort(e, p, order, err) && make_plan(e, p->piece[order[0]].n, err);
    for (int64_t at = 0, n; ok && at < p->n; at += n) {
        n = fitting(e, p, order, at);
        ok = run(e, p, order + at, n, start, err);
        if (ok && e->options.progress)
            e->options.progress(e->options.ctx, (at + n) * texts / p->n, texts);
    }
    heed_free(e->host, order);
    heed_free(e->host, start);
    return ok;
}

/* ---- Vectors ---- */

void heed_vectors_free(heed_vectors *v) {
    heed_free(v->host, v->vector);
    heed_free(v->host, v->text);
    *v = (heed_vectors){0};
}

/* A text of one piece has its row of `pooled` for it; windows have theirs in `spare`. */
static bool place_vectors(const heed_embedder *e, heed_pieces *p, const heed_vectors *out,
                          float *pooled, float **spare, heed_error *err) {
    int64_t more = 0;
    for (int64_t i = 0; i < p->n; i++)
        more += out->text[p->piece[i].text].windows > 1;
    *spare = heed_alloc(e->host, (size_t)more * (size_t)e->width, sizeof **spare, err);
    float *next = *spare;
    for (int64_t i = 0; next && i < p->n; i++) {
        int64_t text = p->piece[i].text;
        bool own = out->text[text].windows == 1;
        p->piece[i].vector = own ? pooled + text * e->width : next;
        next += own ? 0 : e->width;
    }
    return next != NULL;
}

/* The mean of the n windows at p, each as often as it has tokens of the text. */
static void join_windows(const heed_embedder *e, const heed_piece *p, int64_t n, float *out) {
    double total = 0;
    memset(e->sum, 0, (size_t)e->width * sizeof *e->sum);
    for (int64_t i = 0; i < n; i++) {
        total += (double)p[i].weight;
        for (int64_t c = 0; c < e->width; c++)
            e->sum[c] += (double)p[i].weight * (double)p[i].vector[c];
    }
    for (int64_t c = 0; c < e->width; c++)
        out[c] = (float)(e->sum[c] / total);
}

static bool finish(const heed_embedder *e, const heed_pieces *p, float *pooled, heed_vectors *out,
                   heed_error *err) {
    for (int64_t i = 0, windows; i < p->n; i += windows) {
        int64_t text = p->piece[i].text;
        windows = out->text[text].windows;
        if (windows > 1)
            join_windows(e, &p->piece[i], windows, pooled + text * e->width);
    }
    if (e->dense && !heed_dense_run(e->dense, pooled, out->n, out->vector, err))
        return false;
    for (int64_t i = 0; e->rules.normalize && i < out->n; i++)
        heed_normalize_vector(out->vector + i * out->width, out->width);
    return true;
}

bool heed_embed_texts(heed_embedder *e, const heed_line *texts, int64_t n, heed_vectors *out,
                      heed_error *err) {
    heed_pieces pieces = {.n = 0};
    float *spare = NULL, *pooled = NULL;
    heed_vectors_free(out);
    *out = (heed_vectors){.n = n, .width = vector_width(e), .host = e->host};
    out->text = heed_alloc(e->host, (size_t)n, sizeof *out->text, err);
    out->vector = heed_alloc(e->host, (size_t)n * (size_t)out->width, sizeof *out->vector, err);
    if (e->dense)
        pooled = heed_alloc(e->host, (size_t)n * (size_t)e->width, sizeof *pooled, err);
    float *rows = e->dense ? pooled : out->vector;
    bool ok = out->text && out->vector && rows && heed_cut_texts(e, texts, n, &pieces, out, err) &&
              place_vectors(e, &pieces, out, rows, &spare, err);
    if (ok && pieces.n)
        ok = all_batches(e, &pieces, n, err);
    ok = ok && finish(e, &pieces, rows, out, err);
    heed_pieces_free(&pieces, e->host);
    heed_free(e->host, spare);
    heed_free(e->host, pooled);
    if (!ok)
        heed_vectors_free(out);
    return ok;
}
