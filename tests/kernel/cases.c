/* Attention on cases whose values are known: no allowed key, NaN behind a mask, a forgotten scale.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

static const float EYE[4] = {1, 0, 0, 1};
static const int32_t ZERO[2] = {0, 0}, BOTH[2] = {2, 2}, CAUSAL[2] = {1, 2};

static heed_attention two_by_two(const float *v, const int32_t *end, float *out, float *lse) {
    return (heed_attention){.queries = 2,
                            .keys = 2,
                            .width = 2,
                            .value_width = 2,
                            .q = EYE,
                            .q_stride = 2,
                            .k = EYE,
                            .v = v,
                            .k_stride = 2,
                            .v_stride = 2,
                            .scale = 0.70710678f,
                            .begin = ZERO,
                            .end = end,
                            .out = out,
                            .out_stride = 2,
                            .lse = lse};
}

static void expect_out(const float out[4], double a, double b, double c, double d) {
    const double want[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        check_near((double)out[i], want[i], 1e-6, "two by two", i, 4); /* the digits given */
    }
}

static void check_basic(const heed_kernels *k) {
    const float v[4] = {1, 2, 3, 4};
    float out[4], lse[2];
    heed_attention a = two_by_two(v, BOTH, out, lse);
    k->attention(&a);
    expect_out(out, 1.660477, 2.660477, 2.339523, 3.339523);
    a.end = CAUSAL;
    k->attention(&a);
    expect_out(out, 1, 2, 2.339523, 3.339523);
    a.end = BOTH;
    a.scale = 1;
    k->attention(&a);
    expect_out(out, 1.537883, 2.537883, 2.462117, 3.462117);
}

static void test_basic(void **state) {
    (void)state;
    FOR_EACH_SET(attention, check_basic);
}

/* Row 1 may see nothing: zeros, no gradient, and what lies there may be NaN. */
static void check_nothing_allowed(const heed_kernels *k) {
    const uint8_t mask[4] = {1, 1, 0, 0};
    float out[4], lse[2], weights[4];
    heed_attention a = two_by_two(EYE, BOTH, out, lse);
    a.mask = mask;
    a.mask_stride = 2;
    a.weights = weights;
    a.weights_stride = 2;
    k->attention(&a);
    assert_true(out[2] == 0 && out[3] == 0 && weights[2] == 0 && weights[3] == 0);
    assert_true(lse[1] == -INFINITY);
    float d_q[4] = {0}, d_k[4] = {0}, d_v[4] = {0}, d_alone[4];
    const float d_out[4] = {1, -2, NAN, NAN};
    a.d_out = d_out;
    a.d_out_stride = a.d_q_stride = a.d_k_stride = a.d_v_stride = 2;
    a.d_q = d_q;
    a.d_k = d_k;
    a.d_v = d_v;
    k->attention_back(&a);
    assert_true(d_q[2] == 0 && d_q[3] == 0);
    memcpy(d_alone, d_k, sizeof d_k);
    a.queries = 1; /* the same without that row */
    memset(d_k, 0, sizeof d_k);
    k->attention_back(&a);
    assert_true(same_bits(d_k, d_alone, 4) && d_k[0] != 0);
}

static void test_nothing_allowed(void **state) {
    (void)state;
    FOR_EACH_SET(attention, check_nothing_allowed);
}

static void check_hidden_nan(const heed_kernels *k) {
    const uint8_t mask[4] = {1, 0, 1, 0};
    const float v[4] = {1, 2, NAN, INFINITY}, hidden_k[4] = {1, 0, NAN, NAN};
    float out[4], lse[2];
    heed_attention a = two_by_two(v, BOTH, out, lse);
    a.k = hidden_k;
    a.mask = mask;
    a.mask_stride = 2;
    k->attention(&a);
    expect_out(out, 1, 2, 1, 2);
}

static void test_hidden_nan(void **state) {
    (void)state;
    FOR_EACH_SET(attention, check_hidden_nan);
}

/* A NaN that may be seen is not hidden, and a bias of -infinity hides a key as a mask does. */
static void check_seen_nan(const heed_kernels *k) {
    const float bad_k[4] = {NAN, NAN, NAN, NAN}, v[4] = {1, 2, 3, 4};
    float out[4], lse[2];
    heed_attention a = two_by_two(v, BOTH, out, lse);
    a.k = bad_k;
    k->attention(&a);
    assert_true(isnan(out[0]) && isnan(out[3]));
    const float bias[3] = {0, 0, -INFINITY}; /* of distances -1, 0 and 1 */
    const int32_t position[2] = {0, 1};
    a = two_by_two(v, BOTH, out, lse);
    a.bias = bias + 1;
    a.bias_reach = 1;
    a.q_pos = a.k_pos = position;
    k->attention(&a);
    expect_out(out, 1, 2, 2.339523, 3.339523);
}

static void test_seen_nan(void **state) {
    (void)state;
    FOR_EACH_SET(attention, check_seen_nan);
}

/* The list of sets: the reference first and always there, the rest by name or not at all. */
static void test_choice(void **state) {
    (void)state;
    heed_kernels k;
    assert_true(heed_isa_count() >= 1);
    assert_string_equal(heed_isa_at(0).name, "ref");
    assert_true(heed_isa_at(0).usable);
    assert_true(heed_kernels_init(&k, "ref"));
    assert_string_equal(k.isa, "ref");
    assert_false(heed_kernels_init(&k, "no such set"));
    const char *best = "ref";
    for (int i = 0; i < heed_isa_count(); i++) {
        heed_isa set = heed_isa_at(i);
        assert_true(set.usable == (set.why == NULL));
        assert_true(heed_kernels_init(&k, set.name) == set.usable);
        best = set.usable ? set.name : best;
    }
    assert_true(heed_kernels_init(&k, NULL));
    assert_string_equal(k.isa, best);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basic),      cmocka_unit_test(test_nothing_allowed),
        cmocka_unit_test(test_hidden_nan), cmocka_unit_test(test_seen_nan),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
