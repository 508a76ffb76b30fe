/* save_gguf_parts.h: what the files share that write a vocabulary into a GGUF file.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_SAVE_GGUF_PARTS_H
#define HEED_TEXT_SAVE_GGUF_PARTS_H

#include "text/part.h"
#include "text/save_gguf.h"

typedef struct {
    const heed_host *host;
    const heed_tokenizer *t;
    heed_gguf_settings *s;
    heed_gguf_ids *ids;
    const char **note;
    json_t *root; /* its tokenizer.json; NULL: a SentencePiece model */
    heed_region texts;
    int64_t n;
    heed_line *token;
    float *score;
    int32_t *type; /* heed_spm_type */
} heed_gguf_work;

/* HEED_VALUE: GGUF has no setting for `what`. */
bool heed_gguf_cannot(heed_error *err, const char *what);
bool heed_json_is_text(const json_t *object, const char *key, const char *wanted);
/* tokenizer.ggml.model and the lists of tokens, types and, where wanted, scores. */
void heed_gguf_put_lists(heed_gguf_work *w, const char *model, bool scores);
/* All of a vocabulary that merges by scores. prefix: a space stands before a text; tidy: those at
 * its ends, and runs of them, go. */
bool heed_gguf_put_llama(heed_gguf_work *w, bool prefix, bool tidy, heed_error *err);
/* add_bos_token and add_eos_token; what stands there is then the token that they mean. */
bool heed_gguf_put_ends(const heed_gguf_work *w, heed_error *err);
/* save_gguf_bpe.c: BPE of a tokenizer.json. */
bool heed_gguf_put_bpe(heed_gguf_work *w, heed_error *err);

#endif
