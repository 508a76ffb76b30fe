/* residual.c: the three residual blocks of a Transformer layer (Vaswani et al. 2017, section 3.1),
 * with the norm before the block (Pre-LN; Xiong et al. 2020) or behind the sum (Post-LN, the
 * original).
 * SPDX-License-Identifier: MIT
 */
#include "block/block.h"

heed_value heed_block_norm(heed_build *b, heed_value x, const char *name, const heed_stack *c) {
    return c->rms ? heed_rmsnorm(b, x, name, c->eps) : heed_layernorm(b, x, name, c->eps);
}

static heed_value before(heed_build *b, heed_value x, const heed_stack *c) {
    return c->pre_norm ? heed_block_norm(b, x, "norm", c) : x;
}

static heed_value behind(heed_build *b, heed_value x, heed_value change, const heed_stack *c) {
    heed_value sum = heed_add(b, x, heed_dropout(b, change, "dropout", c->dropout));
    return c->pre_norm ? sum : heed_block_norm(b, sum, "norm", c);
}

static heed_value rotate(heed_build *b, heed_value x, heed_value positions, int64_t heads,
                         const heed_stack *c) {
    bool interleaved = c->positions == HEED_POSITIONS_ROPE_INTERLEAVED;
    if (!interleaved && c->positions != HEED_POSITIONS_ROPE)
        return x;
    heed_rope_options o = {.heads = heads, .base = c->rope_base, .interleaved = interleaved};
    return heed_rope(b, x, positions, &o);
}

heed_value heed_block_self(heed_build *b, heed_value x, const heed_self_side *side,
                           const heed_stack *c) {
    heed_enter(b, "self", -1);
    heed_value h = before(b, x, c);
    int64_t kv_width = c->width / c->heads * c->kv_heads;
    heed_value q = heed_linear(b, h, "q", c->width, c->bias),
               k = heed_linear(b, h, "k", kv_width, c->bias);
    heed_value v = heed_linear(b, h, "v", kv_width, c->bias);
    heed_attention_options o = {.heads = c->heads,
                                .kv_heads = c->kv_heads,
                                .causal = side->causal,
                                .cache = side->causal ? "self" : NULL,
                                .dropout = c->attention_dropout,
                                .alibi = c->positions == HEED_POSITIONS_ALIBI,
                                .buckets = side->buckets,
                                .max_distance = c->max_distance};
    heed_value a = heed_attend(b, rotate(b, q, side->positions, c->heads, c),
                               rotate(b, k, side->positions, c->kv_heads, c), v, &o);
    x = behind(b, x, heed_linear(b, a, "out", c->width, c->bias), c);
    heed_leave(b);
    return x;
}

heed_value heed_block_cross(heed_build *b, heed_value x, heed_value memory, const heed_stack *c) {
    heed_enter(b, "cross", -1);
    int64_t kv_width = c->width / c->heads * c->kv_heads;
    heed_value q = heed_linear(b, before(b, x, c), "q", c->width, c->bias);
    heed_value k = heed_linear(b, memory, "k", kv_width, c->bias),
               v = heed_linear(b, memory, "v", kv_width, c->bias);
    heed_attention_options o = {
        .heads = c->heads, .kv_heads = c->kv_heads, .dropout = c->attention_dropout};
    heed_value a = heed_attend(b, q, k, v, &o);
    x = behind(b, x, heed_linear(b, a, "out", c->width, c->bias), c);
    heed_leave(b);
    return x;
}

heed_value heed_block_feed(heed_build *b, heed_value x, const heed_stack *c) {
    heed_enter(b, "feed", -1);
    heed_value h = before(b, x, c), up = heed_linear(b, h, "up", c->feed_forward, c->bias);
    heed_value inner =
        c->gated ? heed_gated(b, heed_linear(b, h, "gate", c->feed_forward, c->bias), up, c->act)
                 : heed_act(b, up, c->act);
    inner = heed_dropout(b, inner, "inner", c->activation_dropout);
    x = behind(b, x, heed_linear(b, inner, "down", c->width, c->bias), c);
    heed_leave(b);
    return x;
}
