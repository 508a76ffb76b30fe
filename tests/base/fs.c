/* Files: read whole, mapped, unpacked, written all or nothing.
 * SPDX-License-Identifier: MIT
 */
#include "base/fs.h"

#include <zlib.h>

#include "support.h"

typedef struct {
    char folder[TEST_PATH], path[TEST_PATH + 32];
} place;

static int set_up(void **state) {
    place *p = calloc(1, sizeof *p);
    temp_folder(p->folder);
    snprintf(p->path, sizeof p->path, "%s/file", p->folder);
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    place *p = *state;
    remove_folder(p->folder);
    free(p);
    return 0;
}

static void test_map(void **state) {
    place *p = *state;
    heed_mapped m;
    heed_error err = {0};
    write_text(p->path, "hello");
    assert_true(heed_map_file(&m, p->path, &err));
    assert_int_equal(m.n, 5);
    assert_memory_equal(m.data, "hello", 5);
    heed_unmap_file(&m);
    assert_null(m.data);
    heed_unmap_file(&m);
    write_text(p->path, "");
    assert_true(heed_map_file(&m, p->path, &err));
    assert_null(m.data);
    assert_int_equal(m.n, 0);
    assert_false(heed_map_file(&m, "/nowhere/at/all", &err));
    expect_error(&err, HEED_FILE, "cannot open '/nowhere/at/all': no such file or directory");
    assert_false(heed_map_file(&m, p->folder, &err));
    expect_error(&err, HEED_FILE, "is a directory");
}

static void expect_read(const char *path, size_t limit, const char *want, size_t want_n) {
    heed_error err = {0};
    size_t n = 0;
    char *data = heed_read_text(NULL, path, limit, &n, &err);
    expect_no_error(&err);
    assert_int_equal(n, want_n);
    assert_memory_equal(data, want, n + 1);
    heed_free(NULL, data);
}

static void test_read_plain(void **state) {
    place *p = *state;
    size_t n, big = 300000;
    heed_error err = {0};
    char *text = calloc(1, big + 1);
    memset(text, 'x', big);
    write_bytes(p->path, text, big);
    expect_read(p->path, SIZE_MAX, text, big);
    expect_read(p->path, big, text, big);
    assert_null(heed_read_text(NULL, p->path, big - 1, &n, &err));
    expect_error(&err, HEED_LIMIT, "299999");
    free(text);
    write_text(p->path, "");
    expect_read(p->path, 0, "", 0);
    assert_null(heed_read_text(NULL, p->folder, 100, &n, &err));
    expect_error(&err, HEED_FILE, "is a directory");
    assert_null(heed_read_text(NULL, "/nowhere", 100, &n, &err));
    expect_error(&err, HEED_FILE, "cannot open '/nowhere'");
}

static void write_gz(const char *path, const char *mode, const char *data, unsigned n) {
    gzFile f = gzopen(path, mode);
    assert_non_null(f);
    assert_int_equal(gzwrite(f, data, n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

static void test_read_gz(void **state) {
    place *p = *state;
    enum { N = 500000 };
    char *text = calloc(1, N + 1);
    for (int i = 0; i < N; i++) {
        text[i] = (char)('a' + i * 7 % 26);
    }
    write_gz(p->path, "wb", text, N);
    expect_read(p->path, N, text, N);
    write_gz(p->path, "wb", text, N / 2);
    write_gz(p->path, "ab", text + N / 2, N - N / 2); /* a second member behind the first */
    expect_read(p->path, N, text, N);
    heed_error err = {0};
    size_t n;
    assert_null(heed_read_text(NULL, p->path, N - 1, &n, &err));
    expect_error(&err, HEED_LIMIT, "499999 bytes allowed");
    write_gz(p->path, "wb", "", 0);
    expect_read(p->path, 100, "", 0);
    free(text);
}

/* A file of a model is neither unpacked nor waited for. */
static void test_read_regular(void **state) {
    place *p = *state;
    size_t n = 0;
    heed_error err = {0};
    heed_mapped m;
    write_gz(p->path, "wb", "hello", 5);
    char *data = heed_read_file(NULL, p->path, 1000, &n, &err);
    expect_no_error(&err);
    assert_true(n > 5 && data[0] == 0x1f);
    heed_free(NULL, data);
    assert_null(heed_read_file(NULL, p->folder, 1000, &n, &err));
    expect_error(&err, HEED_FILE, "is a directory");
    unlink(p->path);
    assert_int_equal(mkfifo(p->path, 0600), 0);
    assert_null(heed_read_file(NULL, p->path, 1000, &n, &err));
    expect_error(&err, HEED_FILE, "is a pipe or a device: copy it to a file first");
    assert_false(heed_map_file(&m, p->path, &err));
    expect_error(&err, HEED_FILE, "is a pipe or a device");
}

/* Every cut and every damaged byte of a gz file is an error that names the file, never a wrong
 * text. */
static void test_bad_gz(void **state) {
    place *p = *state;
    size_t n, got;
    write_gz(p->path, "wb", "hello hello hello", 17);
    unsigned char *gz = (unsigned char *)slurp(p->path, &n);
    heed_error err = {0};
    for (size_t cut = 2; cut < n; cut++) {
        write_bytes(p->path, gz, cut);
        assert_null(heed_read_text(NULL, p->path, 1000, &got, &err));
        expect_error(&err, HEED_FILE, "ends inside its gzip data");
    }
    for (size_t i = 10; i < n; i++) { /* behind the header, whose time and system do not matter */
        gz[i] ^= 0x10;
        write_bytes(p->path, gz, n);
        char *data = heed_read_text(NULL, p->path, 1000, &got, &err);
        assert_null(data);
        expect_error(&err, HEED_FILE, p->path);
        gz[i] ^= 0x10;
    }
    unsigned char more[100];
    memcpy(more, gz, n);
    more[n] = 'x';
    write_bytes(p->path, more, n + 1);
    assert_null(heed_read_text(NULL, p->path, 1000, &got, &err));
    expect_error(&err, HEED_FILE, p->path);
    free(gz);
}

static bool read_once(const heed_host *host, void *ctx, heed_error *err) {
    size_t n;
    char *data = heed_read_text(host, ctx, 1 << 20, &n, err);
    heed_free(host, data);
    return data != NULL;
}

static void test_read_without_memory(void **state) {
    place *p = *state;
    char text[200000] = {0};
    write_bytes(p->path, text, sizeof text);
    for_each_failing_allocation(read_once, p->path);
    write_gz(p->path, "wb", text, sizeof text);
    for_each_failing_allocation(read_once, p->path);
}

static void expect_text(const char *path, const char *want) {
    char *text = slurp(path, NULL);
    assert_string_equal(text, want);
    free(text);
}

static void test_write(void **state) {
    place *p = *state;
    heed_error err = {0};
    heed_writer *w = heed_writer_new(NULL, p->path, &err);
    expect_no_error(&err);
    assert_true(heed_writer_add(w, "new", 3, &err));
    assert_int_equal(access(p->path, F_OK), -1); /* nothing under the name before the commit */
    assert_true(heed_writer_commit(w, &err));
    expect_text(p->path, "new");
    assert_int_equal(count_files(p->folder), 1);

    w = heed_writer_new(NULL, p->path, &err);
    assert_true(heed_writer_add(w, "never seen", 10, &err));
    expect_text(p->path, "new");
    heed_writer_cancel(w);
    heed_writer_cancel(NULL);
    expect_text(p->path, "new");
    assert_int_equal(count_files(p->folder), 1);
}

static void test_write_much(void **state) {
    place *p = *state;
    enum { N = 300000 };
    unsigned char *data = malloc(N);
    for (int i = 0; i < N; i++) {
        data[i] = (unsigned char)(i * 31 >> 3);
    }
    heed_writer *w = heed_writer_new(NULL, p->path, NULL);
    for (size_t at = 0, step = 1; at < N; at += step, step = step * 3 % 100003) {
        step = step < N - at ? step : N - at;
        assert_true(heed_writer_add(w, data + at, step, NULL));
    }
    assert_true(heed_writer_commit(w, NULL));
    size_t n;
    char *back = slurp(p->path, &n);
    assert_int_equal(n, N);
    assert_memory_equal(back, data, N);
    free(back);
    free(data);
}

static void test_two_writers(void **state) {
    place *p = *state;
    heed_error err = {0};
    heed_writer *w = heed_writer_new(NULL, p->path, &err);
    assert_null(heed_writer_new(NULL, p->path, &err));
    expect_error(&err, HEED_SYSTEM, "another program is writing");
    assert_true(heed_writer_add(w, "first", 5, &err));
    assert_true(heed_writer_commit(w, &err));
    expect_text(p->path, "first");
}

static void test_part_of_a_crash_is_taken_over(void **state) {
    place *p = *state;
    char part[TEST_PATH + 64];
    snprintf(part, sizeof part, "%s.part", p->path);
    write_text(part, "left behind by a crash, and longer than what follows");
    assert_true(heed_write_file(NULL, p->path, "ok", 2, NULL));
    expect_text(p->path, "ok");
    assert_int_equal(count_files(p->folder), 1);
}

static void test_mode_stays(void **state) {
    place *p = *state;
    struct stat st;
    write_text(p->path, "old");
    assert_int_equal(chmod(p->path, 0640), 0);
    assert_true(heed_write_file(NULL, p->path, "new", 3, NULL));
    assert_int_equal(stat(p->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

/* Through links of our own, so that a mistake costs a link and not the machine's device. */
static void test_devices(void **state) {
    place *p = *state;
    struct stat st;
    heed_error err = {0};
    assert_int_equal(symlink("/dev/null", p->path), 0);
    assert_true(heed_write_file(NULL, p->path, "x", 1, &err));
    assert_int_equal(stat(p->path, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(count_files(p->folder), 1);
    if (access("/dev/full", W_OK) == 0) { /* a disk that is always full */
        assert_int_equal(unlink(p->path), 0);
        assert_int_equal(symlink("/dev/full", p->path), 0);
        assert_false(heed_write_file(NULL, p->path, "x", 1, &err));
        expect_error(&err, HEED_SYSTEM, "(free some space there): no space left on device");
    }
}

static void test_write_refused(void **state) {
    place *p = *state;
    heed_error err = {0};
    assert_false(heed_write_file(NULL, "/nowhere/at/all", "x", 1, &err));
    expect_error(&err, HEED_SYSTEM, "cannot write '/nowhere/at/all': no such file or directory");
    assert_false(heed_write_file(NULL, p->folder, "x", 1, &err));
    expect_error(&err, HEED_SYSTEM, "is a directory");
}

static bool write_once(const heed_host *host, void *ctx, heed_error *err) {
    return heed_write_file(host, ctx, "text", 4, err);
}

static void test_write_without_memory(void **state) {
    place *p = *state;
    for_each_failing_allocation(write_once, p->path);
    assert_int_equal(count_files(p->folder), 1);
}

static void test_folders(void **state) {
    place *p = *state;
    heed_error err = {0};
    char deep[TEST_PATH + 64], inner[TEST_PATH + 64];
    assert_true(heed_join_path(deep, sizeof deep, p->folder, "a//b/c/", &err));
    assert_false(heed_is_folder(deep));
    assert_true(heed_make_folder(deep, &err));
    assert_true(heed_make_folder(deep, &err));
    assert_true(heed_is_folder(deep));
    assert_false(heed_is_file(deep));
    assert_true(heed_join_path(inner, sizeof inner, deep, "f", &err));
    assert_string_equal(inner + strlen(inner) - 3, "c/f");
    write_text(inner, "x");
    assert_true(heed_is_file(inner));
    assert_false(heed_is_folder(inner));
    assert_false(heed_make_folder(inner, &err));
    expect_error(&err, HEED_SYSTEM, "cannot make folder");
    assert_true(heed_remove_file(inner, &err));
    assert_true(heed_remove_file(inner, &err));
    assert_false(heed_is_file(inner));
    assert_false(heed_remove_file(p->folder, &err));
    expect_error(&err, HEED_SYSTEM, "cannot remove");
}

static void test_join(void **state) {
    (void)state;
    char out[8];
    heed_error err = {0};
    assert_true(heed_join_path(out, sizeof out, "abc", "def", &err));
    assert_string_equal(out, "abc/def");
    assert_true(heed_join_path(out, sizeof out, "", "def", &err));
    assert_string_equal(out, "def");
    assert_false(heed_join_path(out, sizeof out, "abc", "defg", &err));
    expect_error(&err, HEED_VALUE, "path of 8 bytes: at most 7");
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_map),           WITH_FOLDER(test_read_plain),
        WITH_FOLDER(test_read_gz),       WITH_FOLDER(test_bad_gz),
        WITH_FOLDER(test_read_regular),  WITH_FOLDER(test_read_without_memory),
        WITH_FOLDER(test_write),         WITH_FOLDER(test_write_much),
        WITH_FOLDER(test_two_writers),   WITH_FOLDER(test_part_of_a_crash_is_taken_over),
        WITH_FOLDER(test_mode_stays),    WITH_FOLDER(test_devices),
        WITH_FOLDER(test_write_refused), WITH_FOLDER(test_write_without_memory),
        WITH_FOLDER(test_folders),       cmocka_unit_test(test_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
