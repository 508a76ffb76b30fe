/* session.c: one arena, one set of caches, and the loop over nodes.
 *
 * A run checks everything that can fail before its first node: room in the cache here, the rest in
 * sound.c.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

static bool make_cuts(heed_session *s, heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    s->cut = heed_alloc(k->host, k->spaces, sizeof *s->cut, err);
    s->join = heed_alloc(k->host, k->spaces * k->spaces, sizeof *s->join, err);
    if (!s->cut || !s->join)
        return false;
    for (size_t i = 0; i < k->spaces; i++) {
        s->cut[i].starts =
            heed_alloc(k->host, (size_t)k->space[i].sequences + 1, sizeof(int64_t), err);
        s->cut[i].positions = heed_alloc(k->host, (size_t)k->space[i].rows, sizeof(int32_t), err);
        if (!s->cut[i].starts || !s->cut[i].positions)
            return false;
    }
    return true;
}

heed_session *heed_session_new(const heed_plan *plan, heed_error *err) {
    const heed_host *host = plan->book.host;
    if (plan->measured) {
        heed_fail(err, HEED_VALUE, "this plan was made to be measured, not to be run");
        return NULL;
    }
    if (!heed_weights_ready(&plan->book, err))
        return NULL;
    heed_session *s = heed_alloc(host, 1, sizeof *s, err);
    if (!s)
        return NULL;
    s->plan = plan;
    s->arena = heed_alloc_raw(host, plan->arena, err);
    s->inputs = heed_alloc(host, plan->inputs, 1, err);
    if (s->arena && s->inputs && make_cuts(s, err) && heed_cache_make(s, err))
        return s;
    heed_session_free(s);
    return NULL;
}

void heed_session_free(heed_session *s) {
    if (!s)
        return;
    const heed_record_book *k = &s->plan->book;
    for (size_t i = 0; s->cut && i < k->spaces; i++) {
        heed_free(k->host, s->cut[i].starts);
        heed_free(k->host, s->cut[i].positions);
    }
    for (size_t i = 0; s->join && i < k->spaces * k->spaces; i++)
        heed_free(k->host, s->join[i].map);
    if (s->arena)
        UNPOISON(s->arena, s->plan->arena);
    heed_free(k->host, s->cut);
    heed_free(k->host, s->join);
    heed_free(k->host, s->arena);
    heed_free(k->host, s->inputs);
    heed_cache_drop(s);
    heed_free(k->host, s);
}

/* ---- What a run is given ---- */

static uint32_t space_called(const heed_session *s, const char *name, heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    for (size_t i = 0; i < k->spaces; i++)
        if (!k->space[i].of && !strcmp(k->space[i].name, name))
            return (uint32_t)i + 1;
    heed_fail(err, HEED_NAME, "there is no row space '%s'", name);
    return 0;
}

static bool fits(const heed_space_info *space, int64_t n, const int64_t *starts, int64_t *longest,
                 heed_error *err) {
    if (n < 0 || n > space->sequences)
        return heed_fail(err, HEED_LIMIT, "%" PRId64 " sequences of '%s', the plan holds %" PRId64,
                         n, space->name, space->sequences);
    for (int64_t i = 0; i < n; i++) {
        int64_t length = starts[i + 1] - starts[i];
        if (length < 0 || starts[0])
            return heed_fail(err, HEED_VALUE, "starts of '%s' must rise from 0", space->name);
        if (length > *longest)
            *longest = length;
    }
    if (*longest > space->longest)
        return heed_fail(err, HEED_LIMIT,
                         "a sequence of %" PRId64 " rows of '%s', the plan holds %" PRId64,
                         *longest, space->name, space->longest);
    if (n && starts[n] > space->rows)
        return heed_fail(err, HEED_LIMIT, "%" PRId64 " rows of '%s', the plan holds %" PRId64,
                         starts[n], space->name, space->rows);
    return true;
}

/* What was made or said for the cut before: joins, and what runs once. */
static void forget_cut(heed_session *s, uint32_t space) {
    size_t spaces = s->plan->book.spaces;
    for (size_t i = 0; i < spaces; i++)
        s->join[(space - 1) * spaces + i].stale = s->join[i * spaces + space - 1].stale = true;
    if (space != s->plan->step_space)
        s->once_done = false;
}

bool heed_set_rows(heed_session *s, const char *name, int64_t n, const int64_t *starts,
                   const int32_t *positions, heed_error *err) {
    int64_t longest = 0;
    uint32_t space = space_called(s, name, err);
    if (!space || !fits(&s->plan->book.space[space - 1], n, starts, &longest, err))
        return false;
    heed_cut_store *cut = &s->cut[space - 1];
    cut->n = n;
    cut->longest = longest;
    cut->set = true;
    cut->own_positions = positions != NULL;
    cut->starts[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        cut->starts[i + 1] = starts[i + 1];
        for (int64_t r = starts[i]; r < starts[i + 1]; r++)
            cut->positions[r] = positions ? positions[r] : (int32_t)(r - starts[i]);
    }
    heed_cut_followers(s, space);
    forget_cut(s, space);
    return true;
}

bool heed_set_join(heed_session *s, const char *queries, const char *keys, const int32_t *map,
                   heed_error *err) {
    const heed_record_book *k = &s->plan->book;
    uint32_t q = space_called(s, queries, err), key = q ? space_called(s, keys, err) : 0;
    if (!key)
        return false;
    heed_join_store *join = &s->join[(q - 1) * k->spaces + key - 1];
    size_t n = (size_t)k->space[q - 1].sequences;
    if (!join->map)
        join->map = heed_alloc(k->host, n, sizeof *join->map, err);
    if (!join->map)
        return false;
    join->stale = true;
    for (int64_t i = 0; i < s->cut[q - 1].n; i++) {
        if (map[i] < 0 || map[i] >= s->cut[key - 1].n)
            return heed_fail(err, HEED_VALUE,
                             "sequence %" PRId64 " of '%s' is joined to sequence %d of %" PRId64
                             " of '%s'",
                             i, queries, map[i], s->cut[key - 1].n, keys);
        join->map[i] = map[i];
    }
    join->stale = !s->cut[q - 1].set || !s->cut[key - 1].set;
    if (q != s->plan->step_space && key != s->plan->step_space)
        s->once_done = false;
    return true;
}

static void *input_of(heed_session *s, const char *name, heed_cell cell) {
    const heed_record_book *k = &s->plan->book;
    for (size_t i = 0; i < k->inputs; i++) {
        const heed_slot *v = heed_slot_at(k, k->input[i].value);
        if (v->source == HEED_FROM_INPUT && v->shape.cell == cell &&
            !strcmp(k->input[i].name, name))
            return s->inputs + v->offset;
    }
    return NULL;
}

int32_t *heed_ints(heed_session *s, const char *name) {
    return input_of(s, name, HEED_CELL_INT);
}
heed_number *heed_numbers(heed_session *s, const char *name) {
    return input_of(s, name, HEED_CELL_NUMBER);
}
uint8_t *heed_bytes(heed_session *s, const char *name) {
    return input_of(s, name, HEED_CELL_BYTE);
}

void heed_set_random(heed_session *s, uint64_t seed, uint64_t step) {
    s->seed = seed;
    s->step = step;
}

void heed_set_cancel(heed_session *s, const volatile bool *cancel) {
    s->cancel = cancel;
}

/* ---- The loop ---- */

static const char *path_of(const heed_plan *p, const heed_node *n) {
    for (size_t i = 0; i < p->book.nameds; i++)
        if (n->n_out && p->book.named[i].value == n->out)
            return p->book.named[i].path;
    return n->scope;
}

static bool outputs_finite(const heed_session *s, const heed_work *w, heed_error *err) {
    const heed_node *n = &s->plan->book.node[w->node];
    bool fine = true;
    if (n->n_out && w->out[0].data &&
        heed_slot_at(&s->plan->book, n->out)->shape.extent != HEED_EXTENT_PAIRS)
        fine = w->kernels->all_finite(w->out[0].rows * w->out[0].cols, w->out[0].data);
    for (int i = 0; fine && n->op->effect && i < n->n_in; i++)
        if (n->in[i] != UINT32_MAX &&
            heed_slot_at(&s->plan->book, n->in[i])->source == HEED_FROM_GRADIENT)
            fine = w->kernels->all_finite(w->in[i].rows * w->in[i].cols, w->in[i].data);
    return fine || heed_fail(err, HEED_NONFINITE, "'%s' (%s) is not finite", path_of(s->plan, n),
                             n->op->name);
}

/* Only what the node may touch is open to it; everything else in the arena is a red zone. */
static void open_arena(const heed_session *s, const heed_work *w) {
    const heed_node *n = &s->plan->book.node[w->node];
    POISON(s->arena, s->plan->arena);
    for (int i = 0; i < n->n_in; i++)
        if (w->in[i].data >= (void *)s->arena &&
            w->in[i].data < (void *)(s->arena + s->plan->arena))
            UNPOISON(w->in[i].data, heed_slot_at(&s->plan->book, n->in[i])->bytes);
    for (int i = 0; i < n->n_out; i++)
        if (w->out[i].data >= (void *)s->arena &&
            w->out[i].data < (void *)(s->arena + s->plan->arena))
            UNPOISON(w->out[i].data, heed_slot_at(&s->plan->book, n->out + (uint32_t)i)->bytes);
    if (w->scratch)
        UNPOISON(w->scratch, n->scratch);
}

static bool run_nodes(heed_session *s, size_t from, size_t count, bool checked, heed_error *err) {
    for (size_t i = from; i < from + count; i++) {
        heed_work w;
        if (s->cancel && *s->cancel)
            return heed_fail(err, HEED_CANCEL, "cancelled");
        heed_fill_work(&w, s->plan, s, s->plan->order[i]);
        open_arena(s, &w);
        s->plan->book.node[w.node].op->run(&w);
        if (checked && !outputs_finite(s, &w, err)) {
            UNPOISON(s->arena, s->plan->arena);
            return false;
        }
    }
    UNPOISON(s->arena, s->plan->arena);
    return true;
}

bool heed_run_once(heed_session *s, heed_error *err) {
    heed_cut_selected(s, true);
    if (!heed_run_sound(s, true, err))
        return false;
    s->once_done = run_nodes(s, s->plan->in_plan, s->plan->in_once, false, err);
    return s->once_done;
}

static bool run_step(heed_session *s, bool checked, heed_error *err) {
    const heed_plan *p = s->plan;
    if (p->in_once && !s->once_done)
        return heed_fail(err, HEED_VALUE,
                         "heed_run before heed_run_once, or with rows that it did not see");
    uint32_t step = p->step_space;
    if (step && !s->cut[step - 1].set)
        return heed_fail(err, HEED_VALUE, "row space '%s' has not been cut: heed_set_rows",
                         p->book.space[step - 1].name);
    if (!heed_cache_append(s, err))
        return false;
    heed_cut_selected(s, false);
    if (heed_run_sound(s, false, err) &&
        run_nodes(s, p->in_plan + p->in_once, p->in_step, checked, err))
        return true;
    heed_cache_forget(s);
    return false;
}

bool heed_run(heed_session *s, heed_error *err) {
    return run_step(s, false, err);
}

bool heed_run_checked(heed_session *s, heed_error *err) {
    return run_step(s, true, err);
}

/* ---- Reading ---- */

heed_matrix heed_read_value(const heed_session *s, heed_value v) {
    const heed_record_book *k = &s->plan->book;
    if (!v.id || v.id > k->values)
        return (heed_matrix){0};
    const heed_slot *slot = heed_slot_at(k, v.id);
    if (slot->shape.cell != HEED_CELL_NUMBER || (!slot->kept && slot->source == HEED_FROM_NODE))
        return (heed_matrix){0};
    heed_mat m = heed_mat_of(s->plan, s, v.id);
    return (heed_matrix){.data = m.data, .rows = m.rows, .cols = m.cols};
}

heed_matrix heed_read(const heed_session *s, const char *path) {
    const heed_named *named = heed_find_name(&s->plan->book, path);
    return named ? heed_read_value(s, (heed_value){named->value}) : (heed_matrix){0};
}
