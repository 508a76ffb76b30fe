/* metaspace.c: spaces as a visible mark (Kudo and Richardson 2018, "SentencePiece").
 * SPDX-License-Identifier: MIT
 */
#include "text/metaspace.h"

#include <string.h>

#include "base/error.h"
#include "text/split.h"

static bool read_prepend(const json_t *json, heed_metaspace *m, heed_error *err) {
    static const char *const names[] = {"always", "first", "never"};
    const char *name = NULL;
    bool prefix = true; /* what files had before there was a scheme */
    if (!heed_json_opt_string(json, "prepend_scheme", &name, err) ||
        !heed_json_opt_bool(json, "add_prefix_space", &prefix, err)) {
        return false;
    }
    int found = name ? -1 : 0;
    for (int i = 0; name && i < 3; i++) {
        found = strcmp(name, names[i]) == 0 ? i : found;
    }
    if (found < 0) {
        return heed_fail(err, HEED_FILE, "prepend_scheme '%s' is not one of always, first, never",
                         name);
    }
    m->prepend = (heed_prepend)found;
    if (!prefix && m->prepend != HEED_PREPEND_NEVER) {
        return heed_fail(err, HEED_FILE, "add_prefix_space is false, but prepend_scheme is '%s'",
                         names[m->prepend]);
    }
    return true;
}

bool heed_metaspace_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    heed_metaspace *m = settings;
    m->split = true;
    return heed_read_char(t, json, "replacement", &m->mark, &m->n, err) &&
           read_prepend(json, m, err) && heed_json_opt_bool(json, "split", &m->split, err);
}

static bool starts_with_mark(const heed_metaspace *m, const char *s, size_t n) {
    return n >= m->n && memcmp(s, m->mark, m->n) == 0;
}

static bool wants_mark(const heed_metaspace *m, const heed_work *work, heed_cut word) {
    const heed_strand *s = &work->now;
    bool first = heed_work_origin(work, word.from).begin == 0;
    return s->text[word.from] != ' ' &&
           !starts_with_mark(m, s->text + word.from, word.to - word.from) &&
           (m->prepend == HEED_PREPEND_ALWAYS || (m->prepend == HEED_PREPEND_FIRST && first));
}

/* Writes one word to `next` with marks for spaces. */
static bool write_word(const heed_metaspace *m, heed_work *work, heed_cut word) {
    const heed_strand *s = &work->now;
    if (wants_mark(m, work, word)) {
        if (!heed_strand_put(work, &work->next, m->mark, m->n, heed_work_origin(work, word.from))) {
            return false;
        }
    }
    size_t done = word.from;
    for (size_t at = word.from; at < word.to; at++) {
        if (s->text[at] != ' ') {
            continue;
        }
        if (!heed_strand_copy(work, &work->next, s, done, at) ||
            !heed_strand_put(work, &work->next, m->mark, m->n, heed_work_origin(work, at))) {
            return false;
        }
        done = at + 1;
    }
    return heed_strand_copy(work, &work->next, s, done, word.to);
}

/* Each mark begins a word: the same as splitting there and joining with what follows. */
static bool cut_word(const heed_metaspace *m, heed_work *work, size_t from) {
    const heed_strand *s = &work->next;
    size_t begin = from;
    for (size_t at = from; m->split && at < s->n; at++) {
        if (at > begin && starts_with_mark(m, s->text + at, s->n - at)) {
            if (!heed_cuts_add(work, &work->cuts, begin, at, false)) {
                return false;
            }
            begin = at;
        }
    }
    return begin == s->n || heed_cuts_add(work, &work->cuts, begin, s->n, false);
}

bool heed_metaspace_split(const void *settings, heed_work *work) {
    const heed_metaspace *m = settings;
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        size_t from = work->next.n;
        if (!write_word(m, work, work->words.item[i]) || !cut_word(m, work, from)) {
            return false;
        }
    }
    heed_work_turn(work);
    heed_split_turn(work);
    return true;
}

bool heed_metaspace_decode(const void *settings, heed_work *work) {
    const heed_metaspace *m = settings;
    for (size_t i = 0; i < work->texts.n; i++) {
        size_t n = 0, done = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        bool drop = i == 0 && m->prepend != HEED_PREPEND_NEVER;
        for (size_t at = 0; at < n;) {
            if (!starts_with_mark(m, s + at, n - at)) {
                at++;
                continue;
            }
            heed_buf_add(&work->texts_next.data, s + done, at - done);
            heed_buf_add(&work->texts_next.data, " ", drop ? 0 : 1);
            at += m->n;
            done = at;
        }
        heed_buf_add(&work->texts_next.data, s + done, n - done);
        if (!heed_texts_end(work, &work->texts_next)) {
            return false;
        }
    }
    heed_texts_turn(work);
    return true;
}
