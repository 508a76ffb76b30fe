/* texts.h: the texts that a recipe names, as ids of its tokenizer.
 *
 * A document on its own is the ids that the tokenizer makes of it with those of its template, in
 * front of them the token that begins texts, behind them the one that ends them, where the model
 * has such and the template has not put them there. Documents that are joined have no tokens of a
 * template, and between two of them the one that ends texts: one document is its text alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_TEXTS_H
#define HEED_TRAIN_TEXTS_H

#include "data/documents.h"
#include "data/windows.h"
#include "train/corpus.h"

/* Starts as {0}. */
typedef struct {
    const heed_host *host;
    heed_documents text, held; /* held: of data.valid_text; with a share they are in `text` */
    heed_id_texts train, valid;
    int64_t documents, valid_documents;
} heed_text_corpus;

/* Reads what the recipe names, holds out what it says, and tells what is odd. */
bool heed_texts_read(heed_text_corpus *c, const heed_host *host, const heed_recipe *recipe,
                     const heed_notes *notes, heed_error *err);
/* The recipe's tokenizer: learnt from the documents that are not held out, or opened from its file;
 * not for tokenizer.type model. */
heed_tokenizer *heed_texts_make_tokenizer(const heed_text_corpus *c, const heed_recipe *recipe,
                                          const heed_notes *notes, heed_error *err);
/* Ids of all documents; the texts go. bos, eos: -1: none. */
bool heed_texts_encode(heed_text_corpus *c, const heed_tokenizer *tokenizer, bool join, int32_t bos,
                       int32_t eos, heed_error *err);
void heed_texts_free(heed_text_corpus *c);

#endif
