/* spm_normalize.c: what SentencePiece makes of a text before it cuts, and of pieces at the end.
 *
 * Normalizing goes prefix by prefix: a user-defined piece as it is, else the longest rule of the
 * charsmap, else one code point. A byte's origin reaches from the place of its prefix to that of
 * the next one written, so that the places of pieces leave no hole.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/spm.h"

static const char REPLACEMENT[] = "\xef\xbf\xbd"; /* U+FFFD */

/* ---- Normalizing --------------------------------------------------------------------------- */

typedef struct {
    const heed_spm *spm;
    heed_work *work;
    size_t at;    /* what of work->now is done */
    uint32_t end; /* where in the caller's text the last origin will end */
} pass;

static uint32_t place_of(const heed_work *work, size_t at) {
    size_t n = work->now.n;
    return at < n ? heed_work_origin(work, at).begin : heed_work_origin(work, n - 1).end;
}

/* What the text from `at` on begins with: how much of it, and what it becomes. */
static bool take_prefix(const pass *p, size_t *length, const char **text, size_t *n) {
    const char *s = p->work->now.text + p->at;
    size_t left = p->work->now.n - p->at;
    uint32_t cp = 0;
    *length = heed_spm_symbol(p->spm, s, left);
    if (*length == 0) {
        if (!heed_charsmap_longest(&p->spm->map, s, left, length, text, n, p->work->err)) {
            return false;
        }
        if (*length > 0) {
            return true;
        }
        *length = (size_t)heed_utf8_next(s, left, &cp);
    }
    *text = s;
    *n = *length;
    return true;
}

static bool put(pass *p, const char *s, size_t n) {
    uint32_t at = place_of(p->work, p->at);
    return heed_strand_put(p->work, &p->work->next, s, n, (heed_origin){at, at});
}

static bool put_space(pass *p) {
    return p->spm->escape ? put(p, HEED_SPM_MARK, HEED_SPM_MARK_BYTES) : put(p, " ", 1);
}

static bool put_text(pass *p, const char *s, size_t n) {
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != ' ') {
            continue;
        }
        if (!put(p, s + done, i - done) || !put_space(p)) {
            return false;
        }
        done = i + 1;
    }
    return put(p, s + done, n - done);
}

static bool skip_spaces(pass *p) {
    while (p->at < p->work->now.n) {
        size_t length = 0, n = 0;
        const char *text = NULL;
        if (!take_prefix(p, &length, &text, &n)) {
            return false;
        }
        if (n != 1 || text[0] != ' ') {
            return true;
        }
        p->at += length;
    }
    return true;
}

static bool put_all(pass *p) {
    bool tidy = p->spm->tidy, space = tidy; /* whether what was put last is a space */
    while (p->at < p->work->now.n) {
        size_t length = 0, n = 0;
        const char *text = NULL;
        if (!take_prefix(p, &length, &text, &n)) {
            return false;
        }
        while (space && n > 0 && text[0] == ' ') {
            text++;
            n--;
        }
        if (n > 0) {
            if (!put_text(p, text, n)) {
                return false;
            }
            space = tidy && text[n - 1] == ' ';
        }
        p->at += length;
    }
    p->end = place_of(p->work, p->at);
    return true;
}

static void drop_spaces(pass *p) {
    heed_strand *out = &p->work->next;
    const char *space = p->spm->escape ? HEED_SPM_MARK : " ";
    size_t n = strlen(space);
    while (out->n >= n && memcmp(out->text + out->n - n, space, n) == 0) {
        out->n -= n;
        p->end = out->from[out->n].begin;
    }
}

/* Each code point's origin ends where that of the next begins. */
static void close_origins(pass *p) {
    heed_strand *out = &p->work->next;
    uint32_t end = p->end, begin = p->end;
    for (size_t i = out->n; i-- > 0;) {
        begin = out->from[i].begin;
        out->from[i].end = end;
        bool first = ((unsigned char)out->text[i] & 0xc0) != 0x80;
        end = first ? begin : end;
    }
}

/* A space behind all; its place is where the text ends that is left. */
static bool put_suffix(pass *p) {
    heed_strand *out = &p->work->next;
    size_t plain = out->n;
    if (!put_space(p)) {
        return false;
    }
    for (size_t i = plain; i < out->n; i++) {
        out->from[i] = (heed_origin){p->end, p->end};
    }
    return true;
}

/* What is left of the text, with the dummy space before or behind it. */
static bool put_rest(pass *p) {
    const heed_spm *spm = p->spm;
    bool dummy = spm->dummy_prefix && (!spm->first_only || place_of(p->work, 0) == 0);
    if ((dummy && !spm->suffix && !put_space(p)) || !put_all(p)) {
        return false;
    }
    if (spm->tidy) {
        drop_spaces(p);
    }
    return !dummy || !spm->suffix || put_suffix(p);
}

static bool normalize(const void *settings, heed_work *work) {
    pass p = {settings, work, 0, 0};
    if (work->now.n == 0) {
        return true;
    }
    if ((p.spm->tidy && !skip_spaces(&p)) || (p.at < work->now.n && !put_rest(&p))) {
        return false;
    }
    close_origins(&p);
    heed_work_turn(work);
    return true;
}

const heed_part_kind heed_spm_normalizer = {"SentencePiece", 0, NULL, normalize};

/* ---- Decoding ------------------------------------------------------------------------------ */

typedef struct {
    const heed_spm *spm;
    heed_work *work;
    heed_buf bytes; /* of byte pieces side by side */
    bool at_start;  /* a mark in front is still the dummy prefix's */
    bool ate;       /* the piece before was one, and it was taken away */
} join;

static void add(join *j, const char *s, size_t n) {
    heed_buf_add(&j->work->texts_next.data, s, n);
}

static void end_bytes(join *j) {
    for (size_t i = 0; i < j->bytes.n;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(j->bytes.data + i, j->bytes.n - i, &cp);
        add(j, n > 0 ? j->bytes.data + i : REPLACEMENT, n > 0 ? n : 3);
        i += n > 0 ? n : 1;
    }
    j->bytes.n = 0;
}

static void add_spaced(join *j, const char *s, size_t n) {
    size_t done = 0;
    for (size_t i = 0; i + HEED_SPM_MARK_BYTES <= n; i++) {
        if (memcmp(s + i, HEED_SPM_MARK, HEED_SPM_MARK_BYTES) != 0) {
            continue;
        }
        add(j, s + done, i - done);
        add(j, " ", 1);
        i += HEED_SPM_MARK_BYTES - 1;
        done = i + 1;
    }
    add(j, s + done, n - done);
}

static void add_piece(join *j, heed_spm_type type, const char *s, size_t n) {
    const heed_spm *spm = j->spm;
    j->at_start = j->at_start && !j->ate && j->work->texts_next.data.n == 0;
    j->ate = false;
    if (type == HEED_SPM_UNKNOWN) {
        add(j, spm->unk_surface, spm->unk_surface_n);
        return;
    }
    bool mark = n >= HEED_SPM_MARK_BYTES && memcmp(s, HEED_SPM_MARK, HEED_SPM_MARK_BYTES) == 0;
    if (mark && j->at_start && (spm->dummy_prefix || spm->tidy)) {
        s += HEED_SPM_MARK_BYTES;
        n -= HEED_SPM_MARK_BYTES;
        j->ate = !spm->tidy; /* where runs of spaces mean nothing, all of them go */
    }
    add_spaced(j, s, n);
}

static heed_spm_type type_of(const heed_spm *spm, const char *s, size_t n) {
    int32_t id = heed_vocab_map_find(&spm->tokenizer->ids, s, n);
    return id >= 0 && (size_t)id < spm->n_types ? spm->type_of[id] : HEED_SPM_NONE;
}

static void add_token(join *j, const char *s, size_t n) {
    heed_spm_type type = type_of(j->spm, s, n);
    if (type == HEED_SPM_BYTE) {
        char byte = (char)heed_spm_byte(s, n);
        heed_buf_add(&j->bytes, &byte, 1);
        return;
    }
    end_bytes(j);
    add_piece(j, type, s, n);
}

/* The rules of the denormalizer over the whole text. */
static bool denormalize(const heed_spm *spm, heed_work *work) {
    size_t all = work->texts.data.n;
    for (size_t at = 0; at < all;) {
        const char *s = work->texts.data.data + at, *text = s;
        size_t length = 0, n = 0;
        uint32_t cp = 0;
        if (!heed_charsmap_longest(&spm->unmap, s, all - at, &length, &text, &n, work->err)) {
            return false;
        }
        n = length > 0 ? n : (size_t)heed_utf8_next(s, all - at, &cp);
        heed_buf_add(&work->texts_next.data, text, n);
        at += length > 0 ? length : n;
        if (!heed_work_fits(work, work->texts_next.data.n)) {
            return false;
        }
    }
    if (!heed_texts_end(work, &work->texts_next)) {
        return false;
    }
    heed_texts_turn(work);
    return true;
}

static bool decode(const void *settings, heed_work *work) {
    join j = {settings, work, {.host = work->host}, true, false};
    for (size_t i = 0; i < work->texts.n; i++) {
        size_t n = 0;
        const char *s = heed_texts_at(&work->texts, i, &n);
        add_token(&j, s, n);
    }
    end_bytes(&j);
    bool ok = !j.bytes.failed || heed_work_full(work);
    heed_buf_free(&j.bytes);
    if (!ok || !heed_texts_end(work, &work->texts_next)) {
        return false;
    }
    heed_texts_turn(work);
    return j.spm->unmap.units == 0 || denormalize(j.spm, work);
}

const heed_part_kind heed_spm_decoder = {"SentencePiece", 0, NULL, decode};
