/* safetensors_write.c: named tensors to a file, in the reference library's order and bytes.
 *
 * Order: element type (widest first, see HEED_TYPES), then name. With the header padded to 8 bytes
 * every tensor then starts at a multiple of its element's size, so whoever maps the file can use it
 * in place.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/json.h"
#include "file/tensors.h"

static int by_type_and_name(const void *a, const void *b) {
    const heed_tensor *x = a, *y = b;
    if (x->type != y->type)
        return x->type > y->type ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool check_text(const char *what, const char *s, heed_error *err) {
    size_t n = strlen(s), good = heed_utf8_check(s, n);
    if (good == n)
        return true;
    return heed_fail(err, HEED_NAME, "%s '%.*s...' is not UTF-8 at byte %zu", what, (int)good, s,
                     good);
}

static bool check_tensor(heed_tensor *t, heed_error *err) {
    int64_t elements;
    size_t bytes;
    if (!check_text("tensor name", t->name, err))
        return false;
    if (strcmp(t->name, "__metadata__") == 0)
        return heed_fail(err, HEED_NAME, "a tensor cannot be called '__metadata__'");
    if (t->rank < 0 || t->rank > HEED_TENSOR_RANK)
        return heed_fail(err, HEED_SHAPE, "tensor '%s' has %d dimensions, at most %d are written",
                         t->name, t->rank, HEED_TENSOR_RANK);
    if (!heed_tensor_measure(t, &elements, &bytes, err))
        return false;
    if (t->bytes != 0 && t->bytes != bytes) {
        char shape[180];
        return heed_fail(err, HEED_SHAPE, "tensor '%s' has %zu bytes, shape %s of %s needs %zu",
                         t->name, t->bytes, heed_tensor_shape(t, shape), heed_type_name(t->type),
                         bytes);
    }
    t->bytes = bytes;
    return true;
}

/* The list is sorted by type first, so equal names need not be neighbours. */
bool heed_tensors_differ(const heed_host *host, const heed_tensor *list, int64_t n,
                         heed_error *err) {
    heed_map seen;
    bool ok = true, added = true;
    heed_map_init(&seen, host);
    for (int64_t i = 0; ok && i < n; i++) {
        ok = heed_map_put(&seen, list[i].name, strlen(list[i].name), i, &added, err) != NULL;
        if (ok && !added)
            ok = heed_fail(err, HEED_NAME, "two tensors are called '%s'", list[i].name);
    }
    heed_map_free(&seen);
    return ok;
}

static bool print_meta(heed_buf *out, const heed_meta *meta, int64_t metas, heed_error *err) {
    heed_buf_text(out, "\"__metadata__\":{");
    for (int64_t i = 0; i < metas; i++) {
        if (!check_text("metadata key", meta[i].key, err) ||
            !check_text("metadata value", meta[i].value, err))
            return false;
        for (int64_t j = 0; j < i; j++)
            if (strcmp(meta[i].key, meta[j].key) == 0)
                return heed_fail(err, HEED_NAME, "metadata has the key '%s' twice", meta[i].key);
        if (i)
            heed_buf_text(out, ",");
        heed_json_print_string(out, meta[i].key, strlen(meta[i].key));
        heed_buf_text(out, ":");
        heed_json_print_string(out, meta[i].value, strlen(meta[i].value));
    }
    heed_buf_text(out, "}");
    return true;
}

static bool print_header(heed_buf *out, const heed_tensor *list, int64_t n, const heed_meta *meta,
                         int64_t metas, heed_error *err) {
    size_t at = 0;
    heed_buf_text(out, "{");
    if (metas && !print_meta(out, meta, metas, err))
        return false;
    for (int64_t i = 0; i < n; i++) {
        const heed_tensor *t = &list[i];
        if (i || metas)
            heed_buf_text(out, ",");
        heed_json_print_string(out, t->name, strlen(t->name));
        heed_buf_format(out, ":{\"dtype\":\"%s\",\"shape\":[", heed_type_name(t->type));
        for (int d = 0; d < t->rank; d++)
            heed_buf_format(out, "%s%" PRId64, d ? "," : "", t->dim[d]);
        heed_buf_format(out, "],\"data_offsets\":[%zu,%zu]}", at, at + t->bytes);
        at += t->bytes;
    }
    heed_buf_text(out, "}");
    while (out->n % 8 && heed_buf_text(out, " "))
        continue;
    if (out->failed)
        return heed_fail(err, HEED_NOMEM, "no memory for a header of %" PRId64 " tensors", n);
    if (out->n > HEED_TENSOR_HEADER_MAX)
        return heed_fail(err, HEED_LIMIT, "the header takes %zu bytes, at most %d are allowed",
                         out->n, HEED_TENSOR_HEADER_MAX);
    return true;
}

bool heed_tensor_put(heed_writer *w, const heed_tensor *t, heed_tensor_source *source, void *ctx,
                     heed_error *err) {
    const void *data = source && t->bytes ? source(ctx, t, err) : t->data;
    return !t->bytes || (data && heed_writer_add(w, data, t->bytes, err));
}

static bool write_all(const heed_host *host, const char *path, const heed_buf *header,
                      const heed_tensor *list, int64_t n, heed_tensor_source *source, void *ctx,
                      heed_error *err) {
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)header->n >> (8 * i));
    heed_writer *w = heed_writer_new(host, path, err);
    if (!w)
        return false;
    bool ok = heed_writer_add(w, length, sizeof length, err) &&
              heed_writer_add(w, header->data, header->n, err);
    for (int64_t i = 0; ok && i < n; i++)
        ok = heed_tensor_put(w, &list[i], source, ctx, err);
    if (ok)
        return heed_writer_commit(w, err);
    heed_writer_cancel(w);
    return false;
}

bool heed_tensors_write(const heed_host *host, const char *path, const heed_tensor *list, int64_t n,
                        const heed_meta *meta, int64_t metas, heed_error *err) {
    return heed_tensors_write_from(host, path, list, n, meta, metas, NULL, NULL, err);
}

bool heed_tensors_write_from(const heed_host *host, const char *path, const heed_tensor *list,
                             int64_t n, const heed_meta *meta, int64_t metas,
                             heed_tensor_source *source, void *ctx, heed_error *err) {
    heed_error why = {0};
    heed_buf header = {.host = host};
    heed_tensor *sorted = heed_alloc(host, (size_t)n, sizeof *sorted, err);
    if (!sorted)
        return false;
    if (n)
        memcpy(sorted, list, (size_t)n * sizeof *sorted);
    bool ok = true;
    for (int64_t i = 0; ok && i < n; i++)
        ok = check_tensor(&sorted[i], &why);
    ok = ok && heed_tensors_differ(host, sorted, n, &why);
    if (ok)
        qsort(sorted, (size_t)n, sizeof *sorted, by_type_and_name);
    ok = ok && print_header(&header, sorted, n, meta, metas, &why);
    if (!ok)
        heed_fail(err, why.code, "'%s': %s", path, why.text);
    ok = ok && write_all(host, path, &header, sorted, n, source, ctx, err);
    heed_buf_free(&header);
    heed_free(host, sorted);
    return ok;
}
