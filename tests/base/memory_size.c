/* The machine's memory: not more than it has, and enough to have started this test.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

static void test_bounds(void **state) {
    (void)state;
    size_t bytes = heed_machine_bytes(), pages = (size_t)sysconf(_SC_PHYS_PAGES);
    assert_true(bytes > (size_t)1 << 22);
    assert_true(bytes <= pages * (size_t)sysconf(_SC_PAGESIZE));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
