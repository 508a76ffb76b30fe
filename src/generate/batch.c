/* batch.c: one batch of lines through encoder and decoder.
 *
 * Invariant: decoder sequences are the open beams of work[0], then of work[1] ...; before each run
 * the cache is reordered to that, so a line that is done, or put back, is simply not continued.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "generate/translator.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    heed_translator *t;
    const heed_sources *sources;
    int64_t lines; /* at work */
    int64_t rows;  /* decoder sequences of the last run */
    heed_emit *emit;
    void *ctx;
} batch;

int64_t heed_source_rows(const heed_translator *t, const heed_sources *sources, int64_t i) {
    int64_t n = sources->start[i + 1] - sources->start[i];
    return n < t->options.max_source ? n : t->options.max_source;
}

/* A source that is too long loses what stands before its last token, which ends it. */
static void copy_source(const heed_translator *t, const heed_sources *sources, int64_t i,
                        int32_t *out) {
    int64_t n = heed_source_rows(t, sources, i);
    memcpy(out, sources->id + sources->start[i], (size_t)n * sizeof *out);
    out[n - 1] = sources->id[sources->start[i + 1] - 1];
}

static int64_t limit_of(const heed_translator *t, int64_t source_rows) {
    const heed_translate_options *o = &t->options;
    int64_t limit = t->limit;
    if (o->max_ratio > 0) {
        double most = 1 + floor(o->max_ratio * (double)source_rows) + (double)o->max_extra;
        limit = most < (double)limit ? (int64_t)most : limit;
    }
    return limit < 2 ? 2 : limit;
}

/* Takes lines while they fit; the first always does. */
static int64_t fill(batch *b, const int64_t *order, int64_t end, int64_t at) {
    heed_translator *t = b->t;
    int32_t *ids = heed_ints(t->session, "input_ids");
    int64_t rows = 0;
    t->source_start[0] = 0;
    for (b->lines = 0; at < end && b->lines < t->sentences; at++) {
        int64_t line = order[at], n = heed_source_rows(t, b->sources, line);
        if (b->lines > 0 && rows + n > t->options.batch_tokens) {
            break;
        }
        heed_work_line *w = &t->work[b->lines];
        copy_source(t, b->sources, line, ids + rows);
        heed_search_start(&w->search, limit_of(t, n));
        w->line = line;
        w->source = (int32_t)b->lines++;
        rows += n;
        t->source_start[b->lines] = rows;
    }
    return at;
}

/* Cache rows that the next run may need at most. */
static int64_t wanted_rows(const batch *b) {
    int64_t rows = 0;
    for (int64_t i = 0; i < b->lines; i++) {
        rows += b->t->work[i].search.open * b->t->work[i].search.length;
    }
    return rows;
}

/* Gives the decoder its sequences: the open beams, each with its last token. */
static bool prepare(batch *b, heed_error *err) {
    heed_translator *t = b->t;
    int32_t *ids = heed_ints(t->session, "decoder_input_ids");
    int64_t rows = 0;
    bool first = b->rows == 0;
    for (int64_t i = 0; i < b->lines; i++) {
        const heed_work_line *w = &t->work[i];
        for (int64_t j = 0; j < w->search.open; j++, rows++) {
            heed_candidate last = {.token = t->rules.start};
            if (!first) {
                last = heed_search_last(&w->search, &t->rules, j);
            }
            ids[rows] = last.token;
            t->join[rows] = w->source;
        }
    }
    b->rows = rows;
    if (!first && !heed_cache_reorder(t->session, rows, t->from, err)) {
        return false;
    }
    return heed_set_rows(t->session, "target", rows, t->target_start, NULL, err) &&
           heed_set_join(t->session, "target", "source", t->join, err);
}

/* One step of every search; ended lines are handed out and leave, the others close up. */
static bool advance(batch *b, heed_error *err) {
    heed_translator *t = b->t;
    heed_matrix logits = heed_read_value(t->session, t->logits);
    heed_matrix probs = heed_read_value(t->session, t->probs);
    int64_t row = 0, stay = 0, next = 0;
    for (int64_t i = 0; i < b->lines; i++) {
        heed_work_line w = t->work[i];
        int64_t open = w.search.open;
        heed_next at = {logits.data + row * t->vocab, probs.data + row * t->vocab, t->vocab};
        if (!heed_search_step(&w.search, &t->rules, &at, t->list)) {
            return heed_fail(err, HEED_NONFINITE, "line %" PRId64 ": the logits are not finite",
                             w.line + 1);
        }
        for (int64_t j = 0; !w.search.over && j < w.search.open; j++) {
            heed_candidate last = heed_search_last(&w.search, &t->rules, j);
            t->from[next++] = (int32_t)(row + last.beam);
        }
        row += open;
        t->work[i] = t->work[stay]; /* keeps every search's memory in the table */
        t->work[stay] = w;
        if (!w.search.over) {
            stay++;
        } else if (!b->emit(b->ctx, w.line, &w.search, err)) {
            return false;
        }
    }
    b->lines = stay;
    return true;
}

bool heed_translate_batch(heed_translator *t, const heed_sources *sources, int64_t *order,
                          int64_t n, int64_t *at, heed_emit *emit, void *ctx, heed_error *err) {
    batch b = {.t = t, .sources = sources, .emit = emit, .ctx = ctx};
    *at = fill(&b, order, n, *at);
    heed_cache_clear(t->session);
    if (!heed_set_rows(t->session, "source", b.lines, t->source_start, NULL, err) ||
        !heed_run_once(t->session, err)) {
        return false;
    }
    while (b.lines > 0) {
        while (b.lines > 1 && wanted_rows(&b) > t->cache_rows) {
            order[--*at] = t->work[--b.lines].line;
        }
        if (!prepare(&b, err) || !heed_run(t->session, err) || !advance(&b, err)) {
            return false;
        }
    }
    return true;
}
