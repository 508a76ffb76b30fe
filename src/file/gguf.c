/* gguf.c: from the bytes of a GGUF file to checked settings and tensors.
 *
 * Invariant: a tensor handed out lies inside the file, on the file's alignment, and on no other
 * tensor; counts are compared with what the rest of the file could hold before memory is taken, so
 * a small file cannot ask for much.
 * SPDX-License-Identifier: MIT
 */
#include "file/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "file/gguf_bytes.h"
#include "file/gguf_split.h"
#include "file/tensors.h"

enum { KEY_MAX = 65535, NAME_MAX_BYTES = 1024, ALIGNMENT_MAX = 1 << 20 };
enum { MOST = 65536 }; /* settings, tensors: bounds the memory that a file of tiny ones asks for */
/* The shortest setting and the shortest tensor: with a name of one byte. */
enum { LEAST_SETTING = 8 + 1 + 4 + 1, LEAST_TENSOR = 8 + 1 + 4 + 8 + 4 + 8 };

struct heed_gguf {
    const heed_host *host;
    heed_mapped file;
    heed_tensors *tensors;
    heed_gguf_value *value;
    int64_t values;
    heed_map by_key;
    heed_region texts;
    heed_gguf *next; /* another part of a split file, whose tensors stand in `tensors` too */
};

/* ---- Settings ---- */

/* A name for messages and look-up: 1 to `most` bytes of UTF-8 without NUL. */
static char *read_name(heed_gguf *g, heed_gguf_cursor *c, size_t most, const char *what) {
    heed_gguf_text text;
    size_t at = c->at;
    if (!heed_gguf_string(c, &text))
        return NULL;
    if (text.n < 1 || text.n > most || heed_utf8_check(text.data, text.n) != text.n ||
        memchr(text.data, 0, text.n)) {
        heed_gguf_wrong(c, "byte %zu: the name of a %s has %zu bytes or is not UTF-8; 1 to %zu", at,
                        what, text.n, most);
        return NULL;
    }
    char *name = heed_region_text(&g->texts, text.data, text.n, c->err);
    c->failed = c->failed || !name;
    return name;
}

static bool read_setting(heed_gguf *g, heed_gguf_cursor *c) {
    heed_gguf_value *v = &g->value[g->values];
    v->key = read_name(g, c, KEY_MAX, "setting");
    uint32_t type = heed_gguf_u32(c);
    if (c->failed)
        return false;
    if (!heed_gguf_read_value(c, type, v)) {
        heed_error_at(c->err, "setting '%s'", v->key);
        return false;
    }
    bool added;
    if (!heed_map_put(&g->by_key, v->key, strlen(v->key), g->values, &added, c->err))
        return false;
    g->values++;
    return added || heed_gguf_wrong(c, "setting '%s' is there twice", v->key);
}

static bool read_settings(heed_gguf *g, heed_gguf_cursor *c, uint64_t count) {
    if (count > MOST || count > (c->n - c->at) / LEAST_SETTING)
        return heed_gguf_wrong(c, "%" PRIu64 " settings, more than %s", count,
                               count > MOST ? "the 65536 that are read" : "the file can hold");
    g->value = heed_alloc(g->host, (size_t)count, sizeof *g->value, c->err);
    for (uint64_t i = 0; g->value && i < count; i++)
        if (!read_setting(g, c))
            return false;
    return g->value != NULL;
}

static bool read_alignment(const heed_gguf *g, heed_gguf_cursor *c, uint64_t *alignment) {
    const heed_gguf_value *v = heed_gguf_find(g, "general.alignment");
    *alignment = GGUF_ALIGNMENT;
    if (!v)
        return true;
    int64_t x = v->kind == HEED_GGUF_INTEGER ? v->integer : 0;
    if (x < 1 || x > ALIGNMENT_MAX || (x & (x - 1)) != 0)
        return heed_gguf_wrong(c, "general.alignment must be a power of two up to %d, not %" PRId64,
                               ALIGNMENT_MAX, x);
    *alignment = (uint64_t)x;
    return true;
}

/* ---- Tensors ---- */

typedef struct {
    heed_tensor tensor;
    uint64_t begin; /* in the data */
} placed;

static bool read_dims(heed_gguf_cursor *c, heed_tensor *t) {
    uint32_t rank = heed_gguf_u32(c);
    if (c->failed)
        return false;
    if (rank < 1 || rank > GGUF_DIMS)
        return heed_gguf_wrong(c, "tensor '%s' has %" PRIu32 " dimensions, wanted 1 to %d", t->name,
                               rank, GGUF_DIMS);
    t->rank = (int)rank;
    for (int i = t->rank - 1; i >= 0; i--) {
        uint64_t dim = heed_gguf_u64(c);
        if (!c->failed && (dim < 1 || dim > INT64_MAX))
            return heed_gguf_wrong(c, "tensor '%s' has a dimension of %" PRIu64, t->name, dim);
        t->dim[i] = (int64_t)dim;
    }
    return !c->failed;
}

static bool read_tensor(heed_gguf *g, heed_gguf_cursor *c, uint64_t alignment, placed *e) {
    heed_tensor *t = &e->tensor;
    t->name = read_name(g, c, NAME_MAX_BYTES, "tensor");
    if (!t->name || !read_dims(c, t))
        return false;
    uint32_t type = heed_gguf_u32(c);
    e->begin = heed_gguf_u64(c);
    if (c->failed)
        return false;
    if (!heed_gguf_type_numbered(type, &t->type))
        return heed_gguf_wrong(c, "tensor '%s' has type %" PRIu32 ", which is not read", t->name,
                               type);
    if (e->begin % alignment != 0)
        return heed_gguf_wrong(c,
                               "tensor '%s' starts at byte %" PRIu64
                               " of the data, which is no multiple of %" PRIu64,
                               t->name, e->begin, alignment);
    int64_t elements;
    return heed_tensor_measure(t, &elements, &t->bytes, c->err);
}

static int by_place(const void *a, const void *b) {
    const placed *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
                                : strcmp(x->tensor.name, y->tensor.name);
}

/* In the order of their places each must start where the one before has ended, and end inside. */
static bool check_places(const heed_gguf *g, heed_gguf_cursor *c, const placed *list, uint64_t n,
                         size_t have) {
    placed *sorted = heed_alloc(g->host, (size_t)n, sizeof *sorted, c->err);
    if (!sorted)
        return false;
    if (n > 0)
        memcpy(sorted, list, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_place);
    uint64_t end = 0;
    bool fine = true;
    for (uint64_t i = 0; fine && i < n; i++) {
        const heed_tensor *t = &sorted[i].tensor;
        if (sorted[i].begin < end)
            fine =
                heed_gguf_wrong(c, "tensor '%s' lies on '%s'", t->name, sorted[i - 1].tensor.name);
        else if (sorted[i].begin > have || t->bytes > have - sorted[i].begin)
            fine = heed_gguf_wrong(c,
                                   "tensor '%s' needs %zu bytes from byte %" PRIu64
                                   " of the data, which has %zu: download incomplete",
                                   t->name, t->bytes, sorted[i].begin, have);
        end = sorted[i].begin + t->bytes;
    }
    heed_free(g->host, sorted);
    return fine;
}

static bool read_list(heed_gguf *g, heed_gguf_cursor *c, placed *list, uint64_t count) {
    uint64_t alignment;
    if (!read_alignment(g, c, &alignment))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!read_tensor(g, c, alignment, &list[i]))
            return false;
    size_t pad = (size_t)((alignment - c->at % alignment) % alignment);
    size_t start = count == 0 || pad > c->n - c->at ? c->n : c->at + pad;
    if (!check_places(g, c, list, count, c->n - start))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        list[i].tensor.data = c->data + start + list[i].begin;
        if (!heed_tensors_add(g->tensors, &list[i].tensor, "there twice", c->err))
            return false;
    }
    return true;
}

static bool read_tensors(heed_gguf *g, heed_gguf_cursor *c, uint64_t count) {
    if (count > MOST || count > (c->n - c->at) / LEAST_TENSOR)
        return heed_gguf_wrong(c, "%" PRIu64 " tensors, more than %s", count,
                               count > MOST ? "the 65536 that are read" : "the file can hold");
    placed *list = heed_alloc(g->host, (size_t)count, sizeof *list, c->err);
    bool fine = list && read_list(g, c, list, count);
    heed_free(g->host, list);
    return fine;
}

/* ---- The file ---- */

static bool read_version(heed_gguf_cursor *c) {
    const unsigned char *magic = heed_gguf_take(c, 4);
    if (!magic || memcmp(magic, "GGUF", 4) != 0)
        return heed_gguf_wrong(c, "this is no GGUF file: it does not start with GGUF");
    uint32_t version = heed_gguf_u32(c);
    if (c->failed || version == 2 || version == 3)
        return !c->failed;
    if (version == 2U << 24 || version == 3U << 24)
        return heed_gguf_wrong(c, "this GGUF file is big-endian; convert it to little-endian");
    return heed_gguf_wrong(c, "GGUF version %" PRIu32 "; versions 2 and 3 are read", version);
}

static bool read_file(heed_gguf *g, const unsigned char *data, size_t n, heed_error *err) {
    heed_gguf_cursor c = {.data = data, .n = n, .err = err};
    if (!read_version(&c))
        return false;
    uint64_t tensors = heed_gguf_u64(&c), values = heed_gguf_u64(&c);
    return !c.failed && read_settings(g, &c, values) && read_tensors(g, &c, tensors);
}

static heed_gguf *new_gguf(const heed_host *host, heed_error *err) {
    heed_gguf *g = heed_alloc(host, 1, sizeof *g, err);
    if (!g)
        return NULL;
    g->host = host;
    g->texts.host = host;
    heed_map_init(&g->by_key, host);
    g->tensors = heed_tensors_new(host, err);
    if (g->tensors)
        return g;
    heed_gguf_free(g);
    return NULL;
}

/* Returns g, or NULL after freeing it. */
static heed_gguf *filled(heed_gguf *g, const char *label, const unsigned char *data, size_t n,
                         heed_error *err) {
    if (read_file(g, data, n, err))
        return g;
    heed_gguf_free(g);
    heed_error_at(err, "'%s'", label);
    return NULL;
}

heed_gguf *heed_gguf_from_bytes(const heed_host *host, const char *label, const void *data,
                                size_t n, heed_error *err) {
    heed_gguf *g = new_gguf(host, err);
    return g ? filled(g, label, data, n, err) : NULL;
}

heed_gguf *heed_gguf_open_part(const heed_host *host, const char *path, heed_error *err) {
    heed_gguf *g = new_gguf(host, err);
    if (g && heed_map_file(&g->file, path, err)) {
        g->tensors->mapped = true;
        return filled(g, path, g->file.data, g->file.n, err);
    }
    heed_gguf_free(g);
    return NULL;
}

bool heed_gguf_join(heed_gguf *g, heed_gguf *part, heed_error *err) {
    part->next = g->next;
    g->next = part;
    for (int64_t i = 0; i < heed_tensors_count(part->tensors); i++)
        if (!heed_tensors_add(g->tensors, heed_tensors_at(part->tensors, i), "in two parts", err))
            return false;
    return true;
}

static void free_one(heed_gguf *g) {
    heed_tensors_free(g->tensors);
    heed_free(g->host, g->value);
    heed_map_free(&g->by_key);
    heed_region_free(&g->texts);
    heed_unmap_file(&g->file);
    heed_free(g->host, g);
}

void heed_gguf_free(heed_gguf *g) {
    while (g) {
        heed_gguf *next = g->next;
        free_one(g);
        g = next;
    }
}

bool heed_is_gguf(const char *path) {
    char magic[4] = "";
    FILE *f = heed_is_file(path) ? fopen(path, "rb") : NULL; /* opening a pipe would wait */
    bool is = f && fread(magic, 1, sizeof magic, f) == sizeof magic &&
              memcmp(magic, "GGUF", sizeof magic) == 0;
    if (f)
        fclose(f);
    return is;
}

const heed_tensors *heed_gguf_tensors(const heed_gguf *g) {
    return g->tensors;
}

int64_t heed_gguf_count(const heed_gguf *g) {
    return g->values;
}

const heed_gguf_value *heed_gguf_at(const heed_gguf *g, int64_t i) {
    return &g->value[i];
}

const heed_gguf_value *heed_gguf_find(const heed_gguf *g, const char *key) {
    const heed_map_entry *entry = heed_map_find(&g->by_key, key, strlen(key));
    return entry ? &g->value[entry->value] : NULL;
}
