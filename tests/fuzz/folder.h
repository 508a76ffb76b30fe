/* folder.h: one input as the small files of a folder, and a host that knows how much is out.
 *
 * Files stand one behind another, divided by a line "=="; the target says their names. Each input
 * replaces all of them in one folder, made at the first and removed at the end.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_FUZZ_FOLDER_H
#define HEED_TESTS_FUZZ_FOLDER_H

#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heed.h"

/* ---- Memory ---- */

enum { FUZZ_ROOM = 64 << 20 }; /* beside the bytes of the input */

static size_t fuzz_live, fuzz_most;

/* Room for the size in front of each block, and its alignment. */
static inline void *fuzz_alloc(void *self, size_t bytes) {
    (void)self;
    if (bytes > SIZE_MAX - 128)
        return NULL;
    fuzz_live += bytes;
    fuzz_most = fuzz_live > fuzz_most ? fuzz_live : fuzz_most;
    expect(fuzz_live < (size_t)FUZZ_ROOM * 2); /* here, where the stack tells who asked */
    char *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    expect(p != NULL);
    memcpy(p, &bytes, sizeof bytes);
    return p + 64;
}

static inline void fuzz_release(void *self, void *p) {
    (void)self;
    if (p) {
        size_t bytes;
        memcpy(&bytes, (char *)p - 64, sizeof bytes);
        fuzz_live -= bytes;
        free((char *)p - 64);
    }
}

static const heed_host fuzz_host = {.alloc = fuzz_alloc, .release = fuzz_release};

/* ---- Files ---- */

static char fuzz_folder[200];

static inline void fuzz_path(char out[400], const char *name) {
    snprintf(out, 400, "%s/%s", fuzz_folder, name);
}

static inline void remove_all(const char *folder) {
    DIR *d = opendir(folder);
    char path[400];
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path &&
            unlink(path) != 0)
            remove_all(path);
    if (d)
        closedir(d);
    rmdir(folder);
}

static inline void remove_fuzz_folder(void) {
    remove_all(fuzz_folder);
}

/* True at the first call, which makes the folder. */
static inline bool make_fuzz_folder(void) {
    const char *base = getenv("TMPDIR");
    if (fuzz_folder[0])
        return false;
    snprintf(fuzz_folder, sizeof fuzz_folder, "%.150s/heed-fuzz-XXXXXX", base ? base : "/tmp");
    expect(mkdtemp(fuzz_folder) != NULL);
    atexit(remove_fuzz_folder);
    return true;
}

static inline void fuzz_write(const char *name, const void *data, size_t n) {
    char path[400];
    fuzz_path(path, name);
    FILE *f = fopen(path, "wb");
    expect(f && fwrite(data, 1, n, f) == n);
    expect(fclose(f) == 0);
}

/* The parts of data as these files (names end with NULL); there is no file for an absent part. */
static inline void fuzz_split(const char *const *names, const uint8_t *data, size_t n) {
    static const char line[] = "\n==\n";
    const size_t m = sizeof line - 1;
    for (bool more = true; *names; names++) {
        size_t end = 0;
        while (end < n && (n - end < m || memcmp(data + end, line, m) != 0))
            end++;
        if (more) {
            fuzz_write(*names, data, end);
        } else {
            char path[400];
            fuzz_path(path, *names);
            unlink(path);
        }
        more = more && end < n;
        size_t step = more ? end + m : n;
        data += step;
        n -= step;
    }
}

#endif
