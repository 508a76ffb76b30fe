/* fs.h: files: whole, mapped, gz, and written so that a crash leaves the old or the new one.
 *
 * Every error names the path and the system's reason, and says what to do where that is known.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_FS_H
#define HEED_BASE_FS_H

#include "base/mem.h"

/* Read-only view of a whole file (mmap; an empty file gives data NULL, n 0). */
typedef struct {
    const unsigned char *data;
    size_t n;
} heed_mapped;
bool heed_map_file(heed_mapped *m, const char *path, heed_error *err);
void heed_unmap_file(heed_mapped *m);
/* Part of a mapped file that will hardly be read again: its pages are no longer this process's, and
 * come back from the file when they are read. */
void heed_let_go(const void *data, size_t n);

/* Opens a regular file for reading, its size into *n; -1 with err filled, at once also for a pipe
 * that nobody writes to. Close with close. */
int heed_open_regular(const char *path, size_t *n, heed_error *err);

/* Reads a whole regular file, at most `limit` bytes (more is an error). The result is
 * NUL-terminated, its length in *n; free with heed_free. */
char *heed_read_file(const heed_host *host, const char *path, size_t limit, size_t *n,
                     heed_error *err);
/* The same for what people write: from a pipe too, and gz is unpacked if its first bytes are
 * 1f 8b. */
char *heed_read_text(const heed_host *host, const char *path, size_t limit, size_t *n,
                     heed_error *err);

/* Writing: to a temporary file beside `path`, then sync, then rename over it; after a failure the
 * old file is as it was and the temporary is gone. Disk full and the like come back from write or
 * commit. */
typedef struct heed_writer heed_writer;
heed_writer *heed_writer_new(const heed_host *host, const char *path, heed_error *err);
bool heed_writer_add(heed_writer *w, const void *data, size_t n, heed_error *err);
bool heed_writer_commit(heed_writer *w, heed_error *err); /* frees w either way */
void heed_writer_cancel(heed_writer *w);                  /* frees w; NULL allowed */
bool heed_write_file(const heed_host *host, const char *path, const void *data, size_t n,
                     heed_error *err);

bool heed_make_folder(const char *path, heed_error *err); /* with parents; existing is fine */
bool heed_is_folder(const char *path);
bool heed_is_file(const char *path); /* a regular one, or a link to it */
/* Is there anything of this name: a file, a folder, a pipe, a link that leads nowhere? A file that
 * may be left out is opened where this is true, so that one that is there and cannot be read is an
 * error and not a file left out. */
bool heed_is_there(const char *path);
bool heed_same_file(const char *a, const char *b); /* or folder; false where one is missing */
/* Number of files in a folder whose names end in `ending`; the name of one of them into out. A name
 * of `size` bytes or more counts as none. */
int heed_find_ending(const char *folder, const char *ending, char *out, size_t size);
bool heed_remove_file(const char *path, heed_error *err); /* missing is fine */
bool heed_ends_in(const char *name, const char *ending);
const char *heed_name_in(const char *path); /* what stands behind the last '/' */
/* What stands before it, with it; "." where there is none. */
bool heed_folder_of(char *out, size_t size, const char *path, heed_error *err);
/* folder/name into out; false with err when it does not fit in `size`. */
bool heed_join_path(char *out, size_t size, const char *folder, const char *name, heed_error *err);

#endif
