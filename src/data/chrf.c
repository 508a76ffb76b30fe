/* chrf.c: character and word n-gram F scores.
 * SPDX-License-Identifier: MIT
 */
#include "data/chrf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "data/bleu_tokens.h"
#include "data/letters.h"

/* ---- Options ---- */

static heed_chrf_opts resolve(const heed_chrf_opts *opts) {
    heed_chrf_opts o = *opts;
    if (!o.char_order)
        o.char_order = 6;
    if (!o.beta)
        o.beta = 2;
    return o;
}

static bool check(const heed_chrf_opts *o, int64_t n, int64_t n_refs, heed_error *err) {
    if (n < 1 || n_refs < 1)
        return heed_fail(err, HEED_VALUE,
                         "chrF needs segments and references, got %" PRId64 " and %" PRId64, n,
                         n_refs);
    if (o->char_order < 1 || o->word_order < 0 ||
        o->char_order + o->word_order > HEED_CHRF_ORDERS || o->beta < 1)
        return heed_fail(
            err, HEED_VALUE,
            "chrF orders %d and %d with beta %d: orders may be %d together, beta is 1 or more",
            o->char_order, o->word_order, o->beta, HEED_CHRF_ORDERS);
    return true;
}

/* ---- One text ---- */

typedef struct {
    const heed_host *host;
    heed_chrf_opts o;
    heed_buf text, parted;
    heed_symbols letters, words;
    heed_map numbers;                                      /* words to numbers */
    heed_map hyp[HEED_CHRF_ORDERS], ref[HEED_CHRF_ORDERS]; /* by order: characters, then words */
} worker;

static bool is_mark(char c) {
    return c && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c);
}

/* One word: a mark at its end becomes a word of its own, else one at its start. */
static void part_word(heed_buf *out, const char *s, size_t n) {
    bool single = n == (size_t)heed_utf8_next(s, n, &(uint32_t){0});
    size_t cut = single ? 0 : is_mark(s[n - 1]) ? n - 1 : is_mark(s[0]) ? 1 : 0;
    heed_buf_add(out, s, cut);
    if (cut)
        heed_buf_text(out, " ");
    heed_buf_add(out, s + cut, n - cut);
    heed_buf_text(out, " ");
}

static void part_words(heed_buf *out, const heed_buf *text) {
    size_t start = 0;
    uint32_t cp;
    for (size_t i = 0, step; i < text->n; i += step) {
        step = (size_t)heed_utf8_next(text->data + i, text->n - i, &cp);
        if (heed_letter_gap(cp)) {
            if (i > start)
                part_word(out, text->data + start, i - start);
            start = i + step;
        }
    }
    if (text->n > start)
        part_word(out, text->data + start, text->n - start);
}

static bool take_letters(worker *w, heed_error *err) {
    uint32_t cp;
    w->letters.n = 0;
    for (size_t i = 0; i < w->text.n;) {
        i += (size_t)heed_utf8_next(w->text.data + i, w->text.n - i, &cp);
        if (!w->o.whitespace && heed_letter_gap(cp))
            continue;
        if (!heed_symbols_add(&w->letters, cp, err))
            return false;
    }
    return true;
}

static bool take_words(worker *w, heed_error *err) {
    w->words.n = w->parted.n = 0;
    if (!w->o.word_order)
        return true;
    part_words(&w->parted, &w->text);
    if (w->parted.failed)
        return heed_fail(err, HEED_NOMEM, "no memory for the words of a segment");
    return heed_number_words(w->parted.data, w->parted.n, &w->numbers, &w->words, err);
}

static void clear(worker *w, heed_map *maps, int n) {
    for (int i = 0; i < n; i++) {
        heed_map_free(&maps[i]);
        heed_map_init(&maps[i], w->host);
    }
}

/* The n-grams of one text, by order. */
static bool count(worker *w, heed_line line, heed_map maps[HEED_CHRF_ORDERS], heed_error *err) {
    clear(w, maps, HEED_CHRF_ORDERS);
    if (heed_utf8_check(line.s, line.n) < line.n)
        return heed_fail(err, HEED_TEXT, "a segment is not UTF-8");
    w->text.n = 0;
    bool ok = heed_buf_add(&w->text, "", 0);
    ok = ok &&
         (w->o.lowercase ? heed_lower(line, &w->text) : heed_buf_add(&w->text, line.s, line.n));
    if (!ok)
        return heed_fail(err, HEED_NOMEM, "no memory for a segment of %zu bytes", line.n);
    ok = take_letters(w, err) && take_words(w, err);
    for (int i = 0; ok && i < w->o.char_order; i++)
        ok = heed_ngrams_count(&maps[i], &w->letters, i + 1, err);
    for (int i = 0; ok && i < w->o.word_order; i++)
        ok = heed_ngrams_count(&maps[w->o.char_order + i], &w->words, i + 1, err);
    return ok;
}

/* ---- One segment ---- */

static int64_t sum_of(const heed_map *m) {
    int64_t sum = 0;
    for (size_t i = 0; i < m->count; i++)
        sum += m->entry[i].value;
    return sum;
}

static void compare(const worker *w, heed_chrf_stats *s) {
    *s = (heed_chrf_stats){0};
    for (int i = 0; i < w->o.char_order + w->o.word_order; i++) {
        const heed_map *hyp = &w->hyp[i], *ref = &w->ref[i];
        s->ref[i] = sum_of(ref);
        s->hyp[i] = ref->count ? sum_of(hyp) : 0;
        for (size_t k = 0; k < hyp->count; k++) {
            const heed_map_entry *h = &hyp->entry[k], *r = heed_map_find(ref, h->key, h->n);
            if (r)
                s->match[i] += h->value < r->value ? h->value : r->value;
        }
    }
}

static bool measure(worker *w, heed_line hyp, const heed_line *const *refs, int64_t n_refs,
                    int64_t i, heed_chrf_stats *best, heed_error *err) {
    double best_score = -1.0;
    clear(w, &w->numbers, 1);
    if (!count(w, hyp, w->hyp, err))
        return false;
    for (int64_t r = 0; r < n_refs; r++) {
        heed_chrf_stats s;
        if (!count(w, refs[r][i], w->ref, err))
            return false;
        compare(w, &s);
        double score = heed_chrf_score(&s, &w->o);
        if (score > best_score) {
            best_score = score;
            *best = s;
        }
    }
    return true;
}

/* ---- The corpus ---- */

double heed_chrf_score(const heed_chrf_stats *s, const heed_chrf_opts *opts) {
    heed_chrf_opts o = resolve(opts);
    double precision = 0.0, recall = 0.0, factor = (double)o.beta * o.beta;
    int orders = 0;
    for (int i = 0; i < o.char_order + o.word_order; i++) {
        if (!s->hyp[i] || !s->ref[i])
            continue;
        precision += (double)s->match[i] / (double)s->hyp[i];
        recall += (double)s->match[i] / (double)s->ref[i];
        orders++;
    }
    if (precision + recall == 0.0)
        return 0.0;
    precision /= orders;
    recall /= orders;
    return 100.0 * ((1.0 + factor) * precision * recall / (factor * precision + recall));
}

static void describe(heed_chrf_result *r, const heed_chrf_opts *o, int64_t n_refs) {
    int n = snprintf(r->name, sizeof r->name, "chrF%d", o->beta);
    for (int i = 0; i < o->word_order && n + 1 < (int)sizeof r->name; i++)
        r->name[n++] = '+';
    r->name[n] = '\0';
    snprintf(r->signature, sizeof r->signature,
             "nrefs:%" PRId64 "|case:%s|eff:yes|nc:%d|nw:%d|space:%s|version:2.6.0", n_refs,
             o->lowercase ? "lc" : "mixed", o->char_order, o->word_order,
             o->whitespace ? "yes" : "no");
}

static void add(heed_chrf_stats *sum, const heed_chrf_stats *s) {
    for (int i = 0; i < HEED_CHRF_ORDERS; i++) {
        sum->hyp[i] += s->hyp[i];
        sum->ref[i] += s->ref[i];
        sum->match[i] += s->match[i];
    }
}

static void end_work(worker *w) {
    clear(w, w->hyp, HEED_CHRF_ORDERS); /* empty maps hold nothing */
    clear(w, w->ref, HEED_CHRF_ORDERS);
    clear(w, &w->numbers, 1);
    heed_symbols_free(&w->letters);
    heed_symbols_free(&w->words);
    heed_buf_free(&w->text);
    heed_buf_free(&w->parted);
}

bool heed_chrf(const heed_host *host, const heed_line *hyp, const heed_line *const *refs,
               int64_t n_refs, int64_t n, const heed_chrf_opts *opts, heed_chrf_result *result,
               heed_chrf_stats *segment, heed_error *err) {
    worker w = {.host = host,
                .o = resolve(opts),
                .text = {.host = host},
                .parted = {.host = host},
                .letters = {.host = host},
                .words = {.host = host}};
    heed_chrf_stats one;
    if (!check(&w.o, n, n_refs, err))
        return false;
    *result = (heed_chrf_result){0};
    bool ok = true;
    for (int64_t i = 0; ok && i < n; i++) {
        ok = measure(&w, hyp[i], refs, n_refs, i, &one, err);
        if (ok)
            add(&result->stats, &one);
        if (ok && segment)
            segment[i] = one;
        if (!ok)
            heed_error_at(err, "segment %" PRId64, i + 1);
    }
    end_work(&w);
    result->score = ok ? heed_chrf_score(&result->stats, &w.o) : 0.0;
    describe(result, &w.o, n_refs);
    return ok;
}
