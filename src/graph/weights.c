/* weights.c: named matrices: declared by models, given numbers by a loader or by their initial
 * values.
 *
 * Initial values are a function of (seed, name) alone: each entry draws from its own Philox stream.
 * SPDX-License-Identifier: MIT
 */
#include "base/blocks.h"
#include "base/fs.h"
#include "base/philox.h"
#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

heed_weights *heed_weights_new(const heed_host *host, heed_error *err) {
    heed_weights *w = heed_alloc(host, 1, sizeof *w, err);
    if (!w)
        return NULL;
    w->host = host;
    heed_map_init(&w->names, host);
    return w;
}

void heed_weights_free(heed_weights *w) {
    if (!w)
        return;
    for (size_t i = 0; i < w->count; i++) {
        if (!w->entry[i].borrowed)
            heed_free(w->host, w->entry[i].data);
        heed_free(w->host, w->entry[i].grad);
    }
    heed_free(w->host, w->entry);
    heed_map_free(&w->names);
    heed_free(w->host, w);
}

int64_t heed_weights_count(const heed_weights *w) {
    return (int64_t)w->count;
}

heed_weight_entry *heed_weights_at(heed_weights *w, int64_t i) {
    return &w->entry[i];
}

heed_weight_entry *heed_weights_find(heed_weights *w, const char *name) {
    heed_map_entry *found = heed_map_find(&w->names, name, strlen(name));
    return found ? &w->entry[found->value] : NULL;
}

static bool same_shape(const heed_weight_entry *e, int64_t rows, int64_t cols, heed_error *err) {
    if (e->rows == rows && e->cols == cols)
        return true;
    return heed_fail(err, HEED_SHAPE,
                     "weight '%s' is (%" PRId64 ",%" PRId64 ") at its first use and (%" PRId64
                     ",%" PRId64 ") at a later one",
                     e->name, e->rows, e->cols, rows, cols);
}

int64_t heed_weights_declare(heed_weights *w, const char *name, int64_t rows, int64_t cols,
                             heed_init init, bool vector, heed_error *err) {
    const int64_t most = INT64_MAX / (int64_t)sizeof(heed_number);
    if (rows < 1 || cols < 1 || rows > most / cols) {
        heed_fail(err, HEED_SHAPE, "weight '%s' cannot be (%" PRId64 ",%" PRId64 ")", name, rows,
                  cols);
        return -1;
    }
    heed_map_entry *found = heed_map_find(&w->names, name, strlen(name));
    if (found)
        return same_shape(&w->entry[found->value], rows, cols, err) ? found->value : -1;
    if (rows * cols > most - w->numbers) {
        heed_fail(err, HEED_LIMIT,
                  "with weight '%s' (%" PRId64 ",%" PRId64
                  ") the model has more numbers than can be counted",
                  name, rows, cols);
        return -1;
    }
    if (!heed_reserve(w->host, (void **)&w->entry, &w->cap, w->count + 1, sizeof *w->entry, err))
        return -1;
    heed_map_entry *made =
        heed_map_put(&w->names, name, strlen(name), (int64_t)w->count, NULL, err);
    if (!made)
        return -1;
    w->entry[w->count] = (heed_weight_entry){
        .name = made->key, .rows = rows, .cols = cols, .init = init, .vector = vector};
    w->numbers += rows * cols;
    return (int64_t)w->count++;
}

bool heed_weights_make_grad(heed_weights *w, int64_t index, heed_error *err) {
    heed_weight_entry *e = &w->entry[index];
    if (e->grad)
        return true;
    e->grad = heed_alloc(w->host, (size_t)(e->rows * e->cols), sizeof *e->grad, err);
    return e->grad != NULL;
}

static heed_weight_entry *find_or_fail(heed_weights *w, const char *name, heed_error *err) {
    heed_weight_entry *e = heed_weights_find(w, name);
    if (!e)
        heed_fail(err, HEED_NAME, "the model has no weight '%s'", name);
    return e;
}

bool heed_weights_borrow(heed_weights *w, const char *name, const heed_number *data,
                         heed_error *err) {
    heed_weight_entry *e = find_or_fail(w, name, err);
    if (!e)
        return false;
    if (!e->borrowed)
        heed_free(w->host, e->data);
    e->data = (heed_number *)(uintptr_t)data; /* never written: `borrowed` says so */
    e->borrowed = true;
    e->raw = NULL;
    return true;
}

bool heed_weights_own(heed_weights *w, const char *name, const heed_number *data, heed_error *err) {
    heed_weight_entry *e = find_or_fail(w, name, err);
    if (!e)
        return false;
    size_t n = (size_t)(e->rows * e->cols);
    heed_number *copy =
        e->data && !e->borrowed ? e->data : heed_alloc(w->host, n, sizeof *copy, err);
    if (!copy)
        return false;
    if (data)
        memmove(copy, data, n * sizeof *copy);
    else
        memset(copy, 0, n * sizeof *copy);
    e->data = copy;
    e->borrowed = false;
    e->raw = NULL;
    return true;
}

bool heed_weights_keep(heed_weights *w, const char *name, heed_type type, const void *raw,
                       heed_error *err) {
    heed_weight_entry *e = find_or_fail(w, name, err);
    if (!e)
        return false;
    if (!e->borrowed)
        heed_free(w->host, e->data);
    e->data = NULL;
    e->borrowed = false;
    e->raw = raw;
    e->type = (int)type;
    return true;
}

void heed_weights_compute(heed_weights *w, heed_compute compute) {
    w->compute = compute;
}

void heed_widen(heed_type type, const void *kept, int64_t n, heed_number *out) {
    float part[HEED_BLOCK_MOST];
    const char *at = kept;
    for (int64_t i = 0; i < n; i += HEED_BLOCK_MOST) {
        int64_t some = n - i < HEED_BLOCK_MOST ? n - i : HEED_BLOCK_MOST;
        heed_type_to_f32(type, at, some, part);
        for (int64_t j = 0; j < some; j++)
            out[i + j] = part[j];
        at += heed_elements_bytes(type, some);
    }
}

bool heed_weights_expand(heed_weights *w, heed_weight_entry *e, heed_error *err) {
    const void *raw = e->raw;
    if (e->data || !raw)
        return true;
    if (!heed_weights_own(w, e->name, NULL, err))
        return false;
    e->raw = raw;
    heed_widen((heed_type)e->type, raw, e->rows * e->cols, e->data);
    return true;
}

/* Of raw. */
static size_t kept_bytes(const heed_weight_entry *e) {
    return heed_elements_bytes((heed_type)e->type, e->rows * e->cols);
}

size_t heed_weight_bytes(const heed_weight_entry *e, bool floats) {
    size_t wide = (size_t)(e->rows * e->cols) * sizeof *e->data;
    if (!e->raw)
        return wide;
    return kept_bytes(e) + (e->data || floats ? wide : 0);
}

void heed_weights_let_go(const heed_weight_entry *e) {
    if (e->mapped && e->raw)
        heed_let_go(e->raw, kept_bytes(e));
    else if (e->mapped && e->borrowed)
        heed_let_go(e->data, (size_t)(e->rows * e->cols) * sizeof *e->data);
}

static void draw(const heed_weight_entry *e, uint64_t seed) {
    heed_random r = {.seed = seed, .stream = heed_hash(e->name, strlen(e->name))};
    double limit = e->init.size * sqrt(6.0 / (double)(e->rows + e->cols));
    for (int64_t i = 0; i < e->rows * e->cols; i++)
        switch (e->init.kind) {
        case HEED_INIT_ZERO:
            e->data[i] = 0;
            break;
        case HEED_INIT_ONE:
            e->data[i] = 1;
            break;
        case HEED_INIT_NORMAL:
            e->data[i] = (heed_number)(e->init.size * heed_random_normal(&r));
            break;
        case HEED_INIT_XAVIER:
            e->data[i] = (heed_number)(limit * (2 * heed_random_unit(&r) - 1));
            break;
        case HEED_INIT_CONSTANT:
            e->data[i] = (heed_number)e->init.size;
            break;
        }
}

bool heed_weights_init(heed_weights *w, uint64_t seed, heed_error *err) {
    for (size_t i = 0; i < w->count; i++) {
        if (w->entry[i].data || w->entry[i].raw)
            continue;
        if (!heed_weights_own(w, w->entry[i].name, NULL, err))
            return false;
        draw(&w->entry[i], seed);
    }
    return true;
}

void heed_weights_zero_grad(heed_weights *w) {
    for (size_t i = 0; i < w->count; i++) {
        heed_weight_entry *e = &w->entry[i];
        if (e->grad)
            memset(e->grad, 0, (size_t)(e->rows * e->cols) * sizeof *e->grad);
    }
}
