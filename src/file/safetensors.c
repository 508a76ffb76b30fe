/* safetensors.c: opening tensors by path, finding them, converting them.
 * SPDX-License-Identifier: MIT
 */
#include "file/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/llama2c.h"
#include "file/torch.h"

enum { PATH_SIZE = 4096 };

/* ---- Opening ---- */

heed_tensors *heed_tensors_new(const heed_host *host, heed_error *err) {
    heed_tensors *t = heed_alloc(host, 1, sizeof *t, err);
    if (!t)
        return NULL;
    t->host = host;
    t->texts.host = host;
    heed_map_init(&t->by_name, host);
    heed_map_init(&t->by_key, host);
    return t;
}

void heed_tensors_free(heed_tensors *t) {
    if (!t)
        return;
    for (int64_t i = 0; i < t->files; i++)
        heed_unmap_file(&t->file[i]);
    heed_free(t->host, t->file);
    heed_free(t->host, t->tensor);
    heed_free(t->host, t->meta);
    heed_map_free(&t->by_name);
    heed_map_free(&t->by_key);
    heed_region_free(&t->texts);
    heed_free(t->host, t);
}

bool heed_tensors_add(heed_tensors *t, const heed_tensor *tensor, const char *twice,
                      heed_error *err) {
    bool added;
    if (!heed_reserve(t->host, (void **)&t->tensor, &t->tensor_cap, (size_t)t->n + 1,
                      sizeof *t->tensor, err))
        return false;
    if (!heed_map_put(&t->by_name, tensor->name, strlen(tensor->name), t->n, &added, err))
        return false;
    if (!added)
        return heed_fail(err, HEED_FILE, "tensor '%s' is %s", tensor->name, twice);
    t->tensor[t->n++] = *tensor;
    return true;
}

bool heed_tensors_add_meta(heed_tensors *t, const char *key, const char *value, heed_error *err) {
    bool added;
    const heed_map_entry *known = heed_map_put(&t->by_key, key, strlen(key), t->metas, &added, err);
    if (!known || !added)
        return known != NULL;
    if (!heed_reserve(t->host, (void **)&t->meta, &t->meta_cap, (size_t)t->metas + 1,
                      sizeof *t->meta, err))
        return false;
    heed_meta *at = &t->meta[t->metas];
    at->key = known->key;
    at->value = heed_region_text(&t->texts, value, strlen(value), err);
    t->metas += at->value != NULL;
    return at->value != NULL;
}

bool heed_tensors_parse_any(heed_tensors *t, const char *label, const unsigned char *data, size_t n,
                            heed_error *err) {
    bool torch = heed_is_torch(data, n), llama2c = !torch && heed_is_llama2c(data, n);
    t->format = torch ? "torch" : llama2c ? "llama2.c" : "safetensors";
    return torch     ? heed_tensors_parse_torch(t, label, data, n, err)
           : llama2c ? heed_tensors_parse_llama2c(t, label, data, n, err)
                     : heed_tensors_parse(t, label, data, n, err);
}

bool heed_tensors_add_file(heed_tensors *t, const char *path, heed_error *err) {
    if (!heed_reserve(t->host, (void **)&t->file, &t->file_cap, (size_t)t->files + 1,
                      sizeof *t->file, err))
        return false;
    heed_mapped *file = &t->file[t->files];
    if (!heed_map_file(file, path, err))
        return false;
    t->files++;
    t->mapped = true;
    return heed_tensors_parse_any(t, path, file->data, file->n, err);
}

static bool add_folder(heed_tensors *t, const char *folder, heed_error *err) {
    char path[PATH_SIZE];
    if (!heed_join_path(path, sizeof path, folder, "model.safetensors", err))
        return false;
    if (heed_is_there(path))
        return heed_tensors_add_file(t, path, err);
    if (!heed_join_path(path, sizeof path, folder, "model.safetensors.index.json", err))
        return false;
    if (heed_is_there(path))
        return heed_tensors_add_index(t, folder, path, err);
    if (!heed_join_path(path, sizeof path, folder, "pytorch_model.bin", err))
        return false;
    if (heed_is_there(path))
        return heed_tensors_add_file(t, path, err);
    if (!heed_join_path(path, sizeof path, folder, "pytorch_model.bin.index.json", err))
        return false;
    if (heed_is_there(path))
        return heed_tensors_add_index(t, folder, path, err);
    return heed_fail(err, HEED_FILE,
                     "'%s' has neither model.safetensors nor pytorch_model.bin, nor an index of "
                     "either",
                     folder);
}

/* An index given by its own path: its shards lie beside it. */
static bool add_index(heed_tensors *t, const char *path, heed_error *err) {
    char folder[PATH_SIZE];
    return heed_folder_of(folder, sizeof folder, path, err) &&
           heed_tensors_add_index(t, folder, path, err);
}

heed_tensors *heed_tensors_open(const heed_host *host, const char *path, heed_error *err) {
    heed_tensors *t = heed_tensors_new(host, err);
    if (!t)
        return NULL;
    bool ok = heed_is_folder(path)                ? add_folder(t, path, err)
              : heed_ends_in(path, ".index.json") ? add_index(t, path, err)
                                                  : heed_tensors_add_file(t, path, err);
    if (ok)
        return t;
    heed_tensors_free(t);
    return NULL;
}

heed_tensors *heed_tensors_from_bytes(const heed_host *host, const char *label, const void *data,
                                      size_t n, heed_error *err) {
    heed_tensors *t = heed_tensors_new(host, err);
    if (!t)
        return NULL;
    if (heed_tensors_parse_any(t, label, data, n, err))
        return t;
    heed_tensors_free(t);
    return NULL;
}

/* ---- Finding ---- */

const char *heed_tensors_format(const heed_tensors *t) {
    return t->format;
}

bool heed_tensors_mapped(const heed_tensors *t) {
    return t->mapped;
}

int64_t heed_tensors_count(const heed_tensors *t) {
    return t->n;
}

const heed_tensor *heed_tensors_at(const heed_tensors *t, int64_t i) {
    return &t->tensor[i];
}

const heed_tensor *heed_tensors_find(const heed_tensors *t, const char *name) {
    const heed_map_entry *entry = heed_map_find(&t->by_name, name, strlen(name));
    return entry ? &t->tensor[entry->value] : NULL;
}

int64_t heed_tensors_meta_count(const heed_tensors *t) {
    return t->metas;
}

const heed_meta *heed_tensors_meta_at(const heed_tensors *t, int64_t i) {
    return &t->meta[i];
}

const char *heed_tensors_meta(const heed_tensors *t, const char *key) {
    const heed_map_entry *entry = heed_map_find(&t->by_key, key, strlen(key));
    return entry ? t->meta[entry->value].value : NULL;
}

/* ---- One tensor ---- */

const char *heed_tensor_shape(const heed_tensor *t, char out[180]) {
    size_t n = 0;
    out[n++] = '(';
    for (int i = 0; i < t->rank; i++)
        n += (size_t)snprintf(out + n, 24, "%s%" PRId64, i ? "," : "", t->dim[i]);
    out[n++] = ')';
    out[n] = '\0';
    return out;
}

int64_t heed_tensor_elements(const heed_tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

bool heed_tensor_measure(const heed_tensor *t, int64_t *elements, size_t *bytes, heed_error *err) {
    int64_t block = heed_type_block(t->type), n = 1;
    int64_t most = INT64_MAX / (int64_t)heed_type_bytes(t->type);
    bool empty = false;
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] < 0)
            return heed_fail(err, HEED_SHAPE,
                             "tensor '%s': dimension %d is %" PRId64 ", below zero", t->name, i,
                             t->dim[i]);
        if (t->dim[i] == 0)
            empty = true;
        if (t->dim[i] > 0 && n > most / t->dim[i]) {
            char shape[180];
            return heed_fail(err, HEED_SHAPE, "tensor '%s': shape %s of %s overflows 64 bits",
                             t->name, heed_tensor_shape(t, shape), heed_type_name(t->type));
        }
        if (t->dim[i] > 0)
            n *= t->dim[i];
    }
    if (block > 1 && (t->rank == 0 || t->dim[t->rank - 1] % block != 0)) {
        char shape[180];
        return heed_fail(err, HEED_SHAPE,
                         "tensor '%s': rows of shape %s are not whole blocks of %" PRId64
                         ", as %s has them",
                         t->name, heed_tensor_shape(t, shape), block, heed_type_name(t->type));
    }
    *elements = empty ? 0 : n;
    *bytes = heed_elements_bytes(t->type, *elements);
    return true;
}

bool heed_tensor_to_f32(const heed_tensor *t, float *out, heed_error *err) {
    if (heed_type_to_f32(t->type, t->data, heed_tensor_elements(t), out))
        return true;
    return heed_fail(err, HEED_VALUE, "tensor '%s' is %s, wanted a float type", t->name,
                     heed_type_name(t->type));
}

bool heed_tensor_to_i64(const heed_tensor *t, int64_t *out, heed_error *err) {
    if (heed_type_to_i64(t->type, t->data, heed_tensor_elements(t), out))
        return true;
    return heed_fail(err, HEED_VALUE, "tensor '%s' is %s, wanted an integer type", t->name,
                     heed_type_name(t->type));
}
