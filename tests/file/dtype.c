/* Element types: every half, bfloat and 8-bit float against its definition, rounding both ways.
 * SPDX-License-Identifier: MIT
 */
#include "base/dtype.h"

#include <math.h>

#include "support.h"

static void test_names(void **state) {
    (void)state;
    for (int i = 0; i < HEED_TYPE_COUNT; i++) {
        heed_type found = HEED_TYPE_COUNT;
        bool plain = heed_type_block((heed_type)i) == 1;
        assert_int_equal(heed_type_find(heed_type_name((heed_type)i), &found), plain);
        assert_int_equal(found, plain ? i : HEED_TYPE_COUNT);
    }
    heed_type none = HEED_F32;
    assert_false(heed_type_find("f32", &none));
    assert_false(heed_type_find("", &none));
    assert_int_equal(none, HEED_F32);
    assert_int_equal(heed_type_bytes(HEED_BF16), 2);
    assert_int_equal(heed_type_bytes(HEED_BOOL), 1);
    assert_true(heed_type_is_float(HEED_F8_E4M3));
    assert_false(heed_type_is_float(HEED_I64));
    assert_false(heed_type_is_float(HEED_BOOL));
}

/* Known values of each type, from their definitions. */
static void test_values(void **state) {
    (void)state;
    assert_true(heed_f32_from_bf16(0x3f80) == 1.0f);
    assert_true(heed_f32_from_bf16(0x4049) == 3.140625f);
    assert_true(heed_f32_from_f16(0x3c00) == 1.0f);
    assert_true(heed_f32_from_f16(0x7bff) == 65504.0f);
    assert_true(heed_f32_from_f16(0x0001) == 0x1p-24f);
    assert_true(heed_f32_from_f16(0x83ff) == -1023.0f * 0x1p-24f);
    assert_true(isinf(heed_f32_from_f16(0xfc00)) && heed_f32_from_f16(0xfc00) < 0);
    const uint8_t e4m3[] = {0x00, 0x01, 0x38, 0x7e, 0xfe, 0x7f},
                  e5m2[] = {0x3c, 0x7b, 0x7c, 0x01, 0x7f};
    float out[6];
    assert_true(heed_type_to_f32(HEED_F8_E4M3, e4m3, 6, out));
    assert_true(out[0] == 0.0f && out[1] == 0x1p-9f && out[2] == 1.0f && out[3] == 448.0f);
    assert_true(out[4] == -448.0f && isnan(out[5]));
    assert_true(heed_type_to_f32(HEED_F8_E5M2, e5m2, 5, out));
    assert_true(out[0] == 1.0f && out[1] == 57344.0f && isinf(out[2]) && out[3] == 0x1p-16f &&
                isnan(out[4]));
}

/* Every 16-bit pattern goes to float and back to itself. */
static void test_round_trip(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t h = (uint16_t)i;
        float half = heed_f32_from_f16(h), brain = heed_f32_from_bf16(h);
        if (isnan(half))
            assert_true(isnan(heed_f32_from_f16(heed_f16_from_f32(half))));
        else
            assert_int_equal(heed_f16_from_f32(half), h);
        if (isnan(brain))
            assert_true(isnan(heed_f32_from_bf16(heed_bf16_from_f32(brain))));
        else
            assert_int_equal(heed_bf16_from_f32(brain), h);
    }
}

/* Between neighbours: below the middle down, above it up, the middle itself to the even one. */
static void check_between(uint16_t low, float (*from)(uint16_t), uint16_t (*to)(float)) {
    float a = from(low), b = from((uint16_t)(low + 1)),
          middle = (float)(((double)a + (double)b) / 2);
    assert_int_equal(to(nextafterf(middle, a)), low);
    assert_int_equal(to(nextafterf(middle, b)), low + 1);
    assert_int_equal(to(middle), low + (low & 1));
}

static void test_rounding(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 0x7bff; i++)
        check_between((uint16_t)i, heed_f32_from_f16, heed_f16_from_f32);
    for (uint32_t i = 0x0080; i < 0x7f7f; i++)
        check_between((uint16_t)i, heed_f32_from_bf16, heed_bf16_from_f32);
    assert_int_equal(heed_f16_from_f32(65519.99f), 0x7bff);
    assert_int_equal(heed_f16_from_f32(65520.0f), 0x7c00);
    assert_int_equal(heed_f16_from_f32(66246.39f), 0x7c00);
    assert_int_equal(heed_f16_from_f32(-0.0f), 0x8000);
    assert_int_equal(heed_f16_from_f32(-INFINITY), 0xfc00);
    assert_int_equal(heed_bf16_from_f32(3.4e38f), 0x7f80);
}

static void test_integers(void **state) {
    (void)state;
    const unsigned char bytes[] = {0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        heed_type type;
        int64_t want;
    } cases[] = {{HEED_BOOL, 1},     {HEED_U8, 254}, {HEED_I8, -2},
                 {HEED_U16, 0xfffe}, {HEED_I16, -2}, {HEED_U32, 0xfffffffe},
                 {HEED_I32, -2},     {HEED_I64, -2}, {HEED_U64, -2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t out = 0;
        /* not aligned on purpose */
        assert_true(heed_type_to_i64(cases[i].type, bytes + 1, 1, &out));
        assert_int_equal(out, cases[i].want);
    }
    int64_t out = 7;
    assert_false(heed_type_to_i64(HEED_F32, bytes, 1, &out));
    assert_int_equal(out, 7);
    float x = 7;
    assert_false(heed_type_to_f32(HEED_I32, bytes, 1, &x));
    double wide[] = {1e300, 0.1};
    float narrow[2];
    assert_true(heed_type_to_f32(HEED_F64, wide, 2, narrow));
    assert_true(isinf(narrow[0]) && narrow[1] == 0.1f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests_name("file/dtype", tests, NULL, NULL);
}
