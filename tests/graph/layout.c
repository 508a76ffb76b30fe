/* layout.c: random graphs whose every value carries a signature: a node that finds another
 * signature in an input shows that two live values were given one place.
 * SPDX-License-Identifier: MIT
 */
#include "base/philox.h"
#include "graph/graph.h"
#include "support.h"

enum { NODES = 60, GRAPHS = 300 };

typedef struct {
    uint32_t id;
    uint32_t in[3];
    int n_in;
} mark;

static int wrong;

static heed_real signature(uint32_t id, int64_t i) {
    return (heed_real)((id * 31 + (uint32_t)i) % 8191);
}

static void sign(const heed_mat *m, uint32_t id) {
    for (int64_t i = 0; i < m->rows * m->cols; i++)
        ((heed_real *)m->data)[i] = signature(id, i);
}

static void expect_signature(const heed_mat *m, uint32_t id) {
    for (int64_t i = 0; i < m->rows * m->cols; i++)
        wrong += ((const heed_real *)m->data)[i] != signature(id, i);
}

static void run_mark(const heed_work *w) {
    const mark *a = w->attr;
    for (int i = 0; i < a->n_in; i++)
        expect_signature(&w->in[i], a->in[i]);
    if (w->scratch)
        memset(w->scratch, 0x55, 4096);
    sign(&w->out[0], a->id);
}

static size_t mark_scratch(const heed_work *w) {
    return ((const mark *)w->attr)->id % 3 ? 0 : 4096;
}

static const heed_op MARK = {
    .name = "mark", .run = run_mark, .in_place = 5, .scratch = mark_scratch};
static const heed_op SPREAD = {.name = "spread", .run = run_mark};

typedef struct {
    heed_value v[NODES];
    uint32_t id[NODES];
    int n;
} graph;

static void add_random(heed_build *b, graph *g, heed_random *r, heed_space space) {
    mark a = {.id = (uint32_t)g->n + 1, .n_in = (int)heed_random_below(r, 4)};
    heed_value in[3];
    if (a.n_in > g->n)
        a.n_in = g->n;
    for (int i = 0; i < a.n_in; i++) {
        int back = (int)heed_random_below(r, (uint64_t)(g->n < 8 ? g->n : 8));
        in[i] = g->v[g->n - 1 - back];
        a.in[i] = g->id[g->n - 1 - back];
    }
    heed_shape shape = {.extent = HEED_EXTENT_SPACE,
                        .space = space.id,
                        .cols = 1 + (int64_t)heed_random_below(r, 40)};
    bool same = a.n_in && heed_random_below(r, 2);
    if (same)
        shape.cols = heed_columns(b, in[0]);
    g->v[g->n] = heed_record(b, same ? &MARK : &SPREAD, &a, sizeof a, a.n_in, in, 1, &shape);
    g->id[g->n++] = a.id;
}

static void check_graph(heed_engine *engine, heed_weights *weights, uint64_t seed) {
    heed_random r = {.seed = seed};
    heed_error err = {0};
    graph g = {.n = 0};
    heed_build *b = heed_build_new(engine, HEED_INFER, weights, &err);
    heed_space once = heed_rows(b, "once"), step = heed_rows(b, "step");
    for (int i = 0; i < NODES; i++)
        add_random(b, &g, &r, i < NODES / 3 ? once : step);
    heed_value keep[4] = {g.v[NODES - 1], g.v[heed_random_below(&r, NODES)],
                          g.v[heed_random_below(&r, NODES)]};
    heed_capacity room[] = {{"once", 7, 2, 5, 0}, {"step", 3, 3, 3, 0}, {0}};
    heed_plan_options o = {.capacity = room, .keep = keep, .step = "step"};
    heed_plan *plan = heed_plan_new(b, &o, &err);
    assert_non_null(plan);
    heed_session *s = heed_session_new(plan, &err);
    assert_true(heed_set_rows(s, "once", 2, (int64_t[]){0, 2, 7}, NULL, &err));
    assert_true(heed_set_rows(s, "step", 3, (int64_t[]){0, 1, 2, 3}, NULL, &err));
    assert_true(heed_run_once(s, &err));
    for (int i = 0; i < 3; i++)
        assert_true(heed_run(s, &err));
    for (int i = 0; i < 3; i++) {
        heed_matrix m = heed_read_value(s, keep[i]);
        heed_mat mat = {.data = (void *)(uintptr_t)m.data, .rows = m.rows, .cols = m.cols};
        expect_signature(&mat, keep[i].id);
    }
    heed_session_free(s);
    heed_plan_free(plan);
}

static void values_keep_their_places(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, "ref", &err);
    heed_weights *weights = heed_weights_new(NULL, &err);
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        check_graph(engine, weights, seed);
        if (wrong)
            fail_msg("graph %d: %d numbers are not their value's own", (int)seed, wrong);
    }
    heed_weights_free(weights);
    heed_engine_free(engine);
}

/* A chain that only needs two places at a time must not be given one for each value. */
static void dead_values_give_their_place_back(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, "ref", &err);
    heed_weights *weights = heed_weights_new(NULL, &err);
    heed_build *b = heed_build_new(engine, HEED_INFER, weights, &err);
    heed_shape shape = {
        .extent = HEED_EXTENT_SPACE, .space = heed_rows(b, "rows").id, .cols = 1024};
    heed_value v = {0};
    for (uint32_t i = 0; i < 50; i++) {
        mark a = {.id = i * 3 + 1, .in = {i ? i * 3 - 2 : 0}, .n_in = i > 0};
        v = heed_record(b, &SPREAD, &a, sizeof a, i > 0, &v, 1, &shape);
    }
    heed_capacity room[] = {{"rows", 16, 1, 16, 0}, {0}};
    heed_plan *plan = heed_plan_new(
        b, &(heed_plan_options){.capacity = room, .keep = (heed_value[]){v, {0}}}, &err);
    assert_non_null(plan);
    size_t one = 16 * 1024 * sizeof(heed_real);
    assert_true(heed_plan_memory(plan).arena <= 2 * one + 4096);
    heed_plan_free(plan);
    heed_weights_free(weights);
    heed_engine_free(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_their_places),
        cmocka_unit_test(dead_values_give_their_place_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
