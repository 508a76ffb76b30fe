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
    if (!check_text("tensor name", t->name, err))
        return false;
    if (strcmp(t->name, "__metadata__") == 0)
        return heed_fail(err, HEED_NAME, "a tensor cannot be called '__metadata__'");
    if (t->rank < 0 || t->rank > HEED_TENSOR_RANK)
        return heed_fail(err, HEED_SHAPE, "tensor '%s' has %d dimensions, at most %d are written",
                         t->name, t->rank, HEED_TENSOR_RANK);
    return heed_tensor_check(t, &t->bytes, err);
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

/* The header behind its length, which is known when it is printed. */
static bool print_head(heed_buf *out, const heed_tensor *list, int64_t n, const heed_meta *meta,
                       int64_t metas, heed_error *err) {
    uint64_t length = 0;
    size_t at = 0;
    heed_buf_add(out, &length, sizeof length);
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
    heed_buf_add(out, "       ", heed_padding(out->n, 8));
    if (out->failed)
        return heed_fail(err, HEED_NOMEM, "no memory for a header of %" PRId64 " tensors", n);
    length = out->n - sizeof length;
    if (length > HEED_TENSOR_HEADER_MAX)
        return heed_fail(err, HEED_LIMIT,
                         "the header takes %" PRIu64 " bytes, at most %d are allowed", length,
                         HEED_TENSOR_HEADER_MAX);
    memcpy(out->data, &length, sizeof length);
    return true;
}

bool heed_tensors_write(const heed_host *host, const char *path, const heed_tensor *list, int64_t n,
                        const heed_meta *meta, int64_t metas, heed_error *err) {
    return heed_tensors_write_from(host, path, list, n, meta, metas, NULL, NULL, err);
}

bool heed_tensors_write_from(const heed_host *host, const char *path, const heed_tensor *list,
                             int64_t n, const heed_meta *meta, int64_t metas,
                             heed_tensor_source *source, void *ctx, heed_error *err) {
    heed_error why = {0};
    heed_buf head = {.host = host};
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
    ok = ok && print_head(&head, sorted, n, meta, metas, &why);
    if (!ok)
        heed_fail(err, why.code, "'%s': %s", path, why.text);
    ok = ok && heed_tensors_put(host,
                                &(heed_tensor_file){.path = path,
                                                    .head = &head,
                                                    .list = sorted,
                                                    .n = n,
                                                    .alignment = 1,
                                                    .source = source,
                                                    .ctx = ctx},
                                err);
    heed_buf_free(&head);
    heed_free(host, sorted);
    return ok;
}
