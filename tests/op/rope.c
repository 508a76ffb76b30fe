/* rope.c: rotary positions: published values, every scaling as transformers computes it, gradients.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

#include <inttypes.h>

typedef struct {
    int64_t d; /* of one head */
    heed_rope_options o;
} turn;

static heed_value record(heed_build *b, const void *arg) {
    const turn *t = arg;
    heed_value x = rows_input(b, "x", t->d * t->o.heads);
    return heed_rope(b, x, heed_positions(b, heed_rows(b, "rows")), &t->o);
}

static test_case case_of(const turn *t, test_input input[2]) {
    input[0] = (test_input){.name = "x", .cols = t->d * t->o.heads};
    input[1] = (test_input){.name = NULL};
    return (test_case){.record = record, .arg = t, .input = input, .rows = {3, 0, 4}, .n = 3};
}

static void test_known(void **state) {
    (void)state;
    const double want[2][4] = {{-1.984111, 1.959901, 2.462378, 4.019800},
                               {-1.142640, 1.922076, 2.959851, 4.029800}};
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        turn t = {4, {.heads = 2, .base = 10000, .interleaved = interleaved}};
        test_input input[2];
        test_case c = case_of(&t, input);
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        for (int i = 0; i < 24; i++) {
            heed_numbers(r.s, "x")[i] = (heed_number)(i % 4 + 1);
        }
        run_rig(&r);
        for (int j = 0; j < 8; j++) {
            expect_near((double)out_of(&r).data[j], j % 4 + 1, 4, 0, "position 0", j);
            double got = (double)out_of(&r).data[8 + j];
            assert_true(fabs(got - want[interleaved][j % 4]) <= 1e-6);
        }
        close_rig(&r);
    }
}

static void test_gradients(void **state) {
    (void)state;
    const turn all[] = {
        {6, {.heads = 2, .base = 100}},
        {6, {.heads = 2, .base = 100, .interleaved = true}},
        {7, {.heads = 2, .base = 100, .turned = 4}},
        {8, {.heads = 1, .base = 100, .turned = 6, .interleaved = true}},
        {6, {.heads = 2, .base = 100, .scaling = {.kind = HEED_ROPE_LINEAR, .factor = 4}}},
        {6,
         {.heads = 2,
          .base = 100,
          .scaling = {.kind = HEED_ROPE_DYNAMIC, .factor = 4, .original = 3}}},
        {6,
         {.heads = 2,
          .base = 100,
          .turned = 4,
          .scaling = {.kind = HEED_ROPE_YARN, .factor = 4, .original = 30}}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_input input[2];
        test_case c = case_of(&all[i], input);
        try_op(&c);
    }
}

/* What does not turn keeps its bits, and what turns does so as if it were a head by itself. */
static void test_part(void **state) {
    (void)state;
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        turn part = {7, {.heads = 2, .base = 50, .turned = 4, .interleaved = interleaved}};
        turn whole = {4, {.heads = 2, .base = 50, .interleaved = interleaved}};
        test_input input[2], whole_input[2];
        test_case c = case_of(&part, input), w = case_of(&whole, whole_input);
        rig r, q;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        start_rig(&q, &(rig_options){.c = &w, .mode = HEED_INFER, .threads = 1, .only = -1});
        heed_matrix x = heed_read(r.s, "x"), y = out_of(&r);
        for (int64_t head = 0; head < 14; head++) {
            memcpy(heed_numbers(q.s, "x") + head * 4, x.data + head * 7, 4 * sizeof *x.data);
        }
        run_rig(&q);
        for (int64_t head = 0; head < 14; head++) {
            assert_memory_equal(y.data + head * 7, out_of(&q).data + head * 4, 4 * sizeof *y.data);
            assert_memory_equal(y.data + head * 7 + 4, x.data + head * 7 + 4, 3 * sizeof *y.data);
        }
        close_rig(&r);
        close_rig(&q);
    }
}

/* ---- Scalings, from tests/golden/ops/rope.txt ------------------------------------------------ */

enum { MOST_PAIRS = 64, MOST_ROWS = 64 };

typedef struct {
    char kind[16];
    turn t;
    int64_t length;
    double stretch, speed[MOST_PAIRS], slowed[2][MOST_PAIRS];
} golden;

static heed_rope_kind kind_called(const char *name) {
    static const char *const NAMES[] = {"default", "linear", "dynamic",
                                        "llama3",  "yarn",   "longrope"};
    for (int i = 0; i < 6; i++) {
        if (!strcmp(name, NAMES[i])) {
            return (heed_rope_kind)i;
        }
    }
    fail_msg("no rope is called '%s'", name);
    return HEED_ROPE_PLAIN;
}

static bool read_golden(FILE *f, golden *g) {
    int truncate;
    *g = (golden){.t.o.heads = 1};
    heed_rope_scaling *s = &g->t.o.scaling;
    if (fscanf(f, "%15s %" SCNd64 " %lf %" SCNd64 " %lf %" SCNd64, g->kind, &g->t.d, &g->t.o.base,
               &g->length, &s->factor, &s->original) != 6) {
        return false;
    }
    assert_int_equal(fscanf(f, "%lf %lf %lf %lf %lf %lf %lf %d %lf", &s->low_freq_factor,
                            &s->high_freq_factor, &s->beta_fast, &s->beta_slow,
                            &s->attention_factor, &s->mscale, &s->mscale_all_dim, &truncate,
                            &g->stretch),
                     9);
    s->kind = kind_called(g->kind);
    s->untruncated = !truncate;
    assert_in_range(g->t.d, 2, 2 * MOST_PAIRS);
    if (s->kind == HEED_ROPE_LONGROPE) {
        for (int64_t i = 0; i < g->t.d; i++) {
            assert_int_equal(fscanf(f, "%lf", &g->slowed[i >= g->t.d / 2][i % (g->t.d / 2)]), 1);
        }
        s->short_factor = g->slowed[0];
        s->long_factor = g->slowed[1];
    }
    for (int64_t i = 0; i < g->t.d / 2; i++) {
        assert_int_equal(fscanf(f, "%lf", &g->speed[i]), 1);
    }
    return true;
}

/* x is 1 where the first half of a head lies and 0 in the second, so the output is the cosines,
 * then the sines. The golden's speeds are floats, off by some units in their last place. */
static void check_golden(const golden *g) {
    int64_t half = g->t.d / 2;
    test_input input[2];
    test_case c = case_of(&g->t, input);
    c.n = 1;
    c.rows[0] = g->length;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < g->length * g->t.d; i++) {
        heed_numbers(r.s, "x")[i] = i % g->t.d < half;
    }
    run_rig(&r);
    for (int64_t row = 0; row < g->length; row++) {
        for (int64_t i = 0; i < half; i++) {
            const heed_number *y = out_of(&r).data + row * g->t.d + i;
            double angle = (double)row * g->speed[i], off = g->stretch * (8 * angle + 3) * 0x1p-24;
            if (!(fabs((double)y[0] - g->stretch * cos(angle)) <= off) ||
                !(fabs((double)y[half] - g->stretch * sin(angle)) <= off)) {
                fail_msg("%s: row %ld pair %ld is (%.9g, %.9g), should be %.9g at %.9g", g->kind,
                         (long)row, (long)i, (double)y[0], (double)y[half], g->stretch, angle);
            }
        }
    }
    close_rig(&r);
}

static void test_scalings(void **state) {
    (void)state;
    FILE *f = fopen("tests/golden/ops/rope.txt", "r");
    assert_non_null(f);
    golden g;
    int lines = 0;
    for (; read_golden(f, &g); lines++) {
        check_golden(&g);
    }
    assert_true(feof(f) && lines >= 15);
    fclose(f);
}

/* Each sequence goes by its own length, and the caller's positions count, not the rows. */
static void test_dynamic(void **state) {
    (void)state;
    turn t = {4, {.heads = 1, .base = 10}};
    t.o.scaling = (heed_rope_scaling){.kind = HEED_ROPE_DYNAMIC, .factor = 2, .original = 4};
    test_input input[2];
    test_case c = case_of(&t, input);
    rig r;
    heed_error err = {0};
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    const int64_t starts[] = {0, 2, 4};
    assert_true(heed_set_rows(r.s, "rows", 2, starts, (int32_t[]){0, 3, 1, 9}, &err));
    for (int i = 0; i < 16; i++) {
        heed_numbers(r.s, "x")[i] = i % 4 < 2;
    }
    run_rig(&r);
    /* 4 positions: the base itself; 10: 10 (2 * 10/4 - 1)^2 = 160 */
    const double slow[] = {1 / sqrt(10), 1 / sqrt(160)};
    const int at[] = {0, 3, 1, 9};
    for (int row = 0; row < 4; row++) {
        double angle = at[row] * slow[row / 2];
        expect_near((double)out_of(&r).data[row * 4 + 1], cos(angle), 1, 4, "cosine", row);
        expect_near((double)out_of(&r).data[row * 4 + 3], sin(angle), 1, 4, "sine", row);
    }
    close_rig(&r);
}

/* The lists of two calls are alike, so their angles are one node; other lists are another's. */
static heed_value record_twice(heed_build *b, const void *arg) {
    static double lists[3][2] = {{1, 2}, {1, 2}, {1, 3}};
    const int *second = arg;
    heed_value x = rows_input(b, "x", 4), positions = heed_positions(b, heed_rows(b, "rows"));
    for (int i = 0; i < 2; i++) {
        heed_rope_options o = {.heads = 1, .base = 9};
        o.scaling = (heed_rope_scaling){.kind = HEED_ROPE_LONGROPE, .factor = 2, .original = 4};
        o.scaling.short_factor = o.scaling.long_factor = lists[i ? *second : 0];
        x = heed_rope(b, x, positions, &o);
    }
    return x;
}

static void test_lists_are_shared(void **state) {
    (void)state;
    int64_t nodes[2];
    for (int second = 1; second <= 2; second++) {
        test_input input[] = {{.name = "x", .cols = 4}, {.name = NULL}};
        test_case c = {.record = record_twice, .arg = &second, .input = input, .rows = {3}, .n = 1};
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        nodes[second - 1] = heed_plan_memory(r.plan).nodes;
        close_rig(&r);
        try_op(&c);
    }
    assert_int_equal(nodes[0] + 1, nodes[1]);
}

static void test_refusals(void **state) {
    (void)state;
    static const double hole[2] = {1, 0}, whole[2] = {1, 2};
    const struct {
        turn t;
        heed_code code;
        const char *part;
    } bad[] = {
        {{3, {.heads = 2, .base = 100}},
         HEED_SHAPE,
         "unit.0: rope on width 6 and 2 heads: each head needs an even whole width"},
        {{4, {.heads = 1}}, HEED_VALUE, "rope wants a base above 0, not 0"},
        {{6, {.heads = 1, .base = 9, .turned = 3}},
         HEED_SHAPE,
         "cannot turn 3 numbers of heads of 6"},
        {{6, {.heads = 1, .base = 9, .turned = 8}},
         HEED_SHAPE,
         "cannot turn 8 numbers of heads of 6"},
        {{6, {.heads = 1, .base = 9, .turned = -2}}, HEED_SHAPE, "cannot turn -2 numbers"},
        {{6, {.heads = 1, .base = 9, .scaling = {.kind = HEED_ROPE_LINEAR}}},
         HEED_VALUE,
         "rope scaling wants a factor of at least 1, not 0"},
        {{6, {.heads = 1, .base = 9, .scaling = {.kind = HEED_ROPE_LINEAR, .factor = INFINITY}}},
         HEED_VALUE,
         "a factor of at least 1, not inf"},
        {{6, {.heads = 1, .base = 9, .scaling = {.kind = HEED_ROPE_DYNAMIC, .factor = 2}}},
         HEED_VALUE,
         "the number of positions of the training, not 0"},
        {{2,
          {.heads = 1,
           .base = 9,
           .scaling = {.kind = HEED_ROPE_DYNAMIC, .factor = 2, .original = 8}}},
         HEED_SHAPE,
         "dynamic rope scaling wants at least two pairs a head"},
        {{4,
          {.heads = 1,
           .base = 9,
           .scaling =
               {.kind = HEED_ROPE_LLAMA3, .factor = 2, .original = 8, .low_freq_factor = 4}}},
         HEED_VALUE,
         "0 < low_freq_factor < high_freq_factor, not 4 and 0"},
        {{4,
          {.heads = 1, .base = 1, .scaling = {.kind = HEED_ROPE_YARN, .factor = 2, .original = 8}}},
         HEED_VALUE,
         "rope scaling by YaRN wants a base above 1, not 1"},
        {{4,
          {.heads = 1,
           .base = 9,
           .scaling = {.kind = HEED_ROPE_LONGROPE,
                       .factor = 2,
                       .original = 8,
                       .short_factor = whole,
                       .long_factor = hole}}},
         HEED_VALUE,
         "longrope wants a number above 0 for each of 2 pairs as long_factor"},
        {{4,
          {.heads = 1,
           .base = 9,
           .scaling =
               {.kind = HEED_ROPE_LONGROPE, .factor = 2, .original = 8, .long_factor = whole}}},
         HEED_VALUE,
         "each of 2 pairs as short_factor"},
        {{4,
          {.heads = 1,
           .base = 9,
           .scaling = {.kind = HEED_ROPE_LONGROPE,
                       .factor = 2,
                       .original = 1,
                       .short_factor = whole,
                       .long_factor = whole}}},
         HEED_VALUE,
         "longrope wants a training with more than one position"},
        {{4,
          {.heads = 1,
           .base = 9,
           .scaling = {.kind = (heed_rope_kind)9, .factor = 2, .original = 8}}},
         HEED_VALUE,
         "there is no rope scaling number 9"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_refused(record, &bad[i].t, bad[i].code, bad[i].part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),     cmocka_unit_test(test_part),
        cmocka_unit_test(test_scalings),  cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_gradients), cmocka_unit_test(test_lists_are_shared),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
