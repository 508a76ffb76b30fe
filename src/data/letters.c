/* letters.c: code point classes and lower case, from utf8proc's tables.
 *
 * Source: The Unicode Standard, 3.13 (Final_Sigma: cased letter before, none after, case-ignorable
 * characters skipped on both sides).
 * SPDX-License-Identifier: MIT
 */
#include "data/letters.h"

#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/unicode.h"

bool heed_letter_gap(uint32_t cp) {
    return (cp >= 0x1c && cp <= 0x1f) || heed_is_space(cp);
}

static char category(uint32_t cp) {
    return utf8proc_category_string((utf8proc_int32_t)cp)[0];
}

bool heed_letter_punctuation(uint32_t cp) {
    return category(cp) == 'P';
}

bool heed_letter_symbol(uint32_t cp) {
    return category(cp) == 'S';
}

bool heed_letter_number(uint32_t cp) {
    return category(cp) == 'N';
}

/* ---- Lower case ---- */

static const uint32_t CAPITAL_I_DOT = 0x130, CAPITAL_SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2;

static uint32_t lower(uint32_t cp) {
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
}

static bool is_cased(uint32_t cp) {
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
        return true;
    case UTF8PROC_CATEGORY_LO:
        return cp == 0xaa || cp == 0xba;
    default:
        return lower(cp) != cp || (uint32_t)utf8proc_toupper((utf8proc_int32_t)cp) != cp;
    }
}

/* Marks, format characters, modifiers, and punctuation that stands inside words. */
static bool is_ignorable(uint32_t cp) {
    static const uint32_t inside[] = {0x27,   0x2e,   0x3a,   0xb7,   0x387,  0x55f,
                                      0x5f4,  0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
                                      0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (inside[i] == cp)
            return true;
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return true;
    default:
        return false;
    }
}

static bool cased_after(const char *s, size_t n) {
    uint32_t cp;
    for (size_t i = 0, step; i < n && (step = (size_t)heed_utf8_next(s + i, n - i, &cp)); i += step)
        if (!is_ignorable(cp))
            return is_cased(cp);
    return false;
}

bool heed_lower(heed_line text, heed_buf *out) {
    bool cased_before = false; /* the last character that is not ignorable is cased */
    uint32_t cp;
    for (size_t i = 0, step; i < text.n; i += step) {
        step = (size_t)heed_utf8_next(text.s + i, text.n - i, &cp);
        if (!step)
            return false;
        char bytes[4];
        uint32_t small = cp == CAPITAL_I_DOT ? 'i' : lower(cp);
        if (cp == CAPITAL_SIGMA && cased_before &&
            !cased_after(text.s + i + step, text.n - i - step))
            small = FINAL_SIGMA;
        heed_buf_add(out, bytes, (size_t)heed_utf8_put(small, bytes));
        if (cp == CAPITAL_I_DOT)
            heed_buf_text(out, "\xcc\x87"); /* its dot, U+0307 */
        if (!is_ignorable(cp))
            cased_before = is_cased(cp);
    }
    return !out->failed;
}
