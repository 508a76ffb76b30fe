/* lines.h: a text file as lines.
 *
 * Only \n and \r\n end a line: never a lone \r, \v, \f, U+0085, U+2028 or U+2029, which stay part
 * of the text. A last line without \n counts, an empty file has none. A byte order mark at the
 * start is left out.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_LINES_H
#define HEED_DATA_LINES_H

#include "base/mem.h"

/* heed_line, heed_lines and their reading stand in heed.h. */

/* The line without white space (Unicode's White_Space) at both ends. */
heed_line heed_line_trim(heed_line line);
/* Column `column` (from 1) of a line cut at tabs; false where there are fewer. */
bool heed_line_column(heed_line line, int64_t column, heed_line *out);

#endif
