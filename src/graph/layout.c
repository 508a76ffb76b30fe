/* layout.c: a place for every value.
 *
 * Arena: values of the once and step parts, by how long each lives: first fit in order of birth; an
 * op that may work in place takes over an input that dies with it. What the once part leaves for
 * the steps, and what is kept, lives to the end. Constants and inputs lie one after another in
 * blocks of their own. Invariant: two values overlap in the arena only if the last reader of one
 * comes before the other's node. At the end, what all of a plan takes.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <inttypes.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define RED_ZONE 64 /* bytes behind every value, poisoned while a node runs (session.c) */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RED_ZONE 64
#endif
#endif
#ifndef RED_ZONE
#define RED_ZONE 0
#endif

enum { ALIGN = 64 };

typedef struct {
    size_t offset, bytes;
    int64_t until;
} block;

typedef struct {
    heed_plan *plan;
    block *live; /* by offset */
    size_t n, cap;
    int64_t now, end;
} layout;

static size_t cell_bytes(heed_cell cell) {
    return cell == HEED_CELL_NUMBER ? sizeof(heed_real)
           : cell == HEED_CELL_INT  ? sizeof(int32_t)
                                    : 1;
}

static int64_t longest_of(const heed_record_book *k, uint32_t space) {
    return k->space[space - 1].longest;
}

/* a b, or the largest number where that is more; neither is negative. */
static int64_t times(int64_t a, int64_t b) {
    return b && a > INT64_MAX / b ? INT64_MAX : a * b;
}

int64_t heed_shape_rows(const heed_record_book *k, const heed_shape *s) {
    if (s->extent == HEED_EXTENT_FIXED)
        return s->rows;
    const heed_space_info *space = &k->space[s->space - 1];
    if (s->extent == HEED_EXTENT_SPACE)
        return space->rows;
    if (space->pairs)
        return space->pairs;
    return times(times(space->sequences, longest_of(k, s->space)), longest_of(k, s->keys));
}

size_t heed_shape_bytes(const heed_record_book *k, const heed_shape *s) {
    double bytes = (double)heed_shape_rows(k, s) * (double)s->cols * (double)cell_bytes(s->cell);
    if (bytes > (double)(SIZE_MAX / 4))
        return SIZE_MAX;
    return (size_t)heed_shape_rows(k, s) * (size_t)s->cols * cell_bytes(s->cell);
}

static size_t round_up(size_t n) {
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

enum { TOO_MUCH_SHIFT = 2 }; /* no sum of sizes goes beyond SIZE_MAX >> this */

/* *sum += bytes, in whole lines. */
static bool grow(size_t *sum, size_t bytes, heed_error *err) {
    const size_t most = SIZE_MAX >> TOO_MUCH_SHIFT;
    if (bytes > most || *sum > most - round_up(bytes))
        return heed_fail(err, HEED_LIMIT, "the plan takes more memory than can be counted");
    *sum += round_up(bytes);
    return true;
}

static bool insert(layout *l, size_t at, block b, heed_error *err) {
    if (!heed_reserve(l->plan->book.host, (void **)&l->live, &l->cap, l->n + 1, sizeof *l->live,
                      err))
        return false;
    memmove(l->live + at + 1, l->live + at, (l->n - at) * sizeof *l->live);
    l->live[at] = b;
    l->n++;
    return true;
}

/* First gap that holds `bytes`. */
static bool place(layout *l, size_t bytes, int64_t until, size_t *offset, heed_error *err) {
    size_t at = 0, start = 0;
    size_t end = 0;
    if (!grow(&end, bytes + RED_ZONE, err))
        return false;
    bytes = end;
    for (; at < l->n && l->live[at].offset - start < bytes; at++)
        start = l->live[at].offset + l->live[at].bytes;
    *offset = end = start;
    if (!grow(&end, bytes, err))
        return false;
    if (end > l->plan->arena)
        l->plan->arena = end;
    return insert(l, at, (block){start, bytes, until}, err);
}

static void release_dead(layout *l) {
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->live[i].until > l->now)
            l->live[n++] = l->live[i];
    l->n = n;
}

static bool in_arena(const heed_slot *v) {
    return v->source == HEED_FROM_NODE && v->part != HEED_PART_PLAN;
}

/* A value that is two inputs of a node: what is written over the one would be read as the other. */
static bool is_twice(const heed_node *n, int i) {
    for (int j = 0; j < n->n_in; j++)
        if (j != i && n->in[j] == n->in[i])
            return true;
    return false;
}

/* An input of node n whose place output 0 may take over, or NULL. */
static const heed_slot *reusable(const layout *l, const heed_node *n, const heed_slot *out) {
    for (int i = 0; i < n->n_in; i++) {
        if (!(n->op->in_place >> i & 1) || n->in[i] == UINT32_MAX || is_twice(n, i))
            continue;
        const heed_slot *v = heed_slot_at(&l->plan->book, n->in[i]);
        if (in_arena(v) && v->last == l->now && v->bytes == out->bytes)
            return v;
    }
    return NULL;
}

static void take_over(layout *l, const heed_slot *from, heed_slot *out) {
    out->offset = from->offset;
    for (size_t i = 0; i < l->n; i++)
        if (l->live[i].offset == from->offset)
            l->live[i].until = out->last;
}

static bool left_out(const heed_node *n, int i, const heed_slot *v) {
    return (n->op->optional >> i & 1) && !v->used && !v->kept;
}

static bool place_node(layout *l, heed_node *n, heed_error *err) {
    for (int i = 0; i < n->n_out; i++) {
        heed_slot *v = heed_slot_at(&l->plan->book, n->out + (uint32_t)i);
        if (left_out(n, i, v))
            continue;
        const heed_slot *from = i == 0 ? reusable(l, n, v) : NULL;
        if (from)
            take_over(l, from, v);
        else if (!place(l, v->bytes, v->last, &v->offset, err))
            return false;
    }
    if (n->scratch && !place(l, n->scratch, l->now, &n->scratch_offset, err))
        return false;
    release_dead(l);
    return true;
}

/* Node n, at `place` in the order, writes its outputs and reads its inputs. */
static void note_uses(heed_record_book *k, const heed_node *n, int64_t place, bool step,
                      int64_t end) {
    for (int j = 0; j < n->n_out; j++) {
        heed_slot *v = heed_slot_at(k, n->out + (uint32_t)j);
        v->last = v->kept ? end : place;
    }
    for (int j = 0; j < n->n_in; j++) {
        heed_slot *v = n->in[j] == UINT32_MAX ? NULL : heed_slot_at(k, n->in[j]);
        if (v && v->last < end)
            v->last = step && v->part == HEED_PART_ONCE ? end : place;
    }
}

/* The place in the order of each value's last reader. */
static void find_last(heed_plan *p, int64_t end) {
    size_t first_step = p->in_plan + p->in_once;
    for (size_t i = p->in_plan; i < first_step + p->in_step; i++)
        note_uses(&p->book, &p->book.node[p->order[i]], (int64_t)i, i >= first_step, end);
}

/* Bytes of a value, and its place where it does not lie in the arena. */
static bool measure_value(heed_plan *p, heed_slot *v, heed_error *err) {
    v->bytes = heed_shape_bytes(&p->book, &v->shape);
    if (v->bytes == SIZE_MAX)
        return heed_fail(err, HEED_LIMIT,
                         "a value of %" PRId64 " x %" PRId64
                         " numbers is too large; use smaller batches or lengths",
                         heed_shape_rows(&p->book, &v->shape), v->shape.cols);
    if (v->source == HEED_FROM_INPUT) {
        v->offset = p->inputs;
        return grow(&p->inputs, v->bytes, err);
    }
    if (v->source == HEED_FROM_NODE && v->part == HEED_PART_PLAN && (v->used || v->kept)) {
        v->offset = p->constants;
        return grow(&p->constants, v->bytes, err);
    }
    return true;
}

static bool measure(heed_plan *p, heed_error *err) {
    heed_record_book *k = &p->book;
    for (size_t i = 0; i < k->values; i++) {
        if (!measure_value(p, &k->value[i], err))
            return false;
    }
    for (size_t i = 0; i < p->in_plan + p->in_once + p->in_step; i++) {
        heed_work w;
        heed_node *n = &k->node[p->order[i]];
        heed_fill_work(&w, p, NULL, p->order[i]);
        n->scratch = n->op->scratch ? n->op->scratch(&w) : 0;
    }
    return true;
}

/* Bytes of one slot's keys or values. */
static size_t cache_part(const heed_plan *p, int64_t cols) {
    heed_shape shape = heed_fixed(p->cache_rows, cols);
    return heed_shape_bytes(&p->book, &shape);
}

static bool measure_cache(heed_plan *p, heed_error *err) {
    heed_record_book *k = &p->book;
    const heed_space_info *step = &k->space[p->step_space - 1];
    for (size_t i = 0; i < k->caches; i++) {
        heed_cache_info *c = &k->cache[i];
        size_t keys = cache_part(p, c->key_cols), values = cache_part(p, c->value_cols);
        c->key_offset = p->cache_bytes;
        if (!grow(&p->cache_bytes, keys, err))
            return false;
        c->value_offset = p->cache_bytes;
        if (!grow(&p->cache_bytes, values, err))
            return false;
    }
    /* cache.c's table: two lists of rows and positions, lengths, counts, free rows, places. */
    size_t sequences = (size_t)step->sequences;
    if (sequences > (SIZE_MAX >> TOO_MUCH_SHIFT) / 64 / (size_t)p->cache_longest)
        return heed_fail(err, HEED_LIMIT,
                         "a cache of %" PRId64 " sequences of %" PRId64 " rows is too large",
                         step->sequences, p->cache_longest);
    p->table_bytes = sequences * (size_t)p->cache_longest * 4 * sizeof(int32_t) +
                     sequences * (2 * sizeof(int64_t) + 2 * sizeof(void *)) +
                     (size_t)p->cache_rows * 2 * sizeof(int32_t) +
                     (size_t)step->rows * sizeof(int32_t);
    return true;
}

static bool measure_session(heed_plan *p, heed_error *err) {
    heed_record_book *k = &p->book;
    size_t spaces = k->spaces;
    for (size_t i = 0; i < spaces; i++)
        p->cut_bytes += (size_t)(k->space[i].sequences + 1) * sizeof(int64_t) +
                        (size_t)k->space[i].rows * sizeof(int32_t) +
                        (spaces - 1) * (size_t)k->space[i].sequences * sizeof(int32_t);
    return !p->cached || measure_cache(p, err);
}

bool heed_lay_out(heed_plan *p, heed_error *err) {
    size_t first = p->in_plan, count = p->in_once + p->in_step;
    layout l = {.plan = p, .end = (int64_t)(first + count)};
    find_last(p, l.end);
    bool fine = measure(p, err);
    for (size_t i = first; fine && i < first + count; i++) {
        l.now = (int64_t)i;
        fine = place_node(&l, &p->book.node[p->order[i]], err);
    }
    heed_free(p->book.host, l.live);
    return fine && measure_session(p, err);
}

/* Once the plan is made; in training there are floats alone then. */
static size_t weight_bytes(const heed_record_book *k, const heed_slot *v) {
    return k->mode == HEED_TRAIN ? heed_shape_bytes(k, &v->shape)
                                 : heed_weight_bytes(&k->weights->entry[v->index], v->floats);
}

heed_memory heed_plan_memory(const heed_plan *p) {
    const heed_record_book *k = &p->book;
    heed_memory m = {.constants = p->constants,
                     .arena = p->arena,
                     .inputs = p->inputs + p->cut_bytes,
                     .cache = p->cache_bytes + p->table_bytes,
                     .nodes = (int64_t)k->nodes,
                     .values = (int64_t)k->values,
                     .steps = (int64_t)p->in_step};
    for (size_t i = 0; i < k->values; i++) {
        const heed_slot *v = &k->value[i];
        if (!v->used)
            continue;
        if (v->source == HEED_FROM_WEIGHT)
            m.weights += weight_bytes(k, v);
        if (v->source == HEED_FROM_GRADIENT)
            m.gradients += heed_shape_bytes(k, &v->shape);
    }
    return m;
}
