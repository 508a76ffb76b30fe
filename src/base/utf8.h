/* utf8.h: code points in byte strings (RFC 3629: no surrogates, no overlong forms, at most
 * U+10FFFF).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_UTF8_H
#define HEED_BASE_UTF8_H

#include "heed.h"

/* Length in bytes (1..4) of the code point at s, stored in *cp; 0 if the bytes there are not valid
 * UTF-8 (n > 0). */
int heed_utf8_next(const char *s, size_t n, uint32_t *cp);
/* Writes cp to out[0..3], returns its length. cp must be a scalar value. */
int heed_utf8_put(uint32_t cp, char out[4]);
/* n where all is valid, else the offset of the first bad byte. */
size_t heed_utf8_check(const char *s, size_t n);
/* Columns of a terminal that the text takes: 2 for East Asian wide, 0 for combining marks and
 * controls, 1 otherwise, and 1 for each byte that is not UTF-8. */
int heed_utf8_columns(const char *s, size_t n);

#endif
