/* The map: what is put is found, in order of insertion, and a failed put changes nothing.
 * SPDX-License-Identifier: MIT
 */
#include "base/map.h"

#include "support.h"

static size_t key_of(int i, char key[16]) {
    return (size_t)snprintf(key, 16, "key%d", i * 7919);
}

static bool fill(const heed_host *host, void *ctx, heed_error *err) {
    int count = *(int *)ctx;
    heed_map map;
    heed_map_init(&map, host);
    bool ok = true;
    char key[16];
    for (int i = 0; ok && i < count; i++) {
        bool added = false;
        heed_map_entry *e = heed_map_put(&map, key, key_of(i, key), i, &added, err);
        ok = e != NULL;
        if (ok) {
            assert_true(added);
            assert_int_equal(e->value, i);
        } else {
            assert_int_equal(map.count, i);
            assert_null(heed_map_find(&map, key, strlen(key)));
        }
    }
    for (int i = 0; i < (int)map.count; i++) {
        size_t n = key_of(i, key);
        assert_int_equal(map.entry[i].value, i);
        assert_string_equal(map.entry[i].key, key);
        assert_ptr_equal(heed_map_find(&map, key, n), &map.entry[i]);
    }
    heed_map_free(&map);
    return ok;
}

static void test_many(void **state) {
    (void)state;
    int count = 100000;
    heed_error err = {0};
    assert_true(fill(NULL, &count, &err));
}

static void test_failing_allocations(void **state) {
    (void)state;
    int count = 3000;
    for_each_failing_allocation(fill, &count);
}

static void test_keys_are_bytes(void **state) {
    (void)state;
    heed_map map;
    heed_map_init(&map, NULL);
    assert_null(heed_map_find(&map, "a", 1));
    assert_non_null(heed_map_put(&map, "", 0, 1, NULL, NULL));
    assert_non_null(heed_map_put(&map, "a", 1, 2, NULL, NULL));
    assert_non_null(heed_map_put(&map, "a\0", 2, 3, NULL, NULL));
    assert_non_null(heed_map_put(&map, "a\0b", 3, 4, NULL, NULL));
    assert_int_equal(map.count, 4);
    assert_int_equal(heed_map_find(&map, "", 0)->value, 1);
    assert_int_equal(heed_map_find(&map, "a", 1)->value, 2);
    assert_int_equal(heed_map_find(&map, "a\0", 2)->value, 3);
    assert_int_equal(heed_map_find(&map, "a\0b", 3)->value, 4);
    assert_null(heed_map_find(&map, "a\0c", 3));
    bool added = true;
    assert_int_equal(heed_map_put(&map, "a", 1, 99, &added, NULL)->value, 2);
    assert_false(added);
    heed_map_free(&map);
    assert_int_equal(map.count, 0);
    assert_non_null(heed_map_put(&map, "again", 5, 1, NULL, NULL));
    heed_map_free(&map);
}

/* Absent keys that are the beginning or the continuation of present ones, in full probe chains. */
static void test_no_prefix_is_found(void **state) {
    (void)state;
    heed_map map;
    heed_map_init(&map, NULL);
    char key[16];
    for (int i = 0; i < 8000; i++) {
        assert_non_null(
            heed_map_put(&map, key, (size_t)snprintf(key, 16, "k%04d", i), i, NULL, NULL));
    }
    for (int i = 0; i < 8000; i++) {
        snprintf(key, 16, "k%04dx", i);
        for (size_t n = 0; n < 7; n++) {
            assert_int_equal(heed_map_find(&map, key, n) != NULL, n == 5);
        }
    }
    heed_map_free(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_keys_are_bytes),
        cmocka_unit_test(test_no_prefix_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
