/* byte_level.h: GPT-2's alphabet: each byte as one visible character, so that every text is made of
 * 256 letters.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_BYTE_LEVEL_H
#define HEED_TEXT_BYTE_LEVEL_H

#include "text/part.h"

typedef struct {
    bool prefix_space;                /* a space in front of a text that has none */
    bool trim;                        /* as a post-processor: offsets leave out spaces */
    const struct heed_pattern *words; /* NULL: no splitting */
} heed_byte_level;

bool heed_byte_level_read(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                          heed_error *err);
/* For the normalizer and the decoder, which have no settings. */
bool heed_byte_level_mark(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                          heed_error *err);
/* All of work->now in letters: the normalizer. */
bool heed_byte_level_letters(const void *settings, heed_work *work);
bool heed_byte_level_split(const void *settings, heed_work *work);
bool heed_byte_level_decode(const void *settings, heed_work *work);
/* The letters of a piece back to bytes, appended to out; where one is no such letter, as they
 * are. */
void heed_byte_level_bytes(const char *s, size_t n, heed_buf *out);

#endif
