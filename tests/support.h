/* support.h: what every test leans on: cmocka, a host that counts and fails, folders, data.
 *
 * All of it is static inline, so that a test stays one file and one program. Tests run in the
 * project's root, so "tests/golden/x" opens as written.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_SUPPORT_H
#define HEED_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heed.h"

/* The instruction sets that differ in floats; which of them are there, the engine says. */
#define TEST_SETS                                                                                  \
    { "ref", "avx2", "avx512", "neon" }

/* ---- A host that counts and fails ------------------------------------------------------------ */

/* Start with counting_host_init; give &c.host to the code under test. Its blocks start full of
 * 0xa5, so that nobody leans on memory being zero by luck. */
typedef struct {
    heed_host host;
    atomic_long asked; /* allocations so far, failed ones too */
    atomic_long live;  /* blocks not yet released */
    long fail_at;      /* the allocation that fails, counted from 1; 0 = none */
    bool lasting;      /* so do all after it */
} counting_host;

static inline void *counting_alloc(void *self, size_t bytes) {
    counting_host *c = self;
    long n = atomic_fetch_add(&c->asked, 1) + 1;
    if (c->fail_at > 0 && (n == c->fail_at || (c->lasting && n > c->fail_at))) {
        return NULL;
    }
    size_t rounded = (bytes + 63) / 64 * 64;
    void *p = rounded >= bytes && rounded > 0 ? aligned_alloc(64, rounded) : NULL;
    if (p) {
        atomic_fetch_add(&c->live, 1);
        memset(p, 0xa5, rounded);
    }
    return p;
}

static inline void counting_release(void *self, void *p) {
    counting_host *c = self;
    if (p) {
        atomic_fetch_sub(&c->live, 1);
        free(p);
    }
}

static inline void counting_host_init(counting_host *c, long fail_at, bool lasting) {
    c->host = (heed_host){.alloc = counting_alloc, .release = counting_release, .self = c};
    atomic_init(&c->asked, 0);
    atomic_init(&c->live, 0);
    c->fail_at = fail_at;
    c->lasting = lasting;
}

/* Lets allocation 1, 2, 3 ... of fn fail, first alone, then together with all after it, until fn no
 * longer gets that far. fn returns whether it succeeded and must have released everything either
 * way. A failure has to be HEED_NOMEM with a text and leave no block; success in spite of a failed
 * allocation is an error too. */
typedef bool failing_fn(const heed_host *host, void *ctx, heed_error *err);

static inline bool fails_cleanly(failing_fn *fn, void *ctx, long n, bool lasting) {
    counting_host c;
    counting_host_init(&c, n, lasting);
    heed_error err = {0};
    bool ok = fn(&c.host, ctx, &err);
    const char *how = lasting ? "from allocation" : "at allocation";
    if (c.live != 0) {
        fail_msg("%ld blocks left after a failure %s %ld", (long)c.live, how, n);
    }
    if (ok && c.asked >= n) {
        fail_msg("reported success after a failure %s %ld", how, n);
    }
    if (!ok && (err.code != HEED_NOMEM || err.text[0] == 0)) {
        fail_msg("a failure %s %ld came back as %s '%s'", how, n, heed_code_name(err.code),
                 err.text);
    }
    return !ok;
}

static inline void for_each_failing_allocation(failing_fn *fn, void *ctx) {
    for (int lasting = 0; lasting < 2; lasting++) {
        long n = 1;
        while (fails_cleanly(fn, ctx, n, lasting != 0)) {
            n++;
        }
        if (n == 1) {
            fail_msg("the function under test allocates nothing");
        }
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* The box holds `code` and a text with `part` in it, and the text is one clean line. Empties the
 * box. */
static inline void expect_error(heed_error *err, heed_code code, const char *part) {
    size_t n = strlen(err->text);
    if (err->code != code || !strstr(err->text, part)) {
        fail_msg("wanted %s '...%s...', got %s '%s'", heed_code_name(code), part,
                 heed_code_name(err->code), err->text);
    }
    if (n == 0 || err->text[n - 1] == '.' || strchr(err->text, '\n')) {
        fail_msg("not one line without a full stop: '%s'", err->text);
    }
    *err = (heed_error){0};
}

static inline void expect_no_error(const heed_error *err) {
    if (err->code != HEED_OK) {
        fail_msg("%s: %s", heed_code_name(err->code), err->text);
    }
}

/* ---- Files and folders ----------------------------------------------------------------------- */

enum { TEST_PATH = 1024 };

/* Makes an empty folder for this test; remove_folder takes it away again. */
static inline void temp_folder(char out[TEST_PATH]) {
    const char *base = getenv("TMPDIR");
    snprintf(out, TEST_PATH, "%s/heed-test-XXXXXX", base && base[0] ? base : "/tmp");
    assert_non_null(mkdtemp(out));
}

static inline void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char inner[TEST_PATH];
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) >= TEST_PATH) {
            continue;
        }
        if (lstat(inner, &st) == 0 && S_ISDIR(st.st_mode)) {
            remove_folder(inner);
        } else {
            unlink(inner);
        }
    }
    if (folder) {
        closedir(folder);
    }
    rmdir(path);
}

static inline int count_files(const char *path) {
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder));) {
        count += e->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static inline void write_bytes(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *path, const char *text) {
    write_bytes(path, text, strlen(text));
}

/* The whole file with a NUL behind it, from malloc; its length in *n unless that is NULL. */
static inline char *slurp(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        fail_msg("cannot open '%s'", path);
    }
    size_t used = 0, room = 4096, got;
    char *data = malloc(room);
    while (data && (got = fread(data + used, 1, room - used - 1, f)) > 0) {
        used += got;
        if (room - used < 2048) {
            data = realloc(data, room *= 2);
        }
    }
    assert_non_null(data);
    fclose(f);
    data[used] = 0;
    if (n) {
        *n = used;
    }
    return data;
}

/* Path of `name` under the data folder $HEED_DATA; skips the test, saying why, where it is not
 * there. */
static inline void require_data(char out[TEST_PATH], const char *name) {
    const char *root = getenv("HEED_DATA");
    if (!root || !root[0]) {
        print_message("skipped: needs '%s'; set HEED_DATA to the folder of data sets\n", name);
        skip();
        return;
    }
    snprintf(out, TEST_PATH, "%s/%s", root, name);
    if (access(out, R_OK) != 0) {
        print_message("skipped: there is no '%s'\n", out);
        skip();
    }
}

#endif
