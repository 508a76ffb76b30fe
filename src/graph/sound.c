/* sound.c: what a run looks at before its first node: cuts, joins, integers, pairs.
 *
 * Each is looked at before the part that reads it: what a step does not change in heed_run_once,
 * the rest in heed_run.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <inttypes.h>
#include <string.h>

/* ---- What they are held against is said while recording ---- */

/* The integers that v is made of by ops that pass them on. */
static heed_value where_ints_come_in(const heed_build *b, heed_value v) {
    for (const heed_slot *s = heed_slot_at(&b->book, v.id); s->source == HEED_FROM_NODE;) {
        const heed_node *n = &b->book.node[s->index];
        if (!n->op->passes_ints)
            break;
        v.id = n->in[0];
        s = heed_slot_at(&b->book, v.id);
    }
    return v;
}

void heed_limit_ints(heed_build *b, heed_value v, int64_t low, int64_t limit, int32_t other,
                     const char *what) {
    if (!v.id || heed_is_absent(v))
        return;
    v = where_ints_come_in(b, v);
    for (size_t i = 0; i < b->book.inputs; i++) {
        heed_input_info *in = &b->book.input[i];
        if (in->value != v.id)
            continue;
        bool first = !in->limit; /* later readers take away: all must be able to read it */
        in->has_other = other != -1 && (first || (in->has_other && in->other == other));
        in->other = other;
        in->low = first || low > in->low ? low : in->low;
        if (first || limit < in->limit) {
            in->limit = limit;
            in->what = heed_region_text(&b->book.region, what, strlen(what), &b->error);
        }
    }
}

/* ---- Looking ---- */

static bool ints_in_range(const heed_session *s, const heed_input_info *in, heed_error *err) {
    const heed_slot *v = heed_slot_at(&s->plan->book, in->value);
    const heed_cut_store *cut = &s->cut[v->shape.space - 1];
    const int32_t *x = v->source == HEED_FROM_POSITIONS
                           ? cut->positions
                           : (const int32_t *)(const void *)(s->inputs + v->offset);
    for (int64_t i = 0; i < cut->starts[cut->n]; i++)
        if ((x[i] < in->low || x[i] >= in->limit) && !(in->has_other && x[i] == in->other))
            return heed_fail(err, HEED_VALUE,
                             "%s[%" PRId64 "] is %d, %s holds %" PRId64 " to %" PRId64, in->name, i,
                             x[i], in->what, in->low, in->limit - 1);
    return true;
}

static int64_t keys_of(const heed_session *s, uint32_t keys, int64_t sequence) {
    const heed_cut_store *cut = &s->cut[keys - 1];
    if (sequence >= cut->n)
        return 0;
    if (s->plan->cached && keys == s->plan->step_space)
        return s->cache.length[sequence];
    return cut->starts[sequence + 1] - cut->starts[sequence];
}

static const heed_join_store *join_of(const heed_session *s, const heed_shape *shape) {
    const heed_record_book *k = &s->plan->book;
    return &s->join[(heed_whole_space(k, shape->space) - 1) * k->spaces +
                    heed_whole_space(k, shape->keys) - 1];
}

/* Each sequence of queries looks at one of the keys as they are cut now. */
static bool join_sound(const heed_session *s, const heed_shape *shape, heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    const char *queries = k->space[shape->space - 1].name, *keys = k->space[shape->keys - 1].name;
    int64_t n = s->cut[shape->space - 1].n, most = s->cut[shape->keys - 1].n;
    const heed_join_store *join = join_of(s, shape);
    if (join->map && join->stale)
        return heed_fail(err, HEED_VALUE,
                         "'%s' is joined to '%s' as they were before they were cut anew: "
                         "heed_set_join comes after heed_set_rows",
                         queries, keys);
    return join->map || n <= most ||
           heed_fail(err, HEED_VALUE,
                     "%" PRId64 " sequences of '%s' cannot look at %" PRId64
                     " of '%s' one by one: heed_set_join says which at which",
                     n, queries, most, keys);
}

static bool pairs_fit(const heed_session *s, const heed_shape *shape, heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    const heed_cut_store *cut = &s->cut[shape->space - 1];
    const int32_t *join = join_of(s, shape)->map;
    int64_t pairs = 0, most = heed_shape_rows(k, shape);
    for (int64_t i = 0; i < cut->n; i++)
        pairs +=
            (cut->starts[i + 1] - cut->starts[i]) * keys_of(s, shape->keys, join ? join[i] : i);
    return pairs <= most ||
           heed_fail(err, HEED_LIMIT,
                     "%" PRId64 " query-key pairs of '%s', the plan holds %" PRId64, pairs,
                     k->space[shape->space - 1].name, most);
}

static bool spaces_sound(const heed_session *s, bool once, heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    for (size_t i = 0; i < k->spaces; i++)
        if (!k->space[i].of && !s->cut[i].set && !(once && i + 1 == s->plan->step_space))
            return heed_fail(err, HEED_VALUE, "row space '%s' has not been cut: heed_set_rows",
                             k->space[i].name);
    return true;
}

/* Pairs of queries and keys: of weights that a node makes, watched or not, and of masks. */
static bool pairs_sound(const heed_session *s, heed_part part, heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    for (size_t i = 0; i < k->values; i++) {
        const heed_slot *v = &k->value[i];
        if (v->shape.extent != HEED_EXTENT_PAIRS || v->part != part)
            continue;
        bool made = v->source == HEED_FROM_NODE && k->node[v->index].needed;
        if (made && !join_sound(s, &v->shape, err))
            return false;
        if ((v->used || v->kept) && !pairs_fit(s, &v->shape, err))
            return false;
    }
    return true;
}

bool heed_run_sound(const heed_session *s, bool once, heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    heed_part part = once ? HEED_PART_ONCE : HEED_PART_STEP;
    if (!spaces_sound(s, once, err))
        return false;
    for (size_t i = 0; i < k->inputs; i++) {
        const heed_slot *v = heed_slot_at(k, k->input[i].value);
        if (k->input[i].limit && v->used && v->part == part && !ints_in_range(s, &k->input[i], err))
            return false;
    }
    return pairs_sound(s, part, err);
}
