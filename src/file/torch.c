/* torch.c: from a pickle's tree and the storages beside it to checked tensors.
 *
 * Invariant: a storage lies inside the file.
 * SPDX-License-Identifier: MIT
 */
#include "file/torch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/little.h"
#include "file/torch_view.h"
#include "file/zip.h"

static const char *const ALLOWED[] = {"collections OrderedDict",
                                      "torch._utils _rebuild_tensor_v2",
                                      "torch._utils _rebuild_parameter",
                                      "torch FloatStorage",
                                      "torch DoubleStorage",
                                      "torch HalfStorage",
                                      "torch BFloat16Storage",
                                      "torch LongStorage",
                                      "torch IntStorage",
                                      "torch ShortStorage",
                                      "torch CharStorage",
                                      "torch ByteStorage",
                                      "torch BoolStorage",
                                      "torch Size",
                                      NULL};

static const struct {
    const char *name;
    heed_type type;
} STORAGES[] = {
    {"torch FloatStorage", HEED_F32}, {"torch DoubleStorage", HEED_F64},
    {"torch HalfStorage", HEED_F16},  {"torch BFloat16Storage", HEED_BF16},
    {"torch LongStorage", HEED_I64},  {"torch IntStorage", HEED_I32},
    {"torch ShortStorage", HEED_I16}, {"torch CharStorage", HEED_I8},
    {"torch ByteStorage", HEED_U8},   {"torch BoolStorage", HEED_BOOL},
};

typedef struct {
    heed_type type;
    const unsigned char *data;
    size_t n;
} storage;

typedef struct {
    heed_tensors *t;
    heed_pickle tree;
    heed_zip zip;     /* of the newer form; data is NULL in the older one */
    heed_map keys;    /* of the older form: a storage's key to its index in `storage` */
    storage *storage; /* of the older form */
    char folder[256]; /* in the archive, with its slash */
    heed_error *err;
} reader;

static const heed_pickle_node *item(const reader *r, const heed_pickle_node *list, uint32_t i) {
    return heed_pickle_item(&r->tree, list, i);
}

/* ---- Storages ---- */

/* What a persistent node says: ("storage", type, key, place, count ...). */
static bool read_storage(const reader *r, const heed_pickle_node *node, heed_type *type,
                         char key[64]) {
    const heed_pickle_node *args =
        node && node->kind == HEED_PICKLE_PERSISTENT ? &r->tree.node[node->args] : NULL;
    const heed_pickle_node *kind = args ? item(r, args, 1) : NULL,
                           *name = args ? item(r, args, 2) : NULL;
    if (!kind || !name || !heed_pickle_is(item(r, args, 0), HEED_PICKLE_TEXT, "storage") ||
        name->kind != HEED_PICKLE_TEXT || name->n >= 64 || name->n == 0) {
        return false;
    }
    memcpy(key, name->text, name->n);
    key[name->n] = '\0';
    for (size_t i = 0; i < sizeof STORAGES / sizeof *STORAGES; i++) {
        if (heed_pickle_is(kind, HEED_PICKLE_GLOBAL, STORAGES[i].name)) {
            *type = STORAGES[i].type;
            return true;
        }
    }
    return false;
}

static bool find_storage(const reader *r, const char *key, heed_view *v) {
    if (r->zip.data) {
        char name[sizeof r->folder + 80];
        snprintf(name, sizeof name, "%sdata/%s", r->folder, key);
        return heed_zip_find(&r->zip, name, &v->data, &v->n, r->err);
    }
    const heed_map_entry *e = heed_map_find(&r->keys, key, strlen(key));
    if (!e) {
        return heed_fail(r->err, HEED_FILE, "the file has no storage '%s'", key);
    }
    v->data = r->storage[e->value].data;
    v->n = r->storage[e->value].n;
    return true;
}

/* ---- Tensors ---- */

/* The arguments of _rebuild_tensor_v2, also inside of a parameter; NULL for anything else. */
static const heed_pickle_node *tensor_args(const reader *r, const heed_pickle_node *node) {
    const heed_pickle_node *parameter =
        heed_pickle_call(&r->tree, node, "torch._utils _rebuild_parameter");
    return heed_pickle_call(&r->tree, parameter ? item(r, parameter, 0) : node,
                            "torch._utils _rebuild_tensor_v2");
}

static bool add_tensor(const reader *r, const heed_pickle_node *key,
                       const heed_pickle_node *value) {
    const heed_pickle_node *args = tensor_args(r, value);
    if (!args) {
        return true;
    }
    if (key->kind != HEED_PICKLE_TEXT || key->n == 0 || memchr(key->text, 0, key->n) ||
        heed_utf8_check(key->text, key->n) != key->n) {
        return heed_fail(r->err, HEED_FILE, "the name of a tensor is no text");
    }
    heed_view v = {0};
    char storage_key[64];
    v.tensor.name = heed_region_text(&r->t->texts, key->text, key->n, r->err);
    if (!v.tensor.name) {
        return false;
    }
    if (!read_storage(r, item(r, args, 0), &v.tensor.type, storage_key)) {
        return heed_fail(r->err, HEED_FILE,
                         "tensor '%s': its storage is of a kind that is not read", v.tensor.name);
    }
    return find_storage(r, storage_key, &v) && heed_view_place(&r->tree, args, &v, r->err) &&
           heed_view_add(r->t, &v, r->err);
}

/* ---- The dict ---- */

static bool is_dict(const heed_pickle_node *node) {
    return node && (node->kind == HEED_PICKLE_DICT || node->kind == HEED_PICKLE_CALL);
}

static bool is_usual(const heed_pickle_node *key) {
    return heed_pickle_is(key, HEED_PICKLE_TEXT, "state_dict") ||
           heed_pickle_is(key, HEED_PICKLE_TEXT, "model_state_dict") ||
           heed_pickle_is(key, HEED_PICKLE_TEXT, "model");
}

/* The dict of tensors: the root, or what it holds under one of the usual names. */
static const heed_pickle_node *find_dict(const reader *r, const heed_pickle_node *root) {
    const heed_pickle_node *key, *value;
    for (uint32_t cell = root->first; heed_pickle_pair(&r->tree, &cell, &key, &value);) {
        if (is_usual(key) && is_dict(value) && !tensor_args(r, value)) {
            return value;
        }
    }
    return root;
}

static bool add_all(reader *r) {
    const heed_pickle_node *root = &r->tree.node[r->tree.root], *key, *value;
    if (!is_dict(root) || tensor_args(r, root)) {
        return heed_fail(r->err, HEED_FILE, "the pickle holds no dict of tensors");
    }
    int64_t before = r->t->n;
    uint32_t cell = find_dict(r, root)->first;
    while (heed_pickle_pair(&r->tree, &cell, &key, &value)) {
        if (!add_tensor(r, key, value)) {
            return false;
        }
    }
    return r->t->n > before ||
           heed_fail(r->err, HEED_FILE, "there is no tensor in the pickle's dict");
}

/* ---- The newer form ---- */

static bool read_archive(reader *r, const unsigned char *data, size_t n) {
    if (!heed_zip_read(&r->zip, r->t->host, data, n, r->err)) {
        return false;
    }
    const char *record = heed_zip_ending(&r->zip, "data.pkl");
    size_t folder = record ? strlen(record) - strlen("data.pkl") : 0;
    if (!record || folder >= sizeof r->folder) {
        return heed_fail(r->err, HEED_FILE,
                         "a zip archive without data.pkl: this is not what torch.save writes");
    }
    memcpy(r->folder, record, folder);
    char order[sizeof r->folder + 16];
    snprintf(order, sizeof order, "%sbyteorder", r->folder);
    const unsigned char *bytes;
    size_t length, at = 0;
    if (heed_map_find(&r->zip.places, order, strlen(order)) &&
        (!heed_zip_find(&r->zip, order, &bytes, &length, r->err) || length != 6 ||
         memcmp(bytes, "little", 6) != 0)) {
        return heed_fail(r->err, HEED_FILE, "its numbers are big-endian, which is not read");
    }
    return heed_zip_find(&r->zip, record, &bytes, &length, r->err) &&
           heed_pickle_read(&r->tree, bytes, length, &at, r->err) && add_all(r);
}

/* ---- The older form ---- */

static const unsigned char MAGIC[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

/* Storages by their keys, as the tree's persistent nodes tell them; their numbers come later. */
static bool list_storages(reader *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->tree.nodes; i++) {
        count += r->tree.node[i].kind == HEED_PICKLE_PERSISTENT;
    }
    r->storage = heed_alloc(r->t->host, count, sizeof *r->storage, r->err);
    if (!r->storage) {
        return false;
    }
    for (size_t i = 0; i < r->tree.nodes; i++) {
        char key[64];
        bool added = false;
        heed_type type;
        if (!read_storage(r, &r->tree.node[i], &type, key)) {
            continue;
        }
        int64_t index = (int64_t)r->keys.count;
        if (!heed_map_put(&r->keys, key, strlen(key), index, &added, r->err)) {
            return false;
        }
        if (added) {
            r->storage[index].type = type;
        }
    }
    return true;
}

/* The numbers of one storage, whose count stands at *at; moves *at behind them. */
static bool read_numbers(reader *r, const heed_pickle_node *key, const unsigned char *data,
                         size_t n, size_t *at) {
    const heed_map_entry *e =
        key->kind == HEED_PICKLE_TEXT ? heed_map_find(&r->keys, key->text, key->n) : NULL;
    if (!e) {
        return heed_fail(r->err, HEED_FILE, "a storage belongs to no tensor");
    }
    storage *s = &r->storage[e->value];
    size_t size = heed_type_bytes(s->type), left = n - *at;
    uint64_t count = left >= 8 ? heed_little(data + *at, 8) : 0;
    if (left < 8 || count > (left - 8) / size) {
        return heed_fail(r->err, HEED_FILE,
                         "storage '%s' of %" PRIu64
                         " numbers reaches behind the end of the file: download incomplete",
                         e->key, count);
    }
    s->data = data + *at + 8;
    s->n = (size_t)count * size;
    *at += 8 + s->n;
    return true;
}

static bool read_all_numbers(reader *r, const heed_pickle_node *keys, const unsigned char *data,
                             size_t n, size_t at) {
    for (uint32_t cell = keys->first; cell; cell = r->tree.cell[cell].next) {
        if (!read_numbers(r, &r->tree.node[r->tree.cell[cell].node], data, n, &at)) {
            return false;
        }
    }
    return true;
}

static bool read_plain(reader *r, const unsigned char *data, size_t n) {
    size_t at = 0;
    uint32_t object = 0;
    for (int part = 0; part < 5; part++) { /* magic, protocol, system, object, keys */
        if (!heed_pickle_read(&r->tree, data, n, &at, r->err)) {
            return false;
        }
        const heed_pickle_node *root = &r->tree.node[r->tree.root];
        bool magic = root->kind == HEED_PICKLE_LONG && root->n == sizeof MAGIC &&
                     memcmp(root->text, MAGIC, sizeof MAGIC) == 0;
        if (part == 0 && !magic) {
            return heed_fail(r->err, HEED_FILE, "a pickle, but not one of torch.save");
        }
        if (part == 4 && root->kind != HEED_PICKLE_LIST) {
            return heed_fail(r->err, HEED_FILE, "the keys of the storages are no list");
        }
        if (part == 3) {
            object = r->tree.root;
        }
    }
    if (!list_storages(r) || !read_all_numbers(r, &r->tree.node[r->tree.root], data, n, at)) {
        return false;
    }
    r->tree.root = object;
    return add_all(r);
}

/* ---- The file ---- */

/* A pickle starts with 0x80 and its protocol, which may be the length of a safetensors header as
 * well; but that is below 2^32, while bytes 4 to 7 of a pickle are not all zero. */
bool heed_is_torch(const unsigned char *data, size_t n) {
    return n >= 8 && (memcmp(data, "PK\3\4", 4) == 0 ||
                      (data[0] == 0x80 && data[1] <= 5 && heed_little(data + 4, 4) != 0));
}

bool heed_tensors_parse_torch(heed_tensors *t, const char *label, const unsigned char *data,
                              size_t n, heed_error *err) {
    reader r = {.t = t, .tree = {.host = t->host, .allowed = ALLOWED}, .err = err};
    heed_map_init(&r.keys, t->host);
    bool fine = n >= 2 && data[0] == 'P' ? read_archive(&r, data, n) : read_plain(&r, data, n);
    heed_pickle_free(&r.tree);
    heed_zip_free(&r.zip);
    heed_map_free(&r.keys);
    heed_free(t->host, r.storage);
    if (!fine) {
        heed_error_at(err, "'%s'", label);
    }
    return fine;
}
