/* tensors_write.c: what writing safetensors and GGUF has in common: checks of the tensors, and the
 * file behind its head.
 *
 * Numbers go out as they lie: little endian, as this machine is (dtype.c).
 * SPDX-License-Identifier: MIT
 */
#include "file/tensors.h"

#include <string.h>

#include "base/error.h"

static const char zeros[64];

size_t heed_padding(size_t n, size_t alignment) {
    return (alignment - n % alignment) % alignment;
}

bool heed_tensor_check(const heed_tensor *t, size_t *bytes, heed_error *err) {
    int64_t elements;
    size_t needs;
    char shape[180];
    if (!heed_tensor_measure(t, &elements, &needs, err))
        return false;
    if (t->bytes != 0 && t->bytes != needs)
        return heed_fail(err, HEED_SHAPE, "tensor '%s' has %zu bytes, shape %s of %s needs %zu",
                         t->name, t->bytes, heed_tensor_shape(t, shape), heed_type_name(t->type),
                         needs);
    *bytes = needs; /* which may be the tensor's own */
    return true;
}

/* A list may be sorted by type, so equal names need not be neighbours. */
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

static bool put(heed_writer *w, const heed_tensor_file *f, const heed_tensor *given,
                heed_error *err) {
    heed_tensor t = *given;
    if (!heed_tensor_check(given, &t.bytes, err))
        return false;
    if (t.bytes == 0)
        return true;
    const void *data = f->source ? f->source(f->ctx, &t, err) : t.data;
    return data && heed_writer_add(w, data, t.bytes, err) &&
           heed_writer_add(w, zeros, heed_padding(t.bytes, f->alignment), err);
}

bool heed_tensors_put(const heed_host *host, const heed_tensor_file *f, heed_error *err) {
    heed_writer *w = heed_writer_new(host, f->path, err);
    bool ok = w && heed_writer_add(w, f->head->data, f->head->n, err);
    for (int64_t i = 0; ok && i < f->n; i++)
        ok = put(w, f, &f->list[i], err);
    if (ok)
        return heed_writer_commit(w, err);
    heed_writer_cancel(w);
    return false;
}
