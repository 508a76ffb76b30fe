/* stack.c: positions and stacks of layers.
 * SPDX-License-Identifier: MIT
 */
#include "block/block.h"

#include <inttypes.h>
#include <stdio.h>

/* So that no product of two sizes leaves an int64_t, and recording stays within tens of MiB: the
 * deepest that were published have 1000 layers (Wang et al. 2022, DeepNet). */
enum { MOST_LAYERS = 1 << 10 };

bool heed_stack_fits(heed_build *b, const heed_stack *c) {
    if (c->width <= INT32_MAX && c->heads <= INT32_MAX && c->head_width <= INT32_MAX &&
        c->feed_forward <= INT32_MAX && c->layers <= MOST_LAYERS)
        return true;
    heed_refuse(b, HEED_LIMIT,
                "a stack of %" PRId64 " layers, width %" PRId64 ", %" PRId64 " heads of %" PRId64
                ", feed-forward %" PRId64 " is too large",
                c->layers, c->width, c->heads, c->head_width, c->feed_forward);
    return false;
}

bool heed_stack_sound(heed_build *b, const heed_stack *c) {
    bool rope =
        c->positions == HEED_POSITIONS_ROPE || c->positions == HEED_POSITIONS_ROPE_INTERLEAVED;
    if (c->heads < 1 || c->width < 1 || c->width % c->heads)
        heed_refuse(b, HEED_SHAPE, "width %" PRId64 " is not a multiple of %" PRId64 " heads",
                    c->width, c->heads);
    else if (c->kv_heads < 1 || c->heads % c->kv_heads)
        heed_refuse(b, HEED_SHAPE,
                    "%" PRId64 " heads are not a multiple of %" PRId64 " key-value heads", c->heads,
                    c->kv_heads);
    else if (rope && c->width / c->heads % 2)
        heed_refuse(b, HEED_SHAPE, "rotary positions need an even head width, not %" PRId64,
                    c->width / c->heads);
    else
        return heed_stack_fits(b, c);
    return false;
}

heed_value heed_block_positions(heed_build *b, heed_value x, heed_value positions,
                                const heed_stack *c) {
    switch (c->positions) {
    case HEED_POSITIONS_SINUSOIDAL:
    case HEED_POSITIONS_SINUSOIDAL_INTERLEAVED:
        return heed_add(b, x,
                        heed_sinusoid(b, positions, c->width, c->max_positions,
                                      c->positions == HEED_POSITIONS_SINUSOIDAL_INTERLEAVED));
    case HEED_POSITIONS_LEARNED: {
        heed_init init = {HEED_INIT_NORMAL, 0.02};
        heed_value table = heed_weight(b, "positions.weight", c->max_positions + c->first_position,
                                       c->width, init);
        return heed_add(b, x, heed_embed_from(b, table, positions, c->first_position));
    }
    default:
        return x;
    }
}

static heed_value named_hidden(heed_build *b, heed_value x, int64_t i) {
    char name[32];
    snprintf(name, sizeof name, "hidden.%" PRId64, i);
    return heed_name(b, x, name);
}

heed_value heed_block_layers(heed_build *b, heed_value x, const heed_layers *l) {
    for (int64_t i = 0; i <= l->layers; i++) {
        bool last = i == l->layers;
        heed_enter(b, l->name, -1);
        if (last && l->end)
            x = l->end(b, x, l->ctx);
        x = named_hidden(b, x, i);
        heed_leave(b);
        if (last)
            break;
        heed_enter(b, l->name, i);
        x = l->layer(b, x, i, l->ctx);
        heed_leave(b);
    }
    return x;
}

/* What every layer of a stack needs. */
typedef struct {
    heed_value memory;
    heed_self_side side;
    const heed_stack *c;
} layer_context;

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const layer_context *l = ctx;
    (void)i;
    x = heed_block_self(b, x, &l->side, l->c);
    if (l->memory.id)
        x = heed_block_cross(b, x, l->memory, l->c);
    return heed_block_feed(b, x, l->c);
}

static heed_value end(heed_build *b, heed_value x, const void *ctx) {
    const layer_context *l = ctx;
    return l->c->final_norm ? heed_block_norm(b, x, "norm", l->c) : x;
}

heed_value heed_block_stack(heed_build *b, heed_value x, heed_value memory, const char *name,
                            bool causal, const heed_stack *c) {
    layer_context l = {.memory = memory, .side = {.causal = causal}, .c = c};
    if (!heed_stack_sound(b, c))
        return (heed_value){0};
    heed_enter(b, name, -1);
    l.side.positions = heed_positions(b, heed_space_of(b, x));
    x = heed_block_positions(b, x, l.side.positions, c);
    if (c->embed_norm)
        x = heed_block_norm(b, x, "embed_norm", c);
    x = heed_dropout(b, x, "dropout", c->dropout);
    if (c->positions == HEED_POSITIONS_T5)
        l.side.buckets = heed_weight(b, "buckets.weight", c->buckets, c->heads,
                                     (heed_init){HEED_INIT_NORMAL, 0.1});
    heed_leave(b);
    return heed_block_layers(b, x, &(heed_layers){name, c->layers, layer, end, &l});
}
