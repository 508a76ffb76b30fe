/* bleu_tokens.h: inside of bleu.h: a segment as numbered words.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_BLEU_TOKENS_H
#define HEED_DATA_BLEU_TOKENS_H

#include "data/bleu.h"
#include "data/ngram.h"

const char *heed_bleu_tokens_name(heed_bleu_tokens tokens);
/* Appends the words of a segment as numbers; `words` gives equal words equal numbers. scratch[0]
 * and [1] are used on the way and keep their memory. */
bool heed_bleu_words(heed_line line, const heed_bleu_opts *opts, heed_buf scratch[2],
                     heed_map *words, heed_symbols *out, heed_error *err);
/* The words of text cut at white space, numbered likewise. */
bool heed_number_words(const char *s, size_t n, heed_map *words, heed_symbols *out,
                       heed_error *err);

#endif
