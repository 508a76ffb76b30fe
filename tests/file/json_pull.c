/* Lists in JSON pulled value by value: strings, numbers as serde_json makes them, what is refused,
 * and the outline of a text without its long members.
 * SPDX-License-Identifier: MIT
 */
#include "file/json_pull.h"
#include "support.h"

static heed_line line(const char *s) {
    return (heed_line){s, strlen(s)};
}

static double real_of(const char *text) {
    heed_error err = {0};
    heed_pull p = {.text = line(text), .err = &err};
    double x = 0;
    assert_true(heed_pull_real(&p, &x) && heed_pull_end(&p));
    return x;
}

static void test_reals(void **state) {
    (void)state;
    assert_true(real_of("0") == 0 && real_of("-12") == -12 && real_of("2.5e1") == 25);
    assert_true(real_of("1e-400") == 0 && real_of(" 1E+2 ") == 100 && real_of("5e-1") == 0.5);
    /* the quotient of two doubles, one bit above the nearest one, which strtod gives */
    assert_true(real_of("7.8318316499468541") == 0x1.f53cbad1132a6p+2);
    assert_true(strtod("7.8318316499468541", NULL) == 0x1.f53cbad1132a5p+2);
    /* digits beyond 64 bits count before the point and are dropped behind it */
    assert_true(real_of("184467440737095516150") == 18446744073709551615.0 * 10);
    assert_true(real_of("0.12345678901234567890123") == 12345678901234567890.0 / 1e20);
}

static void test_values(void **state) {
    (void)state;
    heed_error err = {0};
    heed_pull p = {.text = line("{\"a\\n\\u6211\\ud83d\\ude00\": -7, \"b\": [\"x\", 1.5, {}]}"),
                   .err = &err};
    heed_line s = {0};
    int64_t i = 0;
    bool more = false;
    assert_true(heed_pull_open(&p, '{') && heed_pull_more(&p, '{', true, &more) && more);
    assert_true(heed_pull_key(&p, &s));
    assert_int_equal(s.n, 9);
    assert_memory_equal(s.s, "a\n\xe6\x88\x91\xf0\x9f\x98\x80", 9);
    assert_string_equal(heed_pull_kind(&p), "an integer");
    assert_true(heed_pull_int(&p, &i));
    assert_int_equal(i, -7);
    assert_true(heed_pull_more(&p, '{', false, &more) && more && heed_pull_key(&p, &s));
    assert_string_equal(heed_pull_kind(&p), "an array");
    assert_true(heed_pull_open(&p, '[') && heed_pull_string(&p, &s));
    assert_true(heed_pull_more(&p, '[', false, &more));
    assert_string_equal(heed_pull_kind(&p), "a real number");
    heed_pull_free(&p);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const texts[] = {
        "x",           "\"a",      "\"\\x\"",  "\"\\u12\"",    "\"\\ud83d\"",
        "\"\\udc00\"", "\"\xff\"", "\"a\nb\"", "\"\\ud83dx\"", "",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        heed_error err = {0};
        heed_pull p = {.text = line(texts[i]), .err = &err};
        heed_line s = {0};
        assert_false(heed_pull_string(&p, &s));
        expect_error(&err, HEED_FILE, "line 1 of it: ");
        heed_pull_free(&p);
    }
    static const char *const numbers[] = {"", "-", "01", "1.", "1e", ".5", "x", "1 2"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        heed_error err = {0};
        heed_pull p = {.text = line(numbers[i]), .err = &err};
        double x = 0;
        assert_false(heed_pull_real(&p, &x) && heed_pull_end(&p));
        expect_error(&err, HEED_FILE, "line 1 of it: ");
    }
}

static void test_outline(void **state) {
    (void)state;
    static const char *const member[] = {"vocab", "merges"};
    static const struct {
        const char *text, *rest, *vocab;
    } cases[] = {
        {"{\"a\": [1, \"}\"], \"model\": {\"merges\": [\n\"a b\"], \"vocab\": {\"x\\\"}\": 1}}}",
         "{\"a\": [1, \"}\"], \"model\": {\"merges\": [], \"vocab\": {}}}", "{\"x\\\"}\": 1}"},
        {"{\"model\": {\"vocab\": 7}}", "{\"model\": {\"vocab\": 7}}", NULL},
        {"{\"vocab\": {\"a\": 1}}", "{\"vocab\": {\"a\": 1}}", NULL},
        {"{\"model\": {\"vocab\": {\"a\"", "{\"model\": {\"vocab\": {\"a\"", NULL},
        {"[]", "[]", NULL},
        {"", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        heed_line span[2];
        heed_buf rest = {0};
        heed_error err = {0};
        assert_true(heed_json_outline(line(cases[i].text), "model", member, 2, span, &rest, &err));
        assert_string_equal(rest.data, cases[i].rest);
        assert_int_equal(span[0].s != NULL, cases[i].vocab != NULL);
        if (cases[i].vocab) {
            assert_int_equal(span[0].n, strlen(cases[i].vocab));
            assert_memory_equal(span[0].s, cases[i].vocab, span[0].n);
        }
        heed_buf_free(&rest);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reals), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_outline)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
