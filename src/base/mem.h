/* mem.h: memory through the caller's host, with checked sizes.
 *
 * Every block is aligned to 64 bytes, and zeroed, but for those of heed_take and heed_alloc_raw:
 * what is to be written whole. Sizes multiply with a check, so no caller writes one.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_MEM_H
#define HEED_BASE_MEM_H

#include "heed.h"

/* count*size zeroed bytes (at least 1), or NULL with err filled: HEED_NOMEM and how much. */
void *heed_alloc(const heed_host *host, size_t count, size_t size, heed_error *err);
void heed_free(const heed_host *host, void *p);
/* What the host gives, as it is: contents undefined, NULL where there is none. */
void *heed_take(const heed_host *host, size_t bytes);
/* The same with err filled: for large blocks all of which somebody writes, a file or many
 * threads. */
void *heed_alloc_raw(const heed_host *host, size_t bytes, heed_error *err);

/* Makes room for `need` items of `size` bytes in *p (capacity *cap items), doubling; keeps
 * contents, zeroes the new part. Use: if (!heed_reserve(host, (void **)&v->item, &v->cap, v->n + 1,
 * sizeof *v->item, err)) */
bool heed_reserve(const heed_host *host, void **p, size_t *cap, size_t need, size_t size,
                  heed_error *err);

/* A copy of n bytes with a NUL behind them. */
char *heed_copy_text(const heed_host *host, const char *s, size_t n, heed_error *err);

/* Appending to a heed_buf (heed.h). After a failed append `failed` stays set and later appends do
 * nothing, so one check at the end suffices. */
bool heed_buf_add(heed_buf *buf, const void *data, size_t n);
bool heed_buf_text(heed_buf *buf, const char *s);
bool heed_buf_format(heed_buf *buf, const char *format, ...) HEED_PRINTF(2, 3);

/* A region: many small blocks freed together. Starts as {.host = h}. Blocks are zeroed, aligned
 * to 16. */
typedef struct heed_region_block heed_region_block;
typedef struct {
    const heed_host *host;
    heed_region_block *last;
} heed_region;
void *heed_region_alloc(heed_region *region, size_t count, size_t size, heed_error *err);
char *heed_region_text(heed_region *region, const char *s, size_t n, heed_error *err);
void heed_region_free(heed_region *region);

#endif
