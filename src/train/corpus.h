/* corpus.h: the pairs a recipe names, and the tokenizer that turns them into ids.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_CORPUS_H
#define HEED_TRAIN_CORPUS_H

#include "data/pairs.h"
#include "data/parallel.h"
#include "train/recipe.h"

/* Where lines for the user go; note may be NULL. */
typedef struct {
    void (*note)(void *ctx, const char *line);
    void *ctx;
} heed_notes;
void heed_note(const heed_notes *notes, const char *format, ...) HEED_PRINTF(2, 3);

/* Starts as {0}. */
typedef struct {
    const heed_host *host;
    heed_tokenizer *tokenizer;            /* NULL once a model has taken it over */
    heed_pairs train, valid;              /* ids without begin and end tokens */
    heed_parallel valid_text;             /* the validation pairs as text, in the same order */
    int64_t source_tokens, target_tokens; /* of the training pairs, without begin and end tokens */
} heed_corpus;

/* Reads the training and validation parts. `tokenizer`: path of a tokenizer.json to use instead of
 * what the recipe says (that of a resumed training), or NULL. */
bool heed_corpus_read(heed_corpus *corpus, const heed_host *host, const heed_recipe *recipe,
                      const char *tokenizer, const heed_notes *notes, heed_error *err);
void heed_corpus_free(heed_corpus *corpus);

/* Does the recipe name validation pairs, or text? */
bool heed_recipe_validates(const heed_recipe *recipe);

/* How many pairs of `other` stand in `text`, compared without case, punctuation and space. */
bool heed_count_seen(const heed_host *host, const heed_parallel *text, const heed_parallel *other,
                     int64_t *seen, heed_error *err);

/* Learns the recipe's tokenizer from both sides of the pairs, or opens its file. */
heed_tokenizer *heed_recipe_make_tokenizer(const heed_recipe *recipe, const heed_host *host,
                                           const heed_parallel *text, const heed_notes *notes,
                                           heed_error *err);
/* The same from other lines, with options that the recipe leaves open; and its file. */
heed_tokenizer *heed_recipe_learn_tokenizer(const heed_recipe *recipe, const heed_host *host,
                                            heed_tokenizer_options options, heed_next_line *next,
                                            void *ctx, const heed_notes *notes, heed_error *err);
heed_tokenizer *heed_recipe_open_tokenizer(const heed_recipe *recipe, const heed_host *host,
                                           heed_error *err);

#endif
