/* The error box: filled once, one clean line, cut on whole characters.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"

#include <errno.h>

#include "base/utf8.h"
#include "support.h"

static void test_names(void **state) {
    (void)state;
    assert_string_equal(heed_code_name(HEED_OK), "OK");
    assert_string_equal(heed_code_name(HEED_SYSTEM), "SYSTEM");
    assert_string_equal(heed_code_name((heed_code)99), "UNKNOWN");
}

static void test_first_failure_stays(void **state) {
    (void)state;
    heed_error err = {0};
    assert_false(heed_fail(&err, HEED_SHAPE, "width %d is not a multiple of %d heads", 10, 3));
    assert_false(heed_fail(&err, HEED_FILE, "later"));
    assert_int_equal(err.code, HEED_SHAPE);
    assert_string_equal(err.text, "width 10 is not a multiple of 3 heads");
    assert_false(heed_fail(NULL, HEED_FILE, "nobody listens"));
}

static void test_control_characters(void **state) {
    (void)state;
    heed_error err = {0};
    heed_fail(&err, HEED_FILE, "'%s'", "a\nb\033[31m\x7f\xff\xc2\x85 \xe7\x88\xb1");
    assert_string_equal(err.text, "'a?b?[31m???? \xe7\x88\xb1'");
}

static void test_cut_on_a_whole_character(void **state) {
    (void)state;
    for (int shift = 0; shift < 3; shift++) {
        char longest[700];
        int n = shift;
        memset(longest, 'x', sizeof longest);
        while (n + 3 < (int)sizeof longest) {
            n += heed_utf8_put(0x7231, longest + n);
        }
        longest[n] = 0;
        heed_error err = {0};
        heed_fail(&err, HEED_TEXT, "%s", longest);
        size_t len = strlen(err.text);
        assert_true(len > sizeof err.text - 4 && len < sizeof err.text);
        assert_int_equal(heed_utf8_check(err.text, len), len);
        assert_memory_equal(err.text, longest, len);
        heed_error_at(&err, "line %d", 7);
        len = strlen(err.text);
        assert_int_equal(heed_utf8_check(err.text, len), len);
        assert_memory_equal(err.text, "line 7: ", 8);
    }
}

static void test_where(void **state) {
    (void)state;
    heed_error err = {0};
    heed_error_at(&err, "line %d", 7);
    assert_int_equal(err.code, HEED_OK);
    assert_string_equal(err.text, "");
    heed_fail(&err, HEED_TEXT, "bad byte");
    heed_error_at(&err, "line %d", 7);
    heed_error_at(&err, "'%s'", "a.txt");
    assert_string_equal(err.text, "'a.txt': line 7: bad byte");
    heed_error_at(NULL, "nobody listens");
}

static void test_system(void **state) {
    (void)state;
    heed_error err = {0};
    heed_fail_system(&err, HEED_SYSTEM, ENOSPC, "cannot write '%s'", "a");
    assert_string_equal(err.text, "cannot write 'a': no space left on device");
    heed_fail_system(&err, HEED_FILE, ENOENT, "later");
    assert_int_equal(err.code, HEED_SYSTEM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_first_failure_stays),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_cut_on_a_whole_character),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
