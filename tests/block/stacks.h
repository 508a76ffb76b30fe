/* stacks.h: a decoder over an encoder's memory, or an encoder alone, as the tests of blocks
 * record them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_BLOCK_STACKS_H
#define HEED_TESTS_BLOCK_STACKS_H

#include "block/block.h"
#include "op/harness.h"

enum { WIDTH = 8 };

typedef struct {
    heed_stack stack;
    bool decoder; /* causal, and looks at an encoder of "keys" */
} stacks;

static inline heed_stack small_stack(void) {
    return (heed_stack){.width = WIDTH,
                        .layers = 2,
                        .heads = 2,
                        .kv_heads = 2,
                        .feed_forward = 12,
                        .max_positions = 64,
                        .act = HEED_ACT_GELU,
                        .final_norm = true,
                        .bias = true,
                        .eps = 1e-5,
                        .rope_base = 100,
                        .buckets = 6,
                        .max_distance = 20};
}

static inline heed_value record_stacks(heed_build *b, const void *arg) {
    const stacks *s = arg;
    heed_value x = rows_input(b, "x", s->stack.width), memory = {0};
    if (s->decoder) {
        memory = heed_block_stack(b, keys_input(b, "y", s->stack.width), memory, "encoder", false,
                                  &s->stack);
    }
    return heed_block_stack(b, x, memory, s->decoder ? "decoder" : "encoder", s->decoder,
                            &s->stack);
}

static const test_input STACK_INPUTS[] = {
    {.name = "x", .cols = WIDTH}, {.name = "y", .cols = WIDTH, .keys = true}, {.name = NULL}};
static const test_input ENCODER_INPUTS[] = {{.name = "x", .cols = WIDTH}, {.name = NULL}};

static inline test_case stacks_case(const stacks *s) {
    return (test_case){.record = record_stacks,
                       .arg = s,
                       .input = s->decoder ? STACK_INPUTS : ENCODER_INPUTS,
                       .rows = {3, 1},
                       .keys = {2, 4},
                       .n = 2,
                       .random = s->stack.dropout > 0};
}

#endif
