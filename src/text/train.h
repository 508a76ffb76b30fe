/* train.h: what the trainers share: the options with their defaults, the words of the text, and the
 * vocabulary as it grows.
 *
 * Words are kept as segments: runs of characters that have a piece, as ids of those pieces, with
 * how often they occur. Characters too rare for a piece cut a word into segments.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_TRAIN_H
#define HEED_TEXT_TRAIN_H

#include "base/map.h"
#include "text/number_map.h"
#include "text/part.h"

typedef struct {
    const char *text; /* train->ids has it */
    size_t n;
    int32_t characters;
    double score; /* log probability, for unigram */
} heed_train_piece;

typedef struct {
    int32_t left, right;
} heed_train_merge;

typedef struct {
    size_t from, n; /* in train->symbol */
    int64_t count;
} heed_segment;

typedef struct {
    const heed_host *host;
    heed_error *err;
    heed_tokenizer_options set; /* no field is zero for "default" any more */
    int32_t unk;                /* among the specials; -1: none */
    heed_map words;             /* word to how often it occurs */
    heed_map ids;               /* text of a piece to its id */
    heed_train_piece *piece;    /* by id: specials, bytes, characters, then what is learnt */
    size_t n_pieces, cap_pieces;
    size_t first_char, first_learnt; /* ids where characters and learnt pieces begin */
    heed_train_merge *merge;
    size_t n_merges, cap_merges;
    int32_t *symbol;
    size_t n_symbols, cap_symbols;
    heed_segment *segment;
    size_t n_segments, cap_segments;
    heed_tokenizer_stats stats;
} heed_train;

/* Adds a piece to the vocabulary, or finds it there; its id, or -1 when memory fails. */
int32_t heed_train_add(heed_train *train, const char *text, size_t n, int32_t characters);

/* alphabet.c: which characters get a piece; then words into segments. */
bool heed_train_alphabet(heed_train *train);

/* train_bpe.c, train_unigram.c: the pieces beyond the characters. */
bool heed_train_bpe(heed_train *train);
bool heed_train_unigram(heed_train *train);

/* train_seeds.c: substrings that occur at least twice, best first (length times count). */
typedef struct {
    uint32_t at, n; /* in train->symbol */
    int64_t count;
} heed_seed;
/* *seeds is the caller's to free with heed_free; NULL where there are none. */
bool heed_train_seeds(heed_train *train, size_t most, heed_seed **seeds, size_t *n);

/* train_write.c: the tokenizer.json; without its pieces it is what cuts the words to learn from. */
bool heed_train_print(const heed_train *train, heed_buf *out);

/* portable_math.c: the same bits on every machine, which the C library does not promise. x > 0 for
 * logarithms and digamma; errors below 1e-14 relative. */
double heed_portable_log(double x);
double heed_portable_exp(double x);
double heed_portable_digamma(double x);

#endif
