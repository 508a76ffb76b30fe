/* documents.c: files, folders and JSON as documents; matches; parts that are held out; refusals.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <sys/stat.h>

#include "base/fs.h"
#include "data/documents.h"

static char folder[TEST_PATH];

static int make_folder(void **state) {
    (void)state;
    temp_folder(folder);
    return 0;
}
static int drop_folder(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

static const char *put(const char *name, const char *text) {
    static char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_text(path, text);
    return path;
}

static heed_documents read_all(heed_documents_opts o) {
    heed_documents d;
    heed_error err = {0};
    if (!heed_documents_read(&d, NULL, &o, &err))
        fail_msg("%s", err.text);
    return d;
}

/* The documents, each behind a '|'. */
static void expect_all(heed_documents_opts o, const char *want) {
    heed_documents d = read_all(o);
    char all[400] = "";
    for (int64_t i = 0; i < d.n; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "|%.*s", (int)d.item[i].text.n, d.item[i].text.s);
    }
    assert_string_equal(all, want);
    heed_documents_free(&d);
}

static void text_is_cut_as_asked(void **state) {
    (void)state;
    heed_documents_opts o = {.path = put("a.txt", "\n one\r\ntwo\n \t\n\n three \nfour\n\n")};
    expect_all(o, "|\n one\r\ntwo\n \t\n\n three \nfour\n\n");
    o.cut = HEED_DOCUMENT_LINE;
    expect_all(o, "| one|two| three |four");
    o.cut = HEED_DOCUMENT_BLANK;
    expect_all(o, "| one\r\ntwo| three \nfour");
    o.path = put("b.txt", "\xef\xbb\xbfone\n\ntwo");
    expect_all(o, "|one|two");
}

static void json_gives_a_member(void **state) {
    (void)state;
    heed_documents_opts o = {
        .path = put("a.jsonl", "{\"t\": \"one\\n1\", \"u\": 3}\n\n{\"t\": [\"two\", \"2\"]}\r\n"
                               "{\"t\": \" \"}"),
        .column = "t"};
    expect_all(o, "|one\n1|two\n2");
    o.path = put("b.json", " [{\"t\": [\"春眠不覺曉，\", \"處處聞啼鳥。\"]},\n {\"t\": \"x\"}]");
    expect_all(o, "|春眠不覺曉，\n處處聞啼鳥。|x");
}

static void a_folder_is_its_files_in_order(void **state) {
    (void)state;
    put("b.txt", "two");
    put("a.txt", "one");
    put("c.md", "no text");
    put(".d.txt", "hidden");
    put("c.jsonl", "{\"t\": \"json\"}");
    expect_all((heed_documents_opts){.path = folder}, "|one|two");
    expect_all((heed_documents_opts){.path = folder, .column = "t"}, "|json");
}

static void matches_are_the_documents(void **state) {
    (void)state;
    heed_documents_opts o = {.path = put("a.txt", "ab1 cd22\nno\n春3 x\n"),
                             .cut = HEED_DOCUMENT_LINE,
                             .match = "\\w+\\d|春\\d"};
    expect_all(o, "|ab1|cd22|春3");
    heed_documents d = read_all(o);
    assert_int_equal(d.unmatched, 1);
    heed_documents_free(&d);
    o.match = "x?"; /* matches nothing between most characters */
    expect_all(o, "|x");
}

static int64_t held_of(const heed_documents *d) {
    int64_t held = 0;
    for (int64_t i = 0; i < d->n; i++)
        held += d->item[i].held;
    return held;
}

static void a_hash_holds_out_equal_documents_together(void **state) {
    (void)state;
    heed_error err = {0};
    char text[8000] = "";
    for (int i = 0; i < 400; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "Text %d!\n", i % 200);
    heed_documents d =
        read_all((heed_documents_opts){.path = put("a.txt", text), .cut = HEED_DOCUMENT_LINE});
    int64_t seen = -1;
    assert_true(heed_documents_split(&d, (heed_documents_hold){.share = 0.25}, &err));
    assert_true(held_of(&d) > 60 && held_of(&d) < 140);
    for (int64_t i = 0; i < 200; i++)
        assert_int_equal(d.item[i].held, d.item[i + 200].held);
    assert_true(heed_documents_seen(&d, NULL, &seen, &err));
    assert_int_equal(seen, 0);
    d.item[0].held = !d.item[0].held; /* now one of a pair is on each side */
    assert_true(heed_documents_seen(&d, NULL, &seen, &err));
    assert_int_equal(seen, 1);
    assert_false(heed_documents_split(&d, (heed_documents_hold){.share = 1e-9}, &err));
    expect_error(&err, HEED_VALUE, "a share of 1e-09 leaves nothing held out");
    heed_documents_free(&d);
}

static void the_end_is_held_out(void **state) {
    (void)state;
    heed_error err = {0};
    heed_documents_opts o = {.path = put("a.txt", "aaaa\nbbbb\ncccc\n"), .cut = HEED_DOCUMENT_LINE};
    heed_documents d = read_all(o);
    heed_documents_hold hold = {.share = 0.5, .end = true};
    assert_true(heed_documents_split(&d, hold, &err));
    assert_int_equal(d.n, 3); /* the cut falls into b, which begins before it */
    assert_true(!d.item[1].held && d.item[2].held);
    hold.within = true;
    assert_true(heed_documents_split(&d, hold, &err));
    assert_int_equal(d.n, 4);
    assert_true(d.item[1].text.n == 2 && !d.item[1].held && d.item[2].held);
    heed_documents_free(&d);
    o.path = put("b.txt", "春夏秋冬"); /* never within a character */
    o.cut = HEED_DOCUMENT_FILE;
    d = read_all(o);
    hold.share = 0.4;
    assert_true(heed_documents_split(&d, hold, &err));
    assert_int_equal(d.item[0].text.n, 9);
    assert_int_equal(d.item[1].text.n, 3);
    heed_documents_free(&d);
}

static void refuse(heed_documents_opts o, heed_code code, const char *line) {
    heed_documents d;
    heed_error err = {0};
    assert_false(heed_documents_read(&d, NULL, &o, &err));
    expect_error(&err, code, line);
    assert_int_equal(d.n, 0);
}

static void what_is_wrong_is_told_with_its_line(void **state) {
    (void)state;
    refuse((heed_documents_opts){.path = put("a.txt", " \n")}, HEED_VALUE, "has no text");
    refuse((heed_documents_opts){.path = folder, .column = "t"}, HEED_FILE,
           "has no file that ends in .json or .jsonl");
    refuse((heed_documents_opts){.path = put("b.txt", "one\ntw\xff\n")}, HEED_TEXT,
           "b.txt' line 2: byte 3 of the line (0xff) is not UTF-8");
    refuse((heed_documents_opts){.path = put("c.txt", "one"), .match = "(one"}, HEED_VALUE,
           "the expression is none at byte 4");
    refuse((heed_documents_opts){.path = put("c.txt", "one"), .match = "two"}, HEED_VALUE,
           "matches in none of the 1 documents");
    heed_documents_opts json = {.path = put("d.jsonl", "{\"t\": \"a\"}\n{\"t\": \"b\"\n"),
                                .column = "t"};
    refuse(json, HEED_FILE, "d.jsonl' line 2: 'object' line 1");
    put("d.jsonl", "{\"t\": \"a\"}\n\n{\"s\": \"b\"}\n");
    refuse(json, HEED_NAME, "d.jsonl' line 3: key 't' is missing");
    put("d.jsonl", "{\"t\": 7}\n");
    refuse(json, HEED_VALUE,
           "d.jsonl' line 1: key 't' is an integer, wanted a string or a list of strings");
    put("d.jsonl", "[{\"t\": \"a\"}, {\"t\": [\"b\", 7]}]");
    refuse(json, HEED_VALUE, "d.jsonl' element 1: element 1 of 't' is an integer");
    put("d.jsonl", "[7]");
    refuse(json, HEED_VALUE, "d.jsonl' element 0: an integer, wanted an object");
}

static bool live_with(const heed_host *host, void *ctx, heed_error *err) {
    heed_documents d;
    heed_documents_opts o = {.path = ctx, .column = "t", .match = "\\w+"};
    int64_t seen;
    if (!heed_documents_read(&d, host, &o, err))
        return false;
    heed_documents_hold hold = {.share = 0.5, .end = true, .within = true};
    bool ok = heed_documents_split(&d, hold, err) && heed_documents_seen(&d, NULL, &seen, err);
    heed_documents_free(&d);
    return ok;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s",
             put("a.jsonl", "{\"t\": \"one two\"}\n{\"t\": [\"three\", \"four five\"]}\n"));
    for_each_failing_allocation(live_with, path);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(text_is_cut_as_asked),
        IN_FOLDER(json_gives_a_member),
        IN_FOLDER(a_folder_is_its_files_in_order),
        IN_FOLDER(matches_are_the_documents),
        IN_FOLDER(a_hash_holds_out_equal_documents_together),
        IN_FOLDER(the_end_is_held_out),
        IN_FOLDER(what_is_wrong_is_told_with_its_line),
        IN_FOLDER(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
