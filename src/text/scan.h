/* scan.h: the expressions that most published tokenizers cut words with, as plain functions.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_SCAN_H
#define HEED_TEXT_SCAN_H

#include "heed.h"

/* The end of the match that begins at byte `at` < n. These expressions match everywhere, so that a
 * text is matches from end to end. */
typedef size_t heed_scanner(const char *text, size_t n, size_t at);

/* The scanner for an expression in Oniguruma's syntax; NULL where there is none for it. */
heed_scanner *heed_scanner_for(const char *regex, size_t n);

/* GPT-2's, which ByteLevel uses. */
extern const char heed_regex_gpt2[];

#endif
