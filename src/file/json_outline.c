/* json_outline.c: the long members of one object cut out of a JSON text.
 *
 * It follows brackets and strings only, eight bytes at a time. Where it loses its way it leaves the
 * text as it is, so that the parser of the rest refuses what is wrong.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "file/json_bytes.h"
#include "file/json_pull.h"

/* ---- Whatever comes ------------------------------------------------------------------------ */

/* At the next byte of those that `marks` marks, or at one that it marks in error; or at the end. */
static void seek(heed_pull *p, uint64_t (*marks)(uint64_t)) {
    const unsigned char *s = (const unsigned char *)p->text.s;
    while (p->text.n - p->at >= 8) {
        uint64_t found = marks(heed_little(s + p->at, 8));
        if (found) {
            p->at += heed_first_mark(found);
            return;
        }
        p->at += 8;
    }
}

/* Behind the string that begins here, whatever is in it. */
static bool pass_string(heed_pull *p) {
    for (p->at++; seek(p, heed_string_ends), p->at < p->text.n; p->at++) {
        if (p->text.s[p->at] == '"') {
            p->at++;
            return true;
        }
        p->at += p->text.s[p->at] == '\\' && p->at + 1 < p->text.n;
    }
    return false;
}

static bool closes(char c) {
    return c == '}' || c == ']';
}

/* Behind the bracket that closes the one here. */
static bool pass_brackets(heed_pull *p) {
    size_t depth = 0;
    while (seek(p, heed_brackets), p->at < p->text.n) {
        char c = p->text.s[p->at];
        if (c == '"') {
            if (!pass_string(p)) {
                return false;
            }
            continue;
        }
        p->at++;
        depth += c == '{' || c == '[';
        depth -= closes(c);
        if (depth == 0) {
            return true;
        }
    }
    return false;
}

/* Behind the number or the word that begins here. */
static void pass_scalar(heed_pull *p) {
    while (p->at < p->text.n && !closes(p->text.s[p->at]) && p->text.s[p->at] != ',' &&
           p->text.s[p->at] != ':') {
        p->at++;
    }
}

/* Passes whatever value comes, and gives its text. Brackets and strings are followed, nothing is
 * checked: the last key stays valid. */
static bool skip_value(heed_pull *p, heed_line *out) {
    bool string = strcmp(heed_pull_kind(p), "a string") == 0, ok = true;
    size_t begin = p->at;
    if (string) {
        ok = pass_string(p);
    } else if (begin < p->text.n && (p->text.s[begin] == '{' || p->text.s[begin] == '[')) {
        ok = pass_brackets(p);
    } else {
        pass_scalar(p);
    }
    *out = (heed_line){p->text.s + begin, ok ? p->at - begin : 0};
    return ok;
}

/* ---- Members ------------------------------------------------------------------------------- */

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
        bool list = value.n > 0 && (value.s[0] == '{' || value.s[0] == '[');
        if (list && !want->span[i].s && is_named(key, want->member[i])) {
            want->span[i] = value;
        }
    }
}

/* The key of the next member of an object; false behind the last, and where the way is lost. */
static bool next_member(heed_pull *p, bool first, heed_line *key) {
    bool more = false;
    return heed_pull_more(p, '{', first, &more) && more && heed_pull_key(p, key);
}

/* Notes the members that are wanted of the object that begins here. */
static void note_members(heed_pull *p, const wanted *want) {
    heed_line key, value;
    bool ok = heed_pull_open(p, '{');
    for (bool first = true; ok && next_member(p, first, &key); first = false) {
        ok = skip_value(p, &value);
        if (ok) {
            note(want, key, value);
        }
    }
}

/* Looks for the object among the root's members. */
static void find(heed_pull *p, const char *object, const wanted *want) {
    heed_line key, value;
    bool ok = heed_pull_open(p, '{');
    for (bool first = true; ok && next_member(p, first, &key); first = false) {
        if (is_named(key, object)) {
            note_members(p, want);
            return;
        }
        ok = skip_value(p, &value);
    }
}

bool heed_json_outline(heed_line text, const char *object, const char *const *member, size_t n,
                       heed_line *span, heed_buf *rest, heed_error *err) {
    for (size_t i = 0; i < n; i++) {
        span[i] = (heed_line){0};
    }
    heed_pull p = {.text = text, .scratch.host = rest->host}; /* without an error: see above */
    find(&p, object, &(wanted){member, n, span});
    rest->failed = rest->failed || p.scratch.failed;
    heed_pull_free(&p);
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
            done = first->s + first->n;
            heed_buf_add(rest, first->s, 1);
            heed_buf_add(rest, done - 1, 1);
        }
    }
    heed_buf_add(rest, done, (size_t)(end - done));
    return !rest->failed || heed_fail(err, HEED_NOMEM, "out of memory: JSON of %zu bytes", text.n);
}
