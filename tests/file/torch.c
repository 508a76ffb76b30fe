/* What PyTorch saves, in both of its forms: the same tensors as in safetensors, and refused with a
 * line where a file is damaged or asks for more than tensors.
 * SPDX-License-Identifier: MIT
 */
#include "file/torch.h"
#include "file/safetensors.h"

#include "file/opened.h"

#define GOLDEN "tests/golden/torch/"

static void expect_same(const char *path) {
    heed_tensors *got = opened(path), *want = opened(GOLDEN "same.safetensors");
    assert_int_equal(heed_tensors_count(got), heed_tensors_count(want));
    for (int64_t i = 0; i < heed_tensors_count(want); i++) {
        const heed_tensor *w = heed_tensors_at(want, i), *g = heed_tensors_find(got, w->name);
        char shape[180], other[180];
        assert_non_null(g);
        assert_int_equal(g->type, w->type);
        assert_string_equal(heed_tensor_shape(g, shape), heed_tensor_shape(w, other));
        assert_int_equal(g->bytes, w->bytes);
        if (w->bytes > 0)
            assert_memory_equal(g->data, w->data, w->bytes);
    }
    heed_tensors_free(got);
    heed_tensors_free(want);
}

static void test_zip(void **state) {
    (void)state;
    expect_same(GOLDEN "zip.bin");
}

/* The same with 64-bit fields, and with the opcodes of a later protocol. */
static void test_wide(void **state) {
    (void)state;
    expect_same(GOLDEN "zip64.bin");
    expect_same(GOLDEN "protocol4.bin");
}

static void test_plain(void **state) {
    (void)state;
    expect_same(GOLDEN "plain.bin");
}

static void test_nested(void **state) {
    (void)state;
    heed_tensors *t = opened(GOLDEN "nested.bin");
    assert_int_equal(heed_tensors_count(t), 1);
    assert_non_null(heed_tensors_find(t, "weight"));
    heed_tensors_free(t);
}

static void test_folder(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 32];
    temp_folder(folder);
    size_t n;
    char *bytes = slurp(GOLDEN "zip.bin", &n);
    snprintf(path, sizeof path, "%s/pytorch_model.bin", folder);
    write_bytes(path, bytes, n);
    heed_tensors *t = opened(folder);
    assert_int_equal(heed_tensors_count(t), 16);
    heed_tensors_free(t);
    free(bytes);
    remove_folder(folder);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *path, *why;
    } cases[] = {
        {GOLDEN "evil.bin", "it asks for 'posix.system', which no record of tensors needs; nothing "
                            "was executed"},
        {GOLDEN "evil_plain.bin", "it asks for 'posix.system'"},
        {GOLDEN "no_dict.bin", "the pickle holds no dict of tensors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        assert_null(heed_tensors_open(NULL, cases[i].path, &err));
        assert_non_null(strstr(err.text, cases[i].path));
        expect_error(&err, HEED_FILE, cases[i].why);
    }
}

/* Bytes in a block of their size, so that a read behind them is seen. */
static bool sound(const char *bytes, size_t n, heed_error *err) {
    char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    heed_tensors *t = heed_tensors_from_bytes(NULL, "m.bin", exact, n, err);
    heed_tensors_free(t);
    free(exact);
    return t != NULL;
}

/* Cut anywhere: an error in the file's name, not a crash. */
static void expect_cut(const char *path) {
    size_t n;
    char *bytes = slurp(path, &n);
    for (size_t k = 0; k < n; k += 7) {
        heed_error err = {0};
        assert_false(sound(bytes, k, &err));
        expect_error(&err, HEED_FILE, "'m.bin': ");
    }
    free(bytes);
}

static void test_cut(void **state) {
    (void)state;
    expect_cut(GOLDEN "zip.bin");
    expect_cut(GOLDEN "plain.bin");
}

/* Any one byte turned: refused, or read to the end. */
static void test_turned(void **state) {
    (void)state;
    static const char *const paths[] = {GOLDEN "zip.bin", GOLDEN "plain.bin"};
    for (size_t i = 0; i < 2; i++) {
        size_t n;
        char *bytes = slurp(paths[i], &n);
        for (size_t k = 0; k < n; k += 3) {
            heed_error err = {0};
            bytes[k] ^= (char)0xff;
            if (!sound(bytes, n, &err))
                assert_true(err.code == HEED_FILE || err.code == HEED_SHAPE);
            bytes[k] ^= (char)0xff;
        }
        free(bytes);
    }
}

static bool open_golden(const heed_host *host, void *ctx, heed_error *err) {
    heed_tensors *t = heed_tensors_open(host, ctx, err);
    heed_tensors_free(t);
    return t != NULL;
}

static void test_memory(void **state) {
    (void)state;
    for_each_failing_allocation(open_golden, GOLDEN "zip.bin");
    for_each_failing_allocation(open_golden, GOLDEN "plain.bin");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip),    cmocka_unit_test(test_plain),
        cmocka_unit_test(test_wide),   cmocka_unit_test(test_nested),
        cmocka_unit_test(test_folder), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_turned),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
