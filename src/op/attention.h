/* attention.h: what the files of attention share: the node's attributes and the frame of one run.
 *
 * A frame says, for every query sequence, which keys it looks at and where its mask, bias, dropout
 * and watched weights lie; heed_attend_call turns a block of queries and a head into one call of
 * the kernel.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_ATTENTION_H
#define HEED_OP_ATTENTION_H

#include "graph/op.h"

typedef struct {
    uint64_t stream; /* of the dropout on the weights */
    double scale, dropout, cap;
    int64_t window, max_distance;
    int32_t heads, kv_heads, width, value_width; /* of one head */
    uint32_t queries, keys;                      /* row spaces */
    bool causal, alibi, t5;
} heed_attend_attr;

/* Inputs of the forward and the backward node. */
enum {
    HEED_ATTEND_Q,
    HEED_ATTEND_K,
    HEED_ATTEND_V,
    HEED_ATTEND_MASK,      /* or absent */
    HEED_ATTEND_BUCKETS,   /* T5 table or absent */
    HEED_ATTEND_BUCKET_OF, /* its bucket for each distance, or absent */
    HEED_ATTEND_INPUTS,
    HEED_ATTEND_OUT = HEED_ATTEND_INPUTS, /* the rest: backward only */
    HEED_ATTEND_LSE,
    HEED_ATTEND_D_OUT,
    HEED_ATTEND_D_BUCKETS, /* sum of gradients or absent */
    HEED_ATTEND_BACK_INPUTS
};

enum {
    HEED_ATTEND_BLOCK = 64, /* queries of one call */
    HEED_ATTEND_LANES = 64  /* tasks; lane i does items i, i + lanes ..., so scratch is bounded */
};

typedef struct {
    const heed_work *w;
    const heed_attend_attr *a;
    heed_cut q, k;
    const int32_t *join;
    bool cached;
    heed_cache_view cache;
    int64_t reach; /* T5: the table holds distances in [-reach, reach] */
    heed_drop drop;
    int64_t keep_stride;
    /* In scratch: */
    int64_t
        *first_block; /* of each query sequence and behind the last: blocks of queries before it */
    int64_t *first_pair; /* the same, query-key pairs */
    heed_real *bias;     /* for each head 2*reach + 1 distances, or NULL */
    heed_real *d_bias;   /* the same, backward through T5 buckets */
    uint8_t *keep;       /* for each lane a tile of dropout bits, or NULL */
    size_t bytes;        /* of scratch */
} heed_attend_frame;

/* Bytes of scratch for the planned capacity. */
size_t heed_attend_scratch(const heed_work *w);
/* Fills the frame for this run. */
void heed_attend_frame_make(heed_attend_frame *f, const heed_work *w);

/* The key sequence that query sequence s looks at; -1: none. */
int64_t heed_attend_keys_of(const heed_attend_frame *f, int64_t s);
/* Its number of keys. */
int64_t heed_attend_key_count(const heed_attend_frame *f, int64_t s);

/* Queries [from, from + queries) of sequence s. */
typedef struct {
    int64_t s, from, queries;
    int32_t begin[HEED_ATTEND_BLOCK], end[HEED_ATTEND_BLOCK]; /* keys that each may see */
    heed_real lse[HEED_ATTEND_BLOCK];
} heed_attend_block;

/* Block number i of sequence s. */
void heed_attend_block_make(const heed_attend_frame *f, int64_t s, int64_t i,
                            heed_attend_block *block);
/* The kernel's call for a block and a head, without its outputs. Draws the dropout bits into the
 * lane's tile. */
heed_attention heed_attend_call(const heed_attend_frame *f, heed_attend_block *block, int64_t head,
                                int64_t lane);

/* attention_bias.c */
/* ALiBi's slope of a head. */
double heed_attend_slope(int64_t heads, int64_t head);
/* Fills the table of biases by distance. */
void heed_attend_fill_bias(const heed_attend_frame *f);
/* Adds the gradient by distance of one head to the gradient of the bucket table, and clears it
 * before. */
void heed_attend_clear_d_bias(const heed_attend_frame *f, int64_t head);
void heed_attend_add_d_bias(const heed_attend_frame *f, int64_t head);
/* The constant that tells the bucket of each distance in [-max_distance, max_distance]; fails where
 * the table has too few rows. */
heed_value heed_attend_bucket_of(heed_build *b, int64_t buckets, int64_t max_distance, bool causal);

/* attention_back.c */
void heed_attend_grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                      const heed_value *d_out, heed_value *d_in);

#endif
