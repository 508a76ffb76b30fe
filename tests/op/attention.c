/* attention.c: every kind of attention against the definition, with its gradients and the harness's
 * promises.
 * SPDX-License-Identifier: MIT
 */
#include "op/attend.h"

static void try_attend(const attend *a, const int64_t *rows, const int64_t *keys) {
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(a, input);
    c.n = 3;
    memcpy(c.rows, rows, 3 * sizeof *rows);
    memcpy(c.keys, keys, 3 * sizeof *keys);
    if (a->o.dropout == 0) {
        check_attend(&c);
    }
    try_op(&c);
}

static const int64_t SOME[3] = {4, 1, 6}, OTHER[3] = {3, 0, 7};

static void test_self(void **state) {
    (void)state;
    try_attend(&(attend){.o = {.heads = 1}, .d = 3, .e = 2}, SOME, SOME);
    try_attend(&(attend){.o = {.heads = 2, .scale = 0.7}, .d = 4, .e = 4}, SOME, SOME);
    try_attend(&(attend){.o = {.heads = 2, .causal = true}, .d = 4, .e = 4}, SOME, SOME);
}

static void test_cross(void **state) {
    (void)state;
    try_attend(&(attend){.o = {.heads = 2}, .d = 4, .e = 3, .cross = true}, SOME, OTHER);
    try_attend(&(attend){.o = {.heads = 2, .causal = true}, .d = 2, .e = 2, .cross = true}, SOME,
               OTHER);
}

static void test_groups(void **state) {
    (void)state;
    try_attend(&(attend){.o = {.heads = 4, .kv_heads = 2, .causal = true}, .d = 2, .e = 3}, SOME,
               SOME);
    try_attend(&(attend){.o = {.heads = 3, .kv_heads = 1}, .d = 2, .e = 2, .cross = true}, SOME,
               OTHER);
}

static void test_window(void **state) {
    (void)state;
    try_attend(&(attend){.o = {.heads = 1, .causal = true, .window = 3}, .d = 3, .e = 3}, SOME,
               SOME);
    try_attend(&(attend){.o = {.heads = 2, .window = 2}, .d = 2, .e = 2}, SOME, SOME);
    try_attend(&(attend){.o = {.heads = 1, .window = 1}, .d = 3, .e = 3}, SOME, SOME);
}

static void test_mask(void **state) {
    (void)state;
    try_attend(&(attend){.o = {.heads = 2}, .d = 3, .e = 3, .masked = true}, SOME, SOME);
    try_attend(&(attend){.o = {.heads = 2, .causal = true}, .d = 3, .e = 3, .masked = true}, SOME,
               SOME);
    try_attend(&(attend){.o = {.heads = 2}, .d = 3, .e = 3, .masked = true, .cross = true}, SOME,
               OTHER);
}

static void test_alibi(void **state) {
    (void)state;
    try_attend(&(attend){.o = {.heads = 2, .alibi = true, .causal = true}, .d = 2, .e = 2}, SOME,
               SOME);
    try_attend(&(attend){.o = {.heads = 6, .alibi = true}, .d = 1, .e = 1}, SOME, SOME);
    try_attend(&(attend){.o = {.heads = 12, .alibi = true}, .d = 1, .e = 1}, SOME, SOME);
}

static void test_t5(void **state) {
    (void)state;
    const int64_t long_rows[3] = {27, 2, 5};
    attend both = {.o = {.heads = 2, .max_distance = 20}, .d = 2, .e = 2, .buckets = 8};
    attend causal = {
        .o = {.heads = 4, .kv_heads = 2, .causal = true, .max_distance = 20}, .d = 1, .e = 1};
    causal.buckets = 6;
    try_attend(&both, long_rows, long_rows);
    try_attend(&causal, long_rows, long_rows);
}

static void test_dropout(void **state) {
    (void)state;
    try_attend(&(attend){.o = {.heads = 2, .dropout = 0.4}, .d = 3, .e = 3}, SOME, SOME);
    try_attend(&(attend){.o = {.heads = 2, .causal = true, .dropout = 0.4}, .d = 3, .e = 3}, SOME,
               SOME);
    attend a = {.o = {.heads = 4, .kv_heads = 2, .dropout = 0.2}, .d = 2, .e = 2, .cross = true};
    a.masked = true;
    try_attend(&a, SOME, OTHER);
}

/* Several blocks of queries, several pieces of keys, for any number of threads. */
static void try_long(const attend *a) {
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(a, input);
    const int64_t rows[3] = {150, 1, 70}, keys[3] = {65, 200, 64};
    c.n = 3;
    memcpy(c.rows, rows, sizeof rows);
    memcpy(c.keys, keys, sizeof keys);
    rig one;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&one, &o);
    if (a->o.dropout == 0) {
        check_attend(&c);
    }
    o.threads = 3;
    try_same(&one, o, "three threads");
    o.watch_all = o.recompute = true;
    try_same(&one, o, "watched and recomputed");
    try_alone(&one, HEED_INFER);
    close_rig(&one);
}

static void test_long(void **state) {
    (void)state;
    try_long(&(attend){.o = {.heads = 2, .causal = true}, .d = 5, .e = 5});
    try_long(&(attend){.o = {.heads = 2, .causal = true, .window = 66}, .d = 5, .e = 5});
    try_long(&(attend){.o = {.heads = 2}, .d = 5, .e = 5, .cross = true, .masked = true});
    try_long(&(attend){.o = {.heads = 2, .causal = true, .dropout = 0.1}, .d = 5, .e = 5});
}

/* T5's published sizes, as far as the golden goes. */
static void test_t5_far(void **state) {
    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        attend a = {.o = {.heads = 1, .causal = causal}, .d = 1, .e = 1, .buckets = 32};
        test_input input[ATTEND_INPUTS];
        test_case c = attend_case(&a, input);
        c.n = 1;
        c.rows[0] = 140;
        rig r;
        rig_options o = {.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
        start_rig(&r, &o);
        const heed_number *weights = heed_read(r.s, "unit.0.weights").data;
        check_query(&c, 0, 139, 0, out_of(&r).data + 139, weights + 139 * 140);
        check_query(&c, 0, 0, 0, out_of(&r).data, weights);
        close_rig(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self),   cmocka_unit_test(test_cross),
        cmocka_unit_test(test_groups), cmocka_unit_test(test_window),
        cmocka_unit_test(test_mask),   cmocka_unit_test(test_alibi),
        cmocka_unit_test(test_t5),     cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_long),   cmocka_unit_test(test_t5_far)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
