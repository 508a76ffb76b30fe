/* decode_words.c: pieces to words: suffixes, prefixes, repetitions, and spaces before signs.
 * SPDX-License-Identifier: MIT
 */
#include "text/decode_words.h"

#include <string.h>

#include "base/error.h"

static bool read_affix(heed_tokenizer *t, const json_t *json, const char *key, bool empty,
                       heed_line *out, heed_error *err) {
    const char *text = heed_json_string(json, key, &out->n, err);
    if (!text) {
        return false;
    }
    if (out->n == 0 && !empty) {
        return heed_fail(err, HEED_FILE, "key '%s' is an empty text", key);
    }
    out->s = heed_region_text(&t->region, text, out->n, err);
    return out->s != NULL;
}

/* Appends s with every `what` in it as `with`. */
static void add_replaced(heed_buf *out, const char *s, size_t n, heed_line what, heed_line with) {
    size_t done = 0;
    for (size_t at = 0; what.n > 0 && n - at >= what.n;) {
        const char *found = memchr(s + at, what.s[0], n - at - what.n + 1);
        if (!found) {
            break;
        }
        at = (size_t)(found - s);
        if (memcmp(found, what.s, what.n) != 0) {
            at++;
            continue;
        }
        heed_buf_add(out, s + done, at - done);
        heed_buf_add(out, with.s, with.n);
        done = at += what.n;
    }
    heed_buf_add(out, s + done, n - done);
}

/* ---- Cleaning up --------------------------------------------------------------------------- */

/* Two texts that take each other's place. */
typedef struct {
    heed_buf one, other;
} pair_of_texts;

static void rewrite(pair_of_texts *p, heed_line what, heed_line with) {
    if (p->one.n < what.n) {
        return;
    }
    p->other.n = 0;
    add_replaced(&p->other, p->one.data, p->one.n, what, with);
    heed_buf read = p->one;
    p->one = p->other;
    p->other = read;
}

#define AFFIX(text)                                                                                \
    { text, sizeof(text) - 1 }

/* Spaces that stood between English words and signs: GPT's and BERT's list, in this order. */
static void cleanup(pair_of_texts *p) {
    static const struct {
        heed_line what, with;
    } rules[] = {
        {AFFIX(" ."), AFFIX(".")},     {AFFIX(" ?"), AFFIX("?")},
        {AFFIX(" !"), AFFIX("!")},     {AFFIX(" ,"), AFFIX(",")},
        {AFFIX(" ' "), AFFIX("'")},    {AFFIX(" n't"), AFFIX("n't")},
        {AFFIX(" 'm"), AFFIX("'m")},   {AFFIX(" do not"), AFFIX(" don't")},
        {AFFIX(" 's"), AFFIX("'s")},   {AFFIX(" 've"), AFFIX("'ve")},
        {AFFIX(" 're"), AFFIX("'re")},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        rewrite(p, rules[i].what, rules[i].with);
    }
}

/* Ends a text of texts_next with what is in p->one, where that is wanted. */
static bool end_text(heed_work *work, const pair_of_texts *p) {
    heed_buf_add(&work->texts_next.data, p->one.data, p->one.n);
    return p->one.failed || p->other.failed ? heed_work_full(work)
                                            : heed_texts_end(work, &work->texts_next);
}

static bool finish(heed_work *work, pair_of_texts *p, bool ok) {
    heed_buf_free(&p->one);
    heed_buf_free(&p->other);
    if (ok) {
        heed_texts_turn(work);
    }
    return ok;
}

/* ---- BPEDecoder ---------------------------------------------------------------------------- */

bool heed_suffix_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    return read_affix(t, json, "suffix", false, settings, err);
}

bool heed_suffix_decode(const void *settings, heed_work *work) {
    const heed_line *suffix = settings;
    for (size_t i = 0; i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        heed_line with = {" ", i + 1 < work->texts.n};
        add_replaced(&work->texts_next.data, s, n, *suffix, with);
        if (!heed_texts_end(work, &work->texts_next)) {
            return false;
        }
    }
    heed_texts_turn(work);
    return true;
}

/* ---- WordPiece ----------------------------------------------------------------------------- */

bool heed_prefix_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    heed_prefix_decoder *d = settings;
    return read_affix(t, json, "prefix", true, &d->prefix, err) &&
           heed_json_bool(json, "cleanup", &d->cleanup, err);
}

static void take_piece(const heed_prefix_decoder *d, pair_of_texts *p, const char *s, size_t n,
                       bool first) {
    bool inside = !first && n >= d->prefix.n &&
                  (d->prefix.n == 0 || memcmp(s, d->prefix.s, d->prefix.n) == 0);
    size_t skip = inside ? d->prefix.n : 0;
    p->one.n = 0;
    heed_buf_add(&p->one, " ", !first && !inside);
    heed_buf_add(&p->one, s + skip, n - skip);
    if (d->cleanup) {
        cleanup(p);
    }
}

bool heed_prefix_decode(const void *settings, heed_work *work) {
    pair_of_texts p = {.one.host = work->host, .other.host = work->host};
    bool ok = true;
    for (size_t i = 0; ok && i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        take_piece(settings, &p, s, n, i == 0);
        ok = end_text(work, &p);
    }
    return finish(work, &p, ok);
}

/* ---- CTC ----------------------------------------------------------------------------------- */

bool heed_ctc_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    heed_ctc_decoder *d = settings;
    return read_affix(t, json, "pad_token", true, &d->pad, err) &&
           read_affix(t, json, "word_delimiter_token", false, &d->space, err) &&
           heed_json_bool(json, "cleanup", &d->cleanup, err);
}

static bool repeats(const heed_texts *texts, size_t i) {
    size_t n = 0, before = 0;
    const char *s = heed_texts_at(texts, i, &n);
    const char *last = i > 0 ? heed_texts_at(texts, i - 1, &before) : NULL;
    return last && n == before && memcmp(s, last, n) == 0;
}

bool heed_ctc_decode(const void *settings, heed_work *work) {
    static const heed_line nothing = {"", 0}, space = {" ", 1};
    const heed_ctc_decoder *d = settings;
    pair_of_texts p = {.one.host = work->host, .other.host = work->host};
    bool ok = true;
    for (size_t i = 0; ok && i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        if (repeats(&work->texts, i)) {
            continue;
        }
        p.one.n = 0;
        add_replaced(&p.one, s, n, d->pad, nothing);
        if (d->cleanup) {
            cleanup(&p);
            rewrite(&p, d->space, space);
        }
        ok = p.one.n == 0 || end_text(work, &p);
    }
    return finish(work, &p, ok);
}
