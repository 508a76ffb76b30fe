/* plan.c: from recorded nodes to an order, a place for every value, and what is made once with the
 * plan.
 *
 * Input: nodes in order of recording, the loss, what is watched, the capacity of each row space.
 * Method: add gradients; keep what is watched; drop what nobody needs; sort each node into the part
 * in which it runs (with the plan, once, each step) without changing the order inside a part; lay
 * out memory (layout.c). Invariant: a node's inputs are made in its own part or an earlier one.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <inttypes.h>
#include <string.h>

/* ---- Capacity ---- */

static const heed_capacity *find_capacity(const heed_plan_options *o, const char *name) {
    for (const heed_capacity *c = o->capacity; c && c->space; c++)
        if (!strcmp(c->space, name))
            return c;
    return NULL;
}

/* Capacity of a space that is made of another. Pairs: of its rows with themselves. */
static bool follow_capacity(const heed_record_book *k, heed_space_info *s, heed_error *err) {
    const heed_space_info *of = &k->space[s->of - 1];
    s->sequences = of->sequences;
    if (s->chosen_by) {
        s->rows = of->rows;
        s->longest = of->longest;
        s->pairs = of->pairs;
        return true;
    }
    if (!s->more) {
        s->rows = s->sequences;
        s->longest = 1;
        return true;
    }
    s->rows = of->rows + s->more * of->sequences;
    s->longest = of->longest + s->more;
    if (s->rows > INT32_MAX)
        return heed_fail(err, HEED_VALUE, "row space '%s' cannot hold %" PRId64 " rows", s->name,
                         s->rows);
    if (of->pairs)
        s->pairs = of->pairs + s->more * (of->rows + s->rows);
    return true;
}

static bool set_capacity(heed_record_book *k, const heed_plan_options *o, heed_error *err) {
    for (size_t i = 0; i < k->spaces; i++) {
        heed_space_info *s = &k->space[i];
        if (s->of) {
            if (!follow_capacity(k, s, err))
                return false;
            continue;
        }
        const heed_capacity *c = find_capacity(o, s->name);
        if (!c)
            return heed_fail(err, HEED_NAME, "no capacity is given for row space '%s'", s->name);
        if (c->rows < 1 || c->sequences < 1 || c->longest < 1 || c->longest > c->rows ||
            c->rows > INT32_MAX || c->sequences > INT32_MAX || c->pairs < 0)
            return heed_fail(err, HEED_VALUE,
                             "row space '%s' cannot hold %" PRId64 " rows, %" PRId64
                             " sequences, longest %" PRId64,
                             s->name, c->rows, c->sequences, c->longest);
        s->rows = c->rows;
        s->sequences = c->sequences;
        s->longest = c->longest;
        s->pairs = c->pairs;
    }
    return true;
}

static uint32_t find_space(const heed_record_book *k, const char *name) {
    for (size_t i = 0; i < k->spaces; i++)
        if (!k->space[i].of && !strcmp(k->space[i].name, name))
            return (uint32_t)i + 1;
    return 0;
}

static bool set_step(heed_plan *p, const heed_plan_options *o, heed_error *err) {
    if (o->cached && (!o->step || p->book.mode == HEED_TRAIN))
        return heed_fail(err, HEED_VALUE, "a cached plan needs `step` and HEED_INFER");
    if (!o->step)
        return true;
    p->step_space = find_space(&p->book, o->step);
    if (!p->step_space)
        return heed_fail(err, HEED_NAME, "there is no row space '%s' to step over", o->step);
    const heed_space_info *s = &p->book.space[p->step_space - 1];
    p->cached = o->cached;
    if (!p->cached)
        return true;
    p->cache_longest = o->cache_longest ? o->cache_longest : s->longest;
    bool fits = p->cache_longest >= 1 && p->cache_longest <= INT32_MAX;
    if (fits)
        p->cache_rows = o->cache_rows ? o->cache_rows : s->sequences * p->cache_longest;
    return (fits && p->cache_rows >= 1 && p->cache_rows <= INT32_MAX) ||
           heed_fail(err, HEED_VALUE,
                     "a cache of %" PRId64 " rows, %" PRId64 " a sequence, cannot be made",
                     p->cache_rows, p->cache_longest);
}

/* ---- What is watched ---- */

static bool add_watch(heed_plan *p, size_t *cap, const heed_named *named, heed_error *err) {
    if (!heed_reserve(p->book.host, (void **)&p->watched, cap, p->watches + 1, sizeof *p->watched,
                      err))
        return false;
    heed_slot_at(&p->book, named->value)->kept = true;
    p->watched[p->watches++] = named->path;
    return true;
}

/* All values that a path or pattern names; only a pattern may name none. */
static bool watch_path(heed_plan *p, const char *path, size_t *cap, heed_error *err) {
    bool found = strchr(path, '*') != NULL;
    for (size_t i = 0; i < p->book.nameds; i++) {
        if (!heed_path_matches(path, p->book.named[i].path))
            continue;
        if (!add_watch(p, cap, &p->book.named[i], err))
            return false;
        found = true;
    }
    return found || heed_fail(err, HEED_NAME, "nothing in the model is called '%s'", path);
}

static bool watch(heed_plan *p, const heed_plan_options *o, heed_error *err) {
    size_t cap = 0;
    bool any = false;
    for (const char *const *w = o->watch; w && *w; w++) {
        if (!watch_path(p, *w, &cap, err))
            return false;
        any = true;
    }
    for (const heed_value *v = o->keep; v && v->id; v++)
        heed_slot_at(&p->book, v->id)->kept = any = true;
    if (o->loss.id)
        heed_slot_at(&p->book, o->loss.id)->kept = any = true;
    return any ||
           heed_fail(err, HEED_VALUE, "nothing is asked of the plan: no loss, no watched value");
}

/* ---- What is needed, and when ---- */

static bool wanted(const heed_record_book *k, const heed_node *n) {
    if (n->op->effect && k->mode == HEED_TRAIN)
        return true;
    for (int i = 0; i < n->n_out; i++) {
        const heed_slot *v = heed_slot_at(k, n->out + (uint32_t)i);
        if (v->kept || v->used)
            return true;
    }
    return false;
}

/* In training every node reads a weight's floats. */
static void mark_needed(heed_record_book *k) {
    for (size_t i = k->nodes; i-- > 0;) {
        heed_node *n = &k->node[i];
        n->needed = wanted(k, n);
        for (int j = 0; n->needed && j < n->n_in; j++) {
            if (n->in[j] == UINT32_MAX)
                continue;
            heed_slot *v = heed_slot_at(k, n->in[j]);
            v->used = true;
            v->floats = v->floats || k->mode == HEED_TRAIN || !(n->op->kept >> j & 1);
        }
    }
}

/* What a value is a function of; the greatest of its inputs'. */
enum { OF_NOTHING, OF_WEIGHTS, OF_INPUTS, OF_STEP };

static bool in_step_space(const heed_plan *p, const heed_shape *shape) {
    if (!p->step_space || shape->extent == HEED_EXTENT_FIXED)
        return false;
    return heed_root_space(&p->book, shape->space) == p->step_space ||
           (shape->extent == HEED_EXTENT_PAIRS &&
            heed_root_space(&p->book, shape->keys) == p->step_space);
}

static int own_class(const heed_plan *p, const heed_slot *v) {
    if (v->source == HEED_FROM_WEIGHT)
        return OF_WEIGHTS;
    if (v->source == HEED_FROM_GRADIENT)
        return OF_STEP;
    if (in_step_space(p, &v->shape))
        return OF_STEP;
    return v->source == HEED_FROM_NODE ? OF_NOTHING : OF_INPUTS;
}

static heed_part part_of(const heed_plan *p, int class, bool frozen) {
    if (class == OF_NOTHING || (class == OF_WEIGHTS && frozen))
        return HEED_PART_PLAN;
    return p->step_space && class != OF_STEP ? HEED_PART_ONCE : HEED_PART_STEP;
}

static void sort_node(heed_plan *p, unsigned char *class, const heed_node *n, bool frozen) {
    int most = n->cache >= 0 && p->cached ? OF_STEP : OF_NOTHING;
    for (int j = 0; j < n->n_in; j++)
        if (n->in[j] != UINT32_MAX && class[n->in[j] - 1] > most)
            most = class[n->in[j] - 1];
    for (int j = 0; j < n->n_out; j++) {
        int own = own_class(p, heed_slot_at(&p->book, n->out + (uint32_t)j));
        if (own > most)
            most = own;
    }
    if (n->op->effect)
        most = OF_STEP;
    for (int j = 0; j < n->n_out; j++) {
        class[n->out + (uint32_t)j - 1] = (unsigned char)most;
        heed_slot_at(&p->book, n->out + (uint32_t)j)->part = part_of(p, most, frozen);
    }
}

/* Effects have no output to carry their part: they always belong to the step. */
static heed_part node_part(const heed_plan *p, const heed_node *n) {
    return n->op->effect || !n->n_out ? HEED_PART_STEP : heed_slot_at(&p->book, n->out)->part;
}

static bool make_order(heed_plan *p, bool frozen, heed_error *err) {
    heed_record_book *k = &p->book;
    unsigned char *class = heed_alloc(k->host, k->values, 1, err);
    p->order = heed_alloc(k->host, k->nodes, sizeof *p->order, err);
    if (!class || !p->order) {
        heed_free(k->host, class);
        return false;
    }
    for (size_t i = 0; i < k->values; i++) {
        class[i] = (unsigned char)own_class(p, &k->value[i]);
        if (k->value[i].source == HEED_FROM_INPUT || k->value[i].source == HEED_FROM_POSITIONS)
            k->value[i].part = part_of(p, class[i], frozen);
    }
    for (size_t i = 0; i < k->nodes; i++)
        sort_node(p, class, &k->node[i], frozen);
    heed_free(k->host, class);
    size_t n = 0, *count[] = {&p->in_plan, &p->in_once, &p->in_step};
    for (heed_part part = HEED_PART_PLAN; part <= HEED_PART_STEP; part++)
        for (size_t i = 0; i < k->nodes; i++)
            if (k->node[i].needed && node_part(p, &k->node[i]) == part) {
                p->order[n++] = (uint32_t)i;
                ++*count[part];
            }
    return true;
}

/* ---- Weights, gradients, constants ---- */

/* Floats for those who read them, of weights that are kept in fewer bits. What is trained is floats
 * alone from then on: after a step, the numbers in the file are old ones. */
static bool expand_weights(const heed_record_book *k, heed_error *err) {
    for (size_t i = 0; i < k->values; i++) {
        const heed_slot *v = &k->value[i];
        if (v->source != HEED_FROM_WEIGHT || !v->floats)
            continue;
        heed_weight_entry *e = &k->weights->entry[v->index];
        if (!heed_weights_expand(k->weights, e, err))
            return false;
        if (k->mode == HEED_TRAIN)
            e->raw = NULL;
    }
    return true;
}

bool heed_weights_ready(const heed_record_book *k, heed_error *err) {
    for (size_t i = 0; i < k->values; i++) {
        const heed_slot *v = &k->value[i];
        const heed_weight_entry *e =
            v->source == HEED_FROM_WEIGHT && v->used ? &k->weights->entry[v->index] : NULL;
        if (e && !e->data && !e->raw)
            return heed_fail(err, HEED_NAME, "weight '%s' has no values yet", e->name);
    }
    return true;
}

static bool make_gradients(const heed_record_book *k, heed_error *err) {
    for (size_t i = 0; i < k->values; i++)
        if (k->value[i].source == HEED_FROM_GRADIENT && k->value[i].used &&
            !heed_weights_make_grad(k->weights, k->value[i].index, err))
            return false;
    return true;
}

static size_t most_scratch(const heed_plan *p, size_t from, size_t count) {
    size_t most = 0;
    for (size_t i = from; i < from + count; i++)
        if (p->book.node[p->order[i]].scratch > most)
            most = p->book.node[p->order[i]].scratch;
    return most;
}

/* Weights in a mapped file that a constant was made of: what is read again comes back. */
static void let_weights_go(const heed_plan *p, const heed_node *n) {
    for (int i = 0; i < n->n_in; i++) {
        const heed_slot *v = n->in[i] == UINT32_MAX ? NULL : heed_slot_at(&p->book, n->in[i]);
        if (v && v->source == HEED_FROM_WEIGHT)
            heed_weights_let_go(&p->book.weights->entry[v->index]);
    }
}

static bool make_constants(heed_plan *p, heed_error *err) {
    if (!p->in_plan)
        return true;
    p->constant = heed_alloc_raw(p->book.host, p->constants, err);
    void *scratch =
        p->constant ? heed_alloc(p->book.host, most_scratch(p, 0, p->in_plan), 1, err) : NULL;
    if (!scratch || !heed_weights_ready(&p->book, err)) {
        heed_free(p->book.host, scratch);
        return false;
    }
    for (size_t i = 0; i < p->in_plan; i++) {
        heed_work w;
        heed_fill_work(&w, p, NULL, p->order[i]);
        w.scratch = p->book.node[w.node].scratch ? scratch : NULL;
        p->book.node[w.node].op->run(&w);
        let_weights_go(p, &p->book.node[w.node]);
    }
    heed_free(p->book.host, scratch);
    return true;
}

static bool within_limit(const heed_plan *p, size_t limit, heed_error *err) {
    heed_memory m = heed_plan_memory(p);
    size_t all = m.constants + m.arena + m.inputs + m.cache + m.gradients + m.weights;
    if (!limit || all <= limit)
        return true;
    return heed_fail(err, HEED_LIMIT,
                     "the run takes %.1f MiB and may take %.1f MiB; use smaller batches",
                     (double)all / 1048576.0, (double)limit / 1048576.0);
}

heed_plan *heed_plan_new(heed_build *b, const heed_plan_options *o, heed_error *err) {
    if (!b)
        return NULL;
    if (o->loss.id && b->book.mode != HEED_TRAIN)
        heed_refuse(b, HEED_VALUE, "a loss needs a build in HEED_TRAIN");
    bool fine = !b->error.code && (!o->loss.id || heed_add_gradients(b, o));
    if (!fine && b->error.code)
        heed_fail(err, b->error.code, "%s", b->error.text);
    heed_plan *p = fine ? heed_alloc(b->book.host, 1, sizeof *p, err) : NULL;
    if (!p) {
        heed_build_free(b);
        return NULL;
    }
    p->book = b->book;
    p->trains = o->loss.id != 0;
    p->measured = o->measure;
    heed_free(b->book.host, b);
    fine = set_capacity(&p->book, o, err) && set_step(p, o, err) && watch(p, o, err);
    if (fine)
        mark_needed(&p->book);
    fine = fine && make_order(p, o->frozen, err) && heed_lay_out(p, err) &&
           within_limit(p, o->limit, err) &&
           (p->measured || (make_gradients(&p->book, err) && expand_weights(&p->book, err) &&
                            make_constants(p, err)));
    if (fine)
        return p;
    heed_plan_free(p);
    return NULL;
}

void heed_plan_free(heed_plan *p) {
    if (!p)
        return;
    const heed_host *host = p->book.host;
    heed_free(host, p->order);
    heed_free(host, p->constant);
    heed_free(host, p->watched);
    heed_book_free(&p->book);
    heed_free(host, p);
}

int64_t heed_watched_count(const heed_plan *p) {
    return (int64_t)p->watches;
}

const char *heed_watched_path(const heed_plan *p, int64_t i) {
    return p->watched[i];
}
