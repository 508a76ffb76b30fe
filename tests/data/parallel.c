/* Parallel text: pairs, what is skipped and counted, what is refused, parts that share no sentence.
 * SPDX-License-Identifier: MIT
 */
#include "data/parallel.h"

#include "support.h"

typedef struct {
    char folder[TEST_PATH], a[TEST_PATH + 16], b[TEST_PATH + 16];
} place;

static int set_up(void **state) {
    place *p = calloc(1, sizeof *p);
    temp_folder(p->folder);
    snprintf(p->a, sizeof p->a, "%s/a.de", p->folder);
    snprintf(p->b, sizeof p->b, "%s/a.en", p->folder);
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    place *p = *state;
    remove_folder(p->folder);
    free(p);
    return 0;
}

static void expect_line(heed_line line, const char *want) {
    assert_int_equal(line.n, strlen(want));
    assert_memory_equal(line.s, want, line.n);
}

static void test_two_files(void **state) {
    place *f = *state;
    heed_parallel p;
    heed_error err = {0};
    write_text(f->a, "eins\n\n drei \r\n \nf\xc3\xbcnf\nsechs\n");
    write_text(f->b, "one\ntwo\nthree\n\xe3\x80\x80\n\nsix\n");
    assert_true(
        heed_parallel_read(&p, NULL, &(heed_parallel_opts){.source = f->a, .target = f->b}, &err));
    assert_int_equal(p.n, 3);
    expect_line(p.pair[1].source, "drei");
    expect_line(p.pair[1].target, "three");
    assert_int_equal(p.pair[1].line, 3);
    assert_int_equal(p.pair[2].line, 6);
    heed_parallel_report r = p.report;
    assert_int_equal(r.lines, 6);
    assert_int_equal(r.pairs, 3);
    assert_int_equal(r.empty_source, 1);
    assert_int_equal(r.empty_target, 1);
    assert_int_equal(r.empty_both, 1);
    assert_int_equal(r.first_empty, 2);
    heed_parallel_free(&p);
}

static void test_table(void **state) {
    place *f = *state;
    heed_parallel p;
    heed_error err = {0};
    heed_parallel_opts o = {.source = f->a, .source_column = 2, .target_column = 1};
    write_text(f->a, "Hi.\t\xe5\x97\xa8\tCC-BY\n\nRun.\t\xe8\xb7\x91\n\t\xe7\xa9\xba\n");
    assert_true(heed_parallel_read(&p, NULL, &o, &err));
    assert_int_equal(p.n, 2);
    expect_line(p.pair[0].source, "\xe5\x97\xa8");
    expect_line(p.pair[1].target, "Run.");
    assert_int_equal(p.report.empty_both, 1);
    assert_int_equal(p.report.empty_target, 1);
    heed_parallel_free(&p);
    o.target_column = 3;
    assert_false(heed_parallel_read(&p, NULL, &o, &err));
    expect_error(&err, HEED_TEXT, "a.de' line 3 has 2 columns, column 3 was asked for");
    assert_int_equal(p.n, 0);
}

static void expect_refused(heed_parallel_opts o, heed_code code, const char *error) {
    heed_parallel p;
    heed_error err = {0};
    assert_false(heed_parallel_read(&p, NULL, &o, &err));
    assert_null(p.pair);
    expect_error(&err, code, error);
}

static void test_refusals(void **state) {
    place *f = *state;
    heed_parallel_opts o = {.source = f->a, .target = f->b};
    expect_refused(o, HEED_FILE, "a.de'");
    write_text(f->a, "eins\nzwei\n");
    expect_refused(o, HEED_FILE, "a.en'");
    write_text(f->b, "one\n");
    expect_refused(o, HEED_TEXT, "a.de' has 2 lines, target '");
    expect_refused(o, HEED_TEXT, "a.en' has 1: line by line they must say the same");
    write_text(f->b, "one\ntwo\nthree");
    expect_refused(o, HEED_TEXT, "a.en' has 3: line by line they must say the same");
    write_text(f->b, "");
    expect_refused(o, HEED_TEXT, "a.en' has 0");
    write_text(f->b, "one\xe2\x80\xa8two\xc2\x85three\n"); /* one line: neither ends one */
    expect_refused(o, HEED_TEXT, "a.en' has 1");
    write_text(f->b, "one\nt\xfcr\n");
    expect_refused(o, HEED_TEXT, "a.en' line 2: byte 2 of the line (0xfc) is not UTF-8");
    o.valid = -0.1;
    expect_refused(o, HEED_VALUE, "share 'valid' is -0.1, wanted 0 or more and below 1");
    o.valid = 0.5, o.test = 0.5;
    expect_refused(o, HEED_VALUE, "shares 0.5 (valid) and 0.5 (test) leave nothing to train on");
    o.valid = 0, o.test = 0, o.target_column = -1;
    expect_refused(o, HEED_VALUE, "columns are counted from 1, not 0 and -1");
}

static void expect_key(const char *text, const char *want) {
    heed_buf key = {0};
    assert_true(heed_buf_add(&key, "", 0) &&
                heed_sentence_key((heed_line){text, strlen(text)}, &key));
    assert_string_equal(key.data, want);
    heed_buf_free(&key);
}

static void test_key(void **state) {
    (void)state;
    expect_key("Hello,  World!", "helloworld");
    expect_key("\xe6\x88\x91\xe7\x88\xb1\xe4\xb8\xad\xe5\x9b\xbd\xe3\x80\x82",
               "\xe6\x88\x91\xe7\x88\xb1\xe4\xb8\xad\xe5\x9b\xbd");
    expect_key("Stra\xc3\x9f"
               "e \xef\xbc\xa1\xef\xbc\x91",
               "strassea1");
    expect_key("caf\xc3\xa9", "cafe\xcc\x81");
    expect_key("cafe\xcc\x81", "cafe\xcc\x81");
    expect_key("\xe2\x80\x9c"
               "Don\xe2\x80\x99t\xe2\x80\x9d \xe2\x80\x94 $5",
               "dont$5");
    expect_key("?!", "");
    expect_key(
        "\xef\xb7\xba",
        "\xd8\xb5\xd9\x84\xd9\x89\xd8\xa7\xd9\x84\xd9\x84\xd9\x87\xd8\xb9\xd9\x84\xd9\x8a\xd9\x87"
        "\xd9\x88\xd8\xb3\xd9\x84\xd9\x85"); /* the longest expansion */
}

/* 3000 lines, each English sentence in three spellings, Chinese sides shared now and then. */
static void write_corpus(const char *path) {
    static const char *spell[] = {"Sentence %d.", "sentence  %d", "SENTENCE %d!"};
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int i = 0; i < 3000; i++) {
        fprintf(f, spell[i % 3], i / 3);
        fprintf(f, "\t\xe5\x8f\xa5 %d\n", i % 10 == 0 ? 7 : i);
    }
    fclose(f);
}

static void add_keys(const heed_parallel *p, bool source, char *seen) {
    for (int64_t i = 0; i < p->n; i++) {
        heed_buf key = {0};
        assert_true(heed_sentence_key(source ? p->pair[i].source : p->pair[i].target, &key));
        seen[strtol(key.data + strcspn(key.data, "0123456789"), NULL, 10)] = 1;
        heed_buf_free(&key);
    }
}

static void check_split(const char *path, bool both, int64_t *shared) {
    heed_parallel p;
    heed_error err = {0};
    char target[3][3000] = {{0}}, source[3][3000] = {{0}};
    int64_t lines = 0;
    *shared = 0;
    for (int part = 0; part < 3; part++) {
        heed_parallel_opts o = {.source = path,
                                .source_column = 2,
                                .target_column = 1,
                                .valid = 0.1,
                                .test = 0.2,
                                .part = (heed_part)(HEED_PART_TRAIN + part),
                                .both_apart = both};
        assert_true(heed_parallel_read(&p, NULL, &o, &err));
        assert_int_equal(p.report.lines, p.n + p.report.elsewhere + p.report.shared);
        *shared += p.report.shared;
        lines += p.n;
        double share = (double)(p.n + p.report.shared) / 3000, want = part == 0   ? 0.7
                                                                      : part == 1 ? 0.1
                                                                                  : 0.2;
        assert_true(share > want - 0.04 && share < want + 0.04);
        add_keys(&p, false, target[part]);
        add_keys(&p, true, source[part]);
        heed_parallel_free(&p);
    }
    assert_int_equal(lines + *shared, 3000);
    for (int i = 0; i < 3000; i++) {
        assert_true(target[0][i] + target[1][i] + target[2][i] <= 1);
        if (both)
            assert_true(!source[0][i] || !(source[1][i] + source[2][i]));
    }
}

static void test_split(void **state) {
    place *f = *state;
    int64_t shared;
    write_corpus(f->a);
    check_split(f->a, false, &shared);
    assert_int_equal(shared, 0);
    check_split(f->a, true, &shared);
    /* of the 300 that share a side, those not in training */
    assert_true(shared > 50 && shared < 120);
}

/* A line keeps its part when others come and go, and by the source when that is asked. */
static void test_split_is_stable(void **state) {
    place *f = *state;
    heed_parallel p;
    heed_error err = {0};
    heed_parallel_opts o = {.source = f->a, .test = 0.5, .part = HEED_PART_TEST};
    write_text(f->a, "a\tx\nb\ty\nc\tz\nd\tx!\n");
    assert_true(heed_parallel_read(&p, NULL, &o, &err));
    int64_t all = p.n, x = 0;
    for (int64_t i = 0; i < p.n; i++)
        x += p.pair[i].target.s[0] == 'x';
    assert_true(x == 0 || x == 2);
    heed_parallel_free(&p);
    write_text(f->a, "a\tx\nb\ty\nq\t\nc\tz\nd\tx!\n");
    assert_true(heed_parallel_read(&p, NULL, &o, &err));
    assert_int_equal(p.n, all);
    heed_parallel_free(&p);
    o.by_source = true;
    write_text(f->a, "same\tx\nSame!\ty\n\"same\"\tz\nSAME\tw\n");
    assert_true(heed_parallel_read(&p, NULL, &o, &err));
    assert_true(p.n == 0 || p.n == 4);
    heed_parallel_free(&p);
}

static bool read_split(const heed_host *host, void *path, heed_error *err) {
    heed_parallel p;
    heed_parallel_opts o = {
        .source = path, .valid = 0.3, .part = HEED_PART_VALID, .both_apart = true};
    bool ok = heed_parallel_read(&p, host, &o, err);
    heed_parallel_free(&p);
    return ok;
}

static void test_memory(void **state) {
    place *f = *state;
    write_text(f->a, "a\tx\nb\ty\nc\tz\nd\tx!\n");
    for_each_failing_allocation(read_split, f->a);
}

static void test_real(void **state) {
    (void)state;
    char de[TEST_PATH], en[TEST_PATH], cmn[TEST_PATH];
    heed_parallel p;
    heed_error err = {0};
    require_data(de, "parallel/multi30k/train.de.gz");
    require_data(en, "parallel/multi30k/train.en.gz");
    require_data(cmn, "parallel/cmn-eng/cmn.txt");
    assert_true(
        heed_parallel_read(&p, NULL, &(heed_parallel_opts){.source = de, .target = en}, &err));
    assert_int_equal(p.n, 29000);
    heed_parallel_free(&p);
    int64_t n = 0, shared = 0;
    for (int part = HEED_PART_TRAIN; part <= HEED_PART_TEST; part++) {
        heed_parallel_opts o = {.source = cmn,
                                .source_column = 2,
                                .target_column = 1,
                                .valid = 0.05,
                                .test = 0.05,
                                .part = (heed_part)part,
                                .both_apart = true};
        assert_true(heed_parallel_read(&p, NULL, &o, &err));
        assert_int_equal(p.report.lines, 20403);
        print_message("cmn-eng part %d: %ld pairs, %ld shared\n", part, (long)p.n,
                      (long)p.report.shared);
        n += p.n;
        shared += p.report.shared;
        heed_parallel_free(&p);
    }
    assert_int_equal(n + shared, 20403);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test(test_key),
        cmocka_unit_test_setup_teardown(test_split, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_split_is_stable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests_name("data/parallel", tests, NULL, NULL);
}
