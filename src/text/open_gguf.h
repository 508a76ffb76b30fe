/* open_gguf.h: a GGUF file's vocabulary, for the openers of its kinds.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_OPEN_GGUF_H
#define HEED_TEXT_OPEN_GGUF_H

#include "text/open.h"

typedef struct {
    const heed_host *host;
    const heed_gguf *gguf;
    heed_gguf_text *token; /* UTF-8, all of them */
    float *score;
    int64_t *type; /* heed_spm_type */
    int64_t n;
    heed_gguf_text *merge; /* of gpt2 */
    int64_t merges;
    int64_t unk, bos, eos, pad, sep, cls, mask; /* ids, -1: none */
} heed_gguf_vocab;

/* WordPiece: does a token stand there as it is, without the marks that words and the rest of them
 * have? Special ones do. */
bool heed_gguf_as_it_is(int64_t type, const char *s, size_t n);
bool heed_gguf_merges(heed_gguf_vocab *v, heed_error *err);
/* The name of the words' expression; "default" where there is none. */
bool heed_gguf_pre(const heed_gguf_vocab *v, heed_gguf_text *out, heed_error *err);
/* The name of words cut by these expressions, NULL behind the last; `whole`: a word that is a token
 * is not cut. NULL: no name is known. */
const char *heed_gguf_words_name(const char *const regex[4], bool whole);
/* TemplateProcessing with these ids round the text, -1: none. NULL on failure. */
json_t *heed_gguf_template(const heed_gguf_vocab *v, int64_t first, int64_t last, bool again,
                           heed_error *err);
json_t *heed_gguf_ends(const heed_gguf_vocab *v, bool bos, heed_error *err);

heed_tokenizer *heed_gguf_open_bpe(heed_gguf_vocab *v, heed_error *err);
heed_tokenizer *heed_gguf_open_bert(heed_gguf_vocab *v, heed_error *err);

#endif
