/* documents_json.c: documents that are members of JSON objects.
 * SPDX-License-Identifier: MIT
 */
#include "data/documents.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "file/json.h"

/* A list of texts, one a line. */
static bool add_lines(heed_documents *d, const json_t *list, const char *column, heed_error *err) {
    heed_buf text = {.host = d->host};
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_size(list); i++) {
        const json_t *line = json_array_get(list, i);
        ok = json_is_string(line) ||
             heed_fail(err, HEED_VALUE, "element %zu of '%.60s' is %s, wanted a string", i, column,
                       heed_json_kind(line));
        if (ok && i > 0)
            heed_buf_text(&text, "\n");
        if (ok)
            heed_buf_add(&text, json_string_value(line), json_string_length(line));
    }
    if (ok && text.failed)
        ok = heed_fail(err, HEED_NOMEM, "no memory for a document");
    const char *copy = ok ? heed_region_text(&d->texts, text.n ? text.data : "", text.n, err) : "";
    ok = ok && copy && heed_documents_add(d, (heed_line){copy, text.n}, err);
    heed_buf_free(&text);
    return ok;
}

static bool add_object(heed_documents *d, const json_t *object, const char *column,
                       heed_error *err) {
    const json_t *value = json_object_get(object, column);
    if (!json_is_object(object))
        return heed_fail(err, HEED_VALUE, "%s, wanted an object", heed_json_kind(object));
    if (!value)
        return heed_fail(err, HEED_NAME, "key '%.60s' is missing", column);
    if (json_is_array(value))
        return add_lines(d, value, column, err);
    if (!json_is_string(value))
        return heed_fail(err, HEED_VALUE, "key '%.60s' is %s, wanted a string or a list of strings",
                         column, heed_json_kind(value));
    size_t n = json_string_length(value);
    const char *copy = heed_region_text(&d->texts, json_string_value(value), n, err);
    return copy && heed_documents_add(d, (heed_line){copy, n}, err);
}

/* One object a line; lines of white space are passed. */
static bool add_objects(heed_documents *d, const char *path, const char *column, heed_line text,
                        heed_error *err) {
    int64_t number = 0;
    for (size_t at = 0; at < text.n;) {
        const char *s = text.s + at, *stop = memchr(s, '\n', text.n - at);
        heed_line line = {s, stop ? (size_t)(stop - s) : text.n - at};
        at += line.n + 1;
        number++;
        if (!heed_line_trim(line).n)
            continue;
        json_t *object = heed_json_parse(d->host, "object", line.s, line.n, err);
        bool ok = object && add_object(d, object, column, err);
        json_decref(object);
        if (!ok) {
            heed_error_at(err, "'%s' line %" PRId64, path, number);
            return false;
        }
    }
    return true;
}

bool heed_documents_json(heed_documents *d, const char *path, const char *column, heed_line text,
                         heed_error *err) {
    heed_line inside = heed_line_trim(text);
    if (!inside.n || inside.s[0] != '[')
        return add_objects(d, path, column, text, err);
    json_t *root = heed_json_parse(d->host, path, text.s, text.n, err);
    bool ok = root != NULL;
    for (size_t i = 0; ok && i < json_array_size(root); i++) {
        ok = add_object(d, json_array_get(root, i), column, err);
        if (!ok)
            heed_error_at(err, "'%s' element %zu", path, i);
    }
    json_decref(root);
    return ok;
}
