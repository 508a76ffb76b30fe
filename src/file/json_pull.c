/* json_pull.c: strings, numbers and brackets of JSON, one after the other (RFC 8259).
 * SPDX-License-Identifier: MIT
 */
#include "file/json_pull.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/json_bytes.h"

void heed_pull_free(heed_pull *p) {
    heed_buf_free(&p->scratch);
}

size_t heed_pull_quotes(const heed_pull *p) {
    size_t quotes = 0;
    for (size_t i = 0; i < p->text.n; i++) {
        quotes += p->text.s[i] == '"';
    }
    return quotes;
}

/* Refuses, and says in which line of the span. */
static bool fail(heed_pull *p, const char *why) {
    size_t line = 1;
    for (size_t i = 0; i < p->at && i < p->text.n; i++) {
        line += p->text.s[i] == '\n';
    }
    return heed_fail(p->err, HEED_FILE, "line %zu of it: %s", line, why);
}

/* The next byte that is no white space, not passed; -1 at the end. */
static int peek(heed_pull *p) {
    while (p->at < p->text.n) {
        unsigned char c = (unsigned char)p->text.s[p->at];
        if (c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) {
            return c;
        }
        p->at++;
    }
    return -1;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

/* Whether the number that begins here has a fraction or an exponent. */
static bool is_real(const heed_pull *p) {
    size_t at = p->at + 1;
    while (at < p->text.n && is_digit(p->text.s[at])) {
        at++;
    }
    return at < p->text.n && (p->text.s[at] == '.' || p->text.s[at] == 'e' || p->text.s[at] == 'E');
}

const char *heed_pull_kind(heed_pull *p) {
    int c = peek(p);
    switch (c) {
    case -1:
        return "nothing";
    case '{':
        return "an object";
    case '[':
        return "an array";
    case '"':
        return "a string";
    case 't':
    case 'f':
        return "a boolean";
    case 'n':
        return "null";
    default:
        return c != '-' && !is_digit(c) ? "no JSON" : is_real(p) ? "a real number" : "an integer";
    }
}

bool heed_pull_open(heed_pull *p, char bracket) {
    if (peek(p) != bracket) {
        return fail(p, bracket == '{' ? "wanted {" : "wanted [");
    }
    p->at++;
    return true;
}

bool heed_pull_more(heed_pull *p, char bracket, bool first, bool *more) {
    int c = peek(p);
    if (c == (bracket == '{' ? '}' : ']')) {
        p->at++;
        *more = false;
        return true;
    }
    *more = true;
    if (first) {
        return true;
    }
    p->at += c == ',';
    return c == ',' || fail(p, "wanted a comma or a closing bracket");
}

bool heed_pull_end(heed_pull *p) {
    return peek(p) < 0 || fail(p, "something stands behind it");
}

/* ---- Strings ------------------------------------------------------------------------------- */

static int hex_value(int c) {
    return is_digit(c)                              ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* Four hexadecimal digits; -1 where they are not there. */
static int32_t read_hex(heed_pull *p) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        int digit = p->at < p->text.n ? hex_value((unsigned char)p->text.s[p->at]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static bool read_unicode(heed_pull *p) {
    int32_t cp = read_hex(p);
    if (cp >= 0xd800 && cp < 0xdc00 && p->text.n - p->at > 1 &&
        memcmp(p->text.s + p->at, "\\u", 2) == 0) {
        p->at += 2;
        int32_t low = read_hex(p);
        cp = low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00) : -1;
    }
    if (cp < 0 || (cp >= 0xd800 && cp <= 0xdfff)) {
        return fail(p, "\\u without four digits, or half a surrogate pair");
    }
    char utf8[4];
    heed_buf_add(&p->scratch, utf8, (size_t)heed_utf8_put((uint32_t)cp, utf8));
    return true;
}

static bool read_escape(heed_pull *p) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = p->at < p->text.n ? p->text.s[p->at++] : 0;
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        heed_buf_add(&p->scratch, &to[found - from], 1);
        return true;
    }
    return c == 'u' ? read_unicode(p) : fail(p, "an escape that JSON does not have");
}

/* Behind the characters that stand for themselves; whether any of their bytes is not ASCII. */
static bool pass_plain(heed_pull *p) {
    const unsigned char *s = (const unsigned char *)p->text.s;
    uint64_t high = 0;
    while (p->text.n - p->at >= 8) {
        uint64_t eight = heed_little(s + p->at, 8), ends = heed_string_ends(eight);
        if (ends) {
            p->at += heed_first_mark(ends);
            high |= eight & ((ends & -ends) - 1);
            return (high & HEED_TOPS) != 0;
        }
        high |= eight;
        p->at += 8;
    }
    while (p->at < p->text.n && s[p->at] != '"' && s[p->at] != '\\' && s[p->at] >= 0x20) {
        high |= s[p->at++];
    }
    return (high & HEED_TOPS) != 0;
}

/* The rest of a string that has escapes; p->at is at the first. */
static bool read_escaped(heed_pull *p, size_t begin, heed_line *out) {
    p->scratch.n = 0;
    for (;;) {
        heed_buf_add(&p->scratch, p->text.s + begin, p->at - begin);
        if (p->at >= p->text.n || (unsigned char)p->text.s[p->at] < 0x20) {
            return fail(p, "a string without an end, or a control character in it");
        }
        if (p->text.s[p->at++] == '"') {
            break;
        }
        if (!read_escape(p)) {
            return false;
        }
        begin = p->at;
        pass_plain(p);
    }
    *out = (heed_line){p->scratch.data, p->scratch.n};
    return !p->scratch.failed ||
           heed_fail(p->err, HEED_NOMEM, "out of memory: a string of JSON grew too long");
}

bool heed_pull_string(heed_pull *p, heed_line *out) {
    if (peek(p) != '"') {
        return fail(p, "wanted a string");
    }
    size_t begin = ++p->at;
    bool high = pass_plain(p);
    if (p->at < p->text.n && p->text.s[p->at] == '"') {
        *out = (heed_line){p->text.s + begin, p->at++ - begin};
    } else if (!read_escaped(p, begin, out)) {
        return false;
    } else {
        high = true;
    }
    return !high || heed_utf8_check(out->s, out->n) == out->n ||
           fail(p, "a string that is not UTF-8");
}

bool heed_pull_key(heed_pull *p, heed_line *out) {
    if (!heed_pull_string(p, out)) {
        return false;
    }
    if (peek(p) != ':') {
        return fail(p, "wanted a colon behind a key");
    }
    p->at++;
    return true;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

typedef struct {
    uint64_t digits;
    int64_t exponent;
    bool full; /* the digits have no room for another: those behind are counted or dropped */
} decimal;

static void take_digits(heed_pull *p, decimal *d, bool fraction) {
    for (; p->at < p->text.n && is_digit(p->text.s[p->at]); p->at++) {
        uint64_t digit = (uint64_t)(p->text.s[p->at] - '0');
        d->full = d->full || d->digits > (UINT64_MAX - digit) / 10;
        if (!d->full) {
            d->digits = d->digits * 10 + digit;
        }
        d->exponent += fraction ? -(int64_t)!d->full : (int64_t)d->full;
    }
}

/* As serde_json 1.0 does it: a quotient or a product of two doubles. */
static double make_real(decimal d) {
    double x = (double)d.digits;
    while (x != 0 && d.exponent < -308) {
        x /= 1e308;
        d.exponent += 308;
    }
    if (d.exponent > 308) {
        return x == 0 ? 0 : INFINITY;
    }
    static const double small[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t size = d.exponent < 0 ? -d.exponent : d.exponent;
    double power = size < 23 ? small[size] : 1;
    if (size >= 23) { /* beyond 10^22 powers of ten are rounded themselves */
        char text[8];
        snprintf(text, sizeof text, "1e%d", (int)size);
        power = strtod(text, NULL);
    }
    return d.exponent < 0 ? x / power : x * power;
}

static bool take_exponent(heed_pull *p, decimal *d) {
    int c = p->at < p->text.n ? p->text.s[p->at] : 0;
    bool negative = c == '-';
    p->at += c == '-' || c == '+';
    int64_t value = 0;
    if (p->at >= p->text.n || !is_digit(p->text.s[p->at])) {
        return fail(p, "an exponent without digits");
    }
    for (; p->at < p->text.n && is_digit(p->text.s[p->at]); p->at++) {
        value = value < 100000 ? value * 10 + (p->text.s[p->at] - '0') : value;
    }
    d->exponent += negative ? -value : value;
    return true;
}

/* A number's sign and digits before a point. */
static bool take_whole(heed_pull *p, decimal *d, bool *negative) {
    int c = peek(p);
    *negative = c == '-';
    p->at += *negative;
    size_t begin = p->at;
    take_digits(p, d, false);
    size_t n = p->at - begin;
    return (n > 0 && (n == 1 || p->text.s[begin] != '0')) || fail(p, "wanted a number");
}

bool heed_pull_int(heed_pull *p, int64_t *out) {
    decimal d = {0};
    bool negative = false;
    if (!take_whole(p, &d, &negative)) {
        return false;
    }
    if (d.full || d.digits > INT64_MAX) {
        d.digits = INT64_MAX; /* far beyond any range that a caller asks for */
    }
    *out = negative ? -(int64_t)d.digits : (int64_t)d.digits;
    return true;
}

bool heed_pull_real(heed_pull *p, double *out) {
    decimal d = {0};
    bool negative = false;
    if (!take_whole(p, &d, &negative)) {
        return false;
    }
    if (p->at < p->text.n && p->text.s[p->at] == '.') {
        size_t begin = ++p->at;
        take_digits(p, &d, true);
        if (p->at == begin) {
            return fail(p, "a point without digits behind it");
        }
    }
    if (p->at < p->text.n && (p->text.s[p->at] | 0x20) == 'e') {
        p->at++;
        if (!take_exponent(p, &d)) {
            return false;
        }
    }
    double x = make_real(d);
    *out = negative ? -x : x;
    return true;
}
