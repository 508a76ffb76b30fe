/* gguf_write.c: settings and tensors to a GGUF file.
 *
 * Invariant: what is written here, gguf.c reads: sizes and places are computed before the first
 * byte goes out. Format: ggml, gguf.md, version 3.
 * SPDX-License-Identifier: MIT
 */
#include "file/gguf_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "file/gguf_bytes.h"
#include "file/json.h"
#include "file/tensors.h"

enum { NAME_MOST = 63 };

/* ---- Numbers and texts ---- */

static void put(heed_buf *out, const void *data, size_t n) {
    heed_buf_add(out, data, n);
}

static void put_u32(heed_buf *out, uint32_t x) {
    put(out, &x, sizeof x);
}

static void put_u64(heed_buf *out, uint64_t x) {
    put(out, &x, sizeof x);
}

static void put_string(heed_buf *out, const char *s, size_t n) {
    put_u64(out, n);
    put(out, s, n);
}

/* ---- Settings ---- */

static heed_buf *begin(heed_gguf_settings *s, const char *key, uint32_t type) {
    s->count++;
    put_string(&s->bytes, key, strlen(key));
    put_u32(&s->bytes, type);
    return &s->bytes;
}

void heed_gguf_put_integer(heed_gguf_settings *s, const char *key, int64_t value) {
    if (value > UINT32_MAX || value < INT32_MIN)
        put_u64(begin(s, key, value < 0 ? GGUF_I64 : GGUF_U64), (uint64_t)value);
    else
        put_u32(begin(s, key, value < 0 ? GGUF_I32 : GGUF_U32), (uint32_t)value);
}

void heed_gguf_put_real(heed_gguf_settings *s, const char *key, double value) {
    float x = (float)value;
    put(begin(s, key, GGUF_F32), &x, sizeof x);
}

void heed_gguf_put_bool(heed_gguf_settings *s, const char *key, bool value) {
    unsigned char x = value;
    put(begin(s, key, GGUF_BOOL), &x, 1);
}

void heed_gguf_put_text(heed_gguf_settings *s, const char *key, const char *text, size_t n) {
    put_string(begin(s, key, GGUF_STRING), text, n);
}

static heed_buf *begin_array(heed_gguf_settings *s, const char *key, uint32_t type, int64_t n) {
    heed_buf *out = begin(s, key, GGUF_ARRAY);
    put_u32(out, type);
    put_u64(out, (uint64_t)n);
    return out;
}

void heed_gguf_put_texts(heed_gguf_settings *s, const char *key, const heed_line *item, int64_t n) {
    heed_buf *out = begin_array(s, key, GGUF_STRING, n);
    for (int64_t i = 0; i < n; i++)
        put_string(out, item[i].s, item[i].n);
}

void heed_gguf_put_reals(heed_gguf_settings *s, const char *key, const float *item, int64_t n) {
    put(begin_array(s, key, GGUF_F32, n), item, (size_t)n * sizeof *item);
}

void heed_gguf_put_integers(heed_gguf_settings *s, const char *key, const int32_t *item,
                            int64_t n) {
    put(begin_array(s, key, GGUF_I32, n), item, (size_t)n * sizeof *item);
}

/* ---- The head: counts, settings, the list of tensors, padding ---- */

static bool check_tensor(const heed_tensor *t, size_t *bytes, uint32_t *type, heed_error *err) {
    if (strlen(t->name) > NAME_MOST)
        return heed_fail(err, HEED_NAME, "tensor name '%s' has more than the %d bytes of GGUF",
                         t->name, NAME_MOST);
    if (t->rank < 1 || t->rank > GGUF_DIMS)
        return heed_fail(err, HEED_SHAPE, "tensor '%s' has %d dimensions, GGUF has 1 to %d",
                         t->name, t->rank, GGUF_DIMS);
    if (!heed_gguf_type_number(t->type, type))
        return heed_fail(err, HEED_VALUE, "tensor '%s' is %s, which GGUF does not have", t->name,
                         heed_type_name(t->type));
    return heed_tensor_check(t, bytes, err) &&
           (*bytes > 0 || heed_fail(err, HEED_SHAPE, "tensor '%s' has no numbers", t->name));
}

static bool print_tensor(heed_buf *out, const heed_tensor *t, uint64_t *at, heed_error *err) {
    size_t bytes;
    uint32_t type;
    if (!check_tensor(t, &bytes, &type, err))
        return false;
    put_string(out, t->name, strlen(t->name));
    put_u32(out, (uint32_t)t->rank);
    for (int i = t->rank - 1; i >= 0; i--)
        put_u64(out, (uint64_t)t->dim[i]);
    put_u32(out, type);
    put_u64(out, *at);
    *at += bytes + heed_padding(bytes, GGUF_ALIGNMENT);
    return true;
}

static bool print_head(heed_buf *out, const heed_gguf_settings *s, const heed_tensor *list,
                       int64_t n, heed_error *err) {
    uint64_t at = 0;
    put(out, "GGUF", 4);
    put_u32(out, 3);
    put_u64(out, (uint64_t)n);
    put_u64(out, s->count);
    put(out, s->bytes.data, s->bytes.n);
    for (int64_t i = 0; i < n; i++)
        if (!print_tensor(out, &list[i], &at, err))
            return false;
    put(out, (const char[GGUF_ALIGNMENT]){0}, heed_padding(out->n, GGUF_ALIGNMENT));
    return !(out->failed || s->bytes.failed) ||
           heed_fail(err, HEED_NOMEM, "no memory for the head of %" PRId64 " tensors", n);
}

bool heed_gguf_print(heed_buf *out, const heed_gguf_settings *settings, heed_error *err) {
    return print_head(out, settings, NULL, 0, err);
}

/* ---- The file ---- */

bool heed_gguf_write(const heed_host *host, const char *path, const heed_gguf_settings *settings,
                     const heed_tensor *list, int64_t n, heed_tensor_source *source, void *ctx,
                     heed_error *err) {
    heed_buf head = {.host = host};
    heed_error why = {0};
    bool ok =
        heed_tensors_differ(host, list, n, &why) && print_head(&head, settings, list, n, &why);
    if (!ok)
        heed_fail(err, why.code, "'%s': %s", path, why.text);
    ok = ok && heed_tensors_put(host,
                                &(heed_tensor_file){.path = path,
                                                    .head = &head,
                                                    .list = list,
                                                    .n = n,
                                                    .alignment = GGUF_ALIGNMENT,
                                                    .source = source,
                                                    .ctx = ctx},
                                err);
    heed_buf_free(&head);
    return ok;
}
