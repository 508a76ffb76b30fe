/* safetensors that are sound: the reference library's files read, and written again byte for byte.
 * SPDX-License-Identifier: MIT
 */
#include "file/safetensors.h"

#include "file/opened.h"

#define GOLDEN "tests/golden/safetensors/"

static void expect_floats(const heed_tensors *t, const char *name, int64_t n, const float *want) {
    heed_error err = {0};
    float got[8];
    const heed_tensor *tensor = heed_tensors_find(t, name);
    assert_non_null(tensor);
    assert_int_equal(heed_tensor_elements(tensor), n);
    assert_true(heed_tensor_to_f32(tensor, got, &err));
    for (int64_t i = 0; i < n; i++)
        assert_true(got[i] == want[i]);
}

static void expect_integers(const heed_tensors *t, const char *name, int64_t n,
                            const int64_t *want) {
    heed_error err = {0};
    int64_t got[8];
    const heed_tensor *tensor = heed_tensors_find(t, name);
    assert_non_null(tensor);
    assert_int_equal(heed_tensor_elements(tensor), n);
    assert_true(heed_tensor_to_i64(tensor, got, &err));
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
}

static void test_read(void **state) {
    (void)state;
    heed_tensors *t = opened(GOLDEN "types.safetensors");
    char shape[180];
    assert_int_equal(heed_tensors_count(t), 11);
    assert_string_equal(heed_tensors_at(t, 0)->name, "ids");
    assert_string_equal(heed_tensors_at(t, 10)->name, "mask");
    assert_int_equal(heed_tensors_meta_count(t), 1);
    assert_string_equal(heed_tensors_meta_at(t, 0)->key, "format");
    assert_string_equal(heed_tensors_meta(t, "format"), "pt");
    assert_null(heed_tensors_meta(t, "other"));
    assert_null(heed_tensors_find(t, "b.weigh"));
    assert_string_equal(heed_tensor_shape(heed_tensors_find(t, "b.weight"), shape), "(2,3)");
    assert_string_equal(heed_tensor_shape(heed_tensors_find(t, "scalar"), shape), "()");
    expect_floats(t, "b.weight", 6, (float[]){1.5f, -2.0f, 0.1f, 3.0f, 4.0f, 5.0f});
    expect_floats(t, "half", 3, (float[]){1.0f, 65504.0f, -0x1p-24f});
    expect_floats(t, "wide", 2, (float[]){0.0f, 2.0f});
    expect_floats(t, "scalar", 1, (float[]){42.0f});
    expect_floats(t, "empty", 0, NULL);
    assert_null(heed_tensors_find(t, "empty")->data);
    expect_integers(t, "ids", 4, (int64_t[]){5, -6, 7, (int64_t)1 << 40});
    expect_integers(t, "small", 3, (int64_t[]){-3, 4, 5});
    expect_integers(t, "bytes", 3, (int64_t[]){255, 0, 1});
    expect_integers(t, "mask", 5, (int64_t[]){1, 0, 1, 1, 0});
    expect_integers(t, "\xe4\xb8\xad\xe6\x96\x87.\"quoted\"", 1, (int64_t[]){1});
    heed_error err = {0};
    float x[8];
    int64_t n[8];
    assert_false(heed_tensor_to_f32(heed_tensors_find(t, "ids"), x, &err));
    expect_error(&err, HEED_VALUE, "tensor 'ids' is I64, wanted a float type");
    assert_false(heed_tensor_to_i64(heed_tensors_find(t, "half"), n, &err));
    expect_error(&err, HEED_VALUE, "tensor 'half' is F16, wanted an integer type");
    heed_tensors_free(t);
}

/* What was read, in another order, comes out as the reference library wrote it. */
static void test_write_same_bytes(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 16];
    heed_error err = {0};
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    heed_tensors *t = opened(GOLDEN "types.safetensors");
    heed_tensor list[11];
    for (int64_t i = 0; i < 11; i++) {
        list[i] = *heed_tensors_at(t, 10 - i);
        if (i % 2)
            list[i].bytes = 0; /* computed from the shape */
    }
    assert_true(heed_tensors_write(NULL, path, list, 11, heed_tensors_meta_at(t, 0), 1, &err));
    heed_tensors_free(t);
    size_t n, m;
    char *got = slurp(path, &n), *want = slurp(GOLDEN "types.safetensors", &m);
    assert_int_equal(n, m);
    assert_memory_equal(got, want, n);
    free(got);
    free(want);
    remove_folder(folder);
}

static void test_write_refusals(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 16];
    heed_error err = {0};
    const float x[4] = {1, 2, 3, 4};
    const heed_tensor good = {"w", HEED_F32, 2, {2, 2}, x, 16};
    const heed_meta meta[] = {{"k", "1"}, {"k", "2"}};
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    heed_tensor list[2] = {good, good};
    list[1].type = HEED_I32;
    assert_false(heed_tensors_write(NULL, path, list, 2, NULL, 0, &err));
    expect_error(&err, HEED_NAME, "out': two tensors are called 'w'");
    list[0].bytes = 12;
    assert_false(heed_tensors_write(NULL, path, list, 1, NULL, 0, &err));
    expect_error(&err, HEED_SHAPE, "out': tensor 'w' has 12 bytes, shape (2,2) of F32 needs 16");
    list[0] = good;
    list[0].dim[1] = -2;
    assert_false(heed_tensors_write(NULL, path, list, 1, NULL, 0, &err));
    expect_error(&err, HEED_SHAPE, "tensor 'w': dimension 1 is -2, below zero");
    list[0].dim[0] = list[0].dim[1] = (int64_t)1 << 40;
    assert_false(heed_tensors_write(NULL, path, list, 1, NULL, 0, &err));
    expect_error(&err, HEED_SHAPE, "shape (1099511627776,1099511627776) of F32 overflows 64 bits");
    list[0] = good;
    list[0].rank = 9;
    assert_false(heed_tensors_write(NULL, path, list, 1, NULL, 0, &err));
    expect_error(&err, HEED_SHAPE, "tensor 'w' has 9 dimensions, at most 8 are written");
    list[0] = good;
    list[0].name = "__metadata__";
    assert_false(heed_tensors_write(NULL, path, list, 1, NULL, 0, &err));
    expect_error(&err, HEED_NAME, "a tensor cannot be called '__metadata__'");
    list[0].name = "a\xff";
    assert_false(heed_tensors_write(NULL, path, list, 1, NULL, 0, &err));
    expect_error(&err, HEED_NAME, "tensor name 'a...' is not UTF-8 at byte 1");
    assert_false(heed_tensors_write(NULL, path, &good, 1, meta, 2, &err));
    expect_error(&err, HEED_NAME, "metadata has the key 'k' twice");
    assert_int_equal(count_files(folder), 0);
    remove_folder(folder);
    assert_false(heed_tensors_write(NULL, path, &good, 1, NULL, 0, &err));
    expect_error(&err, HEED_SYSTEM, "out'");
}

static void test_folders(void **state) {
    (void)state;
    static const char *paths[] = {GOLDEN "sharded", GOLDEN "sharded/model.safetensors.index.json"};
    for (int i = 0; i < 2; i++) {
        heed_tensors *t = opened(paths[i]);
        assert_int_equal(heed_tensors_count(t), 3);
        assert_string_equal(heed_tensors_at(t, 2)->name, "z");
        expect_floats(t, "x", 2, (float[]){0.25f, -1.0f});
        expect_integers(t, "y", 3, (int64_t[]){-3, 4, 5});
        assert_int_equal(heed_tensors_meta_count(t), 1);
        heed_tensors_free(t);
    }
    char folder[TEST_PATH], path[TEST_PATH + 32];
    heed_error err = {0};
    temp_folder(folder);
    assert_null(heed_tensors_open(NULL, folder, &err));
    expect_error(&err, HEED_FILE, "has neither model.safetensors nor pytorch_model.bin");
    snprintf(path, sizeof path, "%s/pytorch_model.bin", folder);
    write_text(path, "");
    assert_null(heed_tensors_open(NULL, folder, &err));
    expect_error(&err, HEED_FILE, "file has 0 bytes, a safetensors file at least 8");
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    const float x[2] = {3, 4};
    const heed_tensor one = {.name = "w", .type = HEED_F32, .rank = 1, .dim = {2}, .data = x};
    assert_true(heed_tensors_write(NULL, path, &one, 1, NULL, 0, &err));
    heed_tensors *t = opened(folder);
    expect_floats(t, "w", 2, x);
    heed_tensors_free(t);
    remove_folder(folder);
    assert_null(heed_tensors_open(NULL, path, &err));
    expect_error(&err, HEED_FILE, "model.safetensors'");
}

/* A header of 640 bytes starts with the bytes 80 02, as a pickle does. */
static void test_length_like_a_pickle(void **state) {
    (void)state;
    enum { HEADER = 640 };
    unsigned char file[8 + HEADER + 8] = {HEADER & 255, HEADER >> 8};
    static const char text[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    memset(file + 8, ' ', HEADER);
    memcpy(file + 8, text, sizeof text - 1);
    heed_error err = {0};
    heed_tensors *t = heed_tensors_from_bytes(NULL, "m", file, sizeof file, &err);
    expect_no_error(&err);
    assert_int_equal(heed_tensors_count(t), 1);
    heed_tensors_free(t);
}

static bool open_and_write(const heed_host *host, void *ctx, heed_error *err) {
    heed_tensors *t = heed_tensors_open(host, GOLDEN "sharded", err);
    bool ok = t && heed_tensors_write(host, ctx, heed_tensors_at(t, 0), 3,
                                      heed_tensors_meta_at(t, 0), 1, err);
    heed_tensors_free(t);
    return ok;
}

static void test_memory(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 16];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    for_each_failing_allocation(open_and_write, path);
    assert_int_equal(count_files(folder), 1);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),           cmocka_unit_test(test_write_same_bytes),
        cmocka_unit_test(test_write_refusals), cmocka_unit_test(test_folders),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_length_like_a_pickle),
    };
    return cmocka_run_group_tests_name("file/safetensors", tests, NULL, NULL);
}
