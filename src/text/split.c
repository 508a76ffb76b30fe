/* split.c: the five behaviours, each a rule for whether a cut joins the one beside it.
 *
 * Source: the ids of the `tokenizers` library; "the-final--countdown" cut at '-' is its example for
 * all five, see tools/tokenizer_cases.py.
 * SPDX-License-Identifier: MIT
 */
#include "text/split.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

bool heed_split_read(const json_t *json, const char *key, heed_split *split, heed_error *err) {
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};
    if (!json_object_get(json, key)) {
        return true;
    }
    const char *name = heed_json_string(json, key, NULL, err);
    if (!name) {
        return false;
    }
    for (int i = 0; i <= HEED_SPLIT_CONTIGUOUS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *split = (heed_split)i;
            return true;
        }
    }
    return heed_fail(err, HEED_FILE,
                     "%s '%s' is not one of Removed, Isolated, MergedWithPrevious, "
                     "MergedWithNext, Contiguous",
                     key, name);
}

/* Whether piece i goes into the same word as piece i-1, both as the pattern left them. */
static bool joins(const heed_cut *piece, size_t i, heed_split split) {
    bool here = piece[i].match, before = piece[i - 1].match;
    switch (split) {
    case HEED_SPLIT_WITH_PREVIOUS: /* the first of several matches only */
        return here && !before;
    case HEED_SPLIT_WITH_NEXT: /* the last of several matches only */
        return before && !here;
    case HEED_SPLIT_CONTIGUOUS: /* two that are none can meet where matches are inverted */
        return here == before;
    case HEED_SPLIT_REMOVED:
    case HEED_SPLIT_ISOLATED:
        break;
    }
    return false;
}

bool heed_split_words_of(heed_work *work, heed_split split, size_t base) {
    const heed_cut *piece = work->pieces.item;
    for (size_t i = 0; i < work->pieces.n;) {
        size_t from = piece[i].from, to = piece[i].to;
        bool removed = split == HEED_SPLIT_REMOVED && piece[i].match;
        for (i++; i < work->pieces.n && joins(piece, i, split); i++) {
            to = piece[i].to;
        }
        if (from < to && !removed &&
            !heed_cuts_add(work, &work->cuts, base + from, base + to, false)) {
            return false;
        }
    }
    return true;
}

bool heed_split_at(heed_work *work, heed_split split, size_t from, size_t to,
                   bool (*is)(uint32_t cp)) {
    const char *text = work->now.text;
    size_t done = from;
    work->pieces.n = 0;
    for (size_t at = from; at < to;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(text + at, to - at, &cp);
        if (is(cp)) {
            if ((done < at && !heed_cuts_add(work, &work->pieces, done, at, false)) ||
                !heed_cuts_add(work, &work->pieces, at, at + n, true)) {
                return false;
            }
            done = at + n;
        }
        at += n;
    }
    return (done == to || heed_cuts_add(work, &work->pieces, done, to, false)) &&
           heed_split_words_of(work, split, 0);
}

void heed_split_turn(heed_work *work) {
    heed_cuts read = work->words;
    work->words = work->cuts;
    work->cuts = read;
    work->cuts.n = 0;
}
