/* safetensors_parse.c: from the bytes of one file to checked tensors.
 *
 * Invariant: a tensor handed out lies inside the bytes, and the tensors of a file cover its data
 * exactly, so a file that was cut, joined or made by hand to read elsewhere is refused before
 * anybody looks at a weight.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "file/json.h"
#include "file/little.h"
#include "file/tensors.h"

static const char META[] = "__metadata__";

/* A tensor and its range in the data, before the ranges are known to be sound. */
typedef struct {
    heed_tensor tensor;
    uint64_t begin, end;
} entry;

/* ---- One entry of the header ---- */

static bool read_shape(entry *e, const json_t *shape, heed_error *err) {
    size_t rank = json_array_size(shape);
    if (rank > HEED_TENSOR_RANK)
        return heed_fail(err, HEED_FILE, "tensor '%s' has %zu dimensions, at most %d are read",
                         e->tensor.name, rank, HEED_TENSOR_RANK);
    e->tensor.rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        const json_t *dim = json_array_get(shape, i);
        if (!json_is_integer(dim))
            return heed_fail(err, HEED_FILE, "tensor '%s': dimension %zu is %s, wanted an integer",
                             e->tensor.name, i, heed_json_kind(dim));
        e->tensor.dim[i] = json_integer_value(dim);
    }
    return true;
}

static bool read_offsets(entry *e, const json_t *offsets, heed_error *err) {
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    bool sound = json_array_size(offsets) == 2 && json_is_integer(begin) && json_is_integer(end) &&
                 json_integer_value(begin) >= 0 &&
                 json_integer_value(end) >= json_integer_value(begin);
    if (!sound)
        return heed_fail(err, HEED_FILE,
                         "tensor '%s': data_offsets must be [begin, end] with 0 <= begin <= end",
                         e->tensor.name);
    e->begin = (uint64_t)json_integer_value(begin);
    e->end = (uint64_t)json_integer_value(end);
    return true;
}

static bool read_type(entry *e, const json_t *value, heed_error *err) {
    const char *type = heed_json_string(value, "dtype", NULL, err);
    if (!type)
        return false;
    if (heed_type_find(type, &e->tensor.type))
        return true;
    return heed_fail(err, HEED_FILE, "tensor '%s' has the unknown dtype '%s'", e->tensor.name,
                     type);
}

/* Fills e from {"dtype", "shape", "data_offsets"}; other keys are left alone. */
static bool read_entry(entry *e, const json_t *value, heed_error *err) {
    heed_error why = {0};
    const json_t *shape = NULL, *offsets = NULL;
    if (!json_is_object(value))
        return heed_fail(err, HEED_FILE, "tensor '%s' is %s, wanted an object", e->tensor.name,
                         heed_json_kind(value));
    bool ok = read_type(e, value, &why) &&
              (shape = heed_json_array(value, "shape", &why)) != NULL &&
              (offsets = heed_json_array(value, "data_offsets", &why)) != NULL &&
              read_shape(e, shape, &why) && read_offsets(e, offsets, &why);
    if (!ok && (why.code == HEED_NAME ||
                why.code == HEED_VALUE)) /* from a getter, which knows the key alone */
        return heed_fail(err, HEED_FILE, "tensor '%s': %s", e->tensor.name, why.text);
    if (!ok)
        return heed_fail(err, why.code, "%s", why.text);
    int64_t elements;
    if (!heed_tensor_measure(&e->tensor, &elements, &e->tensor.bytes, err))
        return false;
    if (e->end - e->begin == e->tensor.bytes)
        return true;
    char text[180];
    return heed_fail(err, HEED_FILE, "tensor '%s' has %" PRIu64 " bytes, shape %s of %s needs %zu",
                     e->tensor.name, e->end - e->begin, heed_tensor_shape(&e->tensor, text),
                     heed_type_name(e->tensor.type), e->tensor.bytes);
}

/* ---- The header ---- */

static bool read_meta(heed_tensors *t, const json_t *meta, heed_error *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(meta))
        return heed_fail(err, HEED_FILE, "'%s' is %s, wanted an object", META,
                         heed_json_kind(meta));
    json_t *object =
        (json_t *)(uintptr_t)meta; /* jansson's iterator wants it writable, but does not write */
    json_object_foreach(object, key, value) {
        if (!json_is_string(value))
            return heed_fail(err, HEED_FILE, "'%s': '%s' is %s, wanted a string", META, key,
                             heed_json_kind(value));
        if (!heed_tensors_add_meta(t, key, json_string_value(value), err))
            return false;
    }
    return true;
}

static bool read_entries(heed_tensors *t, const json_t *header, entry *list, int64_t *n,
                         heed_error *err) {
    const char *key;
    json_t *value, *object = (json_t *)(uintptr_t)header;
    json_object_foreach(object, key, value) {
        if (strcmp(key, META) == 0) {
            if (!read_meta(t, value, err))
                return false;
            continue;
        }
        entry *e = &list[*n];
        e->tensor.name = heed_region_text(&t->texts, key, strlen(key), err);
        if (!e->tensor.name || !read_entry(e, value, err))
            return false;
        ++*n;
    }
    return true;
}

/* ---- The data ---- */

/* By place; an empty tensor comes before the one that starts where it stands. Names make the
 * order total. */
static int by_place(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->tensor.name, y->tensor.name);
}

/* The sorted ranges must follow each other from 0 to the end of the data. */
static bool check_cover(const entry *list, int64_t n, size_t have, heed_error *err) {
    uint64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        const entry *e = &list[i];
        if (e->begin < at)
            return heed_fail(err, HEED_FILE,
                             "tensor '%s' starts at byte %" PRIu64
                             ", inside '%s', which ends at %" PRIu64,
                             e->tensor.name, e->begin, list[i - 1].tensor.name, at);
        if (e->begin > at)
            return heed_fail(err, HEED_FILE,
                             "tensor '%s' starts at byte %" PRIu64
                             ", the data before it ends at %" PRIu64,
                             e->tensor.name, e->begin, at);
        at = e->end;
    }
    if (at > have)
        return heed_fail(err, HEED_FILE,
                         "file is %" PRIu64 " bytes short (%zu of %" PRIu64 " bytes of data): "
                         "download incomplete",
                         at - have, have, at);
    if (at < have)
        return heed_fail(err, HEED_FILE, "%" PRIu64 " bytes after the last tensor belong to none",
                         have - at);
    return true;
}

static bool place(heed_tensors *t, entry *e, const unsigned char *data, heed_error *err) {
    e->tensor.data = e->tensor.bytes ? data + e->begin : NULL;
    return heed_tensors_add(t, &e->tensor, "in another shard too", err);
}

static bool add_header(heed_tensors *t, const json_t *header, const unsigned char *data,
                       size_t have, heed_error *err) {
    if (!json_is_object(header))
        return heed_fail(err, HEED_FILE, "the header is %s, wanted an object",
                         heed_json_kind(header));
    int64_t n = 0;
    entry *list = heed_alloc(t->host, json_object_size(header), sizeof *list, err);
    if (!list)
        return false;
    bool ok = read_entries(t, header, list, &n, err);
    if (ok)
        qsort(list, (size_t)n, sizeof *list, by_place);
    ok = ok && check_cover(list, n, have, err);
    for (int64_t i = 0; ok && i < n; i++)
        ok = place(t, &list[i], data, err);
    heed_free(t->host, list);
    return ok;
}

/* ---- The file ---- */

/* What people pass by mistake, recognised by its first bytes. */
static const char *other_kind(const unsigned char *data, size_t n) {
    static const struct {
        const char *start, *what;
    } kinds[] = {
        {"version https://git-lfs",
         "a Git LFS pointer, not the weights: fetch them with 'git lfs pull'"},
        {"GGUF", "a GGUF file, not safetensors"},
        {"<!DOCTYPE", "an HTML page: the download went wrong"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t m = strlen(kinds[i].start);
        if (n >= m && memcmp(data, kinds[i].start, m) == 0)
            return kinds[i].what;
    }
    return NULL;
}

/* The same where the first eight bytes are no length, and no header follows. */
static const char *without_header(const unsigned char *data) {
    bool gzip = data[0] == 0x1f && data[1] == 0x8b;
    return data[0] == '{' ? "JSON, and no tensors"
           : gzip         ? "packed by gzip: unpack it first"
                  : "no file of tensors that is known here: safetensors, GGUF, PyTorch's or "
                    "llama2.c's";
}

/* Length of the header in *length, checked against the file's n bytes. */
static bool read_length(const unsigned char *data, size_t n, size_t *length, heed_error *err) {
    const char *other = n ? other_kind(data, n) : NULL;
    if (other)
        return heed_fail(err, HEED_FILE, "this is %s", other);
    if (n < 8)
        return heed_fail(err, HEED_FILE,
                         "file has %zu bytes, a safetensors file at least 8: download incomplete",
                         n);
    uint64_t says = heed_little(data, 8);
    if (says > HEED_TENSOR_HEADER_MAX && (n == 8 || data[8] != '{'))
        return heed_fail(err, HEED_FILE, "this is %s", without_header(data));
    if (says > HEED_TENSOR_HEADER_MAX)
        return heed_fail(err, HEED_FILE, "header of %" PRIu64 " bytes, at most %d are allowed",
                         says, HEED_TENSOR_HEADER_MAX);
    if (says > n - 8)
        return heed_fail(err, HEED_FILE,
                         "file is %" PRIu64 " bytes short (%zu of a header of %" PRIu64 " bytes): "
                         "download incomplete",
                         says - (n - 8), n - 8, says);
    *length = (size_t)says;
    return true;
}

bool heed_tensors_parse(heed_tensors *t, const char *label, const unsigned char *data, size_t n,
                        heed_error *err) {
    heed_error why = {0};
    size_t length = 0;
    bool ok = read_length(data, n, &length, &why);
    if (ok) {
        json_t *header = heed_json_parse(t->host, label, (const char *)data + 8, length, err);
        if (!header)
            return false; /* its error names the file */
        ok = add_header(t, header, data + 8 + length, n - 8 - length, &why);
        json_decref(header);
    }
    return ok || heed_fail(err, why.code, "'%s': %s", label, why.text);
}
