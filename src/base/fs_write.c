/* fs_write.c: files that are either the old or the new one, whenever the power goes.
 *
 * Method: everything goes to '<path>.part', under a lock so that two writers of one path cannot
 * mix; commit syncs it, renames it over the path and syncs the folder. A part file that a crash
 * left behind is taken over by the next writer. A path that is no regular file (a pipe, /dev/null)
 * is written straight through.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fs.h"

enum { HOLD = 1 << 16, TRIES = 16 };

struct heed_writer {
    const heed_host *host;
    char *path;
    char *part; /* NULL where the path is written straight through */
    int fd;
    size_t held;
    unsigned char hold[HOLD];
};

static bool fail(const heed_writer *w, const char *what, int number, heed_error *err) {
    const char *advice = number == ENOSPC || number == EDQUOT ? " (free some space there)" : "";
    return heed_fail_system(err, HEED_SYSTEM, number, "cannot %s '%s'%s", what, w->path, advice);
}

/* Still the file of that name? Its last owner may have renamed it between our open and our lock. */
static bool is_at(int fd, const char *path) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static bool open_part(heed_writer *w, heed_error *err) {
    for (int i = 0; i < TRIES; i++) {
        w->fd = open(w->part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (w->fd < 0) {
            return fail(w, "write", errno, err);
        }
        /* File systems without locks lose only the warning about a second writer. */
        if (flock(w->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(w->fd);
            w->fd = -1;
            return heed_fail(err, HEED_SYSTEM,
                             "another program is writing '%s': wait until it ends", w->path);
        }
        if (is_at(w->fd, w->part)) {
            return ftruncate(w->fd, 0) == 0 || fail(w, "write", errno, err);
        }
        close(w->fd);
        w->fd = -1;
    }
    return heed_fail(err, HEED_SYSTEM, "'%s' changed %d times while it was opened", w->part, TRIES);
}

static bool open_writer(heed_writer *w, const char *path, heed_error *err) {
    size_t n = strlen(path);
    struct stat st;
    bool exists = stat(path, &st) == 0;
    w->path = heed_copy_text(w->host, path, n, err);
    if (!w->path) {
        return false;
    }
    if (exists && S_ISDIR(st.st_mode)) {
        return fail(w, "write", EISDIR, err);
    }
    if (exists && !S_ISREG(st.st_mode)) {
        w->fd = open(path, O_WRONLY | O_CLOEXEC);
        return w->fd >= 0 || fail(w, "write", errno, err);
    }
    w->part = heed_alloc(w->host, n + sizeof ".part", 1, err);
    if (!w->part) {
        return false;
    }
    memcpy(w->part, path, n);
    memcpy(w->part + n, ".part", sizeof ".part");
    return open_part(w, err) &&
           (!exists || fchmod(w->fd, st.st_mode & 0777) == 0 || fail(w, "write", errno, err));
}

heed_writer *heed_writer_new(const heed_host *host, const char *path, heed_error *err) {
    heed_writer *w = heed_alloc(host, 1, sizeof *w, err);
    if (!w) {
        return NULL;
    }
    w->host = host;
    w->fd = -1;
    if (!open_writer(w, path, err)) {
        heed_writer_cancel(w);
        return NULL;
    }
    return w;
}

static bool write_all(heed_writer *w, const unsigned char *data, size_t n, heed_error *err) {
    while (n > 0) {
        ssize_t put = write(w->fd, data, n);
        if (put < 0 && errno != EINTR) {
            return fail(w, "write", errno, err);
        }
        if (put > 0) {
            data += put;
            n -= (size_t)put;
        }
    }
    return true;
}

static bool flush(heed_writer *w, heed_error *err) {
    size_t held = w->held;
    w->held = 0;
    return write_all(w, w->hold, held, err);
}

bool heed_writer_add(heed_writer *w, const void *data, size_t n, heed_error *err) {
    if (n > HOLD - w->held && !flush(w, err)) {
        return false;
    }
    if (n >= HOLD) {
        return write_all(w, data, n, err);
    }
    if (n > 0) {
        memcpy(w->hold + w->held, data, n);
        w->held += n;
    }
    return true;
}

/* Makes the new name itself last. Not every file system can, and the file is whole either way. */
static void sync_folder(const heed_writer *w) {
    char *slash = strrchr(w->part, '/');
    const char *folder = slash == w->part ? "/" : slash ? w->part : ".";
    if (slash) {
        *slash = 0;
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

bool heed_writer_commit(heed_writer *w, heed_error *err) {
    bool ok = flush(w, err);
    if (ok && w->part) {
        ok = (fsync(w->fd) == 0 && rename(w->part, w->path) == 0) || fail(w, "write", errno, err);
        if (ok) {
            sync_folder(w);
            heed_free(w->host, w->part);
            w->part = NULL; /* gone: nothing left to remove */
        }
    }
    heed_writer_cancel(w);
    return ok;
}

void heed_writer_cancel(heed_writer *w) {
    if (!w) {
        return;
    }
    if (w->fd >= 0) {
        if (w->part) {
            unlink(w->part);
        }
        close(w->fd);
    }
    heed_free(w->host, w->part);
    heed_free(w->host, w->path);
    heed_free(w->host, w);
}

bool heed_write_file(const heed_host *host, const char *path, const void *data, size_t n,
                     heed_error *err) {
    heed_writer *w = heed_writer_new(host, path, err);
    if (!w) {
        return false;
    }
    if (!heed_writer_add(w, data, n, err)) {
        heed_writer_cancel(w);
        return false;
    }
    return heed_writer_commit(w, err);
}
