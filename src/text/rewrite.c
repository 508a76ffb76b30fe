/* rewrite.c: see rewrite.h. What is written goes to work->next; heed_work_turn ends it.
 * SPDX-License-Identifier: MIT
 */
#include "text/rewrite.h"

#include "base/utf8.h"

/* The origin of what is written at byte `at`; of an insertion before all text: the bare beginning
 * of the section. */
static heed_origin origin_at(const heed_work *work, size_t at, bool inserted) {
    size_t n = work->now.n;
    if (inserted ? at == 0 : n == 0) {
        return (heed_origin){work->base, work->base};
    }
    if (inserted) {
        return heed_work_origin(work, at - 1);
    }
    return heed_work_origin(work, at < n ? at : n - 1);
}

void heed_rewrite_skip(heed_rewrite *r, int64_t k) {
    const heed_strand *s = &r->work->now;
    for (; k > 0 && r->at < s->n; k--) {
        uint32_t cp = 0;
        r->at += (size_t)heed_utf8_next(s->text + r->at, s->n - r->at, &cp);
    }
}

bool heed_rewrite_put_bytes(heed_rewrite *r, const char *text, size_t n, int64_t change) {
    heed_origin from = origin_at(r->work, r->at, change > 0);
    if (change <= 0) {
        heed_rewrite_skip(r, 1 - change);
    }
    return heed_strand_put(r->work, &r->work->next, text, n, from);
}

bool heed_rewrite_put(heed_rewrite *r, uint32_t cp, int64_t change) {
    char utf8[4];
    size_t n = (size_t)heed_utf8_put(cp, utf8);
    return heed_rewrite_put_bytes(r, utf8, n, change);
}

bool heed_rewrite_each(heed_work *work, uint32_t (*become)(uint32_t cp)) {
    const heed_strand *s = &work->now;
    heed_rewrite r = {.work = work};
    while (r.at < s->n) {
        uint32_t cp = 0;
        heed_utf8_next(s->text + r.at, s->n - r.at, &cp);
        if (!heed_rewrite_put(&r, become(cp), 0)) {
            return false;
        }
    }
    heed_work_turn(work);
    return true;
}

bool heed_rewrite_filter(heed_work *work, bool (*drop)(uint32_t cp)) {
    const heed_strand *s = &work->now;
    size_t done = 0;
    bool any = false;
    for (size_t at = 0; at < s->n;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(s->text + at, s->n - at, &cp);
        if (drop(cp)) {
            any = true;
            if (!heed_strand_copy(work, &work->next, s, done, at)) {
                return false;
            }
            done = at + n;
        }
        at += n;
    }
    if (!any) {
        return true;
    }
    if (!heed_strand_copy(work, &work->next, s, done, s->n)) {
        return false;
    }
    heed_work_turn(work);
    return true;
}
