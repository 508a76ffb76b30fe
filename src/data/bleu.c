/* bleu.c: n-gram statistics of segments, and the score of their sum.
 * SPDX-License-Identifier: MIT
 */
#include "data/bleu.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/bleu_tokens.h"

enum { ORDERS = 4 };

static const char *const smooths[] = {"exp", "floor", "add-k", "none"};

bool heed_bleu_smooth_find(const char *name, heed_bleu_smooth *out) {
    for (size_t i = 0; i < sizeof smooths / sizeof *smooths; i++)
        if (strcmp(smooths[i], name) == 0) {
            *out = (heed_bleu_smooth)i;
            return true;
        }
    return false;
}

/* ---- One segment ---- */

/* What a segment needs on the way; kept from one to the next for its memory. */
typedef struct {
    const heed_host *host;
    const heed_bleu_opts *opts;
    heed_buf scratch[2];
    heed_symbols text;
    heed_map words, hyp, ref, one; /* one: the n-grams of a single reference */
} worker;

static void start_segment(worker *w) {
    heed_map *maps[] = {&w->words, &w->hyp, &w->ref, &w->one};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        heed_map_free(maps[i]);
        heed_map_init(maps[i], w->host);
    }
}

static void end_work(worker *w) {
    start_segment(w); /* empty maps hold nothing */
    heed_symbols_free(&w->text);
    heed_buf_free(&w->scratch[0]);
    heed_buf_free(&w->scratch[1]);
}

/* Words of the line and its n-grams into `counts`; the number of words in *length. */
static bool count(worker *w, heed_line line, heed_map *counts, int64_t *length, heed_error *err) {
    w->text.n = 0;
    if (!heed_bleu_words(line, w->opts, w->scratch, &w->words, &w->text, err))
        return false;
    *length = (int64_t)w->text.n;
    for (int order = 1; order <= ORDERS; order++)
        if (!heed_ngrams_count(counts, &w->text, order, err))
            return false;
    return true;
}

/* An n-gram may be matched as often as the reference that has it most. */
static bool merge(worker *w, heed_error *err) {
    for (size_t i = 0; i < w->one.count; i++) {
        const heed_map_entry *from = &w->one.entry[i];
        heed_map_entry *to = heed_map_put(&w->ref, from->key, from->n, from->value, NULL, err);
        if (!to)
            return false;
        if (to->value < from->value)
            to->value = from->value;
    }
    return true;
}

/* The reference length closest to the hypothesis's, the shorter of two as close. */
static int64_t closer(int64_t hyp, int64_t best, int64_t length) {
    int64_t a = best > hyp ? best - hyp : hyp - best,
            b = length > hyp ? length - hyp : hyp - length;
    return b < a || (b == a && length < best) ? length : best;
}

static bool add_reference(worker *w, heed_line line, bool first, heed_bleu_stats *s,
                          heed_error *err) {
    int64_t length;
    heed_map_free(&w->one);
    heed_map_init(&w->one, w->host);
    if (!count(w, line, &w->one, &length, err) || !merge(w, err))
        return false;
    s->ref_len = first ? length : closer(s->hyp_len, s->ref_len, length);
    return true;
}

static bool measure(worker *w, heed_line hyp, const heed_line *const *refs, int64_t n_refs,
                    int64_t i, heed_bleu_stats *s, heed_error *err) {
    *s = (heed_bleu_stats){0};
    start_segment(w);
    if (!count(w, hyp, &w->hyp, &s->hyp_len, err))
        return false;
    for (int64_t r = 0; r < n_refs; r++)
        if (!add_reference(w, refs[r][i], r == 0, s, err))
            return false;
    for (size_t k = 0; k < w->hyp.count; k++) {
        const heed_map_entry *h = &w->hyp.entry[k], *r = heed_map_find(&w->ref, h->key, h->n);
        int order = heed_ngram_order(h) - 1;
        s->total[order] += h->value;
        if (r)
            s->correct[order] += h->value < r->value ? h->value : r->value;
    }
    return true;
}

/* ---- The score ---- */

static double smooth_value(const heed_bleu_opts *o) {
    if (o->smooth_value_set)
        return o->smooth_value;
    return o->smooth == HEED_SMOOTH_FLOOR ? 0.1 : 1.0;
}

/* Precisions in percent; the number of orders that count. */
static int find_precisions(const heed_bleu_stats *s, const heed_bleu_opts *o,
                           double precision[ORDERS]) {
    double doubling = 1.0;
    int orders = ORDERS;
    for (int i = 0; i < ORDERS; i++) {
        bool plus = o->smooth == HEED_SMOOTH_ADD_K && i > 0;
        double correct = (double)s->correct[i] + (plus ? smooth_value(o) : 0.0);
        double total = (double)s->total[i] + (plus ? smooth_value(o) : 0.0);
        if (total == 0.0)
            break;
        if (o->effective_order)
            orders = i + 1;
        if (correct != 0.0) {
            precision[i] = 100.0 * correct / total;
        } else if (o->smooth == HEED_SMOOTH_EXP) {
            doubling *= 2.0;
            precision[i] = 100.0 / (doubling * total);
        } else if (o->smooth == HEED_SMOOTH_FLOOR) {
            precision[i] = 100.0 * smooth_value(o) / total;
        }
    }
    return orders;
}

static void print_signature(heed_bleu_result *r, const heed_bleu_opts *o, int64_t n_refs) {
    char value[32] = "";
    if (o->smooth == HEED_SMOOTH_FLOOR || o->smooth == HEED_SMOOTH_ADD_K)
        snprintf(value, sizeof value, "[%.2f]", smooth_value(o));
    snprintf(r->signature, sizeof r->signature,
             "nrefs:%" PRId64 "|case:%s|eff:%s|tok:%s|smooth:%s%s|version:2.6.0", n_refs,
             o->lowercase ? "lc" : "mixed", o->effective_order ? "yes" : "no",
             heed_bleu_tokens_name(o->tokens), smooths[o->smooth], value);
}

void heed_bleu_score(const heed_bleu_stats *s, const heed_bleu_opts *o, int64_t n_refs,
                     heed_bleu_result *r) {
    *r = (heed_bleu_result){.stats = *s, .bp = 1.0};
    double hyp = (double)s->hyp_len, ref = (double)s->ref_len;
    if (s->hyp_len < s->ref_len)
        r->bp = s->hyp_len > 0 ? exp(1.0 - ref / hyp) : 0.0;
    r->ratio = s->ref_len ? hyp / ref : 0.0;
    if (s->correct[0] || s->correct[1] || s->correct[2] || s->correct[3]) {
        int orders = find_precisions(s, o, r->precision);
        double sum = 0.0;
        for (int i = 0; i < orders; i++)
            sum += r->precision[i] == 0.0 ? -9999999999.0 : log(r->precision[i]);
        r->score = r->bp * exp(sum / orders);
    }
    snprintf(r->verbose, sizeof r->verbose,
             "%.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %" PRId64 " ref_len = %" PRId64
             ")",
             r->precision[0], r->precision[1], r->precision[2], r->precision[3], r->bp, r->ratio,
             s->hyp_len, s->ref_len);
    print_signature(r, o, n_refs);
}

static void add(heed_bleu_stats *sum, const heed_bleu_stats *s) {
    sum->hyp_len += s->hyp_len;
    sum->ref_len += s->ref_len;
    for (int i = 0; i < ORDERS; i++) {
        sum->correct[i] += s->correct[i];
        sum->total[i] += s->total[i];
    }
}

bool heed_bleu(const heed_host *host, const heed_line *hyp, const heed_line *const *refs,
               int64_t n_refs, int64_t n, const heed_bleu_opts *opts, heed_bleu_result *result,
               heed_bleu_stats *segment, heed_error *err) {
    if (n < 1 || n_refs < 1)
        return heed_fail(err, HEED_VALUE,
                         "BLEU needs segments and references, got %" PRId64 " and %" PRId64, n,
                         n_refs);
    worker w = {.host = host,
                .opts = opts,
                .scratch = {{.host = host}, {.host = host}},
                .text = {.host = host}};
    heed_bleu_stats sum = {0}, one;
    bool ok = true;
    for (int64_t i = 0; ok && i < n; i++) {
        ok = measure(&w, hyp[i], refs, n_refs, i, &one, err);
        if (ok)
            add(&sum, &one);
        if (ok && segment)
            segment[i] = one;
        if (!ok)
            heed_error_at(err, "segment %" PRId64, i + 1);
    }
    end_work(&w);
    if (ok)
        heed_bleu_score(&sum, opts, n_refs, result);
    return ok;
}
