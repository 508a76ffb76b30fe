/* json_pull.h: long lists in JSON, read value by value where they stand, without a tree.
 *
 * In a tree each token of a vocabulary would be a value with memory of its own, to be read once and
 * freed. So the long members are cut out of the text first (heed_json_outline), jansson reads the
 * rest, and the reader pulls what was cut out.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_JSON_PULL_H
#define HEED_FILE_JSON_PULL_H

#include "base/mem.h"

/* Appends to rest the text with some members of the root's member `object` made empty ({} or []),
 * and sets span[i] to the text of the value of member[i]; a value that is no object or array stays,
 * and so does everything in a text that cannot be followed. Where the rest is no JSON, so is the
 * text: who wants to say in which line it fails parses that. Spans of what is not found have s
 * NULL. False when memory fails. */
bool heed_json_outline(heed_line text, const char *object, const char *const *member, size_t n,
                       heed_line *span, heed_buf *rest, heed_error *err);

/* A place in a text; starts as {.text = span, .scratch.host = host}, and ends with
 * heed_pull_free. */
typedef struct {
    heed_line text;
    size_t at;
    heed_buf scratch; /* the last string, where it had escapes */
    heed_error *err;
} heed_pull;

void heed_pull_free(heed_pull *pull);
/* How many quotes the text has: two for each string, at least. */
size_t heed_pull_quotes(const heed_pull *pull);
/* "an object", "a string", "an integer" ...: the value that comes next, as heed_json_kind says. */
const char *heed_pull_kind(heed_pull *pull);
/* Passes the bracket that opens a list or an object ('[' or '{'). */
bool heed_pull_open(heed_pull *pull, char bracket);
/* *more: whether another element comes, before whose key or value the comma is passed; else the
 * closing bracket is passed. `first` as the caller counts. False where neither stands there. */
bool heed_pull_more(heed_pull *pull, char bracket, bool first, bool *more);
/* A string without its quotes and escapes, UTF-8; valid until the next string. */
bool heed_pull_string(heed_pull *pull, heed_line *out);
/* A string and the colon behind it. */
bool heed_pull_key(heed_pull *pull, heed_line *out);
bool heed_pull_int(heed_pull *pull, int64_t *out);
/* A number as serde_json makes it: its digits as an integer, times or by a power of ten, both
 * rounded; not always the nearest double. Scores of a unigram model are what that reader makes of
 * them, and near ties fall with the last bit. */
bool heed_pull_real(heed_pull *pull, double *out);
/* Fails where anything but white space is left. */
bool heed_pull_end(heed_pull *pull);

#endif
