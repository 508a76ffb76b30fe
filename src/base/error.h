/* error.h: filling the caller's error box.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_ERROR_H
#define HEED_BASE_ERROR_H

#include "heed.h"

/* Fills err unless it is NULL or already filled; always returns false, so that a check reads
 * `return heed_fail(err, HEED_SHAPE, "width %d is not a multiple of %d heads", w, h);`.
 * The text is cut at the end of the box on a whole UTF-8 character; control characters and bytes
 * that are not UTF-8 become '?'. */
bool heed_fail(heed_error *err, heed_code code, const char *format, ...) HEED_PRINTF(3, 4);

/* The same, with ": " and the system's words for `number` (an errno) behind the text. */
bool heed_fail_system(heed_error *err, heed_code code, int number, const char *format, ...)
    HEED_PRINTF(4, 5);

/* Puts "where: " in front of a filled box's text (path of a file, a line number). No effect on an
 * empty one. */
void heed_error_at(heed_error *err, const char *format, ...) HEED_PRINTF(2, 3);

#endif
