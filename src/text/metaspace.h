/* metaspace.h: spaces as a visible mark, in front of words, and back.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_METASPACE_H
#define HEED_TEXT_METASPACE_H

#include "text/part.h"

typedef enum { HEED_PREPEND_ALWAYS, HEED_PREPEND_FIRST, HEED_PREPEND_NEVER } heed_prepend;

typedef struct {
    const char *mark;
    size_t n;
    heed_prepend prepend; /* which words without a mark get one: all, a text's first, none */
    bool split;           /* whether each mark begins a word */
} heed_metaspace;

bool heed_metaspace_read(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                         heed_error *err);
bool heed_metaspace_split(const void *settings, heed_work *work);
bool heed_metaspace_decode(const void *settings, heed_work *work);

#endif
