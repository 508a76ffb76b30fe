/* attention_positions.c: biases by the positions that the caller gives: with holes, padded on the
 * left, far beyond the plan's longest sequence; and capped scores.
 * SPDX-License-Identifier: MIT
 */
#include "op/attend.h"

/* Three sequences: a hole, an offset as behind left padding, positions that fall and lie far. */
static const int32_t PLACES[11] = {0, 1, 5, 6, 7, 8, 9, 300, 2, 1000000, 17};
/* ALiBi's weights vanish far out, where a float has no digits left to compare. */
static const int32_t NEAR[11] = {0, 1, 5, 6, 7, 8, 9, 30, 2, 45, 17};

static void try_positions(const attend *a) {
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(a, input);
    c.n = 3;
    c.rows[0] = 4;
    c.rows[1] = 3;
    c.rows[2] = 4;
    check_attend(&c);
    rig one, three;
    rig_options o = {.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&one, &o);
    give_positions(&one);
    o.threads = 3;
    start_rig(&three, &o);
    give_positions(&three);
    expect_same(out_of(&three), out_of(&one), "three threads", "out");
    expect_same_gradients(&three, &one, "three threads");
    if (sizeof(heed_number) == sizeof(double)) {
        try_gradients(&one);
    }
    close_rig(&one);
    close_rig(&three);
}

static void test_alibi(void **state) {
    (void)state;
    try_positions(&(attend){
        .o = {.heads = 6, .alibi = true, .causal = true}, .d = 1, .e = 2, .positions = NEAR});
    try_positions(&(attend){.o = {.heads = 2, .alibi = true}, .d = 3, .e = 2, .positions = NEAR});
}

static void test_t5(void **state) {
    (void)state;
    attend both = {.o = {.heads = 2, .max_distance = 20}, .d = 2, .e = 2, .positions = PLACES};
    both.buckets = 8;
    attend causal = {.o = {.heads = 4, .kv_heads = 2, .causal = true, .max_distance = 20},
                     .d = 1,
                     .e = 1,
                     .positions = PLACES};
    causal.buckets = 6;
    attend wide = {.o = {.heads = 1}, .d = 1, .e = 1, .buckets = 32, .positions = PLACES};
    try_positions(&both);
    try_positions(&causal);
    try_positions(&wide);
}

/* Positions are numbers of 32 bits, and so far apart that only 64 hold their distance: the far key
 * weighs nothing, and nothing is read out of bounds. */
static void test_far(void **state) {
    (void)state;
    static const int32_t far[3] = {INT32_MIN, 0, INT32_MAX};
    for (int64_t buckets = 0; buckets <= 8; buckets += 8) {
        attend a = {.o = {.heads = 1, .alibi = !buckets, .max_distance = 20},
                    .d = 1,
                    .e = 1,
                    .buckets = buckets,
                    .positions = far};
        test_input input[ATTEND_INPUTS];
        test_case c = attend_case(&a, input);
        c.n = 1;
        c.rows[0] = 3;
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1});
        give_positions(&r);
        for (int64_t i = 0; i < 3; i++) {
            double alone = number_at(&c, "v", i, 0), got = (double)out_of(&r).data[i];
            assert_true(buckets ? isfinite(got) : got == alone);
        }
        close_rig(&r);
    }
}

static void try_cap(const attend *a, const int64_t *rows) {
    test_input input[ATTEND_INPUTS];
    test_case c = attend_case(a, input);
    c.n = 3;
    memcpy(c.rows, rows, 3 * sizeof *rows);
    memcpy(c.keys, rows, 3 * sizeof *rows);
    check_attend(&c);
    try_op(&c);
}

/* Caps near the scores, so that they bend, and one that a score never comes near. */
static void test_cap(void **state) {
    (void)state;
    const int64_t some[3] = {4, 1, 6}, more[3] = {70, 0, 3};
    try_cap(&(attend){.o = {.heads = 2, .softcap = 0.5}, .d = 3, .e = 2}, some);
    try_cap(&(attend){.o = {.heads = 2, .softcap = 50, .causal = true}, .d = 3, .e = 3}, some);
    try_cap(&(attend){.o = {.heads = 2, .kv_heads = 1, .softcap = 1, .window = 3, .causal = true},
                      .d = 2,
                      .e = 2},
            some);
    attend biased = {.o = {.heads = 2, .softcap = 0.3, .max_distance = 20}, .d = 2, .e = 2};
    biased.buckets = 8;
    try_cap(&biased, some);
    attend masked = {.o = {.heads = 1, .softcap = 0.7, .scale = 3}, .d = 2, .e = 2, .masked = true};
    try_cap(&masked, some);
    try_cap(&(attend){.o = {.heads = 1, .softcap = 0.5, .causal = true}, .d = 2, .e = 1}, more);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alibi), cmocka_unit_test(test_t5),
                                       cmocka_unit_test(test_far), cmocka_unit_test(test_cap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
