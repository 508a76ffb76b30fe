/* save_gguf.h: a vocabulary as the settings of a GGUF file.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_SAVE_GGUF_H
#define HEED_TEXT_SAVE_GGUF_H

#include "file/gguf_write.h"
#include "text/text.h"

/* What a model's files say of its tokens, -1: none; a vocabulary that says otherwise changes it. */
typedef struct {
    int32_t bos, eos, unk;
} heed_gguf_ids;

/* Puts the settings tokenizer.ggml.* of t, but for the ids in `ids`, for a model of `vocab` ids:
 * those without a token get one that no text gives. *note, where it is not NULL, is a line on what
 * is left out. HEED_VALUE names what a GGUF file cannot say of t. */
bool heed_tokenizer_to_gguf(const heed_tokenizer *t, int64_t vocab, heed_gguf_ids *ids,
                            heed_gguf_settings *s, const char **note, heed_error *err);

#endif
