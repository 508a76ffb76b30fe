/* bert.c: BERT's normaliser: control characters out, spaces round Chinese characters, accents off,
 * lower case.
 *
 * ASCII goes through in one pass; other text step by step, as the `tokenizers` library does it,
 * since a step decides which origins the next one sees.
 * Source: Devlin et al. 2019, "BERT", code; which code points count is that library's.
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "text/normal_form.h"
#include "text/normalizers.h"
#include "text/rewrite.h"
#include "text/unicode.h"

bool heed_bert_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    (void)t;
    heed_bert *b = settings;
    if (!heed_json_bool(json, "clean_text", &b->clean, err) ||
        !heed_json_bool(json, "handle_chinese_chars", &b->spaced_han, err) ||
        !heed_json_bool(json, "lowercase", &b->lower, err)) {
        return false;
    }
    b->strip_accents = b->lower; /* where it is null */
    return heed_json_opt_bool(json, "strip_accents", &b->strip_accents, err);
}

/* ---- Lower case ---------------------------------------------------------------------------- */

static bool is_ascii(const heed_strand *s) {
    for (size_t i = 0; i < s->n; i++) {
        if ((unsigned char)s->text[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

static void lower_ascii(heed_strand *s) {
    for (size_t i = 0; i < s->n; i++) {
        char c = s->text[i];
        s->text[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
}

static bool lower_any(heed_work *work) {
    const heed_strand *s = &work->now;
    heed_rewrite r = {.work = work};
    while (r.at < s->n) {
        uint32_t cp = 0, lower[2];
        heed_utf8_next(s->text + r.at, s->n - r.at, &cp);
        int count = heed_lower_letter(cp, lower);
        for (int i = 0; i < count; i++) {
            if (!heed_rewrite_put(&r, lower[i], i > 0)) {
                return false;
            }
        }
    }
    heed_work_turn(work);
    return true;
}

bool heed_lowercase(const void *settings, heed_work *work) {
    (void)settings;
    if (!is_ascii(&work->now)) {
        return lower_any(work);
    }
    if (!heed_work_own(work)) {
        return false;
    }
    lower_ascii(&work->now);
    return true;
}

/* ---- The other steps ----------------------------------------------------------------------- */

static bool is_dirt(uint32_t cp) {
    return cp == 0 || cp == 0xfffd || heed_is_other(cp);
}

static uint32_t plain_space(uint32_t cp) {
    return heed_is_space(cp) ? ' ' : cp;
}

/* Every kind of space as U+0020; of several bytes it is rewritten, of one in place. */
static bool plain_spaces(heed_work *work) {
    if (!heed_work_own(work)) {
        return false;
    }
    heed_strand *s = &work->now;
    bool wide = false;
    for (size_t at = 0; at < s->n;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(s->text + at, s->n - at, &cp);
        if (heed_is_space(cp)) {
            s->text[at] = n == 1 ? ' ' : s->text[at];
            wide = wide || n > 1;
        }
        at += n;
    }
    return !wide || heed_rewrite_each(work, plain_space);
}

static bool is_han(uint32_t cp) {
    return (cp >= 0x4e00 && cp <= 0x9fff) || (cp >= 0x3400 && cp <= 0x4dbf) ||
           (cp >= 0x20000 && cp <= 0x2a6df) || (cp >= 0x2a700 && cp <= 0x2b73f) ||
           (cp >= 0x2b740 && cp <= 0x2b81f) || (cp >= 0x2b920 && cp <= 0x2ceaf) ||
           (cp >= 0xf900 && cp <= 0xfaff) || (cp >= 0x2f800 && cp <= 0x2fa1f);
}

static bool space_han(heed_work *work) {
    const heed_strand *s = &work->now;
    heed_rewrite r = {.work = work};
    while (r.at < s->n) {
        uint32_t cp = 0;
        heed_utf8_next(s->text + r.at, s->n - r.at, &cp);
        bool ok = is_han(cp) ? heed_rewrite_put(&r, ' ', 0) && heed_rewrite_put(&r, cp, 1) &&
                                   heed_rewrite_put(&r, ' ', 1)
                             : heed_rewrite_put(&r, cp, 0);
        if (!ok) {
            return false;
        }
    }
    heed_work_turn(work);
    return true;
}

static bool strip_accents(heed_work *work) {
    static const heed_normal_form nfd = {.compatible = false, .compose = false};
    return heed_normal_form_apply(&nfd, work) && heed_rewrite_filter(work, heed_is_nonspacing_mark);
}

bool heed_bert_normalize(const void *settings, heed_work *work) {
    const heed_bert *b = settings;
    if (b->clean && !(heed_rewrite_filter(work, is_dirt) && plain_spaces(work))) {
        return false;
    }
    if (is_ascii(&work->now)) {
        return !b->lower || heed_lowercase(NULL, work);
    }
    return (!b->spaced_han || space_han(work)) && (!b->strip_accents || strip_accents(work)) &&
           (!b->lower || lower_any(work));
}
