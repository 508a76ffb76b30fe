/* json_print.c: JSON out, with the fewest digits that read back to the same bits.
 *
 * Keys come in the order in which they were set, so the same tree gives the same bytes. Recursion
 * is as deep as the tree, which the caller built.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "file/json.h"

void heed_json_format_real(double x, char out[32]) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            break;
    }
    bool whole = true;
    for (char *c = out; *c; c++) {
        bool number = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
        if (!number)
            *c = '.'; /* the locale's decimal mark */
        if (!number || *c == 'e')
            whole = false;
    }
    if (whole)
        strcat(out,
               ".0"); /* so that it reads back as a real; at most 17 digits and a sign before it */
}

bool heed_json_print_string(heed_buf *out, const char *s, size_t n) {
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    heed_buf_text(out, "\"");
    size_t plain = 0; /* start of what has not been written yet */
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        const char *named = c ? strchr(names, c) : NULL;
        if (c >= 0x20 && !named)
            continue;
        heed_buf_add(out, s + plain, i - plain);
        if (named)
            heed_buf_format(out, "\\%c", letters[named - names]);
        else
            heed_buf_format(out, "\\u%04x", c);
        plain = i + 1;
    }
    heed_buf_add(out, s + plain, n - plain);
    return heed_buf_text(out, "\"");
}

typedef struct {
    heed_buf *out;
    int indent;
    heed_error *err;
} printer;

static bool print_value(const printer *p, const json_t *value, int depth);

/* A new line and its indent; nothing (or the space behind a comma) where all goes on one line. */
static void print_break(const printer *p, int depth, bool first) {
    if (!p->indent) {
        if (!first)
            heed_buf_text(p->out, " ");
        return;
    }
    heed_buf_format(p->out, "\n%*s", depth * p->indent, "");
}

static void print_close(const printer *p, int depth, bool empty, const char *mark) {
    if (p->indent && !empty)
        print_break(p, depth, true);
    heed_buf_text(p->out, mark);
}

static bool print_array(const printer *p, const json_t *value, int depth) {
    size_t n = json_array_size(value);
    heed_buf_text(p->out, "[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            heed_buf_text(p->out, ",");
        print_break(p, depth + 1, i == 0);
        if (!print_value(p, json_array_get(value, i), depth + 1))
            return false;
    }
    print_close(p, depth, n == 0, "]");
    return true;
}

static bool print_object(const printer *p, const json_t *value, int depth) {
    bool first = true;
    json_t *object =
        (json_t *)(uintptr_t)value; /* jansson's iterator wants it writable, but does not write */
    heed_buf_text(p->out, "{");
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        if (!first)
            heed_buf_text(p->out, ",");
        print_break(p, depth + 1, first);
        first = false;
        heed_json_print_string(p->out, json_object_iter_key(at), json_object_iter_key_len(at));
        heed_buf_text(p->out, ": ");
        if (!print_value(p, json_object_iter_value(at), depth + 1))
            return false;
    }
    print_close(p, depth, first, "}");
    return true;
}

static bool print_real(const printer *p, double x) {
    char text[32];
    if (!isfinite(x))
        return heed_fail(p->err, HEED_NONFINITE, "JSON has no way to write the number %g", x);
    heed_json_format_real(x, text);
    heed_buf_text(p->out, text);
    return true;
}

static bool print_value(const printer *p, const json_t *value, int depth) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return print_object(p, value, depth);
    case JSON_ARRAY:
        return print_array(p, value, depth);
    case JSON_STRING:
        heed_json_print_string(p->out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        heed_buf_format(p->out, "%" PRId64, (int64_t)json_integer_value(value));
        break;
    case JSON_REAL:
        return print_real(p, json_real_value(value));
    case JSON_TRUE:
        heed_buf_text(p->out, "true");
        break;
    case JSON_FALSE:
        heed_buf_text(p->out, "false");
        break;
    case JSON_NULL:
        heed_buf_text(p->out, "null");
        break;
    }
    return true;
}

bool heed_json_print(heed_buf *out, const json_t *value, int indent, heed_error *err) {
    printer p = {out, indent, err};
    if (!print_value(&p, value, 0))
        return false;
    if (out->failed)
        return heed_fail(err, HEED_NOMEM, "no memory to print JSON (%zu bytes so far)", out->n);
    return true;
}

bool heed_json_save(const heed_host *host, const char *path, const json_t *value, int indent,
                    heed_error *err) {
    heed_buf out = {.host = host};
    bool ok = heed_json_print(&out, value, indent, err);
    if (ok && !heed_buf_text(&out, "\n"))
        ok = heed_fail(err, HEED_NOMEM, "no memory to print '%s'", path);
    if (!ok)
        heed_error_at(err, "'%s'", path);
    ok = ok && heed_write_file(host, path, out.data, out.n, err);
    heed_buf_free(&out);
    return ok;
}
