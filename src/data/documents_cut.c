/* documents_cut.c: documents from the matches of an expression, and parts that are held out.
 * SPDX-License-Identifier: MIT
 */
#include "data/documents.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/philox.h"
#include "data/parallel.h"

/* ---- Matches ---- */

enum { WHY = 160 };

static pcre2_code *compiled(const char *match, heed_error *err) {
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[WHY];
    pcre2_code *made = pcre2_compile((PCRE2_SPTR)match, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK, &code, &at, NULL);
    if (made)
        return made;
    pcre2_get_error_message(code, why, sizeof why);
    heed_fail(err, HEED_VALUE, "the expression is none at byte %zu: %s", (size_t)at,
              (const char *)why);
    return NULL;
}

/* The first place of a character at `at` or behind it. */
static size_t on_a_character(heed_line text, size_t at) {
    while (at < text.n && ((unsigned char)text.s[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static bool refuse_match(int code, size_t at, heed_error *err) {
    PCRE2_UCHAR why[WHY];
    pcre2_get_error_message(code, why, sizeof why);
    return heed_fail(err, HEED_VALUE, "the expression fails at byte %zu of a document: %s", at,
                     (const char *)why);
}

/* Every match in a text that is not empty, in order; *none: there was none. */
static bool add_matches(heed_documents *d, heed_line text, const pcre2_code *code,
                        pcre2_match_data *found, bool *none, heed_error *err) {
    *none = true;
    for (size_t at = 0; at <= text.n;) {
        int n = pcre2_match(code, (PCRE2_SPTR)text.s, text.n, at, PCRE2_NO_UTF_CHECK, found, NULL);
        if (n == PCRE2_ERROR_NOMATCH)
            return true;
        if (n < 0)
            return refuse_match(n, at, err);
        const PCRE2_SIZE *span = pcre2_get_ovector_pointer(found);
        heed_line one = {text.s + span[0], span[1] > span[0] ? span[1] - span[0] : 0};
        if (one.n && !heed_documents_add(d, one, err))
            return false;
        *none = *none && !one.n;
        at = on_a_character(text, span[1] > at ? span[1] : at + 1);
    }
    return true;
}

bool heed_documents_match(heed_documents *d, const char *match, heed_error *err) {
    pcre2_code *code = compiled(match, err);
    pcre2_match_data *found = code ? pcre2_match_data_create_from_pattern(code, NULL) : NULL;
    heed_document *before = d->item;
    int64_t n = d->n;
    if (code && !found)
        heed_fail(err, HEED_NOMEM, "no memory for a match");
    bool ok = found != NULL;
    if (ok) {
        d->item = NULL;
        d->n = 0;
        d->cap = 0;
        for (int64_t i = 0; ok && i < n; i++) {
            bool none = false;
            ok = add_matches(d, before[i].text, code, found, &none, err);
            d->unmatched += none;
        }
        heed_free(d->host, before);
    }
    pcre2_match_data_free(found);
    pcre2_code_free(code);
    return ok;
}

/* ---- Parts ---- */

static bool key_of(heed_line text, heed_buf *key, heed_error *err) {
    key->n = 0;
    return (heed_buf_add(key, "", 0) && heed_sentence_key(text, key)) ||
           heed_fail(err, HEED_NOMEM, "no memory for a document of %zu bytes", text.n);
}

static bool hold_by_hash(heed_documents *d, double share, heed_error *err) {
    heed_buf key = {.host = d->host};
    bool ok = true;
    for (int64_t i = 0; ok && i < d->n; i++) {
        ok = key_of(d->item[i].text, &key, err);
        double at = ok ? (double)(heed_hash(key.data, key.n) >> 11) * 0x1p-53 : 1;
        d->item[i].held = at < share;
    }
    heed_buf_free(&key);
    return ok;
}

/* Makes two of document i, the second from byte `at` on. */
static bool cut_in_two(heed_documents *d, int64_t i, size_t at, heed_error *err) {
    if (!heed_reserve(d->host, (void **)&d->item, &d->cap, (size_t)d->n + 1, sizeof *d->item, err))
        return false;
    memmove(d->item + i + 1, d->item + i, (size_t)(d->n++ - i) * sizeof *d->item);
    heed_line all = d->item[i].text;
    d->item[i].text.n = at;
    d->item[i + 1].text = (heed_line){all.s + at, all.n - at};
    return true;
}

static bool hold_the_end(heed_documents *d, heed_documents_hold hold, heed_error *err) {
    double all = 0;
    for (int64_t i = 0; i < d->n; i++)
        all += (double)d->item[i].text.n;
    size_t left = (size_t)(all * (1 - hold.share));
    for (int64_t i = 0; i < d->n; i++) {
        heed_line text = d->item[i].text;
        while (hold.within && left && left < text.n && ((unsigned char)text.s[left] & 0xc0) == 0x80)
            left++;
        if (hold.within && left && left < text.n && !cut_in_two(d, i, left, err))
            return false;
        d->item[i].held = !left;
        left -= left < d->item[i].text.n ? left : d->item[i].text.n;
    }
    return true;
}

bool heed_documents_split(heed_documents *d, heed_documents_hold hold, heed_error *err) {
    if (hold.end ? !hold_the_end(d, hold, err) : !hold_by_hash(d, hold.share, err))
        return false;
    int64_t held = 0;
    for (int64_t i = 0; i < d->n; i++)
        held += d->item[i].held;
    return (held > 0 && held < d->n) ||
           heed_fail(err, HEED_VALUE, "a share of %g leaves nothing %s, of %lld documents",
                     hold.share, held ? "to train on" : "held out", (long long)d->n);
}

/* ---- In both ---- */

static bool note_key(heed_map *map, heed_line text, heed_buf *key, heed_error *err) {
    if (!key_of(text, key, err))
        return false;
    uint64_t hash = heed_hash(key->data, key->n);
    return heed_map_put(map, (const char *)&hash, sizeof hash, 0, NULL, err) != NULL;
}

static bool count_seen(const heed_map *map, const heed_documents *held, bool own, heed_buf *key,
                       int64_t *seen, heed_error *err) {
    for (int64_t i = 0; i < held->n; i++) {
        if (own && !held->item[i].held)
            continue;
        if (!key_of(held->item[i].text, key, err))
            return false;
        uint64_t hash = heed_hash(key->data, key->n);
        *seen += heed_map_find(map, (const char *)&hash, sizeof hash) != NULL;
    }
    return true;
}

bool heed_documents_seen(const heed_documents *d, const heed_documents *held, int64_t *seen,
                         heed_error *err) {
    heed_map map;
    heed_buf key = {.host = d->host};
    heed_map_init(&map, d->host);
    *seen = 0;
    bool ok = true;
    for (int64_t i = 0; ok && i < d->n; i++)
        ok = d->item[i].held || note_key(&map, d->item[i].text, &key, err);
    ok = ok && count_seen(&map, held ? held : d, !held, &key, seen, err);
    heed_buf_free(&key);
    heed_map_free(&map);
    return ok;
}
