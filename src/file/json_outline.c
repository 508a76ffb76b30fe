/* json_outline.c: the long members of one object cut out of a JSON text.
 *
 * It follows brackets and strings only. Where it loses its way it leaves the text as it is, so that
 * the parser of the rest refuses what is wrong.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "file/json_pull.h"

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
        ok = heed_pull_skip(p, &value);
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
        ok = heed_pull_skip(p, &value);
    }
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
            add_empty(rest, *first);
            done = first->s + first->n;
        }
    }
    heed_buf_add(rest, done, (size_t)(end - done));
    return !rest->failed || heed_fail(err, HEED_NOMEM, "out of memory: JSON of %zu bytes", text.n);
}
