/* order_init.c: which pairs take part, and how much a batch can ever hold.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "base/error.h"
#include "data/order.h"

enum { SOURCE, TARGET };

/* Tokens that are added to a row of each side. The target's begin token takes no row: it stands in
 * the row whose label is the first id. */
static int64_t added(const heed_batch_opts *o, int side) {
    return side == SOURCE ? (o->source_begin >= 0) + (o->source_end >= 0) : o->target_end >= 0;
}

static bool check_max(const char *name, int64_t most, int64_t special, heed_error *err) {
    if (most > special)
        return true;
    return heed_fail(err, HEED_VALUE,
                     "%s is %" PRId64 ", wanted at least %" PRId64 " (%" PRId64
                     " special tokens and one of the text)",
                     name, most, special + 1, special);
}

static bool check_opts(heed_batch_opts *o, heed_error *err) {
    if (o->tokens < 1)
        return heed_fail(err, HEED_VALUE, "a batch of %" PRId64 " tokens holds nothing", o->tokens);
    if (o->sequences < 0 || o->pool < 0)
        return heed_fail(err, HEED_VALUE,
                         "sequences %" PRId64 " and pool %" PRId64 " must not be below 0",
                         o->sequences, o->pool);
    if (o->target_begin < 0)
        return heed_fail(err, HEED_VALUE, "the target needs a start token, %" PRId32 " is none",
                         o->target_begin);
    if (o->max_source == 0 || o->max_source > o->tokens)
        o->max_source = o->tokens;
    if (o->max_target == 0 || o->max_target > o->tokens)
        o->max_target = o->tokens;
    return check_max("longest source", o->max_source, added(o, SOURCE), err) &&
           check_max("longest target", o->max_target, added(o, TARGET), err);
}

static int64_t length(const heed_ragged *r, int64_t i) {
    return r->start[i + 1] - r->start[i];
}

/* Decides about one pair and, where it stays, notes its rows. */
static void choose(heed_order *o, const heed_pairs *pairs, int64_t i) {
    int64_t s = length(&pairs->source, i) + added(&o->opts, SOURCE);
    int64_t t = length(&pairs->target, i) + added(&o->opts, TARGET);
    bool too_long = s > o->opts.max_source || t > o->opts.max_target;
    if (too_long)
        o->long_line[o->report.dropped + o->report.cut] = pairs->line[i];
    if (too_long && o->opts.on_long == HEED_LONG_DROP) {
        o->report.dropped++;
        return;
    }
    if (s == 0 || t == 0) {
        o->report.empty++;
        return;
    }
    if (too_long)
        o->report.cut++;
    o->pair[o->n] = i;
    o->rows[SOURCE][o->n] = s < o->opts.max_source ? s : o->opts.max_source;
    o->rows[TARGET][o->n] = t < o->opts.max_target ? t : o->opts.max_target;
    o->n++;
}

static int64_t longest(const heed_order *o, int side) {
    int64_t most = 0;
    for (int64_t i = 0; i < o->n; i++)
        if (o->rows[side][i] > most)
            most = o->rows[side][i];
    return most;
}

static int64_t total(const heed_order *o, int side) {
    int64_t rows = 0;
    for (int64_t i = 0; i < o->n && rows < o->opts.tokens; i++)
        rows += o->rows[side][i];
    return rows < o->opts.tokens ? rows : o->opts.tokens;
}

/* How many of the shortest rows of one side fit the budget: no batch holds more. */
static int64_t most_sequences(heed_order *o, int side, int64_t longest_row) {
    int64_t left = o->opts.tokens, n = 0;
    for (int64_t r = 0; r <= longest_row; r++)
        o->bucket[r] = 0;
    for (int64_t i = 0; i < o->n; i++)
        o->bucket[o->rows[side][i]]++;
    for (int64_t r = 1; r <= longest_row; r++) {
        int64_t fit = left / r < o->bucket[r] ? left / r : o->bucket[r];
        n += fit;
        left -= fit * r;
    }
    return n;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The most that sum(x * x) reaches under sum(x) <= rows and x <= top. */
static int64_t most_pairs(int64_t rows, int64_t top) {
    int64_t whole = rows / top, rest = rows % top;
    return whole * top * top + rest * rest;
}

static void find_bounds(heed_order *o) {
    heed_batch_bounds *b = &o->bounds;
    b->source_rows = total(o, SOURCE);
    b->target_rows = total(o, TARGET);
    b->sequences = least(most_sequences(o, SOURCE, b->source_longest),
                         most_sequences(o, TARGET, b->target_longest));
    if (o->opts.sequences)
        b->sequences = least(b->sequences, o->opts.sequences);
    b->source_rows = least(b->source_rows, b->sequences * b->source_longest);
    b->target_rows = least(b->target_rows, b->sequences * b->target_longest);
    b->source_pairs = most_pairs(b->source_rows, b->source_longest);
    b->target_pairs = most_pairs(b->target_rows, b->target_longest);
    b->cross_pairs = least(b->source_rows * b->target_longest, b->target_rows * b->source_longest);
}

static int64_t *numbers(const heed_order *o, int64_t n, heed_error *err) {
    return heed_alloc(o->host, (size_t)n, sizeof(int64_t), err);
}

static bool take_choice(heed_order *o, int64_t pairs, heed_error *err) {
    return (o->pair = numbers(o, pairs, err)) && (o->rows[SOURCE] = numbers(o, pairs, err)) &&
           (o->rows[TARGET] = numbers(o, pairs, err)) && (o->long_line = numbers(o, pairs, err));
}

static bool take_order(heed_order *o, heed_error *err) {
    int64_t top = o->bounds.source_longest > o->bounds.target_longest ? o->bounds.source_longest
                                                                      : o->bounds.target_longest;
    return (o->place = numbers(o, o->n, err)) && (o->spare = numbers(o, o->n, err)) &&
           (o->bucket = numbers(o, top + 1, err)) && (o->first = numbers(o, o->n + 1, err)) &&
           (o->batch = numbers(o, o->n, err));
}

bool heed_order_init(heed_order *o, const heed_host *host, const heed_pairs *pairs,
                     const heed_batch_opts *opts, heed_error *err) {
    *o = (heed_order){.host = host, .opts = *opts, .epoch = -1};
    if (!check_opts(&o->opts, err) || !take_choice(o, pairs->n, err))
        return false;
    for (int64_t i = 0; i < pairs->n; i++)
        choose(o, pairs, i);
    o->report.kept = o->n;
    o->report.long_line = o->long_line;
    if (!o->n)
        return heed_fail(err, HEED_VALUE,
                         "no pair is left of %" PRId64 ": %" PRId64 " are longer than %" PRId64
                         " source or %" PRId64 " target tokens",
                         pairs->n, o->report.dropped, o->opts.max_source, o->opts.max_target);
    o->bounds.source_longest = longest(o, SOURCE);
    o->bounds.target_longest = longest(o, TARGET);
    if (!take_order(o, err))
        return false;
    find_bounds(o);
    return true;
}

void heed_order_free(heed_order *o) {
    int64_t *all[] = {o->pair,  o->rows[SOURCE], o->rows[TARGET], o->long_line, o->place,
                      o->spare, o->bucket,       o->first,        o->batch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        heed_free(o->host, all[i]);
    *o = (heed_order){.host = o->host};
}
