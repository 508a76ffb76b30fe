/* json.c: reading JSON and getting typed values out of it.
 *
 * Method: one pass over the raw text measures nesting (so that hostile input cannot exhaust the
 * stack of a recursive parser or of those who walk the tree) and the memory that the tree will take
 * (a text of "{},{},{}" grows a hundredfold), and finds integers beyond 64 bits, which become reals
 * of the same length in a copy of the text, so that columns in later errors stay right. Then
 * jansson parses.
 * SPDX-License-Identifier: MIT
 */
#include "file/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"

/* ---- Before parsing ---- */

/* Bytes that jansson 2.14 takes on a 64-bit machine for an object, an array, a string beside its
 * characters, a key beside its string, and any value with its place in a list; rounded up, growth
 * of tables included. */
enum { OBJECT = 256, ARRAY = 144, STRING = 64, KEY = 40, VALUE = 64 };

typedef struct {
    const char *label;
    const char *text;
    size_t n;
    size_t tree; /* bytes that it will take parsed, about */
    size_t wide; /* how many integers do not fit 64 bits */
    char *copy;  /* where they are rewritten; NULL while counting */
} scan;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_wide(const char *digits, size_t n) {
    return n > 19 || (n == 19 && memcmp(digits, "9223372036854775807", 19) > 0);
}

/* Index behind the number that starts at i. */
static size_t scan_number(scan *s, size_t i) {
    size_t start = i;
    while (i < s->n && is_digit(s->text[i]))
        i++;
    bool integer = i == s->n || !strchr(".eE", s->text[i]) || s->text[i] == '\0';
    if (integer && s->text[start] != '0' && is_wide(s->text + start, i - start)) {
        s->wide++;
        /* at least 17 digits stay: all a double holds */
        if (s->copy)
            memcpy(s->copy + i - 2, "e2", 2);
    }
    while (i < s->n && (is_digit(s->text[i]) || memchr(".eE+-", s->text[i], 5)))
        i++;
    return i;
}

/* Index behind the string whose opening quote is at i. */
static size_t scan_string(const scan *s, size_t i) {
    for (i++; i < s->n && s->text[i] != '"'; i++)
        if (s->text[i] == '\\')
            i++;
    return i + 1;
}

/* What a structural character or a quote adds to the tree. */
static size_t weight_of(char c) {
    switch (c) {
    case '{':
        return OBJECT;
    case '[':
        return ARRAY;
    case '"':
        return STRING;
    case ':':
        return KEY;
    case ',':
        return VALUE;
    default:
        return 0;
    }
}

static bool scan_text(scan *s, heed_error *err) {
    int64_t depth = 0, line = 1;
    s->tree = s->n;
    for (size_t i = 0; i < s->n;) {
        char c = s->text[i];
        s->tree += weight_of(c);
        if (c == '"') {
            i = scan_string(s, i);
            continue;
        }
        if (is_digit(c)) {
            i = scan_number(s, i);
            continue;
        }
        if (c == '\n')
            line++;
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']')
            depth--;
        if (depth > HEED_JSON_DEPTH)
            return heed_fail(err, HEED_FILE, "'%s' line %" PRId64 ": nested deeper than %d",
                             s->label, line, HEED_JSON_DEPTH);
        i++;
    }
    return true;
}

/* ---- Parsing ---- */

static json_t *load(const char *label, const char *text, size_t n, heed_error *err) {
    json_error_t why;
    json_t *root = json_loadb(text, n, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &why);
    if (root)
        return root;
    if (json_error_code(&why) == json_error_out_of_memory || !why.text[0]) {
        heed_fail(err, HEED_NOMEM, "'%s': no memory for its JSON of %zu bytes", label, n);
        return NULL;
    }
    heed_fail(err, HEED_FILE, "'%s' line %d column %d: %s", label, why.line, why.column, why.text);
    return NULL;
}

json_t *heed_json_parse(const heed_host *host, const char *label, const char *text, size_t n,
                        heed_error *err) {
    scan s = {.label = label, .text = text, .n = n};
    if (!scan_text(&s, err))
        return NULL;
    if (s.tree + (s.wide ? n : 0) > HEED_JSON_TREE) {
        heed_fail(err, HEED_LIMIT, "'%s': its JSON would take more than %d MiB of memory", label,
                  HEED_JSON_TREE >> 20);
        return NULL;
    }
    if (!s.wide)
        return load(label, text ? text : "", n, err);
    s.copy = heed_copy_text(host, text, n, err);
    if (!s.copy)
        return NULL;
    scan_text(&s, NULL);
    json_t *root = load(label, s.copy, n, err);
    heed_free(host, s.copy);
    return root;
}

json_t *heed_json_read(const heed_host *host, const char *path, size_t limit, heed_error *err) {
    size_t n;
    char *text = heed_read_file(host, path, limit ? limit : (size_t)1 << 30, &n, err);
    if (!text)
        return NULL;
    json_t *root = heed_json_parse(host, path, text, n, err);
    heed_free(host, text);
    return root;
}

/* ---- Getting ---- */

static const json_t *step(const json_t *at, const char *key, size_t n) {
    if (json_is_object(at))
        return json_object_getn(at, key, n);
    if (!json_is_array(at) || n == 0 || n > 9)
        return NULL;
    size_t index = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(key[i]))
            return NULL;
        index = index * 10 + (size_t)(key[i] - '0');
    }
    return json_array_get(at, index);
}

const json_t *heed_json_find(const json_t *root, const char *path) {
    const json_t *at = root;
    while (at && *path) {
        size_t n = strcspn(path, ".");
        at = step(at, path, n);
        path += n + (path[n] == '.');
    }
    return at;
}

const char *heed_json_kind(const json_t *value) {
    if (!value)
        return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a real number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

static const json_t *wanted(const json_t *root, const char *path, heed_error *err) {
    const json_t *value = heed_json_find(root, path);
    if (!value)
        heed_fail(err, HEED_NAME, "key '%s' is missing", path);
    return value;
}

static bool mistyped(const json_t *value, const char *path, const char *want, heed_error *err) {
    return heed_fail(err, HEED_VALUE, "key '%s' is %s, wanted %s", path, heed_json_kind(value),
                     want);
}

bool heed_json_int(const json_t *root, const char *path, int64_t *out, heed_error *err) {
    const json_t *value = wanted(root, path, err);
    if (!value)
        return false;
    if (!json_is_integer(value))
        return mistyped(value, path, "an integer", err);
    *out = json_integer_value(value);
    return true;
}

bool heed_json_number(const json_t *root, const char *path, double *out, heed_error *err) {
    const json_t *value = wanted(root, path, err);
    if (!value)
        return false;
    if (!json_is_number(value))
        return mistyped(value, path, "a number", err);
    *out = json_number_value(value);
    return true;
}

bool heed_json_bool(const json_t *root, const char *path, bool *out, heed_error *err) {
    const json_t *value = wanted(root, path, err);
    if (!value)
        return false;
    if (!json_is_boolean(value))
        return mistyped(value, path, "true or false", err);
    *out = json_is_true(value);
    return true;
}

const char *heed_json_string(const json_t *root, const char *path, size_t *n, heed_error *err) {
    const json_t *value = wanted(root, path, err);
    if (!value)
        return NULL;
    if (!json_is_string(value)) {
        mistyped(value, path, "a string", err);
        return NULL;
    }
    if (n)
        *n = json_string_length(value);
    return json_string_value(value);
}

const json_t *heed_json_object(const json_t *root, const char *path, heed_error *err) {
    const json_t *value = wanted(root, path, err);
    if (!value || json_is_object(value))
        return value;
    mistyped(value, path, "an object", err);
    return NULL;
}

const json_t *heed_json_array(const json_t *root, const char *path, heed_error *err) {
    const json_t *value = wanted(root, path, err);
    if (!value || json_is_array(value))
        return value;
    mistyped(value, path, "an array", err);
    return NULL;
}

static bool is_given(const json_t *root, const char *path) {
    const json_t *value = heed_json_find(root, path);
    return value && !json_is_null(value);
}

bool heed_json_opt_int(const json_t *root, const char *path, int64_t *out, heed_error *err) {
    return !is_given(root, path) || heed_json_int(root, path, out, err);
}

bool heed_json_opt_number(const json_t *root, const char *path, double *out, heed_error *err) {
    return !is_given(root, path) || heed_json_number(root, path, out, err);
}

bool heed_json_opt_bool(const json_t *root, const char *path, bool *out, heed_error *err) {
    return !is_given(root, path) || heed_json_bool(root, path, out, err);
}

bool heed_json_opt_string(const json_t *root, const char *path, const char **out, heed_error *err) {
    if (!is_given(root, path))
        return true;
    const char *value = heed_json_string(root, path, NULL, err);
    if (value)
        *out = value;
    return value != NULL;
}
