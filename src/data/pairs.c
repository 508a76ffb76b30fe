/* pairs.c: rows of ids that grow at the end.
 * SPDX-License-Identifier: MIT
 */
#include "data/pairs.h"

#include <string.h>

static bool make_room(const heed_host *host, heed_ragged *r, int64_t rows, int64_t ids,
                      heed_error *err) {
    size_t used = rows ? (size_t)r->start[rows] : 0;
    return heed_reserve(host, (void **)&r->start, &r->start_cap, (size_t)rows + 2, sizeof *r->start,
                        err) &&
           heed_reserve(host, (void **)&r->id, &r->id_cap, used + (size_t)ids, sizeof *r->id, err);
}

static void append(heed_ragged *r, int64_t rows, const int32_t *id, int64_t n) {
    int64_t used = r->start[rows]; /* the room is zeroed, so the first start is 0 */
    if (n)
        memcpy(r->id + used, id, (size_t)n * sizeof *id);
    r->start[rows + 1] = used + n;
}

bool heed_pairs_add(heed_pairs *p, const int32_t *source, int64_t source_n, const int32_t *target,
                    int64_t target_n, int64_t line, heed_error *err) {
    if (!make_room(p->host, &p->source, p->n, source_n, err) ||
        !make_room(p->host, &p->target, p->n, target_n, err) ||
        !heed_reserve(p->host, (void **)&p->line, &p->line_cap, (size_t)p->n + 1, sizeof *p->line,
                      err))
        return false;
    append(&p->source, p->n, source, source_n);
    append(&p->target, p->n, target, target_n);
    p->line[p->n++] = line;
    return true;
}

static void free_ragged(const heed_host *host, heed_ragged *r) {
    heed_free(host, r->id);
    heed_free(host, r->start);
}

void heed_pairs_free(heed_pairs *p) {
    free_ragged(p->host, &p->source);
    free_ragged(p->host, &p->target);
    heed_free(p->host, p->line);
    *p = (heed_pairs){.host = p->host};
}
