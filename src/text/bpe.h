/* bpe.h: what reading, cutting and merging of byte-pair encoding share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_BPE_H
#define HEED_TEXT_BPE_H

#include <stdatomic.h>

#include "text/number_map.h"
#include "text/part.h"

/* Whether a word that is a piece comes out as this one piece: found out when it first occurs, and
 * then remembered. Whoever finds it finds the same, so threads need no order. */
typedef enum { HEED_WHOLE_UNKNOWN, HEED_WHOLE_YES, HEED_WHOLE_NO } heed_whole;

typedef struct {
    heed_number_map merges; /* pair of ids to rank and id: heed_key_of_two(rank, id) */
    heed_number_map chars;  /* code point to id */
    const heed_tokenizer *tokenizer;
    heed_line unk_text;
    int32_t unk; /* -1: none, unknown characters vanish */
    int32_t byte[256];
    heed_line prefix, suffix; /* of what does not begin a word, and of what ends it */
    atomic_uchar *whole;      /* of each id: heed_whole */
    bool wants_unk;           /* an unk_token is named; where it is not in vocab, unk is -1 */
    bool fuse_unk, byte_fallback, ignore_merges;
} heed_bpe;

/* A piece of a word and how many of its bytes it takes; the bytes are counted from the left, so
 * that what vanishes moves those behind it, as in the `tokenizers` library. */
typedef struct {
    int32_t id;
    uint32_t n; /* 0: merged into the one before */
} heed_symbol;

/* bpe_cut.c: the characters of a word as symbols, in HEED_ROOM_NODES; NULL when memory fails or a
 * character is unknown and the model cannot say so. */
heed_symbol *heed_bpe_cut(const heed_bpe *bpe, heed_work *work, heed_line word, size_t *n);
/* bpe_merge.c: merges n symbols until no pair has a merge; how many are left, SIZE_MAX when memory
 * fails. */
size_t heed_bpe_merge(const heed_bpe *bpe, heed_work *work, heed_symbol *symbols, size_t n);

#endif
