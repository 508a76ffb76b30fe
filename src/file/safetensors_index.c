/* safetensors_index.c: a model in several files, by its model.safetensors.index.json.
 *
 * The index maps each tensor's name to the file it is in. Files are opened in the order of their
 * names; then every name of the index must have come from the file that the index says.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "file/json.h"
#include "file/tensors.h"

enum { PATH_SIZE = 4096 };

typedef struct {
    const char *name;   /* lies in the index's JSON */
    int64_t first, end; /* its tensors */
} shard;

/* A shard is a plain name beside the index: an index from elsewhere must not reach other
 * folders. */
static bool check_name(const char *name, heed_error *err) {
    if (*name && !strpbrk(name, "/\\:") && strcmp(name, "..") != 0 && strcmp(name, ".") != 0)
        return true;
    return heed_fail(err, HEED_FILE, "'%s' is no name of a file beside the index", name);
}

static int by_name(const void *a, const void *b) {
    const shard *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The different file names of the weight map, sorted; list has room for all of its entries. */
static bool list_shards(const json_t *map, shard *list, size_t *n, heed_error *err) {
    const char *key;
    json_t *value, *object = (json_t *)(uintptr_t)map; /* jansson's iterator does not write */
    size_t all = 0;
    json_object_foreach(object, key, value) {
        const char *name = json_string_value(value);
        if (!name)
            return heed_fail(err, HEED_FILE, "weight_map of '%s' is %s, wanted a file name", key,
                             heed_json_kind(value));
        if (!check_name(name, err))
            return false;
        list[all++].name = name;
    }
    qsort(list, all, sizeof *list, by_name);
    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (i == 0 || strcmp(list[i].name, list[*n - 1].name) != 0)
            list[(*n)++].name = list[i].name;
    return true;
}

static bool open_shards(heed_tensors *t, const char *folder, shard *list, size_t n,
                        heed_error *err) {
    for (size_t i = 0; i < n; i++) {
        char path[PATH_SIZE];
        list[i].first = t->n;
        if (!heed_join_path(path, sizeof path, folder, list[i].name, err))
            return false;
        if (!heed_tensors_add_file(t, path, err))
            return false;
        list[i].end = t->n;
    }
    return true;
}

static bool check_places(const heed_tensors *t, const json_t *map, const shard *list, size_t n,
                         heed_error *err) {
    const char *key;
    json_t *value, *object = (json_t *)(uintptr_t)map;
    json_object_foreach(object, key, value) {
        shard wanted = {.name = json_string_value(value)};
        const shard *s = bsearch(&wanted, list, n, sizeof *list, by_name);
        const heed_map_entry *found = heed_map_find(&t->by_name, key, strlen(key));
        if (!s || !found || found->value < s->first || found->value >= s->end)
            return heed_fail(err, HEED_FILE, "tensor '%s' is not in '%s', where the index has it",
                             key, wanted.name);
    }
    return true;
}

static bool add_shards(heed_tensors *t, const char *folder, const char *path, const json_t *index,
                       heed_error *err) {
    heed_error why = {0};
    const json_t *map = heed_json_object(index, "weight_map", &why);
    if (!map)
        return heed_fail(err, HEED_FILE, "'%s': %s", path, why.text);
    shard *list = heed_alloc(t->host, json_object_size(map), sizeof *list, err);
    if (!list)
        return false;
    size_t n = 0;
    bool listed = list_shards(map, list, &n, &why);
    bool opened = listed && open_shards(t, folder, list, n, err); /* these errors name the shard */
    bool ok = opened && check_places(t, map, list, n, &why);
    heed_free(t->host, list);
    if (!listed || (opened && !ok))
        return heed_fail(err, why.code, "'%s': %s", path, why.text);
    return ok;
}

bool heed_tensors_add_index(heed_tensors *t, const char *folder, const char *path,
                            heed_error *err) {
    json_t *index = heed_json_read(t->host, path, HEED_TENSOR_HEADER_MAX, err);
    if (!index)
        return false;
    bool ok = add_shards(t, folder, path, index, err);
    json_decref(index);
    return ok;
}
