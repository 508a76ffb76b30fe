/* normalizers.h: the normalizers that have a file of their own, for the table in normalize.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_NORMALIZERS_H
#define HEED_TEXT_NORMALIZERS_H

#include "text/part.h"

/* bert.c */
typedef struct {
    bool clean, spaced_han, strip_accents, lower;
} heed_bert;

bool heed_bert_read(heed_tokenizer *tokenizer, const json_t *json, void *settings, heed_error *err);
bool heed_bert_normalize(const void *settings, heed_work *work);
/* "Lowercase" is one step of it, and a normalizer of its own. */
bool heed_lowercase(const void *settings, heed_work *work);

/* charsmap.c: SentencePiece's normalisation rules: a trie of texts and what each becomes. */
typedef struct {
    const unsigned char *trie; /* units of four bytes, little-endian */
    size_t units;
    const char *texts; /* what is written, each with a NUL behind it */
    size_t n;
} heed_charsmap;

/* From the bytes of a precompiled_charsmap, which are copied. */
bool heed_charsmap_open(heed_tokenizer *tokenizer, const unsigned char *bytes, size_t n,
                        heed_charsmap *map, heed_error *err);
/* From "precompiled_charsmap", those bytes in base64. */
bool heed_charsmap_read(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                        heed_error *err);
bool heed_charsmap_normalize(const void *settings, heed_work *work);
/* The longest entry that begins s[0..n) and ends between code points, as `sentencepiece` looks for
 * it: its length, 0 where there is none, and what it becomes. Fails (HEED_FILE) where the trie
 * leads out of the texts. */
bool heed_charsmap_longest(const heed_charsmap *map, const char *s, size_t n, size_t *length,
                           const char **text, size_t *text_n, heed_error *err);

#endif
