/* pattern.c: looking for a text, or for a regular expression: with a scanner of its own, or PCRE2.
 *
 * Invariant: a match moves the search on by at least one byte, and an empty match that touches the
 * match before it is passed over, as Oniguruma's iterator does.
 * SPDX-License-Identifier: MIT
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pattern.h"

#include <pcre2.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/scan.h"

enum { MATCH_LIMIT = 10000000, DEPTH_LIMIT = 100000, HEAP_LIMIT_KIB = 1 << 16 };

struct heed_pattern {
    heed_pattern *after;
    const char *text; /* NULL for an expression */
    size_t n;
    heed_scanner *scan; /* NULL where the expression has none of its own */
    const heed_host *host;
    bool starved;
    pcre2_general_context *memory;
    pcre2_match_context *limits;
    pcre2_code *code;
};

/* Memory of a compiled expression. That one allocation failed is noted: the JIT compiler would
 * pass over it, and matching would only be slower. Nothing is allocated once it is compiled. */
static void *take_noting(size_t bytes, void *pattern) {
    heed_pattern *p = pattern;
    void *block = heed_alloc(p->host, bytes, 1, NULL);
    p->starved = p->starved || !block;
    return block;
}

static void give_back(void *block, void *pattern) {
    heed_free(((heed_pattern *)pattern)->host, block);
}

/* Memory of one call's matches. */
static void *take(size_t bytes, void *host) {
    return heed_alloc(host, bytes, 1, NULL);
}

static void give(void *block, void *host) {
    heed_free(host, block);
}

static heed_pattern *new_pattern(heed_tokenizer *t, heed_error *err) {
    heed_pattern *p = heed_region_alloc(&t->region, 1, sizeof *p, err);
    if (p) {
        p->host = t->host;
        p->after = t->patterns;
        t->patterns = p;
    }
    return p;
}

void heed_patterns_free(heed_pattern *first) {
    for (heed_pattern *p = first; p; p = p->after) { /* the structs lie in the region */
        pcre2_code_free(p->code);
        pcre2_match_context_free(p->limits);
        pcre2_general_context_free(p->memory);
    }
}

static bool compile(heed_pattern *p, const heed_buf *regex, heed_error *err) {
    int code = 0;
    PCRE2_SIZE at = 0;
    pcre2_compile_context *context = pcre2_compile_context_create(p->memory);
    if (!context) {
        return heed_fail(err, HEED_NOMEM, "out of memory: a regex of %zu bytes", regex->n);
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NO_UTF_CHECK;
    p->code = pcre2_compile((PCRE2_SPTR)regex->data, regex->n, options, &code, &at, context);
    pcre2_compile_context_free(context);
    if (p->code) {
        pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE); /* refused by a system, it interprets */
    }
    if (p->starved) {
        return heed_fail(err, HEED_NOMEM, "out of memory: a regex of %zu bytes", regex->n);
    }
    if (!p->code) {
        PCRE2_UCHAR text[120];
        pcre2_get_error_message(code, text, sizeof text);
        return heed_fail(err, HEED_FILE, "regex: %s at byte %zu of '%s'", (char *)text, (size_t)at,
                         regex->data);
    }
    return true;
}

heed_pattern *heed_pattern_regex(heed_tokenizer *t, const char *regex, size_t n, heed_error *err) {
    heed_pattern *p = new_pattern(t, err);
    if (!p) {
        return NULL;
    }
    p->scan = heed_scanner_for(regex, n);
    if (p->scan) {
        return p;
    }
    heed_buf buf = {.host = t->host};
    bool ok = heed_regex_translate(regex, n, &buf, err);
    if (ok && buf.n == 0) {
        ok = heed_fail(err, HEED_FILE, "regex: it is empty");
    }
    if (ok) {
        p->memory = pcre2_general_context_create(take_noting, give_back, p);
        p->limits = p->memory ? pcre2_match_context_create(p->memory) : NULL;
        ok = p->limits ? compile(p, &buf, err)
                       : heed_fail(err, HEED_NOMEM, "out of memory: a regex of %zu bytes", n);
    }
    if (ok) {
        pcre2_set_match_limit(p->limits, MATCH_LIMIT);
        pcre2_set_depth_limit(p->limits, DEPTH_LIMIT);
        pcre2_set_heap_limit(p->limits, HEAP_LIMIT_KIB);
    }
    heed_buf_free(&buf);
    return ok ? p : NULL;
}

heed_pattern *heed_pattern_read(heed_tokenizer *t, const json_t *json, const char *key,
                                heed_error *err) {
    const json_t *object = heed_json_object(json, key, err);
    if (!object) {
        return NULL;
    }
    const json_t *text = json_object_get(object, "String");
    const json_t *regex = json_object_get(object, "Regex");
    const json_t *one = text ? text : regex;
    if (json_object_size(object) != 1 || !json_is_string(one)) {
        heed_fail(err, HEED_FILE, "key '%s' wants one of {\"String\": text} and {\"Regex\": text}",
                  key);
        return NULL;
    }
    if (regex) {
        return heed_pattern_regex(t, json_string_value(regex), json_string_length(regex), err);
    }
    heed_pattern *p = new_pattern(t, err);
    if (!p) {
        return NULL;
    }
    p->n = json_string_length(text);
    if (p->n == 0) {
        heed_fail(err, HEED_FILE, "key '%s' looks for an empty text", key);
        return NULL;
    }
    p->text = heed_region_text(&t->region, json_string_value(text), p->n, err);
    return p->text ? p : NULL;
}

bool heed_replace_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    heed_replace *r = settings;
    const char *content = heed_json_string(json, "content", &r->n, err);
    if (!content) {
        return false;
    }
    r->content = heed_region_text(&t->region, content, r->n, err);
    r->pattern = heed_pattern_read(t, json, "pattern", err);
    return r->content && r->pattern;
}

/* Appends what lies before a match, and the match. */
static bool add_match(heed_work *work, heed_cuts *cuts, size_t done, size_t from, size_t to) {
    return (from == done || heed_cuts_add(work, cuts, done, from, false)) &&
           heed_cuts_add(work, cuts, from, to, true);
}

static bool cut_text(const heed_pattern *p, heed_work *work, const char *text, size_t n,
                     heed_cuts *cuts, size_t *done) {
    size_t at = 0;
    while (n - at >= p->n) {
        const char *found = memchr(text + at, p->text[0], n - at - p->n + 1);
        if (!found) {
            break;
        }
        at = (size_t)(found - text);
        if (memcmp(found, p->text, p->n) != 0) {
            at++;
            continue;
        }
        if (!add_match(work, cuts, *done, at, at + p->n)) {
            return false;
        }
        at += p->n;
        *done = at;
    }
    return true;
}

static void free_match(void *match) {
    pcre2_match_data_free(match);
}

/* One serves every expression of the call: only the match itself is asked for. */
static bool make_match(heed_work *work) {
    if (work->match) {
        return true;
    }
    void *host = (void *)(uintptr_t)work->host;
    pcre2_general_context *memory = pcre2_general_context_create(take, give, host);
    work->match = memory ? pcre2_match_data_create(1, memory) : NULL;
    work->match_free = free_match;
    pcre2_general_context_free(memory);
    return work->match || heed_work_full(work);
}

/* The next match at or after `at`; *found tells whether there is one. */
static bool find(const heed_pattern *p, heed_work *work, const char *text, size_t n, size_t at,
                 bool *found) {
    PCRE2_SPTR subject = (PCRE2_SPTR)text;
    int rc = pcre2_match(p->code, subject, n, at, PCRE2_NO_UTF_CHECK, work->match, p->limits);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) { /* 32 KiB: some thousand rounds of a group */
        rc = pcre2_match(p->code, subject, n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, work->match,
                         p->limits);
    }
    *found = rc >= 0;
    if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH) {
        return true;
    }
    return rc == PCRE2_ERROR_NOMEMORY
               ? heed_work_full(work)
               : heed_fail(work->err, HEED_LIMIT, "regex: gave up on a text of %zu bytes (code %d)",
                           n, rc);
}

/* Where to look on behind a match: one character on where it was empty, n+1 at the end. */
static size_t look_on(const char *text, size_t n, size_t from, size_t to) {
    if (from < to) {
        return to;
    }
    uint32_t cp = 0;
    return to < n ? to + (size_t)heed_utf8_next(text + to, n - to, &cp) : n + 1;
}

static bool cut_regex(const heed_pattern *p, heed_work *work, const char *text, size_t n,
                      heed_cuts *cuts, size_t *done) {
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(work->match);
    bool matched = false;
    for (size_t at = 0; at <= n; at = look_on(text, n, place[0], place[1])) {
        bool found = false;
        if (!find(p, work, text, n, at, &found)) {
            return false;
        }
        if (!found) {
            break;
        }
        bool touches = place[0] == place[1] && matched && place[1] == *done;
        if (touches) {
            continue;
        }
        if (!add_match(work, cuts, *done, place[0], place[1])) {
            return false;
        }
        matched = true;
        *done = place[1];
    }
    return true;
}

static bool cut_scanned(const heed_pattern *p, heed_work *work, const char *text, size_t n,
                        heed_cuts *cuts, size_t *done) {
    while (*done < n) {
        size_t end = p->scan(text, n, *done);
        if (!heed_cuts_add(work, cuts, *done, end, true)) {
            return false;
        }
        *done = end;
    }
    return true;
}

bool heed_pattern_cut(const heed_pattern *p, heed_work *work, const char *text, size_t n,
                      heed_cuts *cuts) {
    if (n == 0) {
        return heed_cuts_add(work, cuts, 0, 0, false);
    }
    size_t done = 0;
    bool ok = false;
    if (p->text) {
        ok = cut_text(p, work, text, n, cuts, &done);
    } else if (p->scan) {
        ok = cut_scanned(p, work, text, n, cuts, &done);
    } else {
        ok = make_match(work) && cut_regex(p, work, text, n, cuts, &done);
    }
    return ok && (done == n || heed_cuts_add(work, cuts, done, n, false));
}
