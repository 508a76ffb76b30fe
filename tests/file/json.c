/* JSON: what is refused and where, typed getters, printing that reads back to the same bits.
 * SPDX-License-Identifier: MIT
 */
#include "file/json.h"

#include <float.h>
#include <math.h>

#include "support.h"

static json_t *parse(const char *text, heed_error *err) {
    return heed_json_parse(NULL, "a.json", text, strlen(text), err);
}

static json_t *parsed(const char *text) {
    heed_error err = {0};
    json_t *root = parse(text, &err);
    expect_no_error(&err);
    return root;
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "'a.json' line 1 column 0: '[' or '{' expected near end of file"},
        {"{\"a\": 1,\n \"b\": }", "'a.json' line 2 column 7: unexpected token near '}'"},
        {"{\"a\": 1, \"a\": 2}", "'a.json' line 1 column 12: duplicate object key near '\"a\"'"},
        {"{\"a\": \"\xff\"}", "'a.json' line 1 column 7: unable to decode byte 0xff"},
        {"{\"a\": \"\xed\xa0\x80\"}", "unable to decode byte 0xed"},
        {"{\"a\": 1} x", "'a.json' line 1 column 10: end of file expected near 'x'"},
        {"{\"a\": 1", "'}' expected near end of file"},
        {"{\"a\": NaN}", "invalid token near 'NaN'"},
        {"{\"a\": 1e999}", "real number overflow"},
        {"{'a': 1}", "'a.json' line 1 column 2: string or '}' expected near '''"},
        {"\"text\"", "'[' or '{' expected"},
        {"[1,]", "unexpected token near ']'"},
        {"{\"a\\u0000b\": 1}", "NUL byte in object key not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        assert_null(parse(cases[i].text, &err));
        expect_error(&err, HEED_FILE, cases[i].error);
    }
}

static void test_depth(void **state) {
    (void)state;
    char text[2 * HEED_JSON_DEPTH + 8];
    heed_error err = {0};
    for (int depth = HEED_JSON_DEPTH; depth <= HEED_JSON_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        json_t *root = heed_json_parse(NULL, "a.json", text, 2 * (size_t)depth, &err);
        assert_int_equal(root != NULL, depth <= HEED_JSON_DEPTH);
        json_decref(root);
    }
    expect_error(&err, HEED_FILE, "'a.json' line 1: nested deeper than 200");
    json_decref(parsed("[\"[[[[ \\\" [[[ \\\\\", \"[\"]")); /* brackets in strings do not nest */
}

static void test_wide_integers(void **state) {
    (void)state;
    json_t *root = parsed("{\"a\": 1000000000000000019884624838656, \"b\": 9223372036854775807,"
                          " \"c\": -9223372036854775809, \"d\": 12345678901234567890.5,"
                          " \"e\": \"99999999999999999999\", \"f\": 99999999999999999999e-19}");
    heed_error err = {0};
    double x;
    int64_t n;
    assert_true(heed_json_number(root, "a", &x, &err) && x == 1e30);
    assert_true(heed_json_int(root, "b", &n, &err) && n == INT64_MAX);
    assert_true(heed_json_number(root, "c", &x, &err) && x == -0x1p63);
    assert_true(heed_json_number(root, "d", &x, &err) && x == 12345678901234567890.5);
    assert_string_equal(heed_json_string(root, "e", NULL, &err), "99999999999999999999");
    assert_true(heed_json_number(root, "f", &x, &err) && fabs(x - 10.0) < 1e-14);
    assert_false(heed_json_int(root, "a", &n, &err));
    expect_error(&err, HEED_VALUE, "key 'a' is a real number, wanted an integer");
    json_decref(root);
}

static void test_getters(void **state) {
    (void)state;
    json_t *root =
        parsed("{\"n\": 3, \"x\": 2.5, \"on\": true, \"s\": \"a\\u0000b\", \"none\": null,"
               " \"in\": {\"list\": [{\"id\": 7}, 8], \"\": 9}}");
    heed_error err = {0};
    int64_t n = 0;
    double x = 0;
    bool on = false;
    size_t length = 0;
    assert_true(heed_json_int(root, "n", &n, &err) && n == 3);
    assert_true(heed_json_number(root, "n", &x, &err) && x == 3.0);
    assert_true(heed_json_number(root, "x", &x, &err) && x == 2.5);
    assert_true(heed_json_bool(root, "on", &on, &err) && on);
    assert_memory_equal(heed_json_string(root, "s", &length, &err), "a\0b", 4);
    assert_int_equal(length, 3);
    assert_true(heed_json_int(root, "in.list.0.id", &n, &err) && n == 7);
    assert_true(heed_json_int(root, "in.list.1", &n, &err) && n == 8);
    assert_int_equal(json_array_size(heed_json_array(root, "in.list", &err)), 2);
    assert_ptr_equal(heed_json_object(root, "", &err), root);
    assert_null(heed_json_find(root, "in.list.2"));
    assert_null(heed_json_find(root, "in.list.x"));
    assert_null(heed_json_find(root, "in.list.99999999999999999999"));
    assert_null(heed_json_find(root, "n.m"));
    expect_no_error(&err);
    json_decref(root);
}

static void test_getter_failures(void **state) {
    (void)state;
    json_t *root =
        parsed("{\"n\": 3, \"x\": 2.5, \"s\": \"t\", \"none\": null, \"in\": {\"l\": []}}");
    heed_error err = {0};
    int64_t n = 5;
    double x;
    bool on;
    assert_false(heed_json_int(root, "in.m", &n, &err));
    expect_error(&err, HEED_NAME, "key 'in.m' is missing");
    assert_false(heed_json_int(root, "x", &n, &err));
    expect_error(&err, HEED_VALUE, "key 'x' is a real number, wanted an integer");
    assert_false(heed_json_number(root, "in.l", &x, &err));
    expect_error(&err, HEED_VALUE, "key 'in.l' is an array, wanted a number");
    assert_false(heed_json_bool(root, "n", &on, &err));
    expect_error(&err, HEED_VALUE, "key 'n' is an integer, wanted true or false");
    assert_null(heed_json_string(root, "none", NULL, &err));
    expect_error(&err, HEED_VALUE, "key 'none' is null, wanted a string");
    assert_null(heed_json_array(root, "in", &err));
    expect_error(&err, HEED_VALUE, "key 'in' is an object, wanted an array");
    assert_null(heed_json_object(root, "s", &err));
    expect_error(&err, HEED_VALUE, "key 's' is a string, wanted an object");
    assert_int_equal(n, 5);
    json_decref(root);
}

static void test_optional(void **state) {
    (void)state;
    json_t *root = parsed("{\"n\": 3, \"s\": \"t\", \"none\": null}");
    heed_error err = {0};
    int64_t n = 5;
    double x = 0.5;
    bool on = true;
    const char *s = "default";
    assert_true(heed_json_opt_int(root, "none", &n, &err) && n == 5);
    assert_true(heed_json_opt_int(root, "absent", &n, &err) && n == 5);
    assert_true(heed_json_opt_int(root, "n", &n, &err) && n == 3);
    assert_true(heed_json_opt_number(root, "absent", &x, &err) && x == 0.5);
    assert_true(heed_json_opt_bool(root, "none", &on, &err) && on);
    assert_true(heed_json_opt_string(root, "absent", &s, &err));
    assert_string_equal(s, "default");
    assert_true(heed_json_opt_string(root, "s", &s, &err));
    assert_string_equal(s, "t");
    expect_no_error(&err);
    assert_false(heed_json_opt_bool(root, "s", &on, &err));
    expect_error(&err, HEED_VALUE, "key 's' is a string, wanted true or false");
    json_decref(root);
}

static void expect_printed(const char *text, int indent, const char *want) {
    json_t *root = parsed(text);
    heed_buf out = {0};
    heed_error err = {0};
    assert_true(heed_json_print(&out, root, indent, &err));
    assert_string_equal(out.data, want);
    heed_buf_free(&out);
    json_decref(root);
}

static void test_print(void **state) {
    (void)state;
    const char *text =
        "{\"z\": [1, -2.50, true, false, null], \"a\": {}, \"b\": [],"
        " \"s\": \"q\\\" \\\\ \\n\\u0001\\u001f\\u0000 \\u4e2d/\", \"m\": {\"k\": 0.1}}";
    expect_printed(
        text, 0,
        "{\"z\": [1, -2.5, true, false, null], \"a\": {}, \"b\": [],"
        " \"s\": \"q\\\" \\\\ \\n\\u0001\\u001f\\u0000 \xe4\xb8\xad/\", \"m\": {\"k\": 0.1}}");
    expect_printed("{\"a\": [1, {\"b\": 2}], \"c\": {}}", 2,
                   "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": {}\n}");
}

static void test_reals(void **state) {
    (void)state;
    static const struct {
        double x;
        const char *text;
    } cases[] = {
        {1.0, "1.0"},
        {-0.0, "-0.0"},
        {0.1, "0.1"},
        {3e-05, "3e-05"},
        {1e30, "1e+30"},
        {1e15, "1e+15"},
        {123456.0, "123456.0"},
        {1.0 / 3.0, "0.3333333333333333"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {0x1p-1074, "4.94065645841247e-324"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_json_format_real(cases[i].x, text);
        assert_string_equal(text, cases[i].text);
    }
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17; /* xorshift64 */
        double x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        heed_json_format_real(x, text);
        double back = strtod(text, NULL);
        assert_memory_equal(&back, &x, sizeof x);
    }
}

static void test_print_refuses_nan(void **state) {
    (void)state;
    heed_buf out = {0};
    heed_error err = {0};
    json_t *root = json_pack("[f]", 1.0);
    /* jansson keeps it out too */
    assert_false(json_real_set(json_array_get(root, 0), INFINITY) == 0);
    assert_true(heed_json_print(&out, root, 0, &err));
    heed_buf_free(&out);
    json_decref(root);
}

static bool read_and_print(const heed_host *host, void *ctx, heed_error *err) {
    json_t *root = heed_json_read(host, ctx, 0, err);
    heed_buf out = {.host = host};
    bool ok = root && heed_json_print(&out, root, 1, err);
    heed_buf_free(&out);
    json_decref(root);
    return ok;
}

static void test_files(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 16];
    heed_error err = {0};
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/b.json", folder);
    json_t *root = parsed("{\"big\": 99999999999999999999, \"list\": [1, 2.0, \"x\"]}");
    assert_true(heed_json_save(NULL, path, root, 2, &err));
    json_t *again = heed_json_read(NULL, path, 0, &err);
    assert_true(json_equal(root, again));
    char *text = slurp(path, NULL);
    assert_string_equal(
        text, "{\n  \"big\": 1e+20,\n  \"list\": [\n    1,\n    2.0,\n    \"x\"\n  ]\n}\n");
    free(text);
    json_decref(again);
    assert_null(heed_json_read(NULL, path, 10, &err));
    expect_error(&err, HEED_LIMIT, "more than the 10 bytes");
    for_each_failing_allocation(read_and_print, path);
    remove_folder(folder);
    assert_null(heed_json_read(NULL, path, 0, &err));
    expect_error(&err, HEED_FILE, "b.json'");
    assert_false(heed_json_save(NULL, path, root, 2, &err));
    expect_error(&err, HEED_SYSTEM, "b.json'");
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_wide_integers),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_getter_failures),
        cmocka_unit_test(test_optional),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_print_refuses_nan),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("file/json", tests, NULL, NULL);
}
