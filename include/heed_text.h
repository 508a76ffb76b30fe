/* heed_text.h: tokenizers: text to ids and back, as tokenizer.json says. heed.h includes it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_H
#define HEED_TEXT_H

#include "heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Text to ids and back, as the `tokenizers` library does for the same tokenizer.json. Immutable
 * once made: any number of threads may use one at the same time. The host must outlive it. */
typedef struct heed_tokenizer heed_tokenizer;
/* Opens a tokenizer from a folder (for one with two, as Marian's, the source's) or a file:
 * tokenizer.json, a SentencePiece model with its own ids, vocab.txt, vocab.json with merges.txt
 * beside it, a GGUF file, llama2.c's tokenizer.bin. HEED_FILE names the component or key that is
 * not known here and its place, or what the folder was searched for. */
HEED_API heed_tokenizer *heed_tokenizer_open(const heed_host *host, const char *path,
                                             heed_error *err);
HEED_API void heed_tokenizer_free(heed_tokenizer *tokenizer);
/* A model's own; lives as long as the model. NULL where the folder has none. */
HEED_API const heed_tokenizer *heed_model_tokenizer(const heed_model *model);
/* That of what a decoder writes; another one where a folder holds two (Marian). */
HEED_API const heed_tokenizer *heed_model_target_tokenizer(const heed_model *model);

typedef struct {
    int32_t id;
    uint32_t begin, end; /* bytes of the text it lies in; 0 and 0 for a token of the template */
    int16_t text;        /* 0: it lies in the text, 1: in its pair, -1: the template added it */
    uint16_t type;       /* its segment (token_type_ids): 0 and 1, or what the template says */
} heed_token;
/* Starts as {.host = h}; functions append, so set n = 0 to use it again without allocating. */
typedef struct {
    const heed_host *host;
    heed_token *item;
    size_t n, cap;
} heed_tokens;
HEED_API void heed_tokens_free(heed_tokens *tokens);

/* Which text loses tokens where there are too many: of two the longer one, until they are equal. */
typedef enum { HEED_TRUNCATE_LONGEST, HEED_TRUNCATE_FIRST, HEED_TRUNCATE_SECOND } heed_truncate;
typedef struct {
    int64_t max_length; /* tokens, those of the template included; 0: as many as there are */
    heed_truncate which;
    bool left; /* the first ones go, not the last */
    int64_t
        stride; /* what a file says of the windows over a long text; encoding makes one window */
} heed_truncation;
/* What the tokenizer's file says about truncation, which encoding follows only where it is handed
 * on; false where it says nothing. Padding is nobody's: batches here have none. */
HEED_API bool heed_tokenizer_truncation(const heed_tokenizer *tokenizer, heed_truncation *out);

/* Zero is one text with the template's tokens, uncut. */
typedef struct {
    heed_line pair;  /* the second text, where s is not NULL */
    bool no_special; /* without the tokens that the template adds */
    heed_truncation truncate;
} heed_encode_options;

/* Appends the ids of n bytes of text. special: also what the template adds (</s> and the like);
 * special tokens written out in the text are recognised either way. Text that is not UTF-8 is
 * HEED_TEXT with the offset of the first bad byte. After a failure `out` is as it was. */
HEED_API bool heed_encode(const heed_tokenizer *tokenizer, const char *text, size_t n, bool special,
                          heed_tokens *out, heed_error *err);
/* The same for one text or two, cut to a length. HEED_VALUE where max_length leaves no room for the
 * template, or for the text that may be cut. */
HEED_API bool heed_encode_with(const heed_tokenizer *tokenizer, heed_line text,
                               const heed_encode_options *options, heed_tokens *out,
                               heed_error *err);
/* Appends the text of n ids. Bytes that byte pieces leave without meaning become U+FFFD. An id
 * outside [0, heed_vocab_size) or in a gap of it is HEED_VALUE. */
HEED_API bool heed_decode(const heed_tokenizer *tokenizer, const int32_t *ids, size_t n,
                          bool skip_special, heed_buf *out, heed_error *err);

/* One stage of encoding a text: what it is in the file, and the words that it leaves. */
typedef struct {
    const char *place, *type; /* "normalizer", "NFC" */
    const heed_line *word;    /* valid during the call only */
    size_t n;
} heed_stage;
/* False ends the explanation. */
typedef bool heed_stage_fn(void *ctx, const heed_stage *stage);
/* Calls fn for each stage of encoding one text, in order; where the text has added tokens, for each
 * section between them. False where fn said so or encoding fails, then with err filled. */
HEED_API bool heed_explain(const heed_tokenizer *tokenizer, heed_line text, heed_stage_fn *fn,
                           void *ctx, heed_error *err);

HEED_API int32_t heed_vocab_size(const heed_tokenizer *tokenizer); /* largest id + 1 */
/* As stored; NULL where there is none. */
HEED_API const char *heed_token_text(const heed_tokenizer *tokenizer, int32_t id);
HEED_API int32_t heed_token_id(const heed_tokenizer *tokenizer, const char *text); /* -1: none */
/* Whether skip_special leaves it out. */
HEED_API bool heed_token_special(const heed_tokenizer *tokenizer, int32_t id);
/* Appends one token for a reader: its text with spaces as ▁, control characters as \n or \x1b, a
 * lone byte as <0xE4>; special tokens as stored. False when memory fails. */
HEED_API bool heed_token_show(const heed_tokenizer *tokenizer, int32_t id, heed_buf *out);

#ifdef __cplusplus
}
#endif
#endif
