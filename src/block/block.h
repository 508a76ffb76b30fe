/* block.h: the parts that families are made of: attention, feed-forward, positions, stacks of
 * layers.
 *
 * A block is a function that records; a family with a twist writes its own block in its own file,
 * so that no block here grows a switch for one family. Weights and values are named by scope:
 *   encoder.0.self.{q,k,v,out,norm}   encoder.0.feed.{up,gate,down,norm}
 * decoder.0.cross.{q,k,v,out,norm} values: encoder.0.self.weights, decoder.0.cross.weights,
 * encoder.hidden.0 (embeddings), encoder.hidden.N
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BLOCK_BLOCK_H
#define HEED_BLOCK_BLOCK_H

#include "heed_ops.h"

typedef enum {
    HEED_POSITIONS_NONE,
    HEED_POSITIONS_SINUSOIDAL, /* sines in the first half, cosines in the second */
    HEED_POSITIONS_SINUSOIDAL_INTERLEAVED,
    HEED_POSITIONS_LEARNED,
    HEED_POSITIONS_ROPE, /* pairs (i, i + d/2) */
    HEED_POSITIONS_ROPE_INTERLEAVED,
    HEED_POSITIONS_ALIBI,
    HEED_POSITIONS_T5
} heed_position_kind;
/* The words for heed_act_kind and heed_position_kind, in their order; NULL behind the last. */
extern const char *const heed_act_names[], *const heed_position_names[];

/* One stack of equal layers, and what its blocks need to know. */
typedef struct {
    int64_t width, layers, heads, kv_heads, feed_forward;
    int64_t head_width;     /* 0: width / heads */
    int64_t max_positions;  /* that rows may have: of tables, sinusoidal or learned */
    int64_t first_position; /* learned: rows of the table before position 0 (OPT: 2) */
    heed_act_kind act;
    bool gated;      /* act(gate x) * up x */
    bool rms;        /* RMSNorm, else LayerNorm */
    bool pre_norm;   /* x + f(norm(x)), else norm(x + f(x)) */
    bool embed_norm; /* a norm behind embedding and positions */
    bool final_norm; /* a norm behind the last layer */
    bool bias;       /* linear layers have biases */
    double eps;
    heed_position_kind positions;
    double rope_base;
    int64_t rope_turned; /* of each head, the numbers that turn; 0: all */
    heed_rope_scaling rope_scaling;
    int64_t buckets, max_distance; /* T5 */
    double dropout, attention_dropout, activation_dropout;
} heed_stack;

/* Refuses what cannot work, with both numbers: a width that heads do not divide, heads that
 * kv_heads do not divide, an odd head width for rotary positions, what does not fit. True where it
 * can. Each stack is asked before its first layer. */
bool heed_stack_sound(heed_build *b, const heed_stack *c);
/* The part of it for stacks of another build: refuses sizes beyond all reason (1024 layers). */
bool heed_stack_fits(heed_build *b, const heed_stack *c);

heed_value heed_block_norm(heed_build *b, heed_value x, const char *name, const heed_stack *c);

/* What self-attention looks at besides x. */
typedef struct {
    heed_value positions; /* of x's rows: R x 1 */
    heed_value buckets;   /* T5 table, or id 0 */
    bool causal;          /* with the cache slot "self" */
} heed_self_side;
/* Residual blocks: x R x width -> R x width, norm and dropout included, in the current scope. */
heed_value heed_block_self(heed_build *b, heed_value x, const heed_self_side *side,
                           const heed_stack *c);
heed_value heed_block_cross(heed_build *b, heed_value x, heed_value memory, const heed_stack *c);
heed_value heed_block_feed(heed_build *b, heed_value x, const heed_stack *c);

/* Adds sinusoidal or learned positions to embeddings; the other kinds act in attention and add
 * nothing here. */
heed_value heed_block_positions(heed_build *b, heed_value x, heed_value positions,
                                const heed_stack *c);

/* Layers that a family makes itself: layer(i) in the scope "name.i", between them the hidden states
 * "name.hidden.i"; `end` (NULL: nothing) behind the last, in the scope "name". */
typedef struct {
    const char *name;
    int64_t layers;
    heed_value (*layer)(heed_build *b, heed_value x, int64_t i, const void *ctx);
    heed_value (*end)(heed_build *b, heed_value x, const void *ctx);
    const void *ctx;
} heed_layers;
heed_value heed_block_layers(heed_build *b, heed_value x, const heed_layers *l);

/* Layers over embedded rows x, under the scope `name` ("encoder", "decoder"): positions, dropout,
 * layers, final norm. memory: id 0 for a stack without cross-attention. Names every layer's output
 * "name.hidden.i"; the last one stands behind the final norm, as in transformers. */
heed_value heed_block_stack(heed_build *b, heed_value x, heed_value memory, const char *name,
                            bool causal, const heed_stack *c);

#endif
