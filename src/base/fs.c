/* fs.c: mapped files, folders and paths.
 * SPDX-License-Identifier: MIT
 */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { PATH_SIZE = 4096 };

int heed_open_regular(const char *path, size_t *n, heed_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        heed_fail_system(err, HEED_FILE, errno, "cannot open '%s'", path);
        return -1;
    }
    struct stat st;
    if (fstat(fd, &st) != 0) {
        heed_fail_system(err, HEED_FILE, errno, "cannot read '%s'", path);
    } else if (S_ISDIR(st.st_mode)) {
        heed_fail_system(err, HEED_FILE, EISDIR, "cannot read '%s'", path);
    } else if (!S_ISREG(st.st_mode)) {
        heed_fail(err, HEED_FILE, "'%s' is a pipe or a device: copy it to a file first", path);
    } else if ((uintmax_t)st.st_size > SIZE_MAX) {
        heed_fail(err, HEED_LIMIT, "'%s' has %jd bytes, more than this machine can map", path,
                  (intmax_t)st.st_size);
    } else {
        *n = (size_t)st.st_size;
        return fd;
    }
    close(fd);
    return -1;
}

bool heed_map_file(heed_mapped *m, const char *path, heed_error *err) {
    *m = (heed_mapped){NULL, 0};
    size_t n = 0;
    int fd = heed_open_regular(path, &n, err);
    if (fd < 0) {
        return false;
    }
    void *p = n > 0 ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    int number = errno;
    close(fd);
    if (p == MAP_FAILED) {
        return heed_fail_system(err, HEED_FILE, number, "cannot map '%s' of %zu bytes", path, n);
    }
    *m = (heed_mapped){p, n};
    return true;
}

void heed_unmap_file(heed_mapped *m) {
    if (m->data) {
        munmap((void *)(uintptr_t)m->data, m->n);
    }
    *m = (heed_mapped){NULL, 0};
}

void heed_let_go(const void *data, size_t n) {
#ifdef MADV_DONTNEED
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)data, to = from + n;
    from = (from + page - 1) / page * page; /* neighbours share the first and the last page */
    to = to / page * page;
    if (to > from) {
        madvise((void *)from, to - from, MADV_DONTNEED);
    }
#else
    (void)data, (void)n;
#endif
}

bool heed_is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool heed_is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool heed_is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

bool heed_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int heed_find_ending(const char *folder, const char *ending, char *out, size_t size) {
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        if (n >= size || !heed_ends_in(e->d_name, ending))
            continue;
        memcpy(out, e->d_name, n + 1);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}

bool heed_make_folder(const char *path, heed_error *err) {
    char part[PATH_SIZE];
    size_t n = strlen(path);
    if (n >= sizeof part) {
        return heed_fail(err, HEED_VALUE, "path of %zu bytes: at most %zu are possible", n,
                         sizeof part - 1);
    }
    for (size_t i = 1; i <= n; i++) {
        if (i < n && path[i] != '/') {
            continue;
        }
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) != 0) {
            int number = errno;
            if (!heed_is_folder(part)) {
                return heed_fail_system(err, HEED_SYSTEM, number, "cannot make folder '%s'", part);
            }
        }
    }
    return heed_is_folder(path) || heed_fail(err, HEED_FILE, "'%s' is not a folder", path);
}

bool heed_remove_file(const char *path, heed_error *err) {
    return unlink(path) == 0 || errno == ENOENT ||
           heed_fail_system(err, HEED_SYSTEM, errno, "cannot remove '%s'", path);
}

bool heed_ends_in(const char *name, const char *ending) {
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

const char *heed_name_in(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool heed_folder_of(char *out, size_t size, const char *path, heed_error *err) {
    size_t n = (size_t)(heed_name_in(path) - path);
    if (n >= size || size < 2) {
        return heed_fail(err, HEED_VALUE, "path of %zu bytes: at most %zu are possible",
                         strlen(path), size - 1);
    }
    memcpy(out, n > 0 ? path : ".", n > 0 ? n : 1);
    out[n > 0 ? n : 1] = '\0';
    return true;
}

bool heed_join_path(char *out, size_t size, const char *folder, const char *name, heed_error *err) {
    size_t n = strlen(folder);
    const char *slash = n > 0 && folder[n - 1] != '/' ? "/" : "";
    int need = snprintf(out, size, "%s%s%s", folder, slash, name);
    if (need < 0 || (size_t)need >= size) {
        return heed_fail(err, HEED_VALUE, "path of %d bytes: at most %zu are possible", need,
                         size - 1);
    }
    return true;
}
