/* json_outline.c: the long members of one object cut out of a JSON text.
 *
 * It follows brackets and strings only. Where it loses its way it leaves the text as it is, so that
 * the parser of the rest refuses what is wrong.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "file/json_pull.h"

typedef struct {
    const char *s;
    size_t n, at;
} walker;

static bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static char next(walker *w) {
    while (w->at < w->n && is_blank(w->s[w->at])) {
        w->at++;
    }
    return w->at < w->n ? w->s[w->at] : '\0';
}

/* Behind the string that begins here. */
static bool pass_string(walker *w) {
    for (w->at++; w->at < w->n; w->at++) {
        if (w->s[w->at] == '"') {
            w->at++;
            return true;
        }
        w->at += w->s[w->at] == '\\';
    }
    return false;
}

static bool opens(char c) {
    return c == '{' || c == '[';
}

static bool closes(char c) {
    return c == '}' || c == ']';
}

/* Behind the number or the word that begins here. */
static bool pass_scalar(walker *w) {
    while (w->at < w->n && !closes(w->s[w->at]) && w->s[w->at] != ',' && w->s[w->at] != ':') {
        w->at++;
    }
    return true;
}

/* Behind the value that begins here, whatever is in it. */
static bool pass_value(walker *w) {
    char c = next(w);
    if (c == '"') {
        return pass_string(w);
    }
    if (!opens(c)) {
        return pass_scalar(w);
    }
    size_t depth = 0;
    while (w->at < w->n) {
        c = w->s[w->at];
        if (c == '"') {
            if (!pass_string(w)) {
                return false;
            }
            continue;
        }
        w->at++;
        depth += opens(c);
        depth -= closes(c);
        if (depth == 0) {
            return true;
        }
    }
    return false;
}

/* The key here, without its quotes, and past its colon. */
static bool pass_key(walker *w, heed_line *key) {
    if (next(w) != '"') {
        return false;
    }
    size_t begin = w->at + 1;
    if (!pass_string(w)) {
        return false;
    }
    *key = (heed_line){w->s + begin, w->at - 1 - begin};
    if (next(w) != ':') {
        return false;
    }
    w->at++;
    next(w);
    return true;
}

static bool is_named(heed_line key, const char *name) {
    return strlen(name) == key.n && memcmp(name, key.s, key.n) == 0;
}

typedef struct {
    const char *const *member;
    size_t n;
    heed_line *span;
} wanted;

/* Keeps the value of a member, where that is wanted and a list. */
static void note(const wanted *want, heed_line key, heed_line value) {
    for (size_t i = 0; i < want->n; i++) {
        bool list = value.n > 0 && opens(value.s[0]);
        if (list && !want->span[i].s && is_named(key, want->member[i])) {
            want->span[i] = value;
        }
    }
}

/* Notes the members that are wanted of the object that begins here. */
static bool pass_members(walker *w, const wanted *want) {
    heed_line key;
    if (next(w) != '{') {
        return false;
    }
    do {
        w->at++;
        if (next(w) == '}') {
            break;
        }
        if (!pass_key(w, &key)) {
            return false;
        }
        size_t begin = w->at;
        if (!pass_value(w)) {
            return false;
        }
        note(want, key, (heed_line){w->s + begin, w->at - begin});
    } while (next(w) == ',');
    return w->at < w->n && w->s[w->at++] == '}';
}

/* Looks for the object among the root's members. */
static void find(walker *w, const char *object, const wanted *want) {
    heed_line key;
    if (next(w) != '{') {
        return;
    }
    do {
        w->at++;
        if (!pass_key(w, &key)) {
            return;
        }
        if (is_named(key, object)) {
            pass_members(w, want);
            return;
        }
        if (!pass_value(w)) {
            return;
        }
    } while (next(w) == ',');
}

/* The two brackets of a span, and its line ends. */
static void add_empty(heed_buf *rest, heed_line span) {
    heed_buf_add(rest, span.s, 1);
    const char *s = span.s, *end = span.s + span.n;
    while ((s = memchr(s, '\n', (size_t)(end - s)))) {
        heed_buf_add(rest, "\n", 1);
        s++;
    }
    heed_buf_add(rest, end - 1, 1);
}

bool heed_json_outline(heed_line text, const char *object, const char *const *member, size_t n,
                       heed_line *span, heed_buf *rest, heed_error *err) {
    for (size_t i = 0; i < n; i++) {
        span[i] = (heed_line){0};
    }
    walker w = {text.s, text.n, 0};
    find(&w, object, &(wanted){member, n, span});
    const char *done = text.s, *end = text.s + text.n;
    for (size_t k = 0; k < n; k++) { /* in the order of the text */
        const heed_line *first = NULL;
        for (size_t i = 0; i < n; i++) {
            if (span[i].s >= done && span[i].s && (!first || span[i].s < first->s)) {
                first = &span[i];
            }
        }
        if (first) {
            heed_buf_add(rest, done, (size_t)(first->s - done));
            add_empty(rest, *first);
            done = first->s + first->n;
        }
    }
    heed_buf_add(rest, done, (size_t)(end - done));
    return !rest->failed || heed_fail(err, HEED_NOMEM, "out of memory: JSON of %zu bytes", text.n);
}
