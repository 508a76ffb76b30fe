/* json_line.c: one JSON object a line, of which some strings are wanted (RFC 8259).
 *
 * The line is read once, left to right; strings that are wanted are written without their escapes
 * to one block that is as long as the line. Lone surrogates are refused: they have no UTF-8.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 100 };

typedef struct {
    const char *s;
    size_t n, at;
    char *out; /* where the next string is written */
    const char *why;
} reader;

static bool fail(reader *r, const char *why) {
    r->why = r->why ? r->why : why;
    return false;
}

static int peek(reader *r) {
    while (r->at < r->n && strchr(" \t\r\n", r->s[r->at]) && r->s[r->at]) {
        r->at++;
    }
    return r->at < r->n ? (unsigned char)r->s[r->at] : -1;
}

static bool take(reader *r, char c) {
    if (peek(r) != (unsigned char)c) {
        return false;
    }
    r->at++;
    return true;
}

/* ---- Strings ------------------------------------------------------------------------------- */

static int hex_value(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four digits behind \u; -1 where there are none. */
static int32_t read_hex(reader *r) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        int digit = r->at < r->n ? hex_value(r->s[r->at]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static void put_code_point(reader *r, uint32_t cp) {
    if (cp < 0x80) {
        *r->out++ = (char)cp;
        return;
    }
    int more = cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *r->out++ = (char)(lead[more] | cp >> 6 * more);
    while (more-- > 0) {
        *r->out++ = (char)(0x80 | (cp >> 6 * more & 0x3f));
    }
}

static bool read_unicode(reader *r) {
    int32_t first = read_hex(r);
    if (first < 0) {
        return fail(r, "a \\u without four digits");
    }
    if (first < 0xd800 || first > 0xdfff) {
        put_code_point(r, (uint32_t)first);
        return true;
    }
    bool pair = first < 0xdc00 && r->n - r->at > 1 && memcmp(r->s + r->at, "\\u", 2) == 0;
    r->at += pair ? 2 : 0;
    int32_t second = pair ? read_hex(r) : -1;
    if (second < 0xdc00 || second > 0xdfff) {
        return fail(r, "half a surrogate pair");
    }
    put_code_point(r, 0x10000 + ((uint32_t)(first - 0xd800) << 10) + (uint32_t)(second - 0xdc00));
    return true;
}

static bool read_escape(reader *r) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->n ? r->s[r->at++] : 0;
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        *r->out++ = to[found - from];
        return true;
    }
    return c == 'u' ? read_unicode(r) : fail(r, "an escape that JSON does not have");
}

/* The string that begins here, without its escapes, in *value. */
static bool read_string(reader *r, heed_line *value) {
    value->s = r->out;
    if (!take(r, '"')) {
        return fail(r, "a string is missing");
    }
    while (r->at < r->n && r->s[r->at] != '"') {
        char c = r->s[r->at++];
        if (c == '\\') {
            if (!read_escape(r)) {
                return false;
            }
        } else if ((unsigned char)c < 0x20) {
            return fail(r, "a control character in a string");
        } else {
            *r->out++ = c;
        }
    }
    value->n = (size_t)(r->out - value->s);
    return take(r, '"') || fail(r, "a string without an end");
}

/* ---- Everything else ----------------------------------------------------------------------- */

/* Passes over a number or a word. */
static bool skip_scalar(reader *r) {
    size_t begin = r->at;
    while (r->at < r->n && !strchr(" \t\r\n,]}:\"[{", r->s[r->at])) {
        r->at++;
    }
    return r->at > begin || fail(r, "a value is missing");
}

/* Passes over one thing of a value: a string, a bracket, a sign between values, a scalar. */
static bool skip_thing(reader *r, int *depth) {
    int c = peek(r);
    heed_line unused;
    char *out = r->out;
    if (c == '"') {
        bool ok = read_string(r, &unused);
        r->out = out;
        return ok;
    }
    bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
    if (!opens && (*depth == 0 || !(closes || c == ',' || c == ':'))) {
        return skip_scalar(r);
    }
    *depth += opens - closes;
    r->at++;
    return true;
}

/* Passes over a value: brackets are counted, not matched by kind. */
static bool skip_value(reader *r) {
    int depth = 0;
    do {
        if (!skip_thing(r, &depth)) {
            return false;
        }
    } while (depth > 0 && depth < DEPTH);
    return depth == 0 || fail(r, "too many brackets");
}

static bool read_member(reader *r, const char *const *names, size_t n, heed_line *value) {
    heed_line name;
    if (!read_string(r, &name) || !take(r, ':')) {
        return fail(r, "a name with a colon behind it is missing");
    }
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) == name.n && memcmp(names[i], name.s, name.n) == 0) {
            if (value[i].s) {
                return fail(r, "a member twice");
            }
            return peek(r) == '"' ? read_string(r, &value[i])
                                  : fail(r, "a member that is no string");
        }
    }
    return skip_value(r);
}

static bool read_object(reader *r, const char *const *names, size_t n, heed_line *value) {
    if (!take(r, '{')) {
        return fail(r, "no JSON object");
    }
    if (!take(r, '}')) {
        do {
            if (!read_member(r, names, n, value)) {
                return false;
            }
        } while (take(r, ','));
        if (!take(r, '}')) {
            return fail(r, "an object without an end");
        }
    }
    return peek(r) < 0 || fail(r, "something behind the object");
}

char *cli_json_strings(heed_line line, const char *const *names, size_t n, heed_line *value,
                       char why[80]) {
    char *block = malloc(line.n + 1); /* an escape is never shorter than what it stands for */
    reader r = {.s = line.s, .n = line.n, .out = block};
    for (size_t i = 0; i < n; i++) {
        value[i] = (heed_line){0};
    }
    bool ok = block && read_object(&r, names, n, value);
    if (!ok) {
        snprintf(why, 80, "%s", block ? r.why : "no memory");
        free(block);
        return NULL;
    }
    return block;
}
