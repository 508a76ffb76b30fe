/* perplexity.c: how likely a decoder finds a text, window by window.
 *
 * Row r of a window predicts its token r + 1. Which of these count is all that the two ways of
 * counting differ in; the sum is taken in double, in the order of the text.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "base/mem.h"
#include "generate/generator.h"
#include "heed_look.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WINDOW = 512 };

typedef struct {
    heed_model *model;
    const int32_t *id;
    int64_t n, window, stride, count; /* count: of windows */
    const heed_perplexity_options *options;
    heed_plan *plan;
    heed_session *session;
    heed_value rows;
    double sum;
    int64_t scored;
} measuring;

static bool sound(measuring *m, heed_error *err) {
    const heed_perplexity_options *o = m->options;
    int64_t most = heed_most_rows(&heed_model_config(m->model)->decoder, INT32_MAX);
    m->window = o->window ? o->window : WINDOW;
    m->stride = o->stride ? o->stride : m->window;
    if (m->window < 2 || m->window > most || m->stride < 1 || m->stride > m->window)
        return heed_fail(err, HEED_VALUE,
                         "window %" PRId64 " and stride %" PRId64 ": wanted 2 <= window <= %" PRId64
                         " and 1 <= stride <= window",
                         m->window, m->stride, most);
    if (o->llama && m->stride != m->window)
        return heed_fail(err, HEED_VALUE, "llama.cpp's way of counting has no stride");
    int64_t least = o->llama ? m->window : 2;
    if (m->n < least)
        return heed_fail(err, HEED_VALUE,
                         "the text has %" PRId64 " tokens, wanted at least %" PRId64, m->n, least);
    bool short_text = m->n <= m->window;
    m->count = o->llama     ? m->n / m->window
               : short_text ? 1
                            : 1 + (m->n - m->window + m->stride - 1) / m->stride;
    if (o->windows > 0 && o->windows < m->count)
        m->count = o->windows;
    return true;
}

static bool prepare(measuring *m, heed_error *err) {
    heed_build *b =
        heed_build_new(heed_model_engine(m->model), HEED_INFER, heed_model_weights(m->model), err);
    if (!b)
        return false;
    m->rows = heed_xent_rows(b, heed_model_record(m->model, b, &(heed_want){.loss = true}).loss);
    const heed_capacity capacity[] = {
        {.space = "target", .rows = m->window, .sequences = 1, .longest = m->window}, {0}};
    const heed_value keep[] = {m->rows, {0}};
    m->plan = heed_plan_new(
        b, &(heed_plan_options){.capacity = capacity, .keep = keep, .frozen = true}, err);
    m->session = m->plan ? heed_session_new(m->plan, err) : NULL;
    if (m->session)
        heed_set_cancel(m->session, m->options->cancel);
    return m->session != NULL;
}

/* Scores the tokens [from, end) of the text by the window that begins at `begin`. */
static bool score(measuring *m, int64_t begin, int64_t from, int64_t end, heed_error *err) {
    int32_t *input = heed_ints(m->session, "input_ids"), *label = heed_ints(m->session, "labels");
    int64_t n = end - begin;
    const int64_t starts[] = {0, n};
    memcpy(input, m->id + begin, (size_t)n * sizeof *input);
    int32_t bos = heed_model_config(m->model)->bos;
    if (m->options->llama && bos >= 0 && m->id[0] == bos)
        input[0] = bos;
    for (int64_t r = 0; r < n; r++)
        label[r] = begin + r + 1 >= from && r + 1 < n ? m->id[begin + r + 1] : -100;
    if (!heed_set_rows(m->session, "target", 1, starts, NULL, err) || !heed_run(m->session, err))
        return false;
    heed_matrix loss = heed_read_value(m->session, m->rows);
    for (int64_t r = 0; r + 1 < n; r++) {
        m->sum += label[r] >= 0 ? (double)loss.data[r] : 0;
        m->scored += label[r] >= 0;
    }
    return true;
}

static bool score_window(measuring *m, int64_t i, heed_error *err) {
    int64_t begin = i * m->stride, end = begin + m->window;
    if (m->options->llama)
        return score(m, begin, begin + m->window / 2 + 1, end, err);
    int64_t before = i ? begin - m->stride + m->window : 0;
    return score(m, begin, before, end < m->n ? end : m->n, err);
}

static bool score_all(measuring *m, heed_error *err) {
    const heed_perplexity_options *o = m->options;
    for (int64_t i = 0; i < m->count; i++) {
        if (!score_window(m, i, err))
            return false;
        if (o->progress)
            o->progress(o->ctx, i + 1, m->count, exp(m->sum / (double)m->scored));
    }
    return isfinite(m->sum) ||
           heed_fail(err, HEED_NONFINITE, "the loss over %" PRId64 " tokens is not finite",
                     m->scored);
}

bool heed_perplexity_of_ids(heed_model *model, const int32_t *id, int64_t n,
                            const heed_perplexity_options *options, heed_likelihood *out,
                            heed_error *err) {
    static const heed_perplexity_options none = {0};
    measuring m = {.model = model, .id = id, .n = n, .options = options ? options : &none};
    if (!heed_must_continue(model, "the perplexity of a text", err))
        return false;
    bool fine = sound(&m, err) && prepare(&m, err) && score_all(&m, err);
    heed_session_free(m.session);
    heed_plan_free(m.plan);
    if (!fine)
        return false;
    double loss = m.sum / (double)m.scored;
    *out = (heed_likelihood){
        .labels = m.scored, .loss = loss, .perplexity = exp(loss), .left_out = n - m.scored};
    return true;
}

bool heed_perplexity_of(heed_model *model, heed_line text, const heed_perplexity_options *options,
                        heed_likelihood *out, heed_error *err) {
    const heed_tokenizer *tokenizer = heed_model_tokenizer(model);
    const heed_host *host = heed_model_host(model);
    heed_tokens tokens = {.host = host};
    if (!tokenizer)
        return heed_fail(err, HEED_NAME,
                         "the model has no tokenizer: give token ids, or put its files beside "
                         "the weights");
    bool fine = heed_encode(tokenizer, text.s, text.n, true, &tokens, err);
    int32_t *id = fine ? heed_alloc(host, tokens.n, sizeof *id, err) : NULL;
    for (size_t i = 0; id && i < tokens.n; i++)
        id[i] = tokens.item[i].id;
    fine = id && heed_perplexity_of_ids(model, id, (int64_t)tokens.n, options, out, err);
    heed_free(host, id);
    heed_tokens_free(&tokens);
    return fine;
}
