/* unicode.h: questions about code points, answered as the `tokenizers` library answers them.
 *
 * That library carries tables of several Unicode versions (normal forms and marks of version 10,
 * punctuation, marks without width and others of version 8, numbers and case of version 17, words
 * of version 16); utf8proc has one, and which
 * depends on the system. Where they differ, the lists in unicode.c decide, since a tokenizer.json
 * means what that library makes of it. tests/text/golden.c holds the lists against a sweep of all
 * code points.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_UNICODE_H
#define HEED_TEXT_UNICODE_H

#include "heed.h"

bool heed_is_space(uint32_t cp);       /* White_Space */
bool heed_is_punctuation(uint32_t cp); /* category P, and all ASCII symbols */
bool heed_is_number(uint32_t cp);      /* categories Nd, Nl, No */
bool heed_is_word(uint32_t cp);        /* \w: letters, marks, decimal digits, connectors, joiners */
bool heed_is_nonspacing_mark(uint32_t cp); /* category Mn, of what no normal form takes apart */
bool heed_is_mark(uint32_t cp);            /* categories Mn, Mc, Me */
bool heed_is_other(uint32_t cp);           /* control, format, private use; not NUL, tab, LF, CR */
int heed_script_of(uint32_t cp);           /* a number for each; -1: goes with every script */
/* Full lower case mapping, without context: writes 1 or 2 code points, returns how many. */
int heed_lower_letter(uint32_t cp, uint32_t out[2]);
/* Whether the normal forms have no rule for this code point: it stays, and its combining class
 * is 0. */
bool heed_is_newer(uint32_t cp);

#endif
