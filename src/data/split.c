/* split.c: which part of a corpus a sentence belongs to.
 *
 * The 64-bit hash of the sentence's key, as a number in [0, 1), falls into test, valid or train by
 * the shares. So all occurrences of a sentence fall together, whatever else the corpus holds, and
 * adding lines moves none.
 * SPDX-License-Identifier: MIT
 */
#include "data/split.h"

#include <utf8proc.h>

#include "base/error.h"
#include "base/map.h"
#include "base/philox.h"
#include "base/utf8.h"
#include "data/letters.h"

/* ---- The key of a sentence ---- */

enum { EXPAND = 18 }; /* the longest compatibility decomposition of one code point (U+FDFA) */

static bool counts(uint32_t cp) {
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    bool control = c == UTF8PROC_CATEGORY_CC || c == UTF8PROC_CATEGORY_CF;
    return !control && !heed_letter_punctuation(cp) &&
           utf8proc_category_string((utf8proc_int32_t)cp)[0] != 'Z';
}

bool heed_sentence_key(heed_line sentence, heed_buf *out) {
    const utf8proc_option_t how = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD;
    uint32_t cp;
    for (size_t i = 0, step; i < sentence.n; i += step) {
        utf8proc_int32_t parts[EXPAND];
        int boundary = 0;
        step = (size_t)heed_utf8_next(sentence.s + i, sentence.n - i, &cp);
        if (!step)
            return false;
        utf8proc_ssize_t n =
            utf8proc_decompose_char((utf8proc_int32_t)cp, parts, EXPAND, how, &boundary);
        for (utf8proc_ssize_t j = 0; j < n && j < EXPAND; j++) {
            char bytes[4];
            if (counts((uint32_t)parts[j]))
                heed_buf_add(out, bytes, (size_t)heed_utf8_put((uint32_t)parts[j], bytes));
        }
    }
    return !out->failed;
}

/* ---- Parts ---- */

typedef struct {
    heed_parallel *p;
    const heed_parallel_opts *o;
    heed_buf key;
    heed_map trained; /* keys of the other side of the training pairs, for both_apart */
} splitter;

static heed_line side(const splitter *s, const heed_pair *pair, bool other) {
    return s->o->by_source != other ? pair->source : pair->target;
}

static bool make_key(splitter *s, heed_line sentence, heed_error *err) {
    s->key.n = 0;
    if (heed_buf_add(&s->key, "", 0) && heed_sentence_key(sentence, &s->key))
        return true;
    return heed_fail(err, HEED_NOMEM, "no memory for a sentence of %zu bytes", sentence.n);
}

static bool find_part(splitter *s, const heed_pair *pair, heed_part *part, heed_error *err) {
    if (!make_key(s, side(s, pair, false), err))
        return false;
    double at = (double)(heed_hash(s->key.data, s->key.n) >> 11) * 0x1p-53;
    *part = at < s->o->test                 ? HEED_PART_TEST
            : at < s->o->test + s->o->valid ? HEED_PART_VALID
                                            : HEED_PART_TRAIN;
    return true;
}

/* The other side's key goes into `trained`. */
static bool learn(splitter *s, const heed_pair *pair, heed_error *err) {
    return make_key(s, side(s, pair, true), err) &&
           heed_map_put(&s->trained, s->key.data, s->key.n, 0, NULL, err) != NULL;
}

static bool learn_training(splitter *s, heed_error *err) {
    for (int64_t i = 0; i < s->p->n; i++) {
        heed_part part;
        if (!find_part(s, &s->p->pair[i], &part, err))
            return false;
        if (part == HEED_PART_TRAIN && !learn(s, &s->p->pair[i], err))
            return false;
    }
    return true;
}

/* Sets *keep, and counts the pair where it is not kept. */
static bool judge(splitter *s, const heed_pair *pair, bool *keep, heed_error *err) {
    heed_part part;
    if (!find_part(s, pair, &part, err))
        return false;
    *keep = part == s->o->part;
    if (!*keep)
        s->p->report.elsewhere++;
    if (!*keep || !s->o->both_apart || part == HEED_PART_TRAIN)
        return true;
    if (!make_key(s, side(s, pair, true), err))
        return false;
    *keep = !heed_map_find(&s->trained, s->key.data, s->key.n);
    if (!*keep)
        s->p->report.shared++;
    return true;
}

static bool keep_part(splitter *s, heed_error *err) {
    int64_t kept = 0;
    if (s->o->both_apart && s->o->part != HEED_PART_TRAIN && !learn_training(s, err))
        return false;
    for (int64_t i = 0; i < s->p->n; i++) {
        bool keep;
        if (!judge(s, &s->p->pair[i], &keep, err))
            return false;
        if (keep)
            s->p->pair[kept++] = s->p->pair[i];
    }
    s->p->n = kept;
    return true;
}

bool heed_split_pairs(heed_parallel *p, const heed_parallel_opts *opts, heed_error *err) {
    if (opts->part == HEED_PART_ALL)
        return true;
    splitter s = {.p = p, .o = opts, .key = {.host = p->host}};
    heed_map_init(&s.trained, p->host);
    bool ok = keep_part(&s, err);
    heed_map_free(&s.trained);
    heed_buf_free(&s.key);
    return ok;
}
