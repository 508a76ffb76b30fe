/* charsmap.c: the normalisation that SentencePiece compiles into its models ("Precompiled").
 *
 * A charsmap is the size of a trie, the trie, and texts. The trie is a double array: from the unit
 * at place p, byte b leads to p ^ b, whose label must be b; the places are offset by what the
 * unit's upper bits say, and a unit with a leaf has the number of a text beside it.
 * As the `tokenizers` library does it, text goes through by grapheme clusters: one of less than six
 * bytes is looked up whole, and the shortest text of the trie that begins it decides for all of
 * it; others go through code point by code point.
 * Invariant: every place is checked against the number of units before it is read.
 * Source: the format of Darts-clone; Unicode Standard Annex 29 for clusters.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <utf8proc.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/little.h"
#include "text/normalizers.h"
#include "text/rewrite.h"

enum { UNIT = 4, SHORT_CLUSTER = 6 };

/* ---- Reading ------------------------------------------------------------------------------- */

static uint32_t number_at(const unsigned char *p) {
    return (uint32_t)heed_little(p, UNIT);
}

bool heed_charsmap_open(heed_tokenizer *t, const unsigned char *bytes, size_t n, heed_charsmap *map,
                        heed_error *err) {
    uint32_t trie = n >= UNIT ? number_at(bytes) : 0;
    if (n < UNIT || trie % UNIT != 0 || trie > n - UNIT) {
        return heed_fail(err, HEED_FILE,
                         "charsmap of %zu bytes does not hold the trie of %u bytes it announces", n,
                         trie);
    }
    const char *texts = (const char *)bytes + UNIT + trie;
    size_t rest = n - UNIT - trie, good = heed_utf8_check(texts, rest);
    if (good != rest) {
        return heed_fail(err, HEED_FILE, "charsmap: its texts are not UTF-8 at byte %zu", good);
    }
    char *copy = heed_region_text(&t->region, (const char *)bytes + UNIT, n - UNIT, err);
    if (!copy) {
        return false;
    }
    *map = (heed_charsmap){
        .trie = (const unsigned char *)copy, .units = trie / UNIT, .texts = copy + trie, .n = rest};
    return true;
}

static int base64_value(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Decodes n characters into out, which has room for n / 4 * 3 bytes; how many were written, or
 * SIZE_MAX where it is not base64 with its padding. */
static size_t decode_base64(const char *s, size_t n, unsigned char *out) {
    size_t pad = 0, written = 0;
    while (pad < 2 && pad < n && s[n - 1 - pad] == '=') {
        pad++;
    }
    if (n % 4 != 0) {
        return SIZE_MAX;
    }
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        int value = i < n - pad ? base64_value(s[i]) : 0;
        if (value < 0) {
            return SIZE_MAX;
        }
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 == 3) {
            for (int shift = 16; shift >= 0; shift -= 8) {
                out[written++] = (unsigned char)(bits >> shift);
            }
            bits = 0;
        }
    }
    return written - pad;
}

bool heed_charsmap_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    size_t n = 0;
    const char *text = heed_json_string(json, "precompiled_charsmap", &n, err);
    unsigned char *bytes = text ? heed_alloc(t->host, n / 4 * 3 + 1, 1, err) : NULL;
    if (!bytes) {
        return false;
    }
    size_t got = decode_base64(text, n, bytes);
    bool ok = got == SIZE_MAX
                  ? heed_fail(err, HEED_FILE, "key 'precompiled_charsmap' is not base64")
                  : heed_charsmap_open(t, bytes, got, settings, err);
    heed_free(t->host, bytes);
    return ok;
}

/* ---- Looking up ---------------------------------------------------------------------------- */

static size_t offset_of(uint32_t unit) {
    return (size_t)(unit >> 10) << ((unit & 1u << 9) >> 6);
}

static bool is_inside(char c) { /* of a code point */
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Where in the texts the leaf at `at` leads; map->n: out of them. */
static size_t place_at(const heed_charsmap *map, size_t at) {
    return at < map->units ? number_at(map->trie + UNIT * at) & ~(1u << 31) : map->n;
}

/* The text that a leaf names; NULL for one within a character, which no sound map has. */
static const char *text_at(const heed_charsmap *map, size_t at, size_t *length) {
    size_t text = place_at(map, at);
    if (text >= map->n || is_inside(map->texts[text])) {
        return NULL;
    }
    const char *end = memchr(map->texts + text, 0, map->n - text);
    *length = end ? (size_t)(end - map->texts) - text : map->n - text;
    return map->texts + text;
}

/* What the shortest text of the trie that begins s becomes; NULL where there is none. */
static const char *find(const heed_charsmap *map, const char *s, size_t n, size_t *length) {
    if (map->units == 0) {
        return NULL;
    }
    size_t at = offset_of(number_at(map->trie));
    for (size_t i = 0; i < n && s[i] != 0; i++) {
        unsigned char byte = (unsigned char)s[i];
        at ^= byte;
        uint32_t unit = at < map->units ? number_at(map->trie + UNIT * at) : 0;
        if ((unit & (1u << 31 | 0xff)) != byte) {
            return NULL;
        }
        at ^= offset_of(unit);
        if (unit >> 8 & 1) {
            return text_at(map, at, length);
        }
    }
    return NULL;
}

bool heed_charsmap_longest(const heed_charsmap *map, const char *s, size_t n, size_t *length,
                           const char **text, size_t *text_n, heed_error *err) {
    *length = 0;
    size_t at = map->units > 0 ? offset_of(number_at(map->trie)) : 0;
    for (size_t i = 0; i < n; i++) {
        at ^= (unsigned char)s[i];
        uint32_t unit = at < map->units ? number_at(map->trie + UNIT * at) : 1u << 31;
        if ((unit & (1u << 31 | 0xff)) != (unsigned char)s[i]) {
            break;
        }
        at ^= offset_of(unit);
        bool whole = i + 1 == n || !is_inside(s[i + 1]);
        if (unit >> 8 & 1 && whole) {
            *text = text_at(map, at, text_n);
            if (!*text) {
                return heed_fail(err, HEED_FILE,
                                 "charsmap: an entry leads to byte %zu of its %zu of texts",
                                 place_at(map, at), map->n);
            }
            *length = i + 1;
        }
    }
    return true;
}

/* ---- Normalising --------------------------------------------------------------------------- */

/* Changes are counted as that library counts them: what a replacement leaves out is added to the
 * change of the code point written last, whoever wrote it, so one is always held back. */
typedef struct {
    heed_rewrite rewrite;
    bool held;
    char text[4];
    size_t n;
    int64_t change;
} writer;

static bool flush(writer *w) {
    bool held = w->held;
    w->held = false;
    return !held || heed_rewrite_put_bytes(&w->rewrite, w->text, w->n, w->change);
}

static bool put(writer *w, const char *s, size_t n, int64_t change) {
    if (!flush(w)) {
        return false;
    }
    memcpy(w->text, s, n);
    w->held = true;
    w->n = n;
    w->change = change;
    return true;
}

static int64_t count(const char *s, size_t n) {
    int64_t characters = 0;
    for (size_t i = 0; i < n; i++) {
        characters += !is_inside(s[i]);
    }
    return characters;
}

/* `old` code points become the text s: of more than before the last ones are inserted. */
static bool replace(writer *w, int64_t old, const char *s, size_t n) {
    int64_t fresh = count(s, n), written = 0;
    for (size_t at = 0; at < n; written++) {
        uint32_t cp = 0;
        size_t bytes = (size_t)heed_utf8_next(s + at, n - at, &cp);
        if (!put(w, s + at, bytes, written >= old)) {
            return false;
        }
        at += bytes;
    }
    w->change += fresh < old && w->held ? fresh - old : 0;
    return true;
}

/* A cluster, whole where it is short; *at moves behind it. */
static bool write_cluster(const heed_charsmap *map, writer *w, const char *s, size_t n) {
    size_t length = 0;
    const char *text = n < SHORT_CLUSTER ? find(map, s, n, &length) : NULL;
    if (text) {
        return replace(w, count(s, n), text, length);
    }
    for (size_t at = 0; at < n;) {
        uint32_t cp = 0;
        size_t bytes = (size_t)heed_utf8_next(s + at, n - at, &cp);
        text = find(map, s + at, bytes, &length);
        if (text ? !replace(w, 1, text, length) : !put(w, s + at, bytes, 0)) {
            return false;
        }
        at += bytes;
    }
    return true;
}

/* Where the cluster that begins at byte `at` ends. ASCII but CR ends before other ASCII. */
static size_t cluster_end(const heed_strand *s, size_t at) {
    uint32_t cp = 0;
    utf8proc_int32_t state = 0;
    size_t end = at + (size_t)heed_utf8_next(s->text + at, s->n - at, &cp);
    while (end < s->n) {
        uint32_t next = 0;
        if (cp < 0x80 && cp != '\r' && (unsigned char)s->text[end] < 0x80) {
            break;
        }
        size_t n = (size_t)heed_utf8_next(s->text + end, s->n - end, &next);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)cp, (utf8proc_int32_t)next,
                                             &state)) {
            break;
        }
        end += n;
        cp = next;
    }
    return end;
}

/* Whether no character of the text begins an entry: then nothing is rewritten. */
static bool stays(const heed_charsmap *map, const heed_strand *s) {
    size_t length = 0;
    for (size_t at = 0; at < s->n;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(s->text + at, s->n - at, &cp);
        if (find(map, s->text + at, s->n - at, &length)) {
            return false;
        }
        at += n;
    }
    return true;
}

bool heed_charsmap_normalize(const void *settings, heed_work *work) {
    const heed_charsmap *map = settings;
    const heed_strand *s = &work->now;
    if (stays(map, s)) {
        return true;
    }
    writer w = {.rewrite = {.work = work}};
    for (size_t at = 0; at < s->n;) {
        size_t end = cluster_end(s, at);
        if (!write_cluster(map, &w, s->text + at, end - at)) {
            return false;
        }
        at = end;
    }
    if (!flush(&w)) {
        return false;
    }
    heed_work_turn(work);
    return true;
}
