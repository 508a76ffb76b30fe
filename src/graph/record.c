/* record.c: nodes: an op, its inputs, its outputs.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <string.h>

static const heed_value failed = {0};

heed_value heed_absent(void) {
    return (heed_value){UINT32_MAX};
}
bool heed_is_absent(heed_value v) {
    return v.id == UINT32_MAX;
}
heed_value heed_output(heed_value first, int i) {
    return first.id ? (heed_value){first.id + (uint32_t)i} : failed;
}

static bool usable(heed_build *b, const heed_op *op, size_t attr_bytes, int n_in,
                   const heed_value *in, int n_out) {
    if (b->error.code)
        return false;
    if (n_in > HEED_MAX_IN || n_out > HEED_MAX_OUT || attr_bytes > HEED_ATTR_BYTES) {
        heed_refuse(b, HEED_LIMIT,
                    "op '%s' has more inputs, outputs or attributes than a node holds", op->name);
        return false;
    }
    for (int i = 0; i < n_in; i++)
        if (!in[i].id)
            return false;
    return true;
}

/* What the outputs inherit: whether a gradient has somewhere to go, whether they change from run to
 * run. */
static void inherit(heed_record_book *k, const heed_node *n, int n_out) {
    bool wants = false, depends = n->cache >= 0;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] == UINT32_MAX)
            continue;
        const heed_slot *v = heed_slot_at(k, n->in[i]);
        wants |= v->wants_grad && v->shape.cell == HEED_CELL_NUMBER;
        depends |= v->depends;
    }
    for (int i = 0; i < n_out; i++) {
        heed_slot *v = heed_slot_at(k, n->out + (uint32_t)i);
        v->wants_grad = wants && k->mode == HEED_TRAIN;
        v->depends = depends;
    }
}

static heed_value add_node(heed_build *b, const heed_op *op, const void *attr, size_t attr_bytes,
                           int n_in, const heed_value *in, int n_out, const heed_shape *out) {
    heed_record_book *k = &b->book;
    if (!usable(b, op, attr_bytes, n_in, in, n_out))
        return failed;
    if (!heed_reserve(k->host, (void **)&k->node, &k->node_cap, k->nodes + 1, sizeof *k->node,
                      &b->error))
        return failed;
    const char *scope =
        k->nodes ? k->node[k->nodes - 1].scope : NULL; /* neighbours share one copy */
    if (!scope || strcmp(scope, b->scope))
        scope = heed_region_text(&k->region, b->scope, strlen(b->scope), &b->error);
    if (!scope)
        return failed;
    heed_node n = {.op = op,
                   .attr_bytes = attr_bytes,
                   .n_in = n_in,
                   .n_out = n_out,
                   .scope = scope,
                   .unit = b->unit,
                   .cache = b->next_cache};
    b->next_cache = -1;
    if (attr_bytes)
        memcpy(n.attr, attr, attr_bytes);
    for (int i = 0; i < n_in; i++)
        n.in[i] = in[i].id;
    n.out = (uint32_t)k->values + 1;
    for (int i = 0; i < n_out; i++)
        if (!heed_new_value(b, out[i], HEED_FROM_NODE, (uint32_t)k->nodes).id)
            return failed;
    inherit(k, &n, n_out);
    k->node[k->nodes++] = n;
    return (heed_value){n.out};
}

heed_value heed_record(heed_build *b, const heed_op *op, const void *attr, size_t attr_bytes,
                       int n_in, const heed_value *in, int n_out, const heed_shape *out) {
    return add_node(b, op, attr, attr_bytes, n_in, in, n_out, out);
}

void heed_record_effect(heed_build *b, const heed_op *op, const void *attr, size_t attr_bytes,
                        int n_in, const heed_value *in) {
    add_node(b, op, attr, attr_bytes, n_in, in, 0, NULL);
}

/* What tells one node from another, as bytes for a map: nothing in it is padding. */
typedef struct {
    unsigned char byte[sizeof(void *) + 3 * sizeof(size_t) + HEED_ATTR_BYTES +
                       HEED_MAX_IN * sizeof(uint32_t) + HEED_MAX_OUT * 6 * sizeof(int64_t)];
    size_t n;
} node_key;

static void put(node_key *key, const void *data, size_t bytes) {
    if (bytes)
        memcpy(key->byte + key->n, data, bytes);
    key->n += bytes;
}

static void put_shape(node_key *key, const heed_shape *s) {
    const int64_t parts[] = {
        (int64_t)s->extent, (int64_t)s->cell, s->space, s->keys, s->rows, s->cols};
    put(key, parts, sizeof parts);
}

heed_value heed_record_shared(heed_build *b, const heed_op *op, const void *attr, size_t attr_bytes,
                              int n_in, const heed_value *in, int n_out, const heed_shape *out) {
    heed_map *shared = &b->book.shared;
    if (!usable(b, op, attr_bytes, n_in, in, n_out))
        return failed;
    node_key key = {.n = 0};
    put(&key, &op, sizeof op);
    put(&key, (size_t[]){attr_bytes, (size_t)n_in, (size_t)n_out}, 3 * sizeof(size_t));
    put(&key, attr, attr_bytes);
    for (int i = 0; i < n_in; i++)
        put(&key, &in[i].id, sizeof in[i].id);
    for (int i = 0; i < n_out; i++)
        put_shape(&key, &out[i]);
    const heed_map_entry *before = heed_map_find(shared, (const char *)key.byte, key.n);
    if (before)
        return (heed_value){(uint32_t)before->value};
    heed_value v = add_node(b, op, attr, attr_bytes, n_in, in, n_out, out);
    if (v.id && !heed_map_put(shared, (const char *)key.byte, key.n, v.id, NULL, &b->error))
        return failed;
    return v;
}

const void *heed_keep_data(heed_build *b, const void *data, size_t bytes) {
    heed_record_book *k = &b->book;
    if (b->error.code)
        return NULL;
    for (size_t i = 0; i < k->kepts; i++)
        if (k->kept[i].bytes == bytes && !memcmp(k->kept[i].data, data, bytes))
            return k->kept[i].data;
    if (!heed_reserve(k->host, (void **)&k->kept, &k->kept_cap, k->kepts + 1, sizeof *k->kept,
                      &b->error))
        return NULL;
    void *copy = heed_region_alloc(&k->region, bytes, 1, &b->error);
    if (!copy)
        return NULL;
    memcpy(copy, data, bytes);
    k->kept[k->kepts++] = (heed_kept){.data = copy, .bytes = bytes};
    return copy;
}
