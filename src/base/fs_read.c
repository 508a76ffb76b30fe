/* fs_read.c: a whole file into memory; a text also from a pipe, and unpacked where it is gzip.
 *
 * Method: read to the end, then, behind the two magic bytes, inflate member after member with zlib
 * (RFC 1952). Nothing is trusted: the limit holds for the bytes on disk and for those unpacked. The
 * files of a model are neither pipes nor packed: what waits for ever or unpacks without end is
 * refused there.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/fs.h"

enum { STEP = 1 << 16, GZIP_ONLY = 16 + MAX_WBITS };

static bool too_big(const char *path, size_t limit, heed_error *err) {
    return heed_fail(err, HEED_LIMIT, "'%s' has more than the %zu bytes allowed here", path, limit);
}

/* Room for a regular file at once, since growing by doubling copies it all. */
static bool make_room(heed_buf *buf, int fd, size_t limit, heed_error *err) {
    struct stat st;
    size_t room = STEP + 1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uintmax_t)st.st_size <= limit) {
        room += (size_t)st.st_size;
    }
    buf->data = heed_alloc_raw(buf->host, room, err); /* read fills it */
    buf->cap = buf->data ? room : 0;
    return buf->data;
}

static bool read_all(heed_buf *buf, int fd, const char *path, size_t limit, heed_error *err) {
    if (!make_room(buf, fd, limit, err)) {
        return false;
    }
    for (;;) {
        if (!heed_reserve(buf->host, (void **)&buf->data, &buf->cap, buf->n + STEP + 1, 1, err)) {
            return false;
        }
        ssize_t got = read(fd, buf->data + buf->n, STEP);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return heed_fail_system(err, HEED_FILE, errno, "cannot read '%s'", path);
        }
        if (got == 0) {
            buf->data[buf->n] = 0;
            return true;
        }
        buf->n += (size_t)got;
        if (buf->n > limit) {
            return too_big(path, limit, err);
        }
    }
}

static voidpf take(voidpf host, uInt count, uInt size) {
    return heed_alloc(host, count, size, NULL);
}

static void give(voidpf host, voidpf p) {
    heed_free(host, p);
}

static bool gz_failed(int rc, const z_stream *z, const char *path, size_t in, heed_error *err) {
    if (rc == Z_MEM_ERROR) {
        return heed_fail(err, HEED_NOMEM, "out of memory while unpacking '%s'", path);
    }
    if (rc == Z_BUF_ERROR) {
        return heed_fail(err, HEED_FILE, "'%s' ends inside its gzip data, after %zu bytes", path,
                         in);
    }
    return heed_fail(err, HEED_FILE, "'%s' is damaged gzip data near byte %zu: %s", path,
                     in - z->avail_in, z->msg ? z->msg : "unknown kind");
}

/* Inflates what is left of z's input up to the end of one member. */
static bool unpack_member(heed_buf *out, z_stream *z, const heed_buf *in, const char *path,
                          size_t limit, heed_error *err) {
    int rc = Z_OK;
    while (rc != Z_STREAM_END) {
        if (!heed_reserve(out->host, (void **)&out->data, &out->cap, out->n + STEP + 1, 1, err)) {
            return false;
        }
        z->next_out = (Bytef *)(out->data + out->n);
        z->avail_out = STEP;
        if (z->avail_in == 0) { /* zlib counts in 32 bits: feed it in pieces */
            size_t left = in->n - (size_t)((const char *)z->next_in - in->data);
            z->avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
        }
        rc = inflate(z, Z_NO_FLUSH);
        out->n += STEP - z->avail_out;
        if (rc != Z_OK && rc != Z_STREAM_END) {
            return gz_failed(rc, z, path, in->n, err);
        }
        if (out->n > limit) {
            return too_big(path, limit, err);
        }
    }
    return true;
}

static bool unpack(heed_buf *out, const heed_buf *in, const char *path, size_t limit,
                   heed_error *err) {
    z_stream z = {.next_in = (z_const Bytef *)in->data, .zalloc = take, .zfree = give};
    z.opaque = (voidpf)(uintptr_t)in->host;
    int rc = inflateInit2(&z, GZIP_ONLY);
    if (rc != Z_OK) {
        return gz_failed(rc, &z, path, in->n, err);
    }
    bool ok = true;
    while (ok && (const char *)z.next_in < in->data + in->n) {
        ok = unpack_member(out, &z, in, path, limit, err);
        inflateReset(&z);
    }
    inflateEnd(&z);
    if (ok) {
        out->data[out->n] = 0;
    }
    return ok;
}

static bool is_gzip(const heed_buf *buf) {
    return buf->n >= 2 && (unsigned char)buf->data[0] == 0x1f &&
           (unsigned char)buf->data[1] == 0x8b;
}

static char *read_open(const heed_host *host, int fd, const char *path, size_t limit, bool packed,
                       size_t *n, heed_error *err) {
    heed_buf raw = {.host = host}, plain = {.host = host};
    bool ok = read_all(&raw, fd, path, limit, err);
    close(fd);
    if (ok && packed && is_gzip(&raw)) {
        ok = unpack(&plain, &raw, path, limit, err);
        heed_buf_free(&raw);
        raw = plain;
    }
    if (!ok) {
        heed_buf_free(&raw);
        return NULL;
    }
    *n = raw.n;
    return raw.data;
}

char *heed_read_file(const heed_host *host, const char *path, size_t limit, size_t *n,
                     heed_error *err) {
    size_t bytes;
    int fd = heed_open_regular(path, &bytes, err);
    return fd < 0 ? NULL : read_open(host, fd, path, limit, false, n, err);
}

char *heed_read_text(const heed_host *host, const char *path, size_t limit, size_t *n,
                     heed_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        heed_fail_system(err, HEED_FILE, errno, "cannot open '%s'", path);
        return NULL;
    }
    return read_open(host, fd, path, limit, true, n, err);
}
