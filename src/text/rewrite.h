/* rewrite.h: work->now rewritten code point by code point, each new one with its origin.
 *
 * The `tokenizers` library gives a written code point the origin of the place the writer has come
 * to, not of the code points it was made of: marks that change places keep the origins in order,
 * and a composed letter has that of its first part. A token's place means what that library makes
 * of it, so every stage that rewrites text does it through here.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_REWRITE_H
#define HEED_TEXT_REWRITE_H

#include "text/work.h"

typedef struct {
    heed_work *work;
    size_t at; /* work->now is rewritten up to this byte */
} heed_rewrite;

/* Writes one code point behind the others. change 0: it replaces the next one of work->now, whose
 * origin it has; above 0: it is inserted, with the origin of the one before; -k: it replaces the
 * next one, and the k behind that are left out. */
bool heed_rewrite_put(heed_rewrite *rewrite, uint32_t cp, int64_t change);
/* The same for n bytes that are one code point. */
bool heed_rewrite_put_bytes(heed_rewrite *rewrite, const char *s, size_t n, int64_t change);
/* Leaves out the next k code points of work->now. */
void heed_rewrite_skip(heed_rewrite *rewrite, int64_t k);

/* work->now with each code point as what `become` makes of it. */
bool heed_rewrite_each(heed_work *work, uint32_t (*become)(uint32_t cp));
/* work->now without the code points that `drop` names; the others keep their origins. */
bool heed_rewrite_filter(heed_work *work, bool (*drop)(uint32_t cp));

#endif
