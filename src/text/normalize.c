/* normalize.c: the normalizers: work->now rewritten, code point by code point, with its origins.
 * SPDX-License-Identifier: MIT
 */

#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/normal_form.h"
#include "text/normalizers.h"
#include "text/pattern.h"
#include "text/rewrite.h"
#include "text/unicode.h"

static bool apply_form(const void *settings, heed_work *work) {
    return heed_normal_form_apply(settings, work);
}

static bool read_nfc(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    (void)t, (void)json, (void)err;
    ((heed_normal_form *)settings)->compose = true;
    return true;
}

static bool read_nfkd(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    (void)t, (void)json, (void)err;
    ((heed_normal_form *)settings)->compatible = true;
    return true;
}

static bool read_nfkc(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    return read_nfc(t, json, settings, err) && read_nfkd(t, json, settings, err);
}

/* The origin of what stands in place of a match: that of its last byte. */
static heed_origin origin_of(const heed_work *work, heed_cut cut) {
    return cut.to > 0 ? heed_work_origin(work, cut.to - 1) : (heed_origin){work->base, work->base};
}

static bool apply_replace(const void *settings, heed_work *work) {
    const heed_replace *r = settings;
    const heed_strand *s = &work->now;
    work->cuts.n = 0;
    if (s->n == 0 || !heed_pattern_cut(r->pattern, work, s->text, s->n, &work->cuts)) {
        return s->n == 0;
    }
    for (size_t i = 0; i < work->cuts.n; i++) {
        heed_cut cut = work->cuts.item[i];
        bool ok = cut.match
                      ? heed_strand_put(work, &work->next, r->content, r->n, origin_of(work, cut))
                      : heed_strand_copy(work, &work->next, s, cut.from, cut.to);
        if (!ok) {
            return false;
        }
    }
    heed_work_turn(work);
    return true;
}

typedef struct {
    bool left, right;
} strip;

static bool read_strip(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    (void)t;
    strip *s = settings;
    return heed_json_bool(json, "strip_left", &s->left, err) &&
           heed_json_bool(json, "strip_right", &s->right, err);
}

/* Where the white space ends that begins the text; n where there is nothing else. */
static size_t skip_space(const heed_strand *s) {
    size_t at = 0;
    while (at < s->n) {
        uint32_t cp = 0;
        int n = heed_utf8_next(s->text + at, s->n - at, &cp);
        if (!heed_is_space(cp)) {
            break;
        }
        at += (size_t)n;
    }
    return at;
}

/* Where the white space begins that ends the text, not before `low`. */
static size_t skip_space_back(const heed_strand *s, size_t low) {
    size_t end = s->n;
    while (end > low) {
        size_t at = end - 1;
        while (at > low && ((unsigned char)s->text[at] & 0xc0) == 0x80) {
            at--;
        }
        uint32_t cp = 0;
        heed_utf8_next(s->text + at, end - at, &cp);
        if (!heed_is_space(cp)) {
            break;
        }
        end = at;
    }
    return end;
}

static bool apply_strip(const void *settings, heed_work *work) {
    const strip *set = settings;
    size_t from = set->left ? skip_space(&work->now) : 0;
    size_t to = set->right ? skip_space_back(&work->now, from) : work->now.n;
    if (from == 0 && to == work->now.n) {
        return true;
    }
    if (!heed_strand_copy(work, &work->next, &work->now, from, to)) {
        return false;
    }
    heed_work_turn(work);
    return true;
}

typedef struct {
    const char *text;
    size_t n;
} prepend;

static bool read_prepend(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    prepend *p = settings;
    const char *text = heed_json_string(json, "prepend", &p->n, err);
    p->text = text ? heed_region_text(&t->region, text, p->n, err) : NULL;
    return p->text != NULL;
}

static bool apply_prepend(const void *settings, heed_work *work) {
    const prepend *p = settings;
    const heed_strand *s = &work->now;
    if (s->n == 0) {
        return true;
    }
    if (!heed_strand_put(work, &work->next, p->text, p->n, heed_work_origin(work, 0)) ||
        !heed_strand_copy(work, &work->next, s, 0, s->n)) {
        return false;
    }
    heed_work_turn(work);
    return true;
}

/* Marks of letters, where a normal form has taken them apart before. */
static bool apply_strip_accents(const void *settings, heed_work *work) {
    (void)settings;
    return heed_rewrite_filter(work, heed_is_mark);
}

static bool is_nmt_dirt(uint32_t cp) {
    return (cp >= 0x1 && cp <= 0x8) || cp == 0xb || (cp >= 0xe && cp <= 0x1f) || cp == 0x7f ||
           cp == 0x8f || cp == 0x9f;
}

static uint32_t nmt_space(uint32_t cp) {
    bool space = cp == 0x9 || cp == 0xa || cp == 0xc || cp == 0xd || cp == 0x1680 ||
                 (cp >= 0x200b && cp <= 0x200f) || cp == 0x2028 || cp == 0x2029 || cp == 0x2581 ||
                 cp == 0xfeff || cp == 0xfffd;
    return space ? ' ' : cp;
}

/* What Google's translation data was cleaned by: fewer control characters, more spaces. */
static bool apply_nmt(const void *settings, heed_work *work) {
    (void)settings;
    return heed_rewrite_filter(work, is_nmt_dirt) && heed_rewrite_each(work, nmt_space);
}

static const heed_part_kind kinds[] = {
    {"NFC", sizeof(heed_normal_form), read_nfc, apply_form},
    {"NFD", sizeof(heed_normal_form), NULL, apply_form},
    {"NFKC", sizeof(heed_normal_form), read_nfkc, apply_form},
    {"NFKD", sizeof(heed_normal_form), read_nfkd, apply_form},
    {"Lowercase", 0, NULL, heed_lowercase},
    {"Replace", sizeof(heed_replace), heed_replace_read, apply_replace},
    {"Strip", sizeof(strip), read_strip, apply_strip},
    {"Prepend", sizeof(prepend), read_prepend, apply_prepend},
    {"StripAccents", 0, NULL, apply_strip_accents},
    {"Nmt", 0, NULL, apply_nmt},
    {"ByteLevel", 0, heed_byte_level_mark, heed_byte_level_letters},
    {"BertNormalizer", sizeof(heed_bert), heed_bert_read, heed_bert_normalize},
    {"Precompiled", sizeof(heed_charsmap), heed_charsmap_read, heed_charsmap_normalize},
};
const heed_part_table heed_normalizers = {"normalizer", "normalizers", kinds,
                                          sizeof kinds / sizeof kinds[0]};
