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

/* bpe_seam.c: between which characters merges join: of all merges, the last character of what is
 * left and the first of what is right, as bits of a hash. */
typedef struct {
    uint64_t *bits; /* NULL: nothing is known, any two may join */
    uint32_t mask;
} heed_seams;

typedef struct {
    heed_seams seams;
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
/* For n merges; memory of the region. */
bool heed_seams_init(heed_seams *seams, heed_region *region, size_t n, heed_error *err);
void heed_seams_add(heed_seams *seams, heed_line left, heed_line right);
/* Where the run of symbols that begins at `from` ends: no merge joins what is behind to it. */
size_t heed_seams_run(const heed_bpe *bpe, const heed_symbol *symbols, size_t from, size_t n);
/* bpe_merge.c: merges n symbols until no pair has a merge; how many are left, SIZE_MAX when memory
 * fails. */
size_t heed_bpe_merge(const heed_bpe *bpe, heed_work *work, heed_symbol *symbols, size_t n);

#endif
