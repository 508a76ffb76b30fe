/* scan.h: the expressions that GPT-2, Llama 3 and Qwen 2 cut words with, as plain functions.
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

/* Contractions, letters, numbers and signs with the space before them, spaces: ByteLevel's own. */
#define HEED_REGEX_GPT2                                                                            \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* The same for either case, with line ends apart, and digits by threes or one by one. */
#define HEED_REGEX_CL100K(digits)                                                                  \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits                           \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define HEED_REGEX_LLAMA3 HEED_REGEX_CL100K("\\p{N}{1,3}")
#define HEED_REGEX_QWEN2 HEED_REGEX_CL100K("\\p{N}")

#endif
