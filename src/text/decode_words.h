/* decode_words.h: the decoders that make words of pieces, for the table in decode.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_DECODE_WORDS_H
#define HEED_TEXT_DECODE_WORDS_H

#include "text/part.h"

/* BPEDecoder: a suffix is the end of a word. */
bool heed_suffix_read(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                      heed_error *err);
bool heed_suffix_decode(const void *settings, heed_work *work);

typedef struct {
    heed_line prefix; /* of pieces inside a word */
    bool cleanup;
} heed_prefix_decoder;

/* WordPiece: what has no prefix begins a word. */
bool heed_prefix_read(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                      heed_error *err);
bool heed_prefix_decode(const void *settings, heed_work *work);

typedef struct {
    heed_line pad, space;
    bool cleanup;
} heed_ctc_decoder;

/* CTC: of equal neighbours one is left, padding goes, a delimiter is a space. */
bool heed_ctc_read(heed_tokenizer *tokenizer, const json_t *json, void *settings, heed_error *err);
bool heed_ctc_decode(const void *settings, heed_work *work);

#endif
