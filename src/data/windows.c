/* windows.c: batches of windows over texts; see windows.h.
 *
 * Invariant: `epoch` and `index` are the place of the next batch; for texts apart `order` and
 * `first` describe `epoch`.
 * SPDX-License-Identifier: MIT
 */
#include "data/windows.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/philox.h"

typedef struct {
    int64_t begin, text; /* the first id of a sequence in the texts' ids; the number of its text */
    int32_t rows;
} sequence;

struct heed_windows {
    const heed_host *host;
    const heed_id_texts *texts;
    heed_window_opts opts;
    heed_window_report report;
    int64_t most;       /* sequences of a batch */
    sequence *sequence; /* those of texts apart, or of a joined text in order */
    int64_t *order;     /* of this epoch */
    int64_t *first;     /* batch b: order[first[b]] up to order[first[b + 1]] */
    int64_t count;      /* batches of this epoch */
    int64_t made;       /* epoch that order and first describe, -1: none */
    int64_t epoch, index;
    int64_t *start, *line;
    int32_t *id, *label;
    heed_batch batch;
};

/* ---- Ids ---- */

bool heed_id_texts_add(heed_id_texts *t, const int32_t *id, int64_t n, heed_error *err) {
    heed_ragged *r = &t->rows;
    int64_t used = t->n ? r->start[t->n] : 0;
    if (!heed_reserve(t->host, (void **)&r->start, &r->start_cap, (size_t)t->n + 2,
                      sizeof *r->start, err) ||
        !heed_reserve(t->host, (void **)&r->id, &r->id_cap, (size_t)(used + n), sizeof *r->id, err))
        return false;
    if (n)
        memcpy(r->id + used, id, (size_t)n * sizeof *id);
    r->start[++t->n] = used + n;
    return true;
}

void heed_id_texts_free(heed_id_texts *t) {
    heed_free(t->host, t->rows.id);
    heed_free(t->host, t->rows.start);
    *t = (heed_id_texts){.host = t->host};
}

/* ---- Sequences ---- */

/* The sequences of the ids [begin, end), into `out` where it is not NULL; how many. */
static int64_t cut(int64_t begin, int64_t end, int64_t context, int64_t text, sequence *out) {
    int64_t n = 0;
    for (; begin + 1 < end; begin += context, n++) {
        int64_t rows = end - 1 - begin;
        if (out)
            out[n] = (sequence){begin, text, (int32_t)(rows < context ? rows : context)};
    }
    return n;
}

static int64_t cut_all(const heed_windows *w, sequence *out) {
    const int64_t *start = w->texts->rows.start;
    int64_t n = 0;
    if (w->opts.join)
        return cut(0, w->texts->n ? start[w->texts->n] : 0, w->opts.context, 0, out);
    for (int64_t i = 0; i < w->texts->n; i++)
        n += cut(start[i], start[i + 1], w->opts.context, i, out ? out + n : NULL);
    return n;
}

static bool is_random(const heed_windows *w) {
    return w->opts.join && !w->opts.in_order;
}

static void look(heed_windows *w) {
    heed_window_report *r = &w->report;
    const int64_t *start = w->texts->rows.start;
    int64_t ids = w->texts->n ? start[w->texts->n] : 0;
    r->texts = w->texts->n;
    for (int64_t i = 0; !w->opts.join && i < r->texts; i++) {
        int64_t n = start[i + 1] - start[i];
        r->single += n == 1;
        r->rows += n > 1 ? n - 1 : 0;
        r->longest = n - 1 > r->longest ? n - 1 : r->longest;
    }
    if (w->opts.join)
        r->rows = r->longest = ids > 0 ? ids - 1 : 0;
    r->longest = r->longest < w->opts.context ? r->longest : w->opts.context;
}

static bool sound(const heed_windows *w, heed_error *err) {
    const heed_window_opts *o = &w->opts;
    if (o->context < 1 || o->context > INT32_MAX || o->tokens < o->context)
        return heed_fail(err, HEED_VALUE,
                         "a context of %" PRId64 " and batches of %" PRId64
                         " tokens: wanted 1 <= context <= tokens",
                         o->context, o->tokens);
    if (w->report.rows == 0)
        return heed_fail(err, HEED_VALUE, "no text has two tokens: there is nothing to learn");
    return !is_random(w) || w->report.rows >= o->context ||
           heed_fail(err, HEED_VALUE,
                     "the text has %" PRId64 " tokens, windows of %" PRId64
                     " and the token behind them are wanted",
                     w->report.rows + 1, o->context);
}

/* ---- Epochs ---- */

static void shuffle(heed_windows *w) {
    heed_random dice = {.seed = w->opts.seed,
                        .stream = heed_hash("sequences", 9) + (uint64_t)w->made};
    for (int64_t i = w->report.sequences - 1; i > 0; i--) {
        int64_t j = (int64_t)heed_random_below(&dice, (uint64_t)i + 1), other = w->order[j];
        w->order[j] = w->order[i];
        w->order[i] = other;
    }
}

/* Puts the epoch's batches together; nothing to do where they are there. */
static void make_epoch(heed_windows *w, int64_t epoch) {
    if (is_random(w) || w->made == epoch || (w->opts.in_order && w->made >= 0))
        return;
    int64_t n = w->report.sequences, rows = 0;
    w->made = epoch;
    for (int64_t i = 0; i < n; i++)
        w->order[i] = i;
    if (!w->opts.in_order)
        shuffle(w);
    w->count = 0;
    w->first[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t more = w->sequence[w->order[i]].rows;
        if (rows + more > w->opts.tokens) {
            w->first[++w->count] = i;
            rows = 0;
        }
        rows += more;
    }
    w->first[++w->count] = n;
}

/* ---- Batches ---- */

static int64_t put(heed_windows *w, int64_t place, int64_t row, sequence s) {
    const int32_t *id = w->texts->rows.id + s.begin;
    memcpy(w->id + row, id, (size_t)s.rows * sizeof *id);
    memcpy(w->label + row, id + 1, (size_t)s.rows * sizeof *id);
    w->start[place] = row;
    w->line[place] = (w->opts.join ? s.begin : s.text) + 1;
    return row + s.rows;
}

static int64_t put_random(heed_windows *w) {
    heed_random dice = {.seed = w->opts.seed,
                        .stream =
                            heed_hash("windows", 7) + (uint64_t)(w->epoch * w->count + w->index)};
    uint64_t places = (uint64_t)(w->report.rows - w->opts.context + 1);
    int64_t row = 0;
    for (int64_t i = 0; i < w->most; i++) {
        int64_t begin = (int64_t)heed_random_below(&dice, places);
        row = put(w, i, row, (sequence){begin, 0, (int32_t)w->opts.context});
    }
    return row;
}

const heed_batch *heed_windows_next(heed_windows *w) {
    make_epoch(w, w->epoch);
    int64_t n = w->most, row = 0;
    if (is_random(w)) {
        row = put_random(w);
    } else {
        int64_t from = w->first[w->index];
        n = w->first[w->index + 1] - from;
        for (int64_t i = 0; i < n; i++)
            row = put(w, i, row, w->sequence[w->order[from + i]]);
    }
    w->start[n] = row;
    w->batch = (heed_batch){.n = n,
                            .target_start = w->start,
                            .target_id = w->id,
                            .label = w->label,
                            .line = w->line,
                            .epoch = w->epoch,
                            .index = w->index,
                            .count = w->count};
    bool last = w->index + 1 == w->count;
    w->epoch += last;
    w->index = last ? 0 : w->index + 1;
    return &w->batch;
}

bool heed_windows_seek(heed_windows *w, int64_t epoch, int64_t index, heed_error *err) {
    if (epoch >= 0)
        make_epoch(w, epoch);
    if (epoch < 0 || index < 0 || index > w->count)
        return heed_fail(err, HEED_VALUE, "there is no batch %" PRId64 " of epoch %" PRId64, index,
                         epoch);
    w->epoch = epoch + (index == w->count);
    w->index = index == w->count ? 0 : index;
    return true;
}

void heed_windows_place(const heed_windows *w, int64_t *epoch, int64_t *index) {
    *epoch = w->epoch;
    *index = w->index;
}

/* ---- Life ---- */

static bool take_sequences(heed_windows *w, heed_error *err) {
    size_t n = (size_t)cut_all(w, NULL);
    w->sequence = heed_alloc(w->host, n, sizeof *w->sequence, err);
    w->order = w->sequence ? heed_alloc(w->host, n, sizeof *w->order, err) : NULL;
    w->first = w->order ? heed_alloc(w->host, n + 1, sizeof *w->first, err) : NULL;
    if (!w->first)
        return false;
    w->report.sequences = cut_all(w, w->sequence);
    int64_t least = w->opts.context;
    for (int64_t i = 0; i < w->report.sequences; i++)
        least = w->sequence[i].rows < least ? w->sequence[i].rows : least;
    w->most = w->opts.tokens / least;
    w->most = w->most < w->report.sequences ? w->most : w->report.sequences;
    return true;
}

static void count_windows(heed_windows *w) {
    w->most = w->opts.tokens / w->opts.context;
    w->count = w->report.rows / (w->most * w->opts.context);
    w->count = w->count > 0 ? w->count : 1;
    w->report.sequences = w->most * w->count;
}

static bool take_batch(heed_windows *w, heed_error *err) {
    size_t n = (size_t)w->most, rows = (size_t)w->opts.tokens;
    return (w->start = heed_alloc(w->host, n + 1, sizeof *w->start, err)) &&
           (w->line = heed_alloc(w->host, n, sizeof *w->line, err)) &&
           (w->id = heed_alloc(w->host, rows, sizeof *w->id, err)) &&
           (w->label = heed_alloc(w->host, rows, sizeof *w->label, err));
}

heed_windows *heed_windows_new(const heed_host *host, const heed_id_texts *texts,
                               const heed_window_opts *opts, heed_error *err) {
    heed_windows *w = heed_alloc(host, 1, sizeof *w, err);
    if (!w)
        return NULL;
    w->host = host;
    w->texts = texts;
    w->opts = *opts;
    w->made = -1;
    look(w);
    bool ok = sound(w, err);
    if (ok && is_random(w))
        count_windows(w);
    else if (ok)
        ok = take_sequences(w, err);
    if (ok && take_batch(w, err)) {
        make_epoch(w, 0);
        return w;
    }
    heed_windows_free(w);
    return NULL;
}

void heed_windows_free(heed_windows *w) {
    if (!w)
        return;
    void *all[] = {w->sequence, w->order, w->first, w->start, w->line, w->id, w->label};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        heed_free(w->host, all[i]);
    heed_free(w->host, w);
}

heed_window_report heed_windows_report(const heed_windows *w) {
    return w->report;
}

heed_batch_bounds heed_windows_bounds(const heed_windows *w) {
    int64_t rows = w->opts.tokens;
    if (is_random(w))
        rows = w->most * w->opts.context;
    else if (w->report.rows < rows)
        rows = w->report.rows;
    return (heed_batch_bounds){.sequences = w->most,
                               .target_rows = rows,
                               .target_longest = w->report.longest,
                               .target_pairs = rows * w->report.longest};
}
