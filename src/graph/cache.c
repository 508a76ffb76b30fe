/* cache.c: the table of cached rows: which physical row of every slot holds row j of sequence i.
 *
 * One table serves all attention nodes of the step space, since all append at once. Physical rows
 * are counted: sequences that came from one share its rows, so reordering beams copies numbers of
 * rows, never keys. Invariant: references[r] is the number of lists that hold r; r is on the free
 * stack exactly when it is 0.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <inttypes.h>
#include <string.h>

static const heed_space_info *step_space(const heed_session *s) {
    return &s->plan->book.space[s->plan->step_space - 1];
}

bool heed_cache_make(heed_session *s, heed_error *err) {
    const heed_plan *p = s->plan;
    const heed_host *host = p->book.host;
    if (!p->cached)
        return true;
    heed_cache *c = &s->cache;
    size_t n = (size_t)step_space(s)->sequences, cells = n * (size_t)p->cache_longest,
           rows = (size_t)p->cache_rows;
    c->length = heed_alloc(host, n, sizeof *c->length, err);
    c->spare_length = heed_alloc(host, n, sizeof *c->length, err);
    c->row_store = heed_alloc(host, cells, sizeof(int32_t), err);
    c->spare_rows = heed_alloc(host, cells, sizeof(int32_t), err);
    c->position_store = heed_alloc(host, cells, sizeof(int32_t), err);
    c->spare_positions = heed_alloc(host, cells, sizeof(int32_t), err);
    c->rows = heed_alloc(host, n, sizeof *c->rows, err);
    c->positions = heed_alloc(host, n, sizeof *c->positions, err);
    c->references = heed_alloc(host, rows, sizeof(int32_t), err);
    c->free_row = heed_alloc(host, rows, sizeof(int32_t), err);
    c->place = heed_alloc(host, (size_t)step_space(s)->rows, sizeof(int32_t), err);
    c->data = heed_alloc_raw(host, p->cache_bytes, err);
    if (!c->length || !c->spare_length || !c->row_store || !c->spare_rows || !c->position_store ||
        !c->spare_positions || !c->rows || !c->positions || !c->references || !c->free_row ||
        !c->place || !c->data)
        return false;
    heed_cache_clear(s);
    return true;
}

void heed_cache_drop(heed_session *s) {
    const heed_host *host = s->plan->book.host;
    heed_cache *c = &s->cache;
    void *all[] = {c->length,         c->spare_length,    c->row_store, c->spare_rows,
                   c->position_store, c->spare_positions, c->rows,      c->positions,
                   c->references,     c->free_row,        c->place,     c->data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        heed_free(host, all[i]);
}

static void point_rows(heed_session *s) {
    heed_cache *c = &s->cache;
    for (int64_t i = 0; i < step_space(s)->sequences; i++) {
        c->rows[i] = c->row_store + i * s->plan->cache_longest;
        c->positions[i] = c->position_store + i * s->plan->cache_longest;
    }
}

void heed_cache_clear(heed_session *s) {
    if (!s->plan->cached)
        return;
    heed_cache *c = &s->cache;
    c->sequences = 0;
    memset(c->length, 0, (size_t)step_space(s)->sequences * sizeof *c->length);
    memset(c->references, 0, (size_t)s->plan->cache_rows * sizeof *c->references);
    c->free_rows = s->plan->cache_rows;
    for (int64_t i = 0; i < c->free_rows; i++)
        c->free_row[i] = (int32_t)(c->free_rows - 1 - i);
    point_rows(s);
}

int64_t heed_cache_length(const heed_session *s, int64_t sequence) {
    const heed_cache *c = &s->cache;
    return s->plan->cached && sequence >= 0 && sequence < c->sequences ? c->length[sequence] : 0;
}

static void release_row(heed_cache *c, int32_t row) {
    if (--c->references[row] == 0)
        c->free_row[c->free_rows++] = row;
}

static bool has_room(const heed_session *s, const heed_cut_store *cut, heed_error *err) {
    const heed_cache *c = &s->cache;
    if (c->sequences && c->sequences != cut->n)
        return heed_fail(err, HEED_VALUE,
                         "%" PRId64 " sequences are cached and %" PRId64
                         " are given; reorder or clear the cache first",
                         c->sequences, cut->n);
    for (int64_t i = 0; i < cut->n; i++) {
        int64_t all = c->length[i] + cut->starts[i + 1] - cut->starts[i];
        if (all > s->plan->cache_longest)
            return heed_fail(err, HEED_LIMIT,
                             "sequence %" PRId64 " would be %" PRId64
                             " rows long, the cache holds %" PRId64,
                             i, all, s->plan->cache_longest);
    }
    if (cut->starts[cut->n] <= c->free_rows)
        return true;
    return heed_fail(err, HEED_LIMIT, "%" PRId64 " new rows, the cache has %" PRId64 " left",
                     cut->starts[cut->n], c->free_rows);
}

bool heed_cache_append(heed_session *s, heed_error *err) {
    heed_cut_store *cut = &s->cut[s->plan->step_space - 1];
    heed_cache *c = &s->cache;
    if (!s->plan->cached)
        return true;
    if (!has_room(s, cut, err))
        return false;
    c->sequences_before = c->sequences;
    c->sequences = cut->n;
    for (int64_t i = 0; i < cut->n; i++)
        for (int64_t r = cut->starts[i]; r < cut->starts[i + 1]; r++) {
            int32_t row = c->free_row[--c->free_rows];
            if (!cut->own_positions)
                cut->positions[r] = (int32_t)c->length[i];
            c->references[row] = 1;
            c->place[r] = row;
            c->positions[i][c->length[i]] = cut->positions[r];
            c->rows[i][c->length[i]++] = row;
        }
    return true;
}

static void shorten(heed_cache *c, int64_t sequence, int64_t length) {
    while (c->length[sequence] > length)
        release_row(c, c->rows[sequence][--c->length[sequence]]);
}

void heed_cache_forget(heed_session *s) {
    if (!s->plan->cached)
        return;
    const heed_cut_store *cut = &s->cut[s->plan->step_space - 1];
    for (int64_t i = cut->n; i-- > 0;)
        shorten(&s->cache, i, s->cache.length[i] - (cut->starts[i + 1] - cut->starts[i]));
    s->cache.sequences = s->cache.sequences_before;
}

bool heed_cache_truncate(heed_session *s, int64_t sequence, int64_t length, heed_error *err) {
    if (!s->plan->cached || sequence < 0 || sequence >= s->cache.sequences || length < 0 ||
        length > s->cache.length[sequence])
        return heed_fail(err, HEED_VALUE,
                         "sequence %" PRId64 " of the cache cannot be cut to %" PRId64 " rows",
                         sequence, length);
    shorten(&s->cache, sequence, length);
    return true;
}

static bool sound_order(const heed_session *s, int64_t n, const int32_t *from, heed_error *err) {
    if (!s->plan->cached)
        return heed_fail(err, HEED_VALUE, "this plan keeps no cache");
    if (n < 0 || n > step_space(s)->sequences)
        return heed_fail(err, HEED_LIMIT, "%" PRId64 " sequences, the plan holds %" PRId64, n,
                         step_space(s)->sequences);
    for (int64_t i = 0; i < n; i++)
        if (from[i] < 0 || from[i] >= s->cache.sequences)
            return heed_fail(err, HEED_VALUE,
                             "sequence %" PRId64 " is to continue sequence %d of %" PRId64, i,
                             from[i], s->cache.sequences);
    return true;
}

bool heed_cache_reorder(heed_session *s, int64_t n, const int32_t *from, heed_error *err) {
    if (!sound_order(s, n, from, err))
        return false;
    heed_cache *c = &s->cache;
    int64_t longest = s->plan->cache_longest, *length = c->length;
    for (int64_t i = 0; i < n; i++) {
        size_t bytes = (size_t)length[from[i]] * sizeof(int32_t);
        memcpy(c->spare_rows + i * longest, c->rows[from[i]], bytes);
        memcpy(c->spare_positions + i * longest, c->positions[from[i]], bytes);
        for (int64_t j = 0; j < length[from[i]]; j++)
            c->references[c->rows[from[i]][j]]++;
    }
    for (int64_t i = 0; i < c->sequences; i++)
        for (int64_t j = 0; j < length[i]; j++)
            release_row(c, c->rows[i][j]);
    for (int64_t i = 0; i < n; i++)
        c->spare_length[i] = length[from[i]];
    memset(length, 0, (size_t)step_space(s)->sequences * sizeof *length);
    memcpy(length, c->spare_length, (size_t)n * sizeof *length);
    int32_t *rows = c->row_store, *positions = c->position_store;
    c->row_store = c->spare_rows;
    c->spare_rows = rows;
    c->position_store = c->spare_positions;
    c->spare_positions = positions;
    c->sequences = n;
    point_rows(s);
    return true;
}
