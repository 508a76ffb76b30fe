/* act.c: activations and the gated feed-forward's middle, against the C library in double.
 * SPDX-License-Identifier: MIT
 */
#include "op/harness.h"

static double want_act(heed_act_kind kind, double x) {
    switch (kind) {
    case HEED_ACT_RELU:
        return x > 0 ? x : 0;
    case HEED_ACT_GELU:
        return 0.5 * x * (1 + erf(x / sqrt(2)));
    case HEED_ACT_GELU_TANH:
        return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    case HEED_ACT_SILU:
        return x / (1 + exp(-x));
    case HEED_ACT_TANH:
        return tanh(x);
    case HEED_ACT_SIGMOID:
        return 1 / (1 + exp(-x));
    case HEED_ACT_QUICK_GELU:
        return x / (1 + exp(-1.702 * x));
    case HEED_ACT_RELU2:
        return x > 0 ? x * x : 0;
    }
    return NAN;
}

static heed_value record(heed_build *b, const void *arg) {
    return heed_act(b, rows_input(b, "x", 9), *(const heed_act_kind *)arg);
}

static heed_value record_gated(heed_build *b, const void *arg) {
    return heed_gated(b, rows_input(b, "gate", 6), rows_input(b, "up", 6),
                      *(const heed_act_kind *)arg);
}

/* One value as gate and as up, that nobody reads later: its place must not be taken over. */
static heed_value record_self_gated(heed_build *b, const void *arg) {
    heed_value x = heed_scale(b, rows_input(b, "x", 9), 2);
    return heed_gated(b, x, x, *(const heed_act_kind *)arg);
}

static void test_self_gated(void **state) {
    (void)state;
    heed_act_kind kind = HEED_ACT_SILU;
    const test_input input[] = {{.name = "x", .cols = 9}, {.name = NULL}};
    test_case c = {.record = record_self_gated, .arg = &kind, .input = input, .rows = {5}, .n = 1};
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < 45; i++) {
        double x = 2 * number_at(&c, "x", i / 9, i % 9);
        expect_near((double)out_of(&r).data[i], want_act(kind, x) * x, x * x, 9, "gated", i);
    }
    close_rig(&r);
    try_op(&c);
}

static void try_kind(heed_act_kind kind) {
    const test_input input[] = {{.name = "x", .cols = 9}, {.name = NULL}};
    test_case c = {.record = record, .arg = &kind, .input = input, .rows = {5, 0, 3}, .n = 3};
    c.low = -6;
    c.high = 6;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < 72; i++) {
        double x = number_at(&c, "x", i / 9, i % 9);
        double size = kind == HEED_ACT_SIGMOID ? 1 : fabs(x) * (kind == HEED_ACT_RELU2 ? 6 : 1);
        expect_near((double)out_of(&r).data[i], want_act(kind, x), size, 8, "activation", i);
    }
    close_rig(&r);
    try_op(&c);
}

static void try_gated(heed_act_kind kind) {
    const test_input input[] = {
        {.name = "gate", .cols = 6}, {.name = "up", .cols = 6}, {.name = NULL}};
    test_case c = {.record = record_gated, .arg = &kind, .input = input, .rows = {4, 3}, .n = 2};
    c.low = -3;
    c.high = 3;
    rig r;
    start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
    for (int64_t i = 0; i < 42; i++) {
        double gate = number_at(&c, "gate", i / 6, i % 6), up = number_at(&c, "up", i / 6, i % 6);
        double want = want_act(kind, gate) * up;
        double size = fabs(up) * (kind == HEED_ACT_SIGMOID ? 1 : 3 * fabs(gate));
        expect_near((double)out_of(&r).data[i], want, size, 9, "gated", i);
    }
    close_rig(&r);
    try_op(&c);
}

static void test_kinds(void **state) {
    (void)state;
    for (heed_act_kind kind = HEED_ACT_RELU; kind <= HEED_ACT_RELU2; kind++) {
        try_kind(kind);
        try_gated(kind);
    }
}

/* Published values, to the printed digit. */
static void test_known(void **state) {
    (void)state;
    const struct {
        heed_act_kind kind;
        double x, y;
    } known[] = {{HEED_ACT_GELU, 1, 0.841345},
                 {HEED_ACT_GELU_TANH, 1, 0.841192},
                 {HEED_ACT_GELU, -3, -0.004050},
                 {HEED_ACT_GELU_TANH, -3, -0.003637},
                 {HEED_ACT_SILU, 1, 0.731059},
                 {HEED_ACT_RELU, -3, 0},
                 {HEED_ACT_GELU, 40, 40},
                 {HEED_ACT_GELU_TANH, -40, 0},
                 {HEED_ACT_SILU, -200, 0},
                 {HEED_ACT_TANH, 1, 0.761594},
                 {HEED_ACT_TANH, -0.5, -0.462117},
                 {HEED_ACT_TANH, -90, -1},
                 {HEED_ACT_SIGMOID, 1, 0.731059},
                 {HEED_ACT_SIGMOID, -200, 0},
                 {HEED_ACT_QUICK_GELU, 1, 0.845796},
                 {HEED_ACT_QUICK_GELU, -3, -0.018071},
                 {HEED_ACT_RELU2, 3, 9},
                 {HEED_ACT_RELU2, -3, 0}};
    const test_input input[] = {{.name = "x", .cols = 9}, {.name = NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        test_case c = {
            .record = record, .arg = &known[i].kind, .input = input, .rows = {1}, .n = 1};
        rig r;
        start_rig(&r, &(rig_options){.c = &c, .mode = HEED_INFER, .threads = 1, .only = -1});
        heed_numbers(r.s, "x")[4] = (heed_number)known[i].x;
        run_rig(&r);
        double y = (double)out_of(&r).data[4];
        if (!(fabs(y - known[i].y) <= 5.1e-7)) {
            fail_msg("activation %d of %g is %.9g", known[i].kind, known[i].x, y);
        }
        close_rig(&r);
    }
}

static void test_refusals(void **state) {
    (void)state;
    heed_act_kind kind = (heed_act_kind)9;
    expect_refused(record, &kind, HEED_VALUE, "unit.0: there is no activation number 9");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_known),
                                       cmocka_unit_test(test_self_gated),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
