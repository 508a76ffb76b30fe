/* mem.c: checked sizes over the host's two functions; a growing string; a region of small blocks.
 *
 * Invariant: whatever leaves this file is zeroed, but for what heed_take and heed_alloc_raw give; a
 * failed call leaves what was there before as it was.
 * SPDX-License-Identifier: MIT
 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

enum { LARGE = 8 << 20, HUGE_PAGE = 2 << 20 };
enum { ALIGN = 64, REGION_ALIGN = 16, REGION_FIRST = 4096, REGION_MOST = 1 << 20, FIRST_ITEMS = 8 };

void *heed_take(const heed_host *host, size_t bytes) {
    if (host) {
        return host->alloc(host->self, bytes);
    }
    size_t align = bytes < LARGE ? ALIGN : HUGE_PAGE;
    size_t rounded = (bytes + align - 1) / align * align; /* aligned_alloc wants a multiple */
    void *p = rounded < bytes ? NULL : aligned_alloc(align, rounded);
#ifdef MADV_HUGEPAGE
    if (p && bytes >= LARGE) {
        madvise(p, rounded, MADV_HUGEPAGE); /* a wish: 512 page faults become one */
    }
#endif
    return p;
}

static void *too_many(size_t count, size_t size, heed_error *err) {
    heed_fail(err, HEED_NOMEM, "out of memory: %zu items of %zu bytes asked for", count, size);
    return NULL;
}

void *heed_alloc_raw(const heed_host *host, size_t bytes, heed_error *err) {
    void *p = heed_take(host, bytes > 0 ? bytes : 1);
    if (!p) {
        heed_fail(err, HEED_NOMEM, "out of memory: %zu bytes asked for", bytes);
    }
    return p;
}

void *heed_alloc(const heed_host *host, size_t count, size_t size, heed_error *err) {
    if (size > 0 && count > SIZE_MAX / size) {
        return too_many(count, size, err);
    }
    size_t bytes = count * size > 0 ? count * size : 1;
    void *p = heed_alloc_raw(host, bytes, err);
    return p ? memset(p, 0, bytes) : NULL;
}

void heed_free(const heed_host *host, void *p) {
    if (!host) {
        free(p);
    } else if (p) {
        host->release(host->self, p);
    }
}

bool heed_reserve(const heed_host *host, void **p, size_t *cap, size_t need, size_t size,
                  heed_error *err) {
    if (need <= *cap) {
        return true;
    }
    size_t twice = *cap <= SIZE_MAX / 2 ? *cap * 2 : need;
    size_t want = need > twice ? need : twice;
    if (want < FIRST_ITEMS) {
        want = FIRST_ITEMS;
    }
    void *old, *grown = heed_alloc(host, want, size, err);
    if (!grown) {
        return false;
    }
    memcpy(&old, p, sizeof old); /* the pointer's own type is the caller's: read it as bytes */
    if (*cap > 0) {
        memcpy(grown, old, *cap * size);
    }
    heed_free(host, old);
    memcpy(p, &grown, sizeof grown);
    *cap = want;
    return true;
}

char *heed_copy_text(const heed_host *host, const char *s, size_t n, heed_error *err) {
    char *copy = n < SIZE_MAX ? heed_alloc(host, n + 1, 1, err) : NULL;
    if (copy && n > 0) {
        memcpy(copy, s, n);
    }
    return copy;
}

bool heed_buf_add(heed_buf *buf, const void *data, size_t n) {
    if (buf->failed || n >= SIZE_MAX - buf->n ||
        !heed_reserve(buf->host, (void **)&buf->data, &buf->cap, buf->n + n + 1, 1, NULL)) {
        buf->failed = true;
        return false;
    }
    if (n > 0) {
        memcpy(buf->data + buf->n, data, n);
    }
    buf->n += n;
    buf->data[buf->n] = 0;
    return true;
}

bool heed_buf_text(heed_buf *buf, const char *s) {
    return heed_buf_add(buf, s, strlen(s));
}

bool heed_buf_format(heed_buf *buf, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t room = need < 0 ? 0 : (size_t)need + 1;
    if (buf->failed || need < 0 ||
        !heed_reserve(buf->host, (void **)&buf->data, &buf->cap, buf->n + room, 1, NULL)) {
        buf->failed = true;
    } else {
        vsnprintf(buf->data + buf->n, room, format, again);
        buf->n += room - 1;
    }
    va_end(again);
    return !buf->failed;
}

void heed_buf_free(heed_buf *buf) {
    heed_free(buf->host, buf->data);
    *buf = (heed_buf){.host = buf->host};
}

struct heed_region_block {
    heed_region_block *before;
    size_t used, cap; /* of the bytes behind the head */
};

enum { HEAD = (sizeof(heed_region_block) + REGION_ALIGN - 1) / REGION_ALIGN * REGION_ALIGN };

/* A new block: twice the last one, up to REGION_MOST, or as big as one large request needs. */
static heed_region_block *grow(heed_region *region, size_t bytes, heed_error *err) {
    size_t cap = region->last ? region->last->cap * 2 : REGION_FIRST - HEAD;
    cap = cap > REGION_MOST ? REGION_MOST : cap;
    cap = cap < bytes ? bytes : cap;
    heed_region_block *block = heed_alloc(region->host, cap + HEAD, 1, err);
    if (!block) {
        return NULL;
    }
    block->cap = cap;
    block->before = region->last;
    region->last = block;
    return block;
}

void *heed_region_alloc(heed_region *region, size_t count, size_t size, heed_error *err) {
    if (size > 0 && count > (SIZE_MAX - HEAD - REGION_ALIGN) / size) {
        return too_many(count, size, err);
    }
    size_t bytes = (count * size + REGION_ALIGN - 1) / REGION_ALIGN * REGION_ALIGN;
    bytes = bytes > 0 ? bytes : REGION_ALIGN;
    heed_region_block *block = region->last;
    if (!block || block->cap - block->used < bytes) {
        block = grow(region, bytes, err);
        if (!block) {
            return NULL;
        }
    }
    void *p = (char *)block + HEAD + block->used;
    block->used += bytes;
    return p;
}

char *heed_region_text(heed_region *region, const char *s, size_t n, heed_error *err) {
    char *copy = n < SIZE_MAX ? heed_region_alloc(region, n + 1, 1, err) : NULL;
    if (copy && n > 0) {
        memcpy(copy, s, n);
    }
    return copy;
}

void heed_region_free(heed_region *region) {
    while (region->last) {
        heed_region_block *before = region->last->before;
        heed_free(region->host, region->last);
        region->last = before;
    }
}
