/* metrics.c: lines and events as they are written, and cut back on a resume.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "train/events.h"
#include "train/metrics.h"

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

static char *read_log(const char *name, size_t *n) {
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return slurp(path, n);
}

static void expect_lines(const char *want) {
    char *got = read_log("metrics.jsonl", NULL);
    assert_string_equal(got, want);
    free(got);
}

static heed_metrics *opened(heed_metrics_size keep) {
    heed_error err = {0};
    heed_metrics *m = heed_metrics_open(NULL, folder, true, keep, &err);
    expect_no_error(&err);
    assert_non_null(m);
    return m;
}

static void add(heed_metrics *m, int64_t step, double loss) {
    heed_error err = {0};
    heed_metric list[] = {{"epoch", 2.0, true}, {"loss", loss, false}, {"lr", 3e-4, false}};
    assert_true(heed_metrics_add(m, "train", step, list, 3, &err));
}

static void lines_are_json(void **state) {
    (void)state;
    heed_metrics *m = opened((heed_metrics_size){0});
    add(m, 1, 9.25);
    add(m, 2, NAN);
    expect_lines("{\"kind\":\"train\",\"step\":1,\"epoch\":2,\"loss\":9.25,\"lr\":0.0003}\n"
                 "{\"kind\":\"train\",\"step\":2,\"epoch\":2,\"loss\":null,\"lr\":0.0003}\n");
    heed_metrics_close(m);
}

static void a_resume_cuts_back(void **state) {
    (void)state;
    heed_error err = {0};
    heed_metrics_size size, after;
    heed_metrics *m = opened((heed_metrics_size){0});
    add(m, 1, 4.0);
    assert_true(heed_metrics_sync(m, &size, &err));
    add(m, 2, 3.0);
    heed_metrics_close(m);

    m = opened(size);
    assert_true(heed_metrics_sync(m, &after, &err));
    assert_int_equal(after.lines, size.lines);
    assert_int_equal(after.events, size.events);
    add(m, 2, 2.0);
    heed_metrics_close(m);
    expect_lines("{\"kind\":\"train\",\"step\":1,\"epoch\":2,\"loss\":4.0,\"lr\":0.0003}\n"
                 "{\"kind\":\"train\",\"step\":2,\"epoch\":2,\"loss\":2.0,\"lr\":0.0003}\n");

    heed_metrics_size beyond = {.lines = 10000};
    assert_null(heed_metrics_open(NULL, folder, true, beyond, &err));
    expect_error(&err, HEED_FILE, "bytes, the checkpoint saw 10000");
    m = opened((heed_metrics_size){0});
    expect_lines("");
    heed_metrics_close(m);
}

static uint32_t word(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t masked(const void *data, size_t n) {
    uint32_t crc = heed_crc32c(data, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static void checksums_are_crc32c(void **state) {
    (void)state;
    unsigned char zeros[32] = {0};
    assert_int_equal(heed_crc32c("123456789", 9), 0xe3069283u);
    assert_int_equal(heed_crc32c(zeros, 32), 0x8a9136aau); /* RFC 3720, B.4 */
    assert_int_equal(heed_crc32c("", 0), 0);
}

/* Event { wall_time 1.0, step 300, summary { value { tag "a/b", simple_value 0.5 } } } */
static void events_are_tensorflow_records(void **state) {
    (void)state;
    static const unsigned char want[] = {0x09, 0,    0,    0,    0,    0,    0,    0xf0, 0x3f,
                                         0x10, 0xac, 0x02, 0x2a, 0x0c, 0x0a, 0x0a, 0x0a, 0x03,
                                         'a',  '/',  'b',  0x15, 0,    0,    0,    0x3f};
    heed_buf out = {0};
    assert_true(heed_event_scalar(&out, 1.0, 300, "a/b", 0.5f));
    const unsigned char *p = (const unsigned char *)out.data;
    assert_int_equal(out.n, sizeof want + 16);
    assert_int_equal(word(p), sizeof want);
    assert_int_equal(word(p + 4), 0);
    assert_int_equal(word(p + 8), masked(p, 8));
    assert_memory_equal(p + 12, want, sizeof want);
    assert_int_equal(word(p + 12 + sizeof want), masked(want, sizeof want));
    heed_buf_free(&out);

    assert_true(heed_event_open(&out, 1.0));
    assert_int_equal(word((const unsigned char *)out.data), 24);
    assert_memory_equal(out.data + 12 + 9,
                        "\x1a\x0d"
                        "brain.Event:2",
                        15);
    heed_buf_free(&out);
}

static void events_are_scalars_only(void **state) {
    (void)state;
    size_t n;
    heed_metrics *m = opened((heed_metrics_size){0});
    add(m, 1, 4.0);
    heed_metrics_close(m);
    unsigned char *file = (unsigned char *)read_log("events.out.tfevents.heed", &n);
    size_t at = 0;
    int records = 0;
    while (at < n) {
        size_t length = word(file + at);
        assert_int_equal(word(file + at + 12 + length), masked(file + at + 12, length));
        at += length + 16;
        records++;
    }
    assert_int_equal(at, n);
    assert_int_equal(records, 3); /* the opening, loss, lr; the epoch is a whole number */
    free(file);
}

static void a_folder_that_is_not_there_is_an_error(void **state) {
    (void)state;
    heed_error err = {0};
    assert_null(heed_metrics_open(NULL, "/nowhere/at/all", true, (heed_metrics_size){0}, &err));
    expect_error(&err, HEED_SYSTEM, "cannot open '/nowhere/at/all/metrics.jsonl'");
}

static bool log_with(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_metric list[] = {{"loss", 1.5, false}, {"epoch", 1.0, true}};
    heed_metrics_size size;
    heed_metrics *m = heed_metrics_open(host, folder, true, (heed_metrics_size){0}, err);
    bool ok =
        m && heed_metrics_add(m, "train", 1, list, 2, err) && heed_metrics_sync(m, &size, err);
    heed_metrics_close(m);
    return ok;
}

static void memory_may_fail_anywhere(void **state) {
    (void)state;
    for_each_failing_allocation(log_with, NULL);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(lines_are_json),
        IN_FOLDER(a_resume_cuts_back),
        cmocka_unit_test(checksums_are_crc32c),
        cmocka_unit_test(events_are_tensorflow_records),
        IN_FOLDER(events_are_scalars_only),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
        IN_FOLDER(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
