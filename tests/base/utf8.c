/* UTF-8: every code point there and back, every bad form refused, widths of a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"

#include "support.h"

static void test_every_code_point(void **state) {
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        bool surrogate = cp >= 0xd800 && cp <= 0xdfff;
        char s[4];
        uint32_t back = 0;
        int n = heed_utf8_put(cp, s);
        assert_int_equal(n, cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4);
        assert_int_equal(heed_utf8_next(s, (size_t)n, &back), surrogate ? 0 : n);
        if (!surrogate) {
            assert_int_equal(back, cp);
            for (int cut = 1; cut < n; cut++) {
                assert_int_equal(heed_utf8_next(s, (size_t)cut, &back), 0);
            }
        }
    }
}

static void test_bad_forms(void **state) {
    (void)state;
    static const char *const BAD[] = {
        "\x80",             /* a continuation leads */
        "\xc0\x80",         /* overlong NUL */
        "\xc1\xbf",         /* overlong DEL */
        "\xe0\x9f\xbf",     /* overlong U+07FF */
        "\xf0\x8f\xbf\xbf", /* overlong U+FFFF */
        "\xed\xa0\x80",     /* U+D800 */
        "\xed\xbf\xbf",     /* U+DFFF */
        "\xf4\x90\x80\x80", /* U+110000 */
        "\xf5\x80\x80\x80",
        "\xff",
        "\xc3(",
        "\xe2\x82(",
        "\xf0\x9f\x98(",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        uint32_t cp;
        assert_int_equal(heed_utf8_next(BAD[i], strlen(BAD[i]), &cp), 0);
        for (size_t before = 0; before < 20; before++) { /* every place in the eight-byte stride */
            char text[64];
            memset(text, 'a', sizeof text);
            memcpy(text + before, BAD[i], strlen(BAD[i]));
            assert_int_equal(heed_utf8_check(text, sizeof text), before);
        }
    }
    assert_int_equal(heed_utf8_check("", 0), 0);
}

static void test_columns(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int columns;
    } CASES[] = {
        {"", 0},
        {"abc", 3},
        {"\xe6\x88\x91\xe7\x88\xb1", 4}, /* two ideographs */
        {"e\xcc\x81", 1},                /* e and a combining acute */
        {"\xef\xbc\xa1", 2},             /* fullwidth A */
        {"\xef\xbd\xb1", 1},             /* halfwidth katakana A */
        {"\xf0\x9f\x98\x80", 2},         /* an emoji */
        {"\xed\x95\x9c", 2},             /* a Hangul syllable */
        {"a\xff"
         "b",
         3}, /* a bad byte takes one */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(heed_utf8_columns(CASES[i].text, strlen(CASES[i].text)), CASES[i].columns);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point),
        cmocka_unit_test(test_bad_forms),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
