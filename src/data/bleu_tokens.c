/* bleu_tokens.c: the tokenizers that BLEU scores are defined on.
 *
 * Each is a chain of passes over code points that put spaces round characters; words are then what
 * white space separates. A pass takes its matches from left to right without overlap, as a regular
 * expression does: after a match of two characters the next begins behind the second. Sources: NIST
 * mteval-v13a and v14 ("13a", "intl"); Huang 2017 ("zh"), whose ranges are kept as sacreBLEU has
 * them.
 * SPDX-License-Identifier: MIT
 */
#include "data/bleu_tokens.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "data/letters.h"

static const char *const names[] = {"13a", "zh", "char", "intl", "none"};

const char *heed_bleu_tokens_name(heed_bleu_tokens tokens) {
    return names[tokens];
}

bool heed_bleu_tokens_find(const char *name, heed_bleu_tokens *out) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (heed_bleu_tokens)i;
            return true;
        }
    return false;
}

/* ---- Passes ---- */

typedef bool letter_test(uint32_t cp);

/* Text goes from one buffer to the other in each pass. */
typedef struct {
    heed_buf *from, *to;
} passes;

static void turn(passes *p) {
    heed_buf *done = p->to;
    p->to = p->from;
    p->from = done;
    p->to->n = 0;
}

static size_t next(const heed_buf *b, size_t at, uint32_t *cp) {
    size_t step = (size_t)heed_utf8_next(b->data + at, b->n - at, cp);
    return step ? step : 1; /* the text was checked when it came in */
}

/* "c" becomes " c " where the test holds. */
static void part_single(passes *p, letter_test *test) {
    uint32_t cp;
    for (size_t i = 0, step; i < p->from->n; i += step) {
        step = next(p->from, i, &cp);
        bool hit = test(cp);
        if (hit)
            heed_buf_text(p->to, " ");
        heed_buf_add(p->to, p->from->data + i, step);
        if (hit)
            heed_buf_text(p->to, " ");
    }
    turn(p);
}

/* "ab" becomes "a b " (or " a b" where `lead`) where both tests hold. */
static void part_pairs(passes *p, letter_test *first, letter_test *second, bool lead) {
    const heed_buf *in = p->from;
    uint32_t a, b;
    for (size_t i = 0, step; i < in->n; i += step) {
        step = next(in, i, &a);
        size_t more = i + step < in->n ? next(in, i + step, &b) : 0;
        if (!more || !first(a) || !second(b)) {
            heed_buf_add(p->to, in->data + i, step);
            continue;
        }
        if (lead)
            heed_buf_text(p->to, " ");
        heed_buf_add(p->to, in->data + i, step);
        heed_buf_text(p->to, " ");
        heed_buf_add(p->to, in->data + i + step, more);
        if (!lead)
            heed_buf_text(p->to, " ");
        step += more;
    }
    turn(p);
}

static void replace(passes *p, const char *what, const char *with) {
    size_t n = strlen(what);
    for (size_t i = 0; i < p->from->n;) {
        bool hit = p->from->n - i >= n && memcmp(p->from->data + i, what, n) == 0;
        if (hit)
            heed_buf_text(p->to, with);
        else
            heed_buf_add(p->to, p->from->data + i, 1);
        i += hit ? n : 1;
    }
    turn(p);
}

/* ---- Tests ---- */

static bool is_digit(uint32_t c) {
    return c >= '0' && c <= '9';
}
static bool no_digit(uint32_t c) {
    return !is_digit(c);
}
static bool is_stop(uint32_t c) {
    return c == '.' || c == ',';
}
static bool is_dash(uint32_t c) {
    return c == '-';
}
static bool no_number(uint32_t c) {
    return !heed_letter_number(c);
}
static bool always(uint32_t c) {
    return c != ' ';
}

/* ASCII punctuation but for the apostrophe, comma, dash and stop. */
static bool is_mark(uint32_t c) {
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/* The ranges from 2001 and from 2f81 come out of literals that lost a digit ("\u20000"); scores
 * elsewhere have them, so they stay. */
static bool is_chinese(uint32_t c) {
    static const uint32_t range[][2] = {
        {0x2001, 0x2a6d}, {0x2e80, 0x2eff}, {0x2f00, 0x2fdf}, {0x2ff0, 0x2fff}, {0x3000, 0x303f},
        {0x3100, 0x312f}, {0x31a0, 0x31bf}, {0x31c0, 0x31ef}, {0x3200, 0x33ff}, {0x3400, 0x4db5},
        {0x4e00, 0x9fbb}, {0xf900, 0xfa2d}, {0xfa30, 0xfa6a}, {0xfa70, 0xfad9}, {0xfe10, 0xfe1f},
        {0xfe30, 0xfe4f}, {0xff00, 0xffef},
    };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (c >= range[i][0] && c <= range[i][1])
            return true;
    return false;
}

/* ---- The tokenizers ---- */

static void part_western(passes *p) {
    part_single(p, is_mark);
    part_pairs(p, no_digit, is_stop, false);
    part_pairs(p, is_stop, no_digit, true);
    part_pairs(p, is_digit, is_dash, false);
}

static void tokenize_13a(passes *p) {
    replace(p, "<skipped>", "");
    replace(p, "-\n", "");
    replace(p, "\n", " ");
    replace(p, "&quot;", "\"");
    replace(p, "&amp;", "&");
    replace(p, "&lt;", "<");
    replace(p, "&gt;", ">");
    heed_buf_text(p->to, " ");
    heed_buf_add(p->to, p->from->data, p->from->n);
    heed_buf_text(p->to, " ");
    turn(p);
    part_western(p);
}

static void tokenize_intl(passes *p) {
    part_pairs(p, no_number, heed_letter_punctuation, false);
    part_pairs(p, heed_letter_punctuation, no_number, true);
    part_single(p, heed_letter_symbol);
}

static void tokenize(passes *p, heed_bleu_tokens tokens) {
    switch (tokens) {
    case HEED_BLEU_13A:
        tokenize_13a(p);
        break;
    case HEED_BLEU_ZH:
        part_single(p, is_chinese);
        part_western(p);
        break;
    case HEED_BLEU_CHAR:
        part_single(p, always);
        break;
    case HEED_BLEU_INTL:
        tokenize_intl(p);
        break;
    case HEED_BLEU_NONE:
        break;
    }
}

/* White space at the end goes, and for Chinese also at the start; the passes look at neighbours. */
static void strip(heed_buf *b, bool both) {
    size_t start = 0, end = 0;
    bool begun = false;
    uint32_t cp;
    for (size_t i = 0, step; i < b->n; i += step) {
        step = next(b, i, &cp);
        if (heed_letter_gap(cp))
            continue;
        if (!begun && both)
            start = i;
        begun = true;
        end = i + step;
    }
    if (end > start)
        memmove(b->data, b->data + start, end - start);
    b->n = end - start;
}

/* The segment with spaces between its words, in p->from. */
static bool prepare(passes *p, heed_line line, const heed_bleu_opts *o, heed_error *err) {
    if (heed_utf8_check(line.s, line.n) < line.n)
        return heed_fail(err, HEED_TEXT, "a segment is not UTF-8");
    p->from->n = p->to->n = 0;
    bool ok = heed_buf_add(p->to, "", 0) && heed_buf_add(p->from, "", 0);
    ok = ok && (o->lowercase ? heed_lower(line, p->from) : heed_buf_add(p->from, line.s, line.n));
    if (ok) {
        strip(p->from, o->tokens == HEED_BLEU_ZH);
        tokenize(p, o->tokens);
    }
    if (ok && !p->from->failed && !p->to->failed)
        return true;
    return heed_fail(err, HEED_NOMEM, "no memory to cut a segment of %zu bytes into words", line.n);
}

/* ---- Words ---- */

/* The next word at or behind *at; false at the end. */
static bool next_word(const char *s, size_t n, size_t *at, heed_line *word) {
    size_t start = SIZE_MAX, step;
    uint32_t cp;
    for (; *at < n; *at += step) {
        step = (size_t)heed_utf8_next(s + *at, n - *at, &cp);
        step = step ? step : 1;
        bool gap = heed_letter_gap(cp);
        if (gap && start != SIZE_MAX)
            break;
        if (!gap && start == SIZE_MAX)
            start = *at;
    }
    if (start == SIZE_MAX)
        return false;
    *word = (heed_line){s + start, *at - start};
    return true;
}

bool heed_number_words(const char *s, size_t n, heed_map *words, heed_symbols *out,
                       heed_error *err) {
    heed_line word;
    for (size_t at = 0; next_word(s, n, &at, &word);) {
        const heed_map_entry *e =
            heed_map_put(words, word.s, word.n, (int64_t)words->count, NULL, err);
        if (!e || !heed_symbols_add(out, (uint32_t)e->value, err))
            return false;
    }
    return true;
}

bool heed_bleu_words(heed_line line, const heed_bleu_opts *opts, heed_buf scratch[2],
                     heed_map *words, heed_symbols *out, heed_error *err) {
    passes p = {&scratch[0], &scratch[1]};
    return prepare(&p, line, opts, err) &&
           heed_number_words(p.from->data, p.from->n, words, out, err);
}

bool heed_bleu_tokenize(heed_line line, const heed_bleu_opts *opts, heed_buf *out,
                        heed_error *err) {
    heed_buf scratch[2] = {{.host = out->host}, {.host = out->host}};
    passes p = {&scratch[0], &scratch[1]};
    bool ok = prepare(&p, line, opts, err);
    heed_line word;
    bool first = true;
    for (size_t at = 0; ok && next_word(p.from->data, p.from->n, &at, &word); first = false) {
        if (!first)
            heed_buf_text(out, " ");
        heed_buf_add(out, word.s, word.n);
    }
    if (ok && out->failed)
        ok = heed_fail(err, HEED_NOMEM, "no memory for the words of a segment");
    heed_buf_free(&scratch[0]);
    heed_buf_free(&scratch[1]);
    return ok;
}
