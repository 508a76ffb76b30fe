/* decode.c: the decoders: a list of token texts made into the list whose texts, joined, are the
 * answer.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/decode_words.h"
#include "text/metaspace.h"
#include "text/part.h"
#include "text/pattern.h"

static const char REPLACEMENT[] = "\xef\xbf\xbd"; /* U+FFFD */

/* ---- ByteFallback -------------------------------------------------------------------------- */

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* The byte of "<0xNN>", -1 for another text. */
static int byte_piece(const char *s, size_t n) {
    if (n != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>' || hex(s[4]) < 0) {
        return -1;
    }
    if (s[3] == '+') { /* a sign is a number's beginning to the `tokenizers` library */
        return hex(s[4]);
    }
    return hex(s[3]) < 0 ? -1 : hex(s[3]) * 16 + hex(s[4]);
}

/* The bytes gathered at the end of texts_next become one text; or, where they are no UTF-8, a
 * replacement character for each. */
static bool end_bytes(heed_work *work, size_t *gathered) {
    heed_texts *next = &work->texts_next;
    if (*gathered == 0 || next->data.failed) {
        return *gathered == 0 || heed_work_full(work);
    }
    size_t n = *gathered;
    *gathered = 0;
    if (heed_utf8_check(next->data.data + next->data.n - n, n) == n) {
        return heed_texts_end(work, next);
    }
    next->data.n -= n;
    for (size_t i = 0; i < n; i++) {
        heed_buf_text(&next->data, REPLACEMENT);
        if (!heed_texts_end(work, next)) {
            return false;
        }
    }
    return true;
}

static bool decode_bytes(const void *settings, heed_work *work) {
    (void)settings;
    size_t gathered = 0;
    for (size_t i = 0; i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        int byte = byte_piece(s, n);
        if (byte >= 0) {
            char c = (char)byte;
            heed_buf_add(&work->texts_next.data, &c, 1);
            gathered++;
            continue;
        }
        if (!end_bytes(work, &gathered)) {
            return false;
        }
        heed_buf_add(&work->texts_next.data, s, n);
        if (!heed_texts_end(work, &work->texts_next)) {
            return false;
        }
    }
    if (!end_bytes(work, &gathered)) {
        return false;
    }
    heed_texts_turn(work);
    return true;
}

/* ---- Fuse ---------------------------------------------------------------------------------- */

static bool decode_fuse(const void *settings, heed_work *work) {
    (void)settings;
    if (work->texts.n > 0) {
        work->texts.end[0] = work->texts.data.n;
        work->texts.n = 1;
        return true;
    }
    return heed_texts_end(work, &work->texts); /* of no texts it makes an empty one */
}

/* ---- Replace ------------------------------------------------------------------------------- */

static bool replace_one(const heed_replace *r, heed_work *work, const char *s, size_t n) {
    heed_buf *out = &work->texts_next.data;
    work->cuts.n = 0;
    if (!heed_pattern_cut(r->pattern, work, s, n, &work->cuts)) {
        return false;
    }
    for (size_t k = 0; k < work->cuts.n; k++) {
        heed_cut cut = work->cuts.item[k];
        heed_buf_add(out, cut.match ? r->content : s + cut.from,
                     cut.match ? r->n : cut.to - cut.from);
        if (!heed_work_fits(work, out->n)) {
            return false;
        }
    }
    return heed_texts_end(work, &work->texts_next);
}

static bool decode_replace(const void *settings, heed_work *work) {
    for (size_t i = 0; i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        if (!replace_one(settings, work, s, n)) {
            return false;
        }
    }
    heed_texts_turn(work);
    return true;
}

/* ---- Strip --------------------------------------------------------------------------------- */

typedef struct {
    const char *what; /* one character */
    size_t n;
    int64_t start, stop; /* how many of it go at most, at each end of each text */
} strip;

static bool read_strip(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    strip *s = settings;
    if (!heed_read_char(t, json, "content", &s->what, &s->n, err) ||
        !heed_json_int(json, "start", &s->start, err) ||
        !heed_json_int(json, "stop", &s->stop, err)) {
        return false;
    }
    return (s->start >= 0 && s->stop >= 0) ||
           heed_fail(err, HEED_FILE, "start %lld and stop %lld must not be negative",
                     (long long)s->start, (long long)s->stop);
}

static bool decode_strip(const void *settings, heed_work *work) {
    const strip *set = settings;
    for (size_t i = 0; i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        for (int64_t k = 0; k < set->start && n >= set->n && memcmp(s, set->what, set->n) == 0;
             k++) {
            s += set->n;
            n -= set->n;
        }
        for (int64_t k = 0;
             k < set->stop && n >= set->n && memcmp(s + n - set->n, set->what, set->n) == 0; k++) {
            n -= set->n;
        }
        heed_buf_add(&work->texts_next.data, s, n);
        if (!heed_texts_end(work, &work->texts_next)) {
            return false;
        }
    }
    heed_texts_turn(work);
    return true;
}

/* ---- ByteLevel ----------------------------------------------------------------------------- */

/* First bytes of characters, the bytes that may follow each, and how long the character is. */
static const struct {
    unsigned char first, last, low, high, n;
} leads[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
             {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
             {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

/* How many bytes at s a decoder of UTF-8 takes for one broken character (Unicode Standard, section
 * 3.9, U+FFFD substitution of maximal subparts). */
static size_t broken(const char *s, size_t n) {
    unsigned char lead = (unsigned char)s[0], next = n > 1 ? (unsigned char)s[1] : 0;
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        bool fits = lead >= leads[i].first && lead <= leads[i].last && next >= leads[i].low &&
                    next <= leads[i].high;
        if (!fits) {
            continue;
        }
        size_t taken = 2;
        while (taken < n && taken < leads[i].n && ((unsigned char)s[taken] & 0xc0) == 0x80) {
            taken++;
        }
        return taken;
    }
    return 1;
}

bool heed_byte_level_decode(const void *settings, heed_work *work) {
    (void)settings;
    heed_buf bytes = {.host = work->host};
    for (size_t i = 0; i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        heed_byte_level_bytes(s, n, &bytes);
    }
    for (size_t at = 0; at < bytes.n;) {
        size_t good = heed_utf8_check(bytes.data + at, bytes.n - at);
        heed_buf_add(&work->texts_next.data, bytes.data + at, good);
        at += good;
        if (at < bytes.n) {
            heed_buf_text(&work->texts_next.data, REPLACEMENT);
            at += broken(bytes.data + at, bytes.n - at);
        }
    }
    bool ok = !bytes.failed || heed_work_full(work);
    heed_buf_free(&bytes);
    if (!ok || !heed_texts_end(work, &work->texts_next)) {
        return false;
    }
    heed_texts_turn(work);
    return true;
}

static const heed_part_kind kinds[] = {
    {"Metaspace", sizeof(heed_metaspace), heed_metaspace_read, heed_metaspace_decode},
    {"ByteFallback", 0, NULL, decode_bytes},
    {"Fuse", 0, NULL, decode_fuse},
    {"Replace", sizeof(heed_replace), heed_replace_read, decode_replace},
    {"Strip", sizeof(strip), read_strip, decode_strip},
    {"ByteLevel", 0, heed_byte_level_mark, heed_byte_level_decode},
    {"BPEDecoder", sizeof(heed_line), heed_suffix_read, heed_suffix_decode},
    {"WordPiece", sizeof(heed_prefix_decoder), heed_prefix_read, heed_prefix_decode},
    {"CTC", sizeof(heed_ctc_decoder), heed_ctc_read, heed_ctc_decode},
};
const heed_part_table heed_decoders = {"decoder", "decoders", kinds,
                                       sizeof kinds / sizeof kinds[0]};
