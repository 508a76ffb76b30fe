/* unicode_tables.h: sets of code points in sorted ranges, as the `tokenizers` library has them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_UNICODE_TABLES_H
#define HEED_TEXT_UNICODE_TABLES_H

#include "heed.h"

typedef struct {
    uint32_t first, last;
} heed_range;

/* Number of a script, in order of its first code point. What goes with every script is in no range;
 * kana count as Han. */
typedef struct {
    uint32_t first, last;
    uint8_t script;
} heed_script_range;

/* Whether a sorted list of ranges has the code point. */
static inline bool heed_in_ranges(const heed_range *list, size_t n, uint32_t cp) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cp > list[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && cp >= list[low].first;
}

extern const heed_range heed_letter_ranges[]; /* \p{L} */
extern const size_t heed_letter_ranges_n;
extern const heed_range heed_number_ranges[]; /* \p{N} */
extern const size_t heed_number_ranges_n;
extern const heed_script_range heed_script_ranges[];
extern const size_t heed_script_ranges_n;

#endif
