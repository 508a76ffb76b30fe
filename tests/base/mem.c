/* Memory: zeroed, aligned, sizes checked, nothing lost when an allocation fails.
 * SPDX-License-Identifier: MIT
 */
#include "base/mem.h"

#include "support.h"

static void test_alloc(void **state) {
    (void)state;
    counting_host c;
    counting_host_init(&c, 0, false);
    const heed_host *hosts[] = {NULL, &c.host};
    for (int h = 0; h < 2; h++) {
        for (size_t n = 0; n < 200; n += 7) {
            unsigned char *p = heed_alloc(hosts[h], n, 3, NULL);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 64, 0);
            for (size_t i = 0; i < 3 * n; i++) {
                assert_int_equal(p[i], 0);
            }
            heed_free(hosts[h], p);
        }
        heed_free(hosts[h], NULL);
    }
    assert_int_equal(c.live, 0);
}

static void test_sizes_are_checked(void **state) {
    (void)state;
    heed_error err = {0};
    assert_null(heed_alloc(NULL, SIZE_MAX / 2, 3, &err));
    expect_error(&err, HEED_NOMEM, "items of 3 bytes");
    assert_null(heed_alloc(NULL, SIZE_MAX, 1, &err));
    expect_error(&err, HEED_NOMEM, "out of memory");
    heed_region region = {0};
    assert_null(heed_region_alloc(&region, SIZE_MAX / 8, 8, &err));
    expect_error(&err, HEED_NOMEM, "out of memory");
    assert_null(heed_region_alloc(&region, SIZE_MAX - 20, 1, &err));
    expect_error(&err, HEED_NOMEM, "out of memory");
    assert_null(heed_region_text(&region, "", SIZE_MAX, &err));
    assert_null(heed_copy_text(NULL, "", SIZE_MAX, &err));
    heed_region_free(&region);
}

static void test_reserve_keeps_contents(void **state) {
    (void)state;
    counting_host c;
    counting_host_init(&c, 0, false);
    int *item = NULL;
    size_t cap = 0;
    for (size_t n = 0; n < 1000; n++) {
        assert_true(heed_reserve(&c.host, (void **)&item, &cap, n + 1, sizeof *item, NULL));
        assert_int_equal(item[n], 0);
        item[n] = (int)n;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(item[i], i);
    }
    assert_true(c.asked < 12); /* doubling: about log2(1000/8) */
    c.fail_at = c.asked + 1;
    int *before = item;
    size_t had = cap;
    assert_false(heed_reserve(&c.host, (void **)&item, &cap, cap + 1, sizeof *item, NULL));
    assert_ptr_equal(item, before);
    assert_int_equal(cap, had);
    heed_error err = {0};
    assert_false(heed_reserve(NULL, (void **)&item, &cap, SIZE_MAX / 2, 8, &err));
    expect_error(&err, HEED_NOMEM, "items of 8 bytes");
    heed_free(&c.host, item);
    assert_int_equal(c.live, 0);
}

static void test_buf(void **state) {
    (void)state;
    counting_host c;
    counting_host_init(&c, 0, false);
    heed_buf buf = {.host = &c.host};
    assert_true(heed_buf_add(&buf, NULL, 0));
    assert_string_equal(buf.data, "");
    for (int i = 0; i < 100; i++) {
        assert_true(heed_buf_format(&buf, "%d,", i % 10));
        assert_true(heed_buf_text(&buf, "x"));
        assert_int_equal(buf.data[buf.n], 0);
    }
    assert_int_equal(buf.n, 300);
    assert_memory_equal(buf.data + 297, "9,x", 4);
    size_t n = buf.n;
    c.fail_at = c.asked + 1;
    while (heed_buf_text(&buf, "more")) {}
    assert_true(buf.failed);
    assert_true(buf.n >= n);
    assert_false(heed_buf_format(&buf, "x"));
    assert_false(heed_buf_add(&buf, "x", 1));
    heed_buf_free(&buf);
    assert_false(buf.failed);
    assert_int_equal(c.live, 0);
}

static bool use_region(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_region region = {.host = host};
    bool ok = true;
    for (size_t i = 0; ok && i < 300; i++) {
        size_t *p = heed_region_alloc(&region, i % 50, sizeof *p, err);
        char *text = p ? heed_region_text(&region, "alpha beta", i % 11, err) : NULL;
        ok = p && text;
        if (ok) {
            assert_int_equal((uintptr_t)p % 16, 0);
            assert_int_equal(strlen(text), i % 11);
            for (size_t k = 0; k < i % 50; k++) {
                assert_int_equal(p[k], 0);
                p[k] = SIZE_MAX;
            }
        }
    }
    char *large = ok ? heed_region_alloc(&region, 5000000, 1, err) : NULL;
    if (large) {
        memset(large, 1, 5000000);
    }
    ok = large != NULL;
    heed_region_free(&region);
    return ok;
}

static void test_region(void **state) {
    (void)state;
    for_each_failing_allocation(use_region, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_sizes_are_checked),
        cmocka_unit_test(test_reserve_keeps_contents),
        cmocka_unit_test(test_buf),
        cmocka_unit_test(test_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
