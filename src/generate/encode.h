/* encode.h: lines of text to rows of ids.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_ENCODE_H
#define HEED_GENERATE_ENCODE_H

#include "data/pairs.h"
#include "text/text.h"

/* Each line without white space at its ends; nothing for an empty one. The tokenizer may be NULL:
 * that is told. The rows' memory is the caller's to free, after a failure too. Errors name the
 * line, as "WHAT 7". */
bool heed_encode_lines(const heed_tokenizer *tokenizer, const heed_host *host,
                       const heed_line *lines, int64_t n, bool special, const char *what,
                       heed_ragged *out, heed_error *err);

#endif
