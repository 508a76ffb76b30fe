/* build.c: recording: scopes, names, inputs, weights, nodes.
 *
 * Every call accepts a failed value (id 0) and passes it on; the first failure is kept for
 * heed_plan_new.
 * SPDX-License-Identifier: MIT
 */
#include "base/philox.h"
#include "graph/graph.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const heed_value failed = {0};

heed_build *heed_build_new(heed_engine *engine, heed_mode mode, heed_weights *weights,
                           heed_error *err) {
    heed_build *b = heed_alloc(engine->host, 1, sizeof *b, err);
    if (!b)
        return NULL;
    b->book = (heed_record_book){
        .engine = engine, .host = engine->host, .weights = weights, .mode = mode};
    b->book.region.host = engine->host;
    heed_map_init(&b->book.shared, engine->host);
    b->next_cache = -1;
    return b;
}

void heed_book_free(heed_record_book *book) {
    heed_free(book->host, book->value);
    heed_free(book->host, book->node);
    heed_map_free(&book->shared);
    heed_free(book->host, book->space);
    heed_free(book->host, book->input);
    heed_free(book->host, book->named);
    heed_free(book->host, book->cache);
    heed_free(book->host, book->kept);
    heed_free(book->host, book->unit);
    heed_free(book->host, book->of_weight);
    heed_region_free(&book->region);
}

void heed_build_free(heed_build *b) {
    if (!b)
        return;
    heed_book_free(&b->book);
    heed_free(b->book.host, b);
}

heed_mode heed_build_mode(const heed_build *b) {
    return b->book.mode;
}
bool heed_build_trains(const heed_build *b) {
    return b->book.mode == HEED_TRAIN;
}
const heed_kernels *heed_build_kernels(const heed_build *b) {
    return &b->book.engine->kernels;
}

/* ---- Failing ---- */

heed_value heed_refuse(heed_build *b, heed_code code, const char *format, ...) {
    if (b->error.code)
        return failed;
    char text[sizeof b->error.text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    heed_fail(&b->error, code, "%s%s%s", b->scope, b->scope[0] ? ": " : "", text);
    return failed;
}

bool heed_build_check(const heed_build *b, heed_error *err) {
    return !b->error.code || heed_fail(err, b->error.code, "%s", b->error.text);
}

static bool room(heed_build *b, void **p, size_t *cap, size_t need, size_t size) {
    return heed_reserve(b->book.host, p, cap, need, size, &b->error);
}

static const char *keep_text(heed_build *b, const char *s) {
    return heed_region_text(&b->book.region, s, strlen(s), &b->error);
}

/* ---- Scopes and names ---- */

static bool full_path(heed_build *b, char *out, const char *name) {
    int n = snprintf(out, HEED_SCOPE_BYTES, "%s%s%s", b->scope, b->scope[0] && name[0] ? "." : "",
                     name);
    if (n < HEED_SCOPE_BYTES)
        return true;
    heed_refuse(b, HEED_NAME, "the path with '%s' is longer than %d bytes", name,
                HEED_SCOPE_BYTES - 1);
    return false;
}

/* Where a weight of the current scope stands: in the scope itself, or in the one that it shares. */
static bool weight_path(heed_build *b, char *out, const char *name) {
    if (!b->share_depth)
        return full_path(b, out, name);
    int n = snprintf(out, HEED_SCOPE_BYTES, "%s%s.%s", b->shared, b->scope + b->share_from, name);
    if (n < HEED_SCOPE_BYTES)
        return true;
    heed_refuse(b, HEED_NAME, "the path with '%s' is longer than %d bytes", name,
                HEED_SCOPE_BYTES - 1);
    return false;
}

void heed_share(heed_build *b, const char *path) {
    int n = snprintf(b->shared, sizeof b->shared, "%s", path);
    if (!b->depth || b->share_depth || n >= (int)sizeof b->shared) {
        heed_refuse(b, HEED_NAME, "the scope cannot share the weights of '%.60s'", path);
        return;
    }
    b->share_depth = b->depth;
    b->share_from = strlen(b->scope);
}

static void start_unit(heed_build *b) {
    if (!room(b, (void **)&b->book.unit, &b->book.unit_cap, b->book.units + 1,
              sizeof *b->book.unit))
        return;
    const char *path = keep_text(b, b->scope);
    if (!path)
        return;
    b->book.unit[b->book.units] = path;
    b->unit = (uint32_t)++b->book.units;
    b->unit_depth = b->depth;
}

void heed_enter(heed_build *b, const char *scope, int64_t index) {
    char part[HEED_SCOPE_BYTES], path[HEED_SCOPE_BYTES];
    if (b->depth == HEED_SCOPE_DEPTH) {
        heed_refuse(b, HEED_NAME, "scopes nest deeper than %d", HEED_SCOPE_DEPTH);
        return;
    }
    b->length[b->depth++] = strlen(b->scope);
    int n = index < 0 ? snprintf(part, sizeof part, "%s", scope)
                      : snprintf(part, sizeof part, "%s.%" PRId64, scope, index);
    if (n >= (int)sizeof part || !full_path(b, path, part))
        return;
    memcpy(b->scope, path, sizeof path);
    if (index >= 0 && !b->unit)
        start_unit(b);
}

void heed_leave(heed_build *b) {
    if (!b->depth)
        return;
    if (b->unit && b->unit_depth == b->depth)
        b->unit = 0;
    if (b->share_depth == b->depth)
        b->share_depth = 0;
    b->scope[b->length[--b->depth]] = 0;
}

uint64_t heed_path_hash(const heed_build *b, const char *name) {
    char path[2 * HEED_SCOPE_BYTES];
    int n = snprintf(path, sizeof path, "%s.%s", b->scope, name);
    return heed_hash(path, (size_t)n < sizeof path ? (size_t)n : sizeof path - 1);
}

bool heed_add_name(heed_build *b, const char *path, uint32_t value) {
    heed_record_book *k = &b->book;
    if (!room(b, (void **)&k->named, &k->named_cap, k->nameds + 1, sizeof *k->named))
        return false;
    const char *copy = keep_text(b, path);
    if (!copy)
        return false;
    k->named[k->nameds++] = (heed_named){.path = copy, .value = value};
    return true;
}

const heed_named *heed_find_name(const heed_record_book *book, const char *path) {
    for (size_t i = 0; i < book->nameds; i++)
        if (!strcmp(book->named[i].path, path))
            return &book->named[i];
    return NULL;
}

heed_value heed_name(heed_build *b, heed_value v, const char *name) {
    char path[HEED_SCOPE_BYTES];
    if (!v.id || !full_path(b, path, name))
        return failed;
    if (heed_find_name(&b->book, path))
        return heed_refuse(b, HEED_NAME, "two values are called '%s'", name);
    return heed_add_name(b, path, v.id) ? v : failed;
}

bool heed_path_matches(const char *pattern, const char *path) {
    for (; *pattern && *pattern != '*'; pattern++, path++)
        if (*pattern != *path)
            return false;
    if (!*pattern)
        return !*path;
    bool deep = pattern[1] == '*';
    for (;; path++) {
        if (heed_path_matches(pattern + 1 + deep, path))
            return true;
        if (!*path || (*path == '.' && !deep))
            return false;
    }
}

/* ---- Values ---- */

heed_shape heed_shape_of(const heed_build *b, heed_value v) {
    return v.id && v.id != UINT32_MAX ? heed_slot_at(&b->book, v.id)->shape : (heed_shape){0};
}

heed_shape heed_fixed(int64_t rows, int64_t cols) {
    return (heed_shape){.extent = HEED_EXTENT_FIXED, .rows = rows, .cols = cols};
}

heed_shape heed_like(const heed_build *b, heed_value v, int64_t cols) {
    heed_shape shape = heed_shape_of(b, v);
    shape.cols = cols;
    return shape;
}

heed_space heed_space_of(const heed_build *b, heed_value v) {
    heed_shape shape = heed_shape_of(b, v);
    return (heed_space){shape.extent == HEED_EXTENT_FIXED ? 0 : shape.space};
}

int64_t heed_columns(const heed_build *b, heed_value v) {
    return heed_shape_of(b, v).cols;
}

heed_value heed_new_value(heed_build *b, heed_shape shape, heed_source source, uint32_t index) {
    heed_record_book *k = &b->book;
    if (b->error.code)
        return failed;
    if (!room(b, (void **)&k->value, &k->value_cap, k->values + 1, sizeof *k->value))
        return failed;
    k->value[k->values] = (heed_slot){.shape = shape, .source = source, .index = index};
    k->value[k->values].depends = source == HEED_FROM_INPUT || source == HEED_FROM_POSITIONS;
    return (heed_value){(uint32_t)++k->values};
}

static heed_value find_input(const heed_build *b, const char *name) {
    for (size_t i = 0; i < b->book.inputs; i++)
        if (!strcmp(b->book.input[i].name, name))
            return (heed_value){b->book.input[i].value};
    return failed;
}

static heed_value add_input(heed_build *b, const char *name, heed_shape shape, heed_source source,
                            uint32_t index) {
    heed_record_book *k = &b->book;
    heed_value found = find_input(b, name);
    if (found.id) {
        heed_shape have = heed_shape_of(b, found);
        if (have.extent == shape.extent && have.space == shape.space && have.keys == shape.keys &&
            have.cols == shape.cols && have.cell == shape.cell &&
            heed_slot_at(k, found.id)->source == source)
            return found;
        return heed_refuse(b, HEED_NAME, "input '%s' is asked for twice with different shapes",
                           name);
    }
    if (!room(b, (void **)&k->input, &k->input_cap, k->inputs + 1, sizeof *k->input))
        return failed;
    const char *copy = keep_text(b, name);
    heed_value v = copy ? heed_new_value(b, shape, source, index) : failed;
    if (!v.id)
        return failed;
    k->input[k->inputs++] = (heed_input_info){.name = copy, .value = v.id};
    return heed_add_name(b, name, v.id) ? v : failed;
}

heed_value heed_input(heed_build *b, const char *name, heed_space space) {
    if (!space.id)
        return failed;
    heed_shape shape = {
        .extent = HEED_EXTENT_SPACE, .cell = HEED_CELL_INT, .space = space.id, .cols = 1};
    return add_input(b, name, shape, HEED_FROM_INPUT, (uint32_t)b->book.inputs);
}

heed_value heed_input_numbers(heed_build *b, const char *name, heed_space space, int64_t cols) {
    if (!space.id)
        return failed;
    if (cols < 1)
        return heed_refuse(b, HEED_SHAPE, "input '%s' cannot have %" PRId64 " columns", name, cols);
    heed_shape shape = {.extent = HEED_EXTENT_SPACE, .space = space.id, .cols = cols};
    return add_input(b, name, shape, HEED_FROM_INPUT, (uint32_t)b->book.inputs);
}

heed_value heed_input_mask(heed_build *b, const char *name, heed_space queries, heed_space keys) {
    if (!queries.id || !keys.id)
        return failed;
    heed_shape shape = {.extent = HEED_EXTENT_PAIRS,
                        .cell = HEED_CELL_BYTE,
                        .space = queries.id,
                        .keys = keys.id,
                        .cols = 1};
    return add_input(b, name, shape, HEED_FROM_INPUT, (uint32_t)b->book.inputs);
}

heed_value heed_positions(heed_build *b, heed_space space) {
    char name[HEED_SCOPE_BYTES];
    if (!space.id)
        return failed;
    snprintf(name, sizeof name, "positions of %s", b->book.space[space.id - 1].name);
    heed_shape shape = {
        .extent = HEED_EXTENT_SPACE, .cell = HEED_CELL_INT, .space = space.id, .cols = 1};
    return add_input(b, name, shape, HEED_FROM_POSITIONS, space.id);
}

static heed_value add_weight(heed_build *b, const char *name, int64_t rows, int64_t cols,
                             heed_init init, bool vector) {
    char path[HEED_SCOPE_BYTES];
    if (b->error.code || !weight_path(b, path, name))
        return failed;
    heed_record_book *k = &b->book;
    int64_t index = heed_weights_declare(k->weights, path, rows, cols, init, vector, &b->error);
    if (index < 0 || !room(b, (void **)&k->of_weight, &k->of_weight_cap, (size_t)index + 1,
                           sizeof *k->of_weight))
        return failed;
    if (k->of_weight[index])
        return (heed_value){k->of_weight[index]};
    heed_value v = heed_new_value(b, heed_fixed(rows, cols), HEED_FROM_WEIGHT, (uint32_t)index);
    k->of_weight[index] = v.id;
    if (v.id)
        heed_slot_at(k, v.id)->wants_grad =
            heed_build_trains(b) && !k->weights->entry[index].frozen;
    return v;
}

heed_value heed_weight(heed_build *b, const char *name, int64_t rows, int64_t cols,
                       heed_init init) {
    return add_weight(b, name, rows, cols, init, false);
}

heed_value heed_weight_vector(heed_build *b, const char *name, int64_t cols, heed_init init) {
    return add_weight(b, name, 1, cols, init, true);
}

heed_value heed_need_grad(heed_build *b, heed_value v) {
    if (v.id)
        heed_slot_at(&b->book, v.id)->wants_grad = heed_build_trains(b);
    return v;
}

bool heed_wants_grad(const heed_build *b, heed_value v) {
    return v.id && !heed_is_absent(v) && heed_slot_at(&b->book, v.id)->wants_grad;
}

bool heed_is_weight(const heed_build *b, heed_value v) {
    return v.id && !heed_is_absent(v) && heed_slot_at(&b->book, v.id)->source == HEED_FROM_WEIGHT;
}

heed_type heed_kept_type(const heed_build *b, heed_value v) {
    if (!heed_is_weight(b, v) || b->book.mode == HEED_TRAIN)
        return HEED_F32;
    const heed_weight_entry *e = &b->book.weights->entry[heed_slot_at(&b->book, v.id)->index];
    return e->raw ? (heed_type)e->type : HEED_F32;
}

heed_compute heed_build_compute(const heed_build *b) {
    heed_compute compute = b->book.weights->compute;
    bool trains = b->book.mode == HEED_TRAIN && compute != HEED_COMPUTE_BF16;
    return trains ? HEED_COMPUTE_FLOAT : compute;
}

heed_value heed_gradient(heed_build *b, heed_value weight) {
    if (!heed_is_weight(b, weight))
        return heed_refuse(b, HEED_VALUE, "only a weight has a sum of gradients");
    heed_slot w = *heed_slot_at(&b->book, weight.id);
    for (uint32_t id = weight.id + 1; id <= b->book.values; id++)
        if (b->book.value[id - 1].source == HEED_FROM_GRADIENT &&
            b->book.value[id - 1].index == w.index)
            return (heed_value){id};
    return heed_new_value(b, w.shape, HEED_FROM_GRADIENT, w.index);
}

void heed_want_cache(heed_build *b, const char *slot, int64_t key_cols, int64_t value_cols) {
    heed_record_book *k = &b->book;
    if (b->error.code)
        return;
    if (!room(b, (void **)&k->cache, &k->cache_cap, k->caches + 1, sizeof *k->cache))
        return;
    const char *copy = keep_text(b, slot);
    if (!copy)
        return;
    k->cache[k->caches] =
        (heed_cache_info){.slot = copy, .key_cols = key_cols, .value_cols = value_cols};
    b->next_cache = (int32_t)k->caches++;
}
