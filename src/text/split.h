/* split.h: from "these places match" to words, in the five ways of tokenizer.json.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_SPLIT_H
#define HEED_TEXT_SPLIT_H

#include "text/part.h"

/* What becomes of a match: left out; a word; joined to the word before it; to the one after it; all
 * neighbouring matches one word. */
typedef enum {
    HEED_SPLIT_REMOVED,
    HEED_SPLIT_ISOLATED,
    HEED_SPLIT_WITH_PREVIOUS,
    HEED_SPLIT_WITH_NEXT,
    HEED_SPLIT_CONTIGUOUS
} heed_split;

/* "Removed", "Isolated" ...; where the key is absent *split stays. */
bool heed_split_read(const json_t *json, const char *key, heed_split *split, heed_error *err);
/* Appends to work->cuts the words, moved by `base`, that work->pieces gives; empty ones are left
 * out. */
bool heed_split_words_of(heed_work *work, heed_split split, size_t base);
/* The same when the matches are code points of work->now [from, to) for which `is` holds. */
bool heed_split_at(heed_work *work, heed_split split, size_t from, size_t to,
                   bool (*is)(uint32_t cp));
/* Makes work->cuts the words. */
void heed_split_turn(heed_work *work);

#endif
