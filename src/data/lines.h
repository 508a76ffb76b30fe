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

typedef struct {
    const char *s; /* n bytes of UTF-8, not NUL-terminated; may hold NUL */
    size_t n;
} heed_line;

typedef struct {
    const heed_host *host;
    heed_line *line; /* line[i] is line number i + 1 of the file */
    int64_t n;
    char *text; /* what the lines point into */
} heed_lines;

/* Reads a file, plain or gz. Text that is not UTF-8 is HEED_TEXT with file, line and byte. On
 * failure *lines is empty. `limit`: the largest size in bytes after unpacking, 0: 8 GiB. */
bool heed_lines_read(heed_lines *lines, const heed_host *host, const char *path, size_t limit,
                     heed_error *err);
/* The same from memory, which is copied; `label` stands for the path. */
bool heed_lines_parse(heed_lines *lines, const heed_host *host, const char *label, const char *text,
                      size_t n, heed_error *err);
void heed_lines_free(heed_lines *lines);

/* The line without white space (Unicode's White_Space) at both ends. */
heed_line heed_line_trim(heed_line line);
/* Column `column` (from 1) of a line cut at tabs; false where there are fewer. */
bool heed_line_column(heed_line line, int64_t column, heed_line *out);

#endif
