/* work.c: what an op gets to see of a plan and a run.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

static void *data_of(const heed_plan *p, const heed_session *s, const heed_slot *v) {
    switch (v->source) {
    case HEED_FROM_WEIGHT:
        return p->book.weights->entry[v->index].data;
    case HEED_FROM_GRADIENT:
        return p->book.weights->entry[v->index].grad;
    case HEED_FROM_INPUT:
        return s ? s->inputs + v->offset : NULL;
    case HEED_FROM_POSITIONS:
        return s ? s->cut[v->index - 1].positions : NULL;
    case HEED_FROM_NODE:
        break;
    }
    if (v->part == HEED_PART_PLAN)
        return p->constant ? (char *)p->constant + v->offset : NULL;
    return s ? s->arena + v->offset : NULL;
}

static int64_t rows_of(const heed_plan *p, const heed_session *s, const heed_shape *shape) {
    if (!s || shape->extent != HEED_EXTENT_SPACE)
        return heed_shape_rows(&p->book, shape);
    const heed_cut_store *cut = &s->cut[shape->space - 1];
    return cut->starts[cut->n];
}

heed_mat heed_mat_of(const heed_plan *p, const heed_session *s, uint32_t id) {
    const heed_slot *v = heed_slot_at(&p->book, id);
    return (heed_mat){.data = data_of(p, s, v),
                      .rows = rows_of(p, s, &v->shape),
                      .cols = v->shape.cols,
                      .space = v->shape.extent == HEED_EXTENT_FIXED ? 0 : v->shape.space,
                      .kept = HEED_F32};
}

/* An input as its op wants it: kept in fewer bits, where it is a weight that is. */
static heed_mat input_of(const heed_plan *p, const heed_session *s, const heed_node *n, int i) {
    heed_mat m = heed_mat_of(p, s, n->in[i]);
    const heed_slot *v = heed_slot_at(&p->book, n->in[i]);
    if (v->source != HEED_FROM_WEIGHT || !(n->op->kept >> i & 1))
        return m;
    const heed_weight_entry *e = &p->book.weights->entry[v->index];
    if (e->raw && p->book.mode != HEED_TRAIN) {
        m.data = (void *)(uintptr_t)e->raw; /* never written */
        m.kept = (heed_type)e->type;
    }
    return m;
}

void heed_fill_work(heed_work *w, const heed_plan *p, const heed_session *s, uint32_t node) {
    const heed_node *n = &p->book.node[node];
    *w = (heed_work){.kernels = &p->book.engine->kernels,
                     .pool = p->book.engine->pool,
                     .attr = n->attr,
                     .n_in = n->n_in,
                     .n_out = n->n_out,
                     .session = s,
                     .plan = p,
                     .node = node};
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] != UINT32_MAX)
            w->in[i] = input_of(p, s, n, i);
    for (int i = 0; i < n->n_out; i++) {
        uint32_t id = n->out + (uint32_t)i;
        const heed_slot *v = heed_slot_at(&p->book, id);
        w->out[i] = heed_mat_of(p, s, id);
        if ((n->op->optional >> i & 1) && !v->used && !v->kept)
            w->out[i].data = NULL;
    }
    if (!s)
        return;
    w->scratch = n->scratch ? s->arena + n->scratch_offset : NULL;
    w->seed = s->seed;
    w->step = s->step;
}

heed_cut heed_work_cut(const heed_work *w, uint32_t space) {
    const heed_space_info *info = &w->plan->book.space[space - 1];
    if (!w->session)
        return (heed_cut){.n = info->sequences, .longest = info->longest};
    const heed_cut_store *cut = &w->session->cut[space - 1];
    return (heed_cut){
        .n = cut->n, .starts = cut->starts, .positions = cut->positions, .longest = cut->longest};
}

const int32_t *heed_work_join(const heed_work *w, uint32_t queries, uint32_t keys) {
    const heed_record_book *k = &w->plan->book;
    size_t at = (heed_whole_space(k, queries) - 1) * k->spaces + heed_whole_space(k, keys) - 1;
    return w->session ? w->session->join[at].map : NULL;
}

int64_t heed_work_pairs(const heed_work *w, uint32_t queries, uint32_t keys) {
    heed_shape shape = {.extent = HEED_EXTENT_PAIRS, .space = queries, .keys = keys};
    return heed_shape_rows(&w->plan->book, &shape);
}

bool heed_work_cache(const heed_work *w, heed_cache_view *view) {
    const heed_plan *p = w->plan;
    int32_t index = p->book.node[w->node].cache;
    if (!p->cached || index < 0)
        return false;
    *view = (heed_cache_view){0};
    if (!w->session)
        return true;
    const heed_cache *c = &w->session->cache;
    const heed_cache_info *info = &p->book.cache[index];
    *view = (heed_cache_view){.keys = (heed_number *)(void *)(c->data + info->key_offset),
                              .values = (heed_number *)(void *)(c->data + info->value_offset),
                              .place = c->place,
                              .rows = (const int32_t *const *)c->rows,
                              .length = c->length,
                              .positions = (const int32_t *const *)c->positions};
    return true;
}

int64_t heed_work_cache_longest(const heed_work *w) {
    return w->plan->cache_longest;
}
