/* tally.c: what is out is counted, on top of any host, and failures stay failures.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/mem.h"
#include "base/tally.h"

static void it_counts(void **state) {
    (void)state;
    counting_host c;
    counting_host_init(&c, 3, false);
    heed_tally t;
    heed_tally_init(&t, &c.host);
    char *a = heed_alloc(&t.host, 1000, 1, NULL), *b = heed_alloc(&t.host, 10, 100, NULL);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_true(t.live >= 2000 && t.live <= 2128 && t.most == t.live);
    size_t both = t.live;
    heed_error err = {0};
    assert_null(heed_alloc(&t.host, 5000, 1, &err)); /* the third */
    expect_error(&err, HEED_NOMEM, "5000 bytes");
    assert_null(heed_alloc(&t.host, SIZE_MAX, 1, &err));
    expect_error(&err, HEED_NOMEM, "out of memory");
    assert_true(t.live == both && t.most == both);
    heed_free(&t.host, a);
    assert_true(t.live < both && t.most == both);
    heed_free(&t.host, b);
    heed_free(&t.host, NULL);
    assert_int_equal(t.live, 0);
    assert_int_equal(c.live, 0);
}

static void the_c_library_may_stand_behind_it(void **state) {
    (void)state;
    heed_tally t;
    heed_tally_init(&t, NULL);
    char *a = heed_alloc(&t.host, 77, 1, NULL);
    assert_non_null(a);
    assert_true(t.live >= 77);
    heed_free(&t.host, a);
    assert_int_equal(t.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_counts),
        cmocka_unit_test(the_c_library_may_stand_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
