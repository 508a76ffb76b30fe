/* gguf_write: what is written reads back, types and settings alike; parts of a split file are one
 * model; what GGUF does not hold is refused.
 * SPDX-License-Identifier: MIT
 */
#include "file/gguf_write.h"

#include "file/gguf.h"
#include "support.h"

#define GOLDEN "tests/golden/gguf/types.gguf"

static void put_settings(heed_gguf_settings *s) {
    heed_gguf_put_text(s, "general.architecture", "golden", 6);
    heed_gguf_put_integer(s, "a.u32", 4000000000);
    heed_gguf_put_integer(s, "a.i32", -7);
    heed_gguf_put_integer(s, "a.u64", INT64_MAX);
    heed_gguf_put_integer(s, "a.i64", INT64_MIN);
    heed_gguf_put_real(s, "a.f32", 0.5);
    heed_gguf_put_bool(s, "a.bool", true);
    heed_gguf_put_texts(s, "a.texts", (const heed_line[]){{"", 0}, {"xyz", 3}}, 2);
    heed_gguf_put_reals(s, "a.reals", (const float[]){1, -2.5F}, 2);
    heed_gguf_put_integers(s, "a.integers", (const int32_t[]){3, -7, 0}, 3);
}

static void expect_settings(const heed_gguf *g) {
    heed_error err = {0};
    heed_gguf_text items[2];
    float reals[2];
    int64_t integers[3];
    assert_int_equal(heed_gguf_count(g), 10);
    assert_int_equal(heed_gguf_find(g, "a.u32")->integer, 4000000000);
    assert_int_equal(heed_gguf_find(g, "a.i32")->integer, -7);
    assert_int_equal(heed_gguf_find(g, "a.u64")->integer, INT64_MAX);
    assert_int_equal(heed_gguf_find(g, "a.i64")->integer, INT64_MIN);
    assert_true(heed_gguf_find(g, "a.f32")->real == 0.5);
    assert_int_equal(heed_gguf_find(g, "a.bool")->integer, 1);
    assert_true(heed_gguf_items_text(heed_gguf_find(g, "a.texts"), items, &err));
    assert_memory_equal(items[1].data, "xyz", 3);
    assert_true(heed_gguf_items_f32(heed_gguf_find(g, "a.reals"), reals, &err));
    assert_true(reals[1] == -2.5F);
    assert_true(heed_gguf_items_i64(heed_gguf_find(g, "a.integers"), integers, &err));
    assert_int_equal(integers[1], -7);
}

/* The golden file's tensors, of every type, from the caller's own place in `data`. */
static const void *from_file(void *ctx, const heed_tensor *t, heed_error *err) {
    (void)err;
    ++*(int *)ctx;
    return ((const heed_tensor *)t->data)->data;
}

static bool rewrite(const heed_host *host, const char *path, int *calls, heed_error *err) {
    heed_gguf *g = heed_gguf_open(host, GOLDEN, err);
    heed_gguf_settings s = {.bytes = {.host = host}};
    heed_tensor list[40];
    int64_t n = g ? heed_tensors_count(heed_gguf_tensors(g)) : 0;
    for (int64_t i = 0; i < n; i++) {
        list[i] = *heed_tensors_at(heed_gguf_tensors(g), i);
        list[i].data = heed_tensors_at(heed_gguf_tensors(g), i);
    }
    put_settings(&s);
    bool ok = g && heed_gguf_write(host, path, &s, list, n, from_file, calls, err);
    heed_buf_free(&s.bytes);
    heed_gguf_free(g);
    return ok;
}

static void test_round(void **state) {
    (void)state;
    heed_error err = {0};
    char folder[TEST_PATH], path[TEST_PATH + 20];
    int calls = 0;
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/again.gguf", folder);
    assert_true(rewrite(NULL, path, &calls, &err));
    heed_gguf *want = heed_gguf_open(NULL, GOLDEN, &err), *got = heed_gguf_open(NULL, path, &err);
    expect_no_error(&err);
    expect_settings(got);
    assert_int_equal(heed_tensors_count(heed_gguf_tensors(got)), calls);
    for (int i = 0; i < calls; i++) {
        const heed_tensor *a = heed_tensors_at(heed_gguf_tensors(want), i);
        const heed_tensor *b = heed_tensors_at(heed_gguf_tensors(got), i);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->rank, b->rank);
        for (int k = 0; k < a->rank; k++)
            assert_int_equal(a->dim[k], b->dim[k]);
        assert_int_equal(a->bytes, b->bytes);
        assert_memory_equal(a->data, b->data, a->bytes);
    }
    heed_gguf_free(want);
    heed_gguf_free(got);
    remove_folder(folder);
}

static void refused(const heed_tensor *list, int64_t n, heed_code code, const char *part) {
    heed_error err = {0};
    char folder[TEST_PATH], path[TEST_PATH + 20];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/no.gguf", folder);
    assert_false(heed_gguf_write(NULL, path, &(heed_gguf_settings){0}, list, n, NULL, NULL, &err));
    expect_error(&err, code, part);
    assert_int_equal(access(path, F_OK), -1);
    remove_folder(folder);
}

static void test_refused(void **state) {
    (void)state;
    static const float x[300];
    heed_tensor a = {.name = "a", .type = HEED_F32, .rank = 1, .dim = {3}, .data = x};
    heed_tensor b = a;
    refused((heed_tensor[]){a, b}, 2, HEED_NAME, "two tensors are called 'a'");
    b.bytes = 11;
    refused(&b, 1, HEED_SHAPE, "no.gguf': tensor 'a' has 11 bytes, shape (3) of F32 needs 12");
    b.bytes = 0;
    b.dim[0] = 0;
    refused(&b, 1, HEED_SHAPE, "no.gguf': tensor 'a' has no numbers");
    b.rank = 0;
    refused(&b, 1, HEED_SHAPE, "tensor 'a' has 0 dimensions, GGUF has 1 to 4");
    b.rank = 5;
    refused(&b, 1, HEED_SHAPE, "tensor 'a' has 5 dimensions, GGUF has 1 to 4");
    b = a;
    b.type = HEED_U8;
    refused(&b, 1, HEED_VALUE, "tensor 'a' is U8, which GGUF does not have");
    b.type = HEED_Q8_0;
    refused(&b, 1, HEED_SHAPE, "'a'");
    b = a;
    b.name = "0123456789012345678901234567890123456789012345678901234567890123";
    refused(&b, 1, HEED_NAME, "has more than the 63 bytes of GGUF");
}

/* ---- Parts ---- */

static void write_part(const char *folder, const char *name, int64_t no, int64_t count,
                       int64_t tensors, const char *tensor) {
    heed_error err = {0};
    char path[TEST_PATH + 60];
    float x[2] = {(float)no, 1};
    heed_tensor t = {.name = tensor, .type = HEED_F32, .rank = 1, .dim = {2}, .data = x};
    heed_gguf_settings s = {0};
    heed_gguf_put_integer(&s, "split.no", no);
    heed_gguf_put_integer(&s, "split.count", count);
    heed_gguf_put_integer(&s, "split.tensors.count", tensors);
    snprintf(path, sizeof path, "%s/%s.gguf", folder, name);
    assert_true(heed_gguf_write(NULL, path, &s, &t, 1, NULL, NULL, &err));
    heed_buf_free(&s.bytes);
}

static void expect_parts(const char *folder, const char *name, const char *part) {
    heed_error err = {0};
    char path[TEST_PATH + 60];
    snprintf(path, sizeof path, "%s/%s.gguf", folder, name);
    assert_null(heed_gguf_open(NULL, path, &err));
    expect_error(&err, HEED_FILE, part);
}

static bool open_parts(const heed_host *host, void *path, heed_error *err) {
    heed_gguf *g = heed_gguf_open(host, path, err);
    heed_gguf_free(g);
    return g != NULL;
}

static void test_parts(void **state) {
    (void)state;
    heed_error err = {0};
    char folder[TEST_PATH], path[TEST_PATH + 60];
    temp_folder(folder);
    write_part(folder, "m-00001-of-00003", 0, 3, 3, "a");
    write_part(folder, "m-00002-of-00003", 1, 3, 3, "b");
    expect_parts(folder, "m-00001-of-00003", "part 3 of 3 is missing: '");
    write_part(folder, "m-00003-of-00003", 2, 3, 3, "c");
    expect_parts(folder, "m-00002-of-00003", "this is part 2 of 3: name the first, '");
    snprintf(path, sizeof path, "%s/m-00001-of-00003.gguf", folder);
    heed_gguf *g = heed_gguf_open(NULL, path, &err);
    expect_no_error(&err);
    assert_int_equal(heed_tensors_count(heed_gguf_tensors(g)), 3);
    const heed_tensor *c = heed_tensors_find(heed_gguf_tensors(g), "c");
    float number;
    memcpy(&number, c->data, sizeof number);
    assert_true(number == 2);
    heed_gguf_free(g);
    for_each_failing_allocation(open_parts, path);
    write_part(folder, "m-00003-of-00003", 2, 3, 3, "a");
    expect_parts(folder, "m-00001-of-00003", "tensor 'a' is in two parts");
    write_part(folder, "m-00003-of-00003", 1, 3, 3, "c");
    expect_parts(folder, "m-00001-of-00003", "split.no is 1 of 3, by its name it is 2 of 3");
    write_part(folder, "m-00003-of-00003", 2, 3, 3, "c");
    write_part(folder, "m-00001-of-00003", 0, 3, 4, "a");
    expect_parts(folder, "m-00001-of-00003", "the parts have 3 tensors, split.tensors.count is 4");
    write_part(folder, "m-00001-of-00003", 3, 3, 3, "a");
    expect_parts(folder, "m-00001-of-00003", "split.no is 3, split.count 3");
    write_part(folder, "alone", 0, 2, 3, "a");
    expect_parts(folder, "alone", "whose name must end in '-00001-of-00002.gguf'");
    remove_folder(folder);
}

static bool rewrite_to(const heed_host *host, void *path, heed_error *err) {
    int calls = 0;
    return rewrite(host, path, &calls, err);
}

static void test_memory(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 20];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/again.gguf", folder);
    for_each_failing_allocation(rewrite_to, path);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_parts), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
