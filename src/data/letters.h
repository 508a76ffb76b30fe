/* letters.h: what the data floor asks about code points.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_LETTERS_H
#define HEED_DATA_LETTERS_H

#include "base/mem.h"
#include "data/lines.h"

/* What Python's str.split cuts at: White_Space and U+001C to U+001F. Scores are defined on it. */
bool heed_letter_gap(uint32_t cp);

/* Unicode's general category by its first letter: punctuation, symbols, numbers. */
bool heed_letter_punctuation(uint32_t cp);
bool heed_letter_symbol(uint32_t cp);
bool heed_letter_number(uint32_t cp);

/* Appends the text in lower case as Python's str.lower has it: simple mappings, but for U+0130,
 * which becomes two code points, and for a capital sigma at the end of a word. */
bool heed_lower(heed_line text, heed_buf *out);

#endif
