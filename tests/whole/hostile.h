/* hostile.h: files made to take memory or time. Each is refused with one line, and while it is, the
 * process grows by no more than the bytes of the files and 64 MiB.
 *
 * Each case is its own process, so that what one took does not hide what another takes; the limit
 * is what the system counts (resident memory), since jansson takes its own from the C library. The
 * sanitizers' own memory drowns that, so under them only the refusal is looked at.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_WHOLE_HOSTILE_H
#define HEED_TESTS_WHOLE_HOSTILE_H

#include "support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { ROOM_KIB = 64 << 10, SECONDS = 60 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

static char folder[TEST_PATH];

/* ---- Files ---- */

static inline FILE *create(const char *name) {
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    return f;
}

static inline void finish(FILE *f) {
    assert_int_equal(fclose(f), 0);
}

static inline void put_text(FILE *f, const char *text) {
    fputs(text, f);
}

static inline void put_number(FILE *f, uint64_t x, int bytes) {
    for (int i = 0; i < bytes; i++)
        fputc((int)(x >> 8 * i & 0xff), f);
}

static inline void repeat(FILE *f, const char *text, int n) {
    for (int i = 0; i < n; i++)
        fputs(text, f);
}

static inline void write_file(const char *name, const char *text) {
    FILE *f = create(name);
    put_text(f, text);
    finish(f);
}

/* open, n times text, close: a JSON text. */
static inline void write_list(const char *name, const char *open, const char *text, int n,
                              const char *close) {
    FILE *f = create(name);
    put_text(f, open);
    repeat(f, text, n);
    put_text(f, close);
    finish(f);
}

/* The same behind the length of a safetensors header. */
static inline void write_header(const char *open, const char *text, int n, const char *close) {
    FILE *f = create("model.safetensors");
    put_number(f, strlen(open) + strlen(text) * (size_t)n + strlen(close), 8);
    put_text(f, open);
    repeat(f, text, n);
    put_text(f, close);
    finish(f);
}

static inline void write_no_tensors(void) {
    write_header("{}", "", 0, "");
}

/* ---- Opening ---- */

typedef struct {
    heed_code code;
    char text[sizeof((heed_error *)0)->text];
    long grown; /* KiB */
} result;

static inline long most_kib(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static inline void open_path(const char *path, result *r) {
    heed_error err = {0};
    long before = most_kib();
    heed_engine *engine = heed_engine_new(NULL, 1, "ref", &err);
    heed_model *m = engine ? heed_model_open(engine, path, &err) : NULL;
    r->grown = most_kib() - before;
    heed_model_free(m);
    heed_engine_free(engine);
    r->code = err.code;
    memcpy(r->text, err.text, sizeof r->text);
}

static inline void in_child(const char *path, result *r) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        result own = {.code = HEED_OK};
        alarm(SECONDS);
        open_path(path, &own);
        _exit(write(ends[1], &own, sizeof own) == (ssize_t)sizeof own ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], r, sizeof *r);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (got != (ssize_t)sizeof *r)
        fail_msg("'%s': signal %d instead of an error", path,
                 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static inline long folder_kib(void) {
    long bytes = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[TEST_PATH + 300];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            bytes += (long)st.st_size;
    }
    closedir(d);
    return bytes >> 10;
}

typedef struct {
    const char *name, *(*make)(void), *why;
} hostile;

static inline void try(const hostile *h) {
    char path[TEST_PATH + 64];
    result r;
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, h->make());
    in_child(path, &r);
    long size = folder_kib();
    print_message("%-20s %7ld KiB grew by %6ld: %.120s\n", h->name, size, r.grown,
                  r.text + (strncmp(r.text, "cannot open", 11) ? 0 : strlen(path) + 15));
    remove_folder(folder);
    if (r.code == HEED_OK || r.code == HEED_NOMEM || !strstr(r.text, h->why) ||
        strchr(r.text, '\n'))
        fail_msg("%s: wanted '%s', got %s '%s'", h->name, h->why, heed_code_name(r.code), r.text);
#ifndef SANITIZED
    if (r.grown > size + ROOM_KIB)
        fail_msg("%s: files of %ld KiB took %ld", h->name, size, r.grown);
#endif
}

#define CASE(name, why)                                                                            \
    { #name, name, why }
#define TREE "would take more than 56 MiB of memory"

#endif
