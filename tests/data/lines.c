/* Lines: what ends one, what does not, trimming, columns, bytes that are not UTF-8.
 * SPDX-License-Identifier: MIT
 */
#include "data/lines.h"

#include <zlib.h>

#include "support.h"

static void expect_lines(const char *text, size_t n, int count, const char *const *want) {
    heed_lines lines;
    heed_error err = {0};
    assert_true(heed_lines_parse(&lines, NULL, "t", text, n, &err));
    assert_int_equal(lines.n, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(lines.line[i].n, strlen(want[i]));
        assert_memory_equal(lines.line[i].s, want[i], lines.line[i].n);
    }
    heed_lines_free(&lines);
}

#define LINES(text, count, ...)                                                                    \
    expect_lines(text, sizeof(text) - 1, count, (const char *const[]){__VA_ARGS__})

static void test_ends(void **state) {
    (void)state;
    LINES("", 0, "");
    LINES("\n", 1, "");
    LINES("a", 1, "a");
    LINES("a\n", 1, "a");
    LINES("a\n\nb", 3, "a", "", "b");
    LINES("a\r\nb\r\n", 2, "a", "b");
    LINES("a\r\r\nb\r", 2, "a\r", "b\r");
    LINES("\r\n", 1, "");
    LINES("a\rb\n", 1, "a\rb");
    LINES("a\vb\fc\x1c"
          "d\n",
          1,
          "a\vb\fc\x1c"
          "d");
    LINES("a\xc2\x85"
          "b\xe2\x80\xa8"
          "c\xe2\x80\xa9"
          "d\n",
          1,
          "a\xc2\x85"
          "b\xe2\x80\xa8"
          "c\xe2\x80\xa9"
          "d");
    LINES("\xef\xbb\xbf"
          "a\n\xef\xbb\xbf"
          "b\n",
          2, "a",
          "\xef\xbb\xbf"
          "b");
    LINES("\xef\xbb\xbf", 0, "");
    heed_lines lines;
    assert_true(heed_lines_parse(&lines, NULL, "t", "a\0b\n", 4, NULL));
    assert_int_equal(lines.line[0].n, 3);
    heed_lines_free(&lines);
}

static void test_not_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"\xff", "'t' line 1: byte 1 of the line (0xff) is not UTF-8"},
        {"ab\nc\n"
         "de\x80"
         "f\n",
         "'t' line 3: byte 3 of the line (0x80) is not UTF-8"},
        {"ab\n\xe4\xbd", "'t' line 2: byte 1 of the line (0xe4) is not UTF-8"},
        {"a\n\xed\xa0\x80\n", "'t' line 2: byte 1 of the line (0xed) is not UTF-8"},
        {"caf\xe9\n", "'t' line 1: byte 4 of the line (0xe9) is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_lines lines;
        heed_error err = {0};
        assert_false(
            heed_lines_parse(&lines, NULL, "t", cases[i].text, strlen(cases[i].text), &err));
        assert_int_equal(lines.n, 0);
        expect_error(&err, HEED_TEXT, cases[i].error);
    }
}

static void expect_trim(const char *text, const char *want) {
    heed_line got = heed_line_trim((heed_line){text, strlen(text)});
    assert_int_equal(got.n, strlen(want));
    assert_memory_equal(got.s, want, got.n);
}

static void test_trim(void **state) {
    (void)state;
    expect_trim("", "");
    expect_trim(" \t\r\v", "");
    expect_trim(" a b ", "a b");
    expect_trim("\xe3\x80\x80\xe4\xbd\xa0\xe3\x80\x80\xc2\xa0", "\xe4\xbd\xa0");
    expect_trim("\xe2\x80\x8b"
                "a",
                "\xe2\x80\x8b"
                "a"); /* a zero-width space is no white space */
}

static void test_columns(void **state) {
    (void)state;
    heed_line row = {"a\t\tccc", 6}, out;
    assert_true(heed_line_column(row, 1, &out) && out.n == 1 && out.s[0] == 'a');
    assert_true(heed_line_column(row, 2, &out) && out.n == 0);
    assert_true(heed_line_column(row, 3, &out) && out.n == 3);
    assert_false(heed_line_column(row, 4, &out));
    assert_true(heed_line_column((heed_line){"", 0}, 1, &out) && out.n == 0);
}

static bool read_gz(const heed_host *host, void *path, heed_error *err) {
    heed_lines lines;
    bool ok = heed_lines_read(&lines, host, path, 0, err);
    if (ok)
        assert_int_equal(lines.n, 2);
    heed_lines_free(&lines);
    return ok;
}

static void test_files(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 16];
    heed_error err = {0};
    heed_lines lines;
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/t.gz", folder);
    gzFile gz = gzopen(path, "wb");
    assert_int_equal(gzputs(gz, "one\ntwo\n"), 8);
    gzclose(gz);
    for_each_failing_allocation(read_gz, path);
    assert_false(heed_lines_read(&lines, NULL, path, 3, &err));
    assert_int_equal(lines.n, 0);
    assert_int_equal(err.code, HEED_LIMIT);
    remove_folder(folder);
    err = (heed_error){0};
    assert_false(heed_lines_read(&lines, NULL, path, 0, &err));
    expect_error(&err, HEED_FILE, "t.gz'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),  cmocka_unit_test(test_not_utf8),
        cmocka_unit_test(test_trim),  cmocka_unit_test(test_columns),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("data/lines", tests, NULL, NULL);
}
