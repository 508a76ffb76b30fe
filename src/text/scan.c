/* scan.c: words of GPT-2, of Llama 3 (and cl100k), and of Qwen 2, without a regex engine.
 *
 * Each function tries the alternatives of its expression in their order; what would be tried and
 * given up is decided by looking at one character more. Letters and numbers are those that the
 * `tokenizers` library's engine has (unicode_letters.c).
 * SPDX-License-Identifier: MIT
 */
#include "text/scan.h"

#include <string.h>

#include "base/utf8.h"
#include "text/unicode.h"
#include "text/unicode_tables.h"

typedef enum { OTHER, LETTER, NUMBER, SPACE, END } class;

/* ---- Characters ---------------------------------------------------------------------------- */

static class ascii_class(unsigned char c) {
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') {
        return LETTER;
    }
    if (c >= '0' && c <= '9') {
        return NUMBER;
    }
    return c == ' ' || (c >= 0x9 && c <= 0xd) ? SPACE : OTHER;
}

/* Ideographs, kana and Hangul syllables are told without a search. */
static class wide_class(uint32_t cp) {
    if ((cp >= 0x4e00 && cp <= 0x9fff) || (cp >= 0xac00 && cp <= 0xd7a3) ||
        (cp >= 0x3041 && cp <= 0x3096)) {
        return LETTER;
    }
    if (heed_is_space(cp)) {
        return SPACE;
    }
    if (heed_in_ranges(heed_letter_ranges, heed_letter_ranges_n, cp)) {
        return LETTER;
    }
    return heed_in_ranges(heed_number_ranges, heed_number_ranges_n, cp) ? NUMBER : OTHER;
}

/* The class of the character at `at`, and where the next one begins. */
static class look(const char *s, size_t n, size_t at, size_t *next) {
    if (at >= n) {
        *next = at;
        return END;
    }
    unsigned char c = (unsigned char)s[at];
    if (c < 0x80) {
        *next = at + 1;
        return ascii_class(c);
    }
    uint32_t cp = 0;
    *next = at + (size_t)heed_utf8_next(s + at, n - at, &cp);
    return wide_class(cp);
}

/* Behind the run of one class that begins at `at`, of at most `most` characters. */
static size_t run_of(const char *s, size_t n, size_t at, class of, size_t most) {
    size_t next = at;
    for (size_t k = 0; k < most && look(s, n, at, &next) == of; k++) {
        at = next;
    }
    return at;
}

/* ---- What the expressions share ------------------------------------------------------------ */

/* Letters of a contraction behind its apostrophe, of which `fold` takes any case: also U+017F, the
 * long s. 0 where there is none. */
static size_t contraction(const char *s, size_t n, bool fold) {
    static const char two[][2] = {{'r', 'e'}, {'v', 'e'}, {'l', 'l'}};
    char low = fold ? 0x20 : 0;
    if (n > 0 && memchr("stmd", s[0] | low, 4)) {
        return 1;
    }
    if (fold && n > 1 && memcmp(s, "\xc5\xbf", 2) == 0) {
        return 2;
    }
    for (size_t i = 0; i < 3 && n > 1; i++) {
        if ((s[0] | low) == two[i][0] && (s[1] | low) == two[i][1]) {
            return 2;
        }
    }
    return 0;
}

/* \s+(?!\S)|\s+ : white space, but for its last character where something stands behind it. */
static size_t spaces(const char *s, size_t n, size_t at) {
    size_t end = at, last = at, next = at;
    while (look(s, n, end, &next) == SPACE) {
        last = end;
        end = next;
    }
    return end < n && last > at ? last : end;
}

/* ---- GPT-2 --------------------------------------------------------------------------------- */

static size_t scan_gpt2(const char *s, size_t n, size_t at) {
    size_t short_form = s[at] == '\'' ? contraction(s + at + 1, n - at - 1, false) : 0;
    if (short_form) {
        return at + 1 + short_form;
    }
    size_t word = at + (s[at] == ' '), next = 0;
    class here = look(s, n, word, &next);
    return here == SPACE || here == END ? spaces(s, n, at) : run_of(s, n, next, here, SIZE_MAX);
}

/* ---- Llama 3 and Qwen 2 -------------------------------------------------------------------- */

static bool is_line_end(char c) {
    return c == '\r' || c == '\n';
}

/* \s*[\r\n]+ : white space up to its last line end; `at` where it has none. */
static size_t to_line_end(const char *s, size_t n, size_t at) {
    size_t end = at, next = at;
    for (size_t i = at; look(s, n, i, &next) == SPACE; i = next) {
        end = is_line_end(s[i]) ? next : end;
    }
    return end;
}

/* ' ?[^\s\p{L}\p{N}]+[\r\n]*' from the first sign on. */
static size_t signs(const char *s, size_t n, size_t at) {
    at = run_of(s, n, at, OTHER, SIZE_MAX);
    while (at < n && is_line_end(s[at])) {
        at++;
    }
    return at;
}

static size_t scan_cl100k(const char *s, size_t n, size_t at, size_t digits) {
    size_t short_form = s[at] == '\'' ? contraction(s + at + 1, n - at - 1, true) : 0;
    if (short_form) {
        return at + 1 + short_form;
    }
    size_t second = 0, third = 0;
    class here = look(s, n, at, &second);
    class behind = look(s, n, second, &third);
    if (here == LETTER || (behind == LETTER && here != NUMBER && !is_line_end(s[at]))) {
        return run_of(s, n, second, LETTER, SIZE_MAX);
    }
    if (here == NUMBER) {
        return run_of(s, n, at, NUMBER, digits);
    }
    if (here == OTHER || (s[at] == ' ' && behind == OTHER)) {
        return signs(s, n, here == OTHER ? at : second);
    }
    size_t line = to_line_end(s, n, at);
    return line > at ? line : spaces(s, n, at);
}

static size_t scan_llama3(const char *s, size_t n, size_t at) {
    return scan_cl100k(s, n, at, 3);
}

static size_t scan_qwen2(const char *s, size_t n, size_t at) {
    return scan_cl100k(s, n, at, 1);
}

/* ---- The list ------------------------------------------------------------------------------ */

heed_scanner *heed_scanner_for(const char *regex, size_t n) {
    static const struct {
        const char *regex;
        heed_scanner *scan;
    } known[] = {{HEED_REGEX_GPT2, scan_gpt2},
                 {HEED_REGEX_LLAMA3, scan_llama3},
                 {HEED_REGEX_QWEN2, scan_qwen2}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].regex) == n && memcmp(known[i].regex, regex, n) == 0) {
            return known[i].scan;
        }
    }
    return NULL;
}
