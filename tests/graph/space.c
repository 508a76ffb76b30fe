/* space.c: spaces made of others: sharing, cuts, positions, capacity in rows and pairs.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"
#include "support.h"

static void run_copy(const heed_work *w) {
    for (int64_t i = 0; i < w->out[0].rows; i++) {
        ((heed_real *)w->out[0].data)[i] = (heed_real)((const int32_t *)w->in[0].data)[i];
    }
}
static const heed_op COPY = {.name = "copy", .run = run_copy};

static heed_value positions_of(heed_build *b, heed_space space) {
    heed_value ids = heed_positions(b, space);
    heed_shape shape = heed_like(b, ids, 1);
    shape.cell = HEED_CELL_NUMBER;
    return heed_record(b, &COPY, NULL, 0, 1, &ids, 1, &shape);
}

typedef struct {
    heed_engine *engine;
    heed_weights *weights;
    heed_build *b;
    heed_error err;
} fixture;

static void start(fixture *f) {
    *f = (fixture){.engine = heed_engine_new(NULL, 1, "ref", &f->err)};
    f->weights = heed_weights_new(NULL, &f->err);
    f->b = heed_build_new(f->engine, HEED_INFER, f->weights, &f->err);
}

static void stop(fixture *f) {
    heed_weights_free(f->weights);
    heed_engine_free(f->engine);
}

static void one_space_for_one_making(void **state) {
    (void)state;
    fixture f;
    start(&f);
    heed_space rows = heed_rows(f.b, "rows"), longer = heed_longer(f.b, rows, 2);
    assert_int_equal(heed_longer(f.b, rows, 2).id, longer.id);
    assert_int_not_equal(heed_longer(f.b, rows, 1).id, longer.id);
    assert_int_not_equal(heed_longer(f.b, longer, 2).id, longer.id);
    assert_int_equal(heed_sequences(f.b, longer).id, heed_sequences(f.b, rows).id);
    assert_int_not_equal(heed_sequences(f.b, rows).id, rows.id);
    assert_int_equal(heed_longer(f.b, (heed_space){0}, 2).id, 0);
    heed_build_free(f.b);
    stop(&f);
}

static void expect_positions(const heed_session *s, heed_value v, const int *want, int64_t n) {
    heed_matrix m = heed_read_value(s, v);
    assert_int_equal(m.rows, n);
    for (int64_t i = 0; i < n; i++) {
        assert_true(m.data[i] == (heed_number)want[i]);
    }
}

/* Cut with its space, however often, with positions from 0 even where the space's own are given. */
static void it_follows_the_cut(void **state) {
    (void)state;
    fixture f;
    start(&f);
    heed_space rows = heed_rows(f.b, "rows"), longer = heed_longer(f.b, rows, 2);
    heed_value p = positions_of(f.b, longer), q = positions_of(f.b, heed_longer(f.b, longer, 1));
    heed_capacity room[] = {{"rows", 5, 3, 4, 0}, {0}};
    heed_plan_options o = {.capacity = room, .keep = (heed_value[]){p, q, {0}}};
    heed_plan *plan = heed_plan_new(f.b, &o, &f.err);
    heed_session *s = heed_session_new(plan, &f.err);
    expect_no_error(&f.err);
    const int32_t own[] = {9, 8, 7, 6, 5};
    assert_true(heed_set_rows(s, "rows", 3, (int64_t[]){0, 3, 3, 5}, own, &f.err));
    assert_true(heed_run(s, &f.err));
    expect_positions(s, p, (int[]){0, 1, 2, 3, 4, 0, 1, 0, 1, 2, 3}, 11);
    expect_positions(s, q, (int[]){0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4}, 14);
    assert_true(heed_set_rows(s, "rows", 1, (int64_t[]){0, 4}, NULL, &f.err));
    assert_true(heed_run(s, &f.err));
    expect_positions(s, p, (int[]){0, 1, 2, 3, 4, 5}, 6);
    assert_true(heed_set_rows(s, "rows", 0, (int64_t[]){0}, NULL, &f.err));
    assert_true(heed_run(s, &f.err));
    expect_positions(s, q, NULL, 0);
    heed_session_free(s);
    heed_plan_free(plan);
    stop(&f);
}

/* Capacity: rows and longest grow with the rows before; pairs are those of the rows that are there.
 * What cannot be held, and what is no space, is refused. */
static void its_capacity_follows(void **state) {
    (void)state;
    fixture f;
    start(&f);
    heed_space rows = heed_rows(f.b, "rows"), longer = heed_longer(f.b, rows, 2);
    heed_value p = positions_of(f.b, longer);
    heed_capacity room[] = {{"rows", 7, 2, 5, 5 * 5 + 2 * 2}, {0}};
    heed_plan_options o = {.capacity = room, .keep = (heed_value[]){p, {0}}};
    heed_plan *plan = heed_plan_new(f.b, &o, &f.err);
    const heed_space_info *info = &plan->book.space[longer.id - 1];
    assert_int_equal(info->rows, 11);
    assert_int_equal(info->sequences, 2);
    assert_int_equal(info->longest, 7);
    assert_int_equal(info->pairs, 7 * 7 + 4 * 4);
    heed_plan_free(plan);
    stop(&f);
    start(&f);
    p = positions_of(f.b, heed_longer(f.b, heed_rows(f.b, "rows"), INT32_MAX));
    o.keep = (heed_value[]){p, {0}};
    assert_null(heed_plan_new(f.b, &o, &f.err));
    expect_error(&f.err, HEED_VALUE, "row space 'rows with 2147483647 before' cannot hold");
    stop(&f);
    start(&f);
    assert_int_equal(heed_longer(f.b, heed_rows(f.b, "rows"), 0).id, 0);
    assert_null(heed_plan_new(f.b, &(heed_plan_options){.capacity = room}, &f.err));
    expect_error(&f.err, HEED_SHAPE, "a row space cannot be 0 rows longer");
    stop(&f);
}

/* Rows are selected in the part that reads their integers: once, or in each step. */
static void rows_are_selected_in_their_part(void **state) {
    (void)state;
    fixture f;
    start(&f);
    heed_value a = heed_input(f.b, "a", heed_rows(f.b, "once"));
    heed_value c = heed_input(f.b, "c", heed_rows(f.b, "step"));
    heed_space chosen = heed_selected(f.b, a, 0);
    assert_int_equal(heed_selected(f.b, a, 0).id, chosen.id);
    assert_int_not_equal(heed_selected(f.b, a, 1).id, chosen.id);
    assert_int_equal(heed_sequences(f.b, chosen).id, heed_sequences(f.b, heed_space_of(f.b, a)).id);
    heed_value p = positions_of(f.b, chosen), q = positions_of(f.b, heed_selected(f.b, c, 0));
    heed_capacity room[] = {{"once", 5, 3, 4, 0}, {"step", 4, 2, 2, 0}, {0}};
    heed_plan_options o = {.capacity = room, .keep = (heed_value[]){p, q, {0}}, .step = "step"};
    heed_plan *plan = heed_plan_new(f.b, &o, &f.err);
    heed_session *s = heed_session_new(plan, &f.err);
    expect_no_error(&f.err);
    assert_true(heed_set_rows(s, "once", 2, (int64_t[]){0, 3, 5}, NULL, &f.err));
    assert_true(heed_set_rows(s, "step", 1, (int64_t[]){0, 2}, NULL, &f.err));
    memcpy(heed_ints(s, "a"), (int32_t[]){1, 0, 1, 0, 1}, 5 * sizeof(int32_t));
    memcpy(heed_ints(s, "c"), (int32_t[]){0, 1}, 2 * sizeof(int32_t));
    assert_true(heed_run_once(s, &f.err));
    assert_true(heed_run(s, &f.err));
    expect_positions(s, p, (int[]){0, 2, 1}, 3);
    expect_positions(s, q, (int[]){1}, 1);
    heed_ints(s, "c")[0] = 7;
    assert_true(heed_run(s, &f.err));
    expect_positions(s, p, (int[]){0, 2, 1}, 3);
    expect_positions(s, q, (int[]){0, 1}, 2);
    heed_session_free(s);
    heed_plan_free(plan);
    stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_space_for_one_making), cmocka_unit_test(it_follows_the_cut),
        cmocka_unit_test(its_capacity_follows), cmocka_unit_test(rows_are_selected_in_their_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
