/* translate.c: lines in, translations out, in the order of the lines.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "generate/encode.h"
#include "generate/translator.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Results ---- */

static void *keep(heed_translations *out, size_t count, size_t size, heed_error *err) {
    heed_region region = {.host = out->host, .last = out->store};
    void *p = heed_region_alloc(&region, count, size, err);
    out->store = region.last;
    return p;
}

void heed_translations_free(heed_translations *t) {
    heed_region region = {.host = t->host, .last = t->store};
    heed_free(t->host, t->item);
    heed_free(t->host, t->source);
    heed_region_free(&region);
    *t = (heed_translations){0};
}

static bool start_results(heed_translations *out, const heed_translator *t, int64_t n,
                          heed_error *err) {
    heed_translations_free(out);
    *out = (heed_translations){.host = t->host, .lines = n, .n_best = t->options.n_best};
    out->item = heed_alloc(t->host, (size_t)n * (size_t)out->n_best, sizeof *out->item, err);
    out->source = heed_alloc(t->host, (size_t)n, sizeof *out->source, err);
    return out->item && out->source;
}

static bool set_text(heed_translations *out, const heed_translator *t, heed_translation *item,
                     heed_error *err) {
    const heed_tokenizer *tokenizer = heed_model_target_tokenizer(t->model);
    if (!tokenizer) {
        return true;
    }
    heed_buf text = {.host = out->host};
    char *copy = NULL;
    if (heed_decode(tokenizer, item->id, (size_t)item->n, true, &text, err)) {
        copy = keep(out, text.n + 1, 1, err);
    }
    for (size_t i = 0; copy && i < text.n; i++) {
        /* A translation is one line, whatever the model says. */
        copy[i] = text.data[i] == '\n' || text.data[i] == '\r' ? ' ' : text.data[i];
    }
    heed_buf_free(&text);
    item->text = copy;
    return copy != NULL;
}

typedef struct {
    const heed_translator *t;
    heed_translations *out;
    int64_t done, todo;
} job;

static bool emit(void *ctx, int64_t line, const heed_search *search, heed_error *err) {
    job *j = ctx;
    int64_t n_best = j->out->n_best;
    for (int64_t i = 0; i < n_best && i < search->n_done; i++) {
        const heed_hypothesis *h = &search->done[i];
        heed_translation *item = &j->out->item[line * n_best + i];
        int32_t *id = keep(j->out, (size_t)h->length, sizeof *id, err);
        if (!id) {
            return false;
        }
        heed_search_read(search, &j->t->rules, h, id);
        *item = (heed_translation){.id = id,
                                   .n = h->length,
                                   .score = (double)h->score,
                                   .log_prob = (double)h->last.log_prob,
                                   .ended = h->last.token == j->t->rules.end};
        if (!set_text(j->out, j->t, item, err)) {
            return false;
        }
    }
    j->done++;
    if (j->t->options.progress) {
        j->t->options.progress(j->t->options.ctx, j->done, j->todo);
    }
    return true;
}

/* ---- Sources ---- */

static bool ids_sound(const heed_translator *t, const heed_sources *s, heed_error *err) {
    int64_t vocab = heed_model_config(t->model)->source_vocab;
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t j = s->start[i]; j < s->start[i + 1]; j++) {
            if (s->id[j] < 0 || s->id[j] >= vocab) {
                return heed_fail(err, HEED_VALUE,
                                 "line %" PRId64 ": token id %" PRId32
                                 ", the model has 0 to %" PRId64,
                                 i + 1, s->id[j], vocab - 1);
            }
        }
    }
    return true;
}

typedef struct {
    int64_t rows, line;
} place;

/* Longest first; equals in the order of the lines. */
static int by_length(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->rows != y->rows) {
        return x->rows > y->rows ? -1 : 1;
    }
    return x->line < y->line ? -1 : 1;
}

/* The lines that are not empty, sorted, into order; their number, or -1. */
static int64_t make_order(const heed_translator *t, const heed_sources *s, heed_translations *out,
                          int64_t *order, heed_error *err) {
    place *list = heed_alloc(t->host, (size_t)s->n, sizeof *list, err);
    int64_t n = 0;
    if (!list) {
        return -1;
    }
    for (int64_t i = 0; i < s->n; i++) {
        int64_t rows = s->start[i + 1] - s->start[i];
        if (rows == 0) {
            out->source[i] = HEED_SOURCE_EMPTY;
            continue;
        }
        list[n++] = (place){heed_source_rows(t, s, i), i};
        out->source[i] = rows > t->options.max_source ? HEED_SOURCE_CUT : HEED_SOURCE_FINE;
    }
    qsort(list, (size_t)n, sizeof *list, by_length);
    for (int64_t i = 0; i < n; i++) {
        order[i] = list[i].line;
    }
    heed_free(t->host, list);
    return n;
}

static bool all_batches(heed_translator *t, const heed_sources *s, heed_translations *out,
                        heed_error *err) {
    int64_t *order = heed_alloc(t->host, (size_t)s->n, sizeof *order, err);
    int64_t n = order ? make_order(t, s, out, order, err) : -1;
    job j = {.t = t, .out = out, .todo = n};
    bool ok = n >= 0;
    for (int64_t at = 0; ok && at < n;) {
        ok = heed_translate_batch(t, s, order, n, &at, emit, &j, err);
    }
    heed_free(t->host, order);
    return ok;
}

/* Places without a translation have an empty text, where there are texts at all. */
static void fill_gaps(heed_translations *out, const heed_translator *t) {
    if (!heed_model_tokenizer(t->model)) {
        return;
    }
    for (int64_t i = 0; i < out->lines * out->n_best; i++) {
        if (!out->item[i].text) {
            out->item[i].text = "";
        }
    }
}

bool heed_translate_ids(heed_translator *t, const int32_t *id, const int64_t *start, int64_t n,
                        heed_translations *out, heed_error *err) {
    heed_sources s = {id, start, n};
    heed_translations_free(out);
    if (!t->session) {
        return heed_fail(err, HEED_VALUE, "a translator that was only planned translates nothing");
    }
    if (start_results(out, t, n, err) && ids_sound(t, &s, err) && all_batches(t, &s, out, err)) {
        fill_gaps(out, t);
        return true;
    }
    heed_translations_free(out);
    return false;
}

bool heed_translate(heed_translator *t, const heed_line *lines, int64_t n, heed_translations *out,
                    heed_error *err) {
    heed_ragged ids = {0};
    heed_translations_free(out);
    bool ok = heed_encode_lines(heed_model_tokenizer(t->model), t->host, lines, n, true, "line",
                                &ids, err) &&
              heed_translate_ids(t, ids.id, ids.start, n, out, err);
    heed_free(t->host, ids.id);
    heed_free(t->host, ids.start);
    return ok;
}
