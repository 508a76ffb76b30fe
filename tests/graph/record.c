/* record.c: names, scopes, capacities, and everything that a build or a plan refuses, with its
 * line.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"
#include "support.h"

#include <math.h>

static void run_copy(const heed_work *w) {
    memcpy(w->out[0].data, w->in[0].data,
           (size_t)(w->out[0].rows * w->out[0].cols) * sizeof(heed_real));
}
static const heed_op COPY = {.name = "copy", .run = run_copy};

typedef struct {
    heed_engine *engine;
    heed_weights *weights;
    heed_build *b;
    heed_value x;
    heed_error err;
} fixture;

static heed_value copy(heed_build *b, heed_value x) {
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &COPY, NULL, 0, 1, &x, 1, &shape);
}

static void start(fixture *f, heed_mode mode) {
    *f = (fixture){.engine = heed_engine_new(NULL, 1, "ref", &f->err)};
    f->weights = heed_weights_new(NULL, &f->err);
    f->b = heed_build_new(f->engine, mode, f->weights, &f->err);
    f->x = heed_input_numbers(f->b, "x", heed_rows(f->b, "rows"), 4);
}

static void stop(fixture *f) {
    heed_weights_free(f->weights);
    heed_engine_free(f->engine);
}

static const heed_capacity room[] = {{"rows", 10, 2, 6, 0}, {0}};

static void refused(fixture *f, heed_plan_options o, heed_code code, const char *line) {
    if (!o.capacity)
        o.capacity = room;
    assert_null(heed_plan_new(f->b, &o, &f->err));
    expect_error(&f->err, code, line);
    stop(f);
}

static void a_failure_keeps_its_path(void **state) {
    (void)state;
    fixture f;
    start(&f, HEED_INFER);
    heed_enter(f.b, "encoder", 3);
    heed_enter(f.b, "self", -1);
    assert_int_equal(
        heed_refuse(f.b, HEED_SHAPE, "width %d is not a multiple of %d heads", 10, 3).id, 0);
    heed_refuse(f.b, HEED_NAME, "a later failure");
    heed_value v = copy(f.b, f.x);
    assert_int_equal(v.id, 0);
    refused(&f, (heed_plan_options){0}, HEED_SHAPE,
            "encoder.3.self: width 10 is not a multiple of 3 heads");
}

static void shared_layers_have_one_set_of_weights(void **state) {
    (void)state;
    fixture f;
    heed_value w[3];
    start(&f, HEED_INFER);
    for (int i = 0; i < 2; i++) {
        heed_enter(f.b, "layer", i);
        heed_share(f.b, "group.7");
        heed_enter(f.b, "self", -1);
        w[i] = heed_weight(f.b, "q.weight", 2, 2, (heed_init){HEED_INIT_ONE, 0});
        heed_name(f.b, copy(f.b, f.x), "out"); /* values stay apart */
        heed_leave(f.b);
        heed_leave(f.b);
    }
    w[2] = heed_weight(f.b, "q.weight", 2, 2, (heed_init){HEED_INIT_ONE, 0});
    assert_int_equal(w[0].id, w[1].id);
    assert_int_not_equal(w[0].id, w[2].id);
    assert_int_equal(heed_weights_count(f.weights), 2);
    assert_string_equal(heed_weights_at(f.weights, 0)->name, "group.7.self.q.weight");
    assert_string_equal(heed_weights_at(f.weights, 1)->name, "q.weight");
    heed_enter(f.b, "layer", 2);
    heed_share(f.b, "group.7");
    heed_share(f.b, "group.8");
    refused(&f, (heed_plan_options){0}, HEED_NAME,
            "layer.2: the scope cannot share the weights of 'group.8'");
}

static void names_are_unique_and_watchable(void **state) {
    (void)state;
    fixture f;
    start(&f, HEED_INFER);
    heed_enter(f.b, "layer", 0);
    heed_name(f.b, copy(f.b, f.x), "weights");
    heed_leave(f.b);
    heed_enter(f.b, "layer", 1);
    heed_name(f.b, copy(f.b, f.x), "weights");
    heed_leave(f.b);
    heed_name(f.b, copy(f.b, f.x), "end");
    const char *watch[] = {"layer.*.weights", "end", NULL};
    heed_plan *p =
        heed_plan_new(f.b, &(heed_plan_options){.capacity = room, .watch = watch}, &f.err);
    assert_int_equal(heed_watched_count(p), 3);
    assert_string_equal(heed_watched_path(p, 1), "layer.1.weights");
    heed_session *s = heed_session_new(p, &f.err);
    heed_number *x = heed_numbers(s, "x");
    assert_true(heed_set_rows(s, "rows", 2, (int64_t[]){0, 1, 3}, NULL, &f.err));
    for (int i = 0; i < 12; i++)
        x[i] = (heed_number)i;
    assert_true(heed_run(s, &f.err));
    heed_matrix m = heed_read(s, "layer.0.weights");
    assert_int_equal(m.rows, 3);
    assert_true(m.data[11] == 11);
    assert_null(heed_read(s, "layer.2.weights").data);
    assert_null(heed_ints(s, "x"));
    x[5] = (heed_number)NAN;
    assert_false(heed_run_checked(s, &f.err));
    expect_error(&f.err, HEED_NONFINITE, "'layer.0.weights' (copy) is not finite");
    volatile bool cancel = true;
    heed_set_cancel(s, &cancel);
    assert_false(heed_run(s, &f.err));
    expect_error(&f.err, HEED_CANCEL, "cancelled");
    heed_session_free(s);
    heed_plan_free(p);
    stop(&f);
}

static void refusals_of_a_plan(void **state) {
    (void)state;
    fixture f;
    start(&f, HEED_INFER);
    const char *watch[] = {"nobody", NULL};
    refused(&f, (heed_plan_options){.watch = watch}, HEED_NAME,
            "nothing in the model is called 'nobody'");
    start(&f, HEED_INFER);
    refused(&f, (heed_plan_options){0}, HEED_VALUE, "nothing is asked of the plan");
    start(&f, HEED_INFER);
    heed_value keep[] = {copy(f.b, f.x), {0}};
    refused(&f, (heed_plan_options){.keep = keep, .step = "roes"}, HEED_NAME,
            "no row space 'roes'");
    start(&f, HEED_INFER);
    refused(&f, (heed_plan_options){.keep = keep, .capacity = (heed_capacity[]){{0}}}, HEED_NAME,
            "no capacity is given for row space 'rows'");
    start(&f, HEED_INFER);
    refused(
        &f,
        (heed_plan_options){.keep = keep, .capacity = (heed_capacity[]){{"rows", 4, 1, 5, 0}, {0}}},
        HEED_VALUE, "longest 5");
    start(&f, HEED_TRAIN);
    refused(&f, (heed_plan_options){.loss = f.x}, HEED_SHAPE, "the loss must be a 1 x 1 value");
    start(&f, HEED_INFER);
    heed_name(f.b, copy(f.b, f.x), "twice");
    heed_name(f.b, copy(f.b, f.x), "twice");
    refused(&f, (heed_plan_options){0}, HEED_NAME, "two values are called 'twice'");
    start(&f, HEED_INFER);
    heed_value big[] = {copy(f.b, f.x), {0}};
    refused(&f, (heed_plan_options){.keep = big, .limit = 100}, HEED_LIMIT, "use smaller batches");
}

static void sizes_that_cannot_be_counted(void **state) {
    (void)state;
    const int64_t most = INT32_MAX;
    fixture f;
    start(&f, HEED_INFER);
    heed_value keep[] = {copy(f.b, f.x), {0}};
    refused(&f,
            (heed_plan_options){.keep = keep,
                                .capacity = (heed_capacity[]){{"rows", 4, most + 1, 2, 0}, {0}}},
            HEED_VALUE, "cannot hold 4 rows, 2147483648 sequences");
    const heed_capacity wide[] = {{"rows", most, most, most, 0}, {0}};
    heed_plan_options o = {.keep = keep, .capacity = wide, .step = "rows", .cached = true};
    o.cache_rows = o.cache_longest = most;
    start(&f, HEED_INFER);
    refused(&f, o, HEED_LIMIT, "a cache of 2147483647 sequences of 2147483647 rows is too large");
    o.cache_rows = 0;
    o.cache_longest = INT64_MAX / 2;
    start(&f, HEED_INFER);
    refused(&f, o, HEED_VALUE, "cannot be made");
    start(&f, HEED_INFER); /* pairs: the product of three does not fit into 64 bits */
    heed_space rows = heed_rows(f.b, "rows");
    heed_value mask = heed_input_mask(f.b, "mask", rows, rows);
    heed_shape shape = heed_fixed(1, 1);
    heed_value out = heed_record(f.b, &COPY, NULL, 0, 1, &mask, 1, &shape);
    refused(&f, (heed_plan_options){.keep = (heed_value[]){out, {0}}, .capacity = wide}, HEED_LIMIT,
            "is too large");
    start(&f, HEED_INFER); /* each fits, their sum does not */
    heed_value sum[9] = {{0}};
    for (int i = 0; i < 8; i++) {
        heed_shape big = heed_fixed(INT64_C(1) << 30, INT64_C(1) << 29);
        sum[i] = heed_record(f.b, &COPY, NULL, 0, 1, &f.x, 1, &big);
    }
    refused(&f, (heed_plan_options){.keep = sum}, HEED_LIMIT, "than can be counted");
}

/* An integer of a space that steps, by way of its sequences, is looked at in each step. */
static void ints_of_sequences_are_looked_at(void **state) {
    (void)state;
    fixture f;
    start(&f, HEED_INFER);
    heed_space rows = heed_rows(f.b, "rows");
    heed_value id = heed_input(f.b, "id", heed_sequences(f.b, rows));
    heed_limit_ints(f.b, id, 0, 5, -1, "the table");
    heed_shape shape = heed_like(f.b, id, 1);
    shape.cell = HEED_CELL_NUMBER;
    heed_value out = heed_record(f.b, &COPY, NULL, 0, 1, &id, 1, &shape);
    heed_plan *p = heed_plan_new(
        f.b,
        &(heed_plan_options){.capacity = room, .keep = (heed_value[]){out, {0}}, .step = "rows"},
        &f.err);
    heed_session *s = heed_session_new(p, &f.err);
    assert_true(heed_run_once(s, &f.err));
    assert_true(heed_set_rows(s, "rows", 2, (int64_t[]){0, 1, 3}, NULL, &f.err));
    heed_ints(s, "id")[1] = 5;
    assert_false(heed_run(s, &f.err));
    expect_error(&f.err, HEED_VALUE, "id[1] is 5, the table holds 0 to 4");
    heed_session_free(s);
    heed_plan_free(p);
    stop(&f);
}

static void refusals_of_weights(void **state) {
    (void)state;
    fixture f;
    start(&f, HEED_INFER);
    heed_weight(f.b, "w", 11, 16, (heed_init){HEED_INIT_ZERO, 0});
    heed_weight(f.b, "w", 12, 16, (heed_init){HEED_INIT_ZERO, 0});
    refused(&f, (heed_plan_options){0}, HEED_SHAPE,
            "weight 'w' is (11,16) at its first use and (12,16)");
    start(&f, HEED_INFER);
    heed_weight(f.b, "w", INT64_MAX / 2, 16, (heed_init){HEED_INIT_ZERO, 0});
    refused(&f, (heed_plan_options){0}, HEED_SHAPE, "cannot be");
    start(&f, HEED_INFER);
    heed_value w = heed_weight(f.b, "w", 2, 2, (heed_init){HEED_INIT_ZERO, 0});
    heed_value keep[] = {copy(f.b, w), {0}};
    heed_plan *p = heed_plan_new(f.b, &(heed_plan_options){.capacity = room, .keep = keep}, &f.err);
    assert_non_null(p);
    assert_null(heed_session_new(p, &f.err));
    expect_error(&f.err, HEED_NAME, "weight 'w' has no values yet");
    heed_plan_free(p);
    assert_false(heed_weights_own(f.weights, "v", NULL, &f.err));
    expect_error(&f.err, HEED_NAME, "the model has no weight 'v'");
    stop(&f);
}

static void initial_values_do_not_hang_on_order(void **state) {
    (void)state;
    heed_error err = {0};
    heed_number first[2][6];
    for (int turn = 0; turn < 2; turn++) {
        heed_weights *w = heed_weights_new(NULL, &err);
        heed_init init = {HEED_INIT_NORMAL, 1};
        const char *names[] = {"a", "b"};
        for (int i = 0; i < 2; i++)
            heed_weights_declare(w, names[i ^ turn], 2, 3, init, false, &err);
        assert_true(heed_weights_init(w, 7, &err));
        memcpy(first[turn], heed_weights_find(w, "a")->data, sizeof first[turn]);
        heed_weights_free(w);
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
}

static bool whole_life(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_engine *e = heed_engine_new(host, 1, "ref", err);
    heed_weights *w = e ? heed_weights_new(host, err) : NULL;
    heed_build *b = w ? heed_build_new(e, HEED_INFER, w, err) : NULL;
    heed_plan *p = NULL;
    if (b) {
        heed_value x = heed_input_numbers(b, "x", heed_rows(b, "rows"), 4);
        for (int i = 0; i < 3; i++) {
            heed_enter(b, "layer", i);
            x = heed_name(b, copy(b, x), "out");
            heed_leave(b);
        }
        heed_want_cache(b, "slot", 4, 4);
        x = copy(b, x);
        const char *watch[] = {"layer.*.out", NULL};
        heed_value keep[] = {x, {0}};
        heed_plan_options o = {
            .capacity = room, .watch = watch, .keep = keep, .step = "rows", .cached = true};
        p = heed_plan_new(b, &o, err);
    }
    heed_session *s = p ? heed_session_new(p, err) : NULL;
    bool fine = s && heed_set_rows(s, "rows", 1, (int64_t[]){0, 3}, NULL, err) && heed_run(s, err);
    heed_session_free(s);
    heed_plan_free(p);
    heed_weights_free(w);
    heed_engine_free(e);
    return fine;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for_each_failing_allocation(whole_life, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_keeps_its_path),
        cmocka_unit_test(shared_layers_have_one_set_of_weights),
        cmocka_unit_test(names_are_unique_and_watchable),
        cmocka_unit_test(refusals_of_a_plan),
        cmocka_unit_test(sizes_that_cannot_be_counted),
        cmocka_unit_test(ints_of_sequences_are_looked_at),
        cmocka_unit_test(refusals_of_weights),
        cmocka_unit_test(initial_values_do_not_hang_on_order),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
