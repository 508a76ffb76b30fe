/* cache.c: the table of cached rows against a plain model of it: lists of numbers, copied in full.
 * SPDX-License-Identifier: MIT
 */
#include "base/philox.h"
#include "graph/graph.h"
#include "support.h"

enum { SEQUENCES = 5, LONGEST = 12, ROWS = 40, COLS = 3 };

/* Writes each new row's id into the cache, and gives back, for each row, a hash of all ids its
 * sequence holds. */
static void run_remember(const heed_work *w) {
    heed_cache_view c;
    heed_real *out = w->out[0].data;
    const int32_t *id = w->in[0].data;
    if (!heed_work_cache(w, &c))
        return;
    heed_cut cut = heed_work_cut(w, w->in[0].space);
    for (int64_t r = 0; r < w->in[0].rows; r++)
        c.keys[(int64_t)c.place[r] * COLS] = (heed_real)id[r];
    for (int64_t i = 0; i < cut.n; i++) {
        heed_real sum = 0;
        for (int64_t j = 0; j < c.length[i]; j++)
            sum = sum * 3 + c.keys[(int64_t)c.rows[i][j] * COLS] + (heed_real)c.positions[i][j];
        for (int64_t r = cut.starts[i]; r < cut.starts[i + 1]; r++)
            out[r] = sum;
    }
}
static const heed_op REMEMBER = {.name = "remember", .run = run_remember};

typedef struct {
    int64_t n, length[SEQUENCES];
    int32_t id[SEQUENCES][LONGEST];
} plain;

static heed_real expected(const plain *p, int64_t i) {
    heed_real sum = 0;
    for (int64_t j = 0; j < p->length[i]; j++)
        sum = sum * 3 + (heed_real)p->id[i][j] + (heed_real)j;
    return sum;
}

typedef struct {
    heed_engine *engine;
    heed_weights *weights;
    heed_plan *plan;
    heed_session *s;
    heed_value out;
} fixture;

static fixture make(const heed_host *host) {
    heed_error err = {0};
    fixture f = {.engine = heed_engine_new(host, 1, "ref", &err),
                 .weights = heed_weights_new(host, &err)};
    heed_build *b = heed_build_new(f.engine, HEED_INFER, f.weights, &err);
    heed_value id = heed_input(b, "id", heed_rows(b, "step"));
    heed_shape shape = heed_like(b, id, 1);
    shape.cell = HEED_CELL_NUMBER;
    heed_want_cache(b, "slot", COLS, COLS);
    f.out = heed_record(b, &REMEMBER, NULL, 0, 1, &id, 1, &shape);
    heed_capacity room[] = {{"step", 20, SEQUENCES, 8, 0}, {0}};
    heed_plan_options o = {.capacity = room,
                           .keep = (heed_value[]){f.out, {0}},
                           .step = "step",
                           .cached = true,
                           .cache_rows = ROWS,
                           .cache_longest = LONGEST};
    f.plan = heed_plan_new(b, &o, &err);
    f.s = f.plan ? heed_session_new(f.plan, &err) : NULL;
    assert_non_null(f.s);
    return f;
}

static void drop(fixture *f) {
    heed_session_free(f->s);
    heed_plan_free(f->plan);
    heed_weights_free(f->weights);
    heed_engine_free(f->engine);
}

/* Appends up to 3 rows to each sequence, as long as they fit. */
static void append(fixture *f, plain *p, heed_random *r, int32_t *next) {
    heed_error err = {0};
    int64_t starts[SEQUENCES + 1] = {0};
    plain before = *p;
    if (!p->n)
        p->n = 1 + (int64_t)heed_random_below(r, SEQUENCES);
    for (int64_t i = 0; i < p->n; i++) {
        int64_t more = (int64_t)heed_random_below(r, 3);
        if (p->length[i] + more > LONGEST)
            more = 0;
        starts[i + 1] = starts[i] + more;
        for (int64_t j = 0; j < more; j++)
            p->id[i][p->length[i]++] = heed_ints(f->s, "id")[starts[i] + j] = (*next)++ % 50;
    }
    assert_true(heed_set_rows(f->s, "step", p->n, starts, NULL, &err));
    if (!heed_run(f->s, &err)) { /* full: nothing has changed */
        expect_error(&err, HEED_LIMIT, "the cache has");
        int64_t n = p->n;
        *p = before;
        p->n = before.n ? n : 0;
        return;
    }
    const heed_number *out = heed_read_value(f->s, f->out).data;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t row = starts[i]; row < starts[i + 1]; row++)
            assert_true(out[row] == expected(p, i));
}

static void reorder(fixture *f, plain *p, heed_random *r) {
    heed_error err = {0};
    int32_t from[SEQUENCES];
    plain old = *p;
    if (!p->n)
        return;
    p->n = 1 + (int64_t)heed_random_below(r, SEQUENCES);
    for (int64_t i = 0; i < SEQUENCES; i++) {
        from[i] = (int32_t)heed_random_below(r, (uint64_t)old.n);
        p->length[i] = i < p->n ? old.length[from[i]] : 0;
        memcpy(p->id[i], old.id[from[i]], sizeof p->id[i]);
    }
    assert_true(heed_cache_reorder(f->s, p->n, from, &err));
}

static void agrees_with_plain_lists(void **state) {
    (void)state;
    fixture f = make(NULL);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        heed_random r = {.seed = seed};
        heed_error err = {0};
        plain p = {0};
        int32_t next = 1;
        heed_cache_clear(f.s);
        for (int i = 0; i < 40; i++) {
            uint64_t what = heed_random_below(&r, 8);
            if (what < 5) {
                append(&f, &p, &r, &next);
            } else if (what < 7) {
                reorder(&f, &p, &r);
            } else if (p.n) {
                int64_t which = (int64_t)heed_random_below(&r, (uint64_t)p.n);
                p.length[which] = (int64_t)heed_random_below(&r, (uint64_t)p.length[which] + 1);
                assert_true(heed_cache_truncate(f.s, which, p.length[which], &err));
            }
            for (int64_t j = 0; j < p.n; j++)
                assert_int_equal(heed_cache_length(f.s, j), p.length[j]);
        }
    }
    drop(&f);
}

static void every_row_comes_back(void **state) {
    (void)state;
    fixture f = make(NULL);
    heed_error err = {0};
    for (int i = 0; i < 30;
         i++) { /* 5 x 8 rows fill it; reordering must leave room for the next 5 x 8 */
        int64_t starts[] = {0, 4, 8, 12, 16, 20};
        heed_cache_clear(f.s);
        for (int twice = 0; twice < 2; twice++) {
            assert_true(heed_set_rows(f.s, "step", 5, starts, NULL, &err));
            assert_true(heed_run(f.s, &err));
        }
        assert_int_equal(f.s->cache.free_rows, 0);
        assert_true(heed_cache_reorder(f.s, 5, (int32_t[]){2, 2, 2, 2, 2}, &err));
        assert_int_equal(f.s->cache.free_rows, ROWS - 8);
        assert_true(heed_cache_reorder(f.s, 1, (int32_t[]){4}, &err));
        assert_true(heed_cache_truncate(f.s, 0, 0, &err));
        assert_int_equal(f.s->cache.free_rows, ROWS);
    }
    drop(&f);
}

static void refuses_what_does_not_fit(void **state) {
    (void)state;
    fixture f = make(NULL);
    heed_error err = {0};
    int64_t eight[] = {0, 8}, none[] = {0, 0};
    assert_true(heed_set_rows(f.s, "step", 1, eight, NULL, &err));
    assert_true(heed_run(f.s, &err));
    assert_false(heed_run(f.s, &err));
    expect_error(&err, HEED_LIMIT, "would be 16 rows long, the cache holds 12");
    assert_int_equal(heed_cache_length(f.s, 0), 8);
    assert_false(heed_set_rows(f.s, "step", 6, none, NULL, &err));
    expect_error(&err, HEED_LIMIT, "6 sequences of 'step', the plan holds 5");
    assert_true(heed_set_rows(f.s, "step", 2, (int64_t[]){0, 0, 0}, NULL, &err));
    assert_false(heed_run(f.s, &err));
    expect_error(&err, HEED_VALUE, "1 sequences are cached and 2 are given");
    assert_false(heed_cache_reorder(f.s, 1, (int32_t[]){1}, &err));
    expect_error(&err, HEED_VALUE, "continue sequence 1 of 1");
    drop(&f);
}

/* A run that fails behind the cache's part takes its rows back, and its number of sequences. */
static void a_failed_run_leaves_nothing(void **state) {
    (void)state;
    fixture f = make(NULL);
    heed_error err = {0};
    volatile bool cancel = true;
    heed_set_cancel(f.s, &cancel);
    assert_true(heed_set_rows(f.s, "step", 3, (int64_t[]){0, 1, 2, 3}, NULL, &err));
    assert_false(heed_run(f.s, &err));
    expect_error(&err, HEED_CANCEL, "cancelled");
    assert_int_equal(f.s->cache.free_rows, ROWS);
    cancel = false;
    assert_true(heed_set_rows(f.s, "step", 2, (int64_t[]){0, 1, 2}, NULL, &err));
    assert_true(heed_run(f.s, &err));
    expect_no_error(&err);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_plain_lists),
        cmocka_unit_test(every_row_comes_back),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(a_failed_run_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
