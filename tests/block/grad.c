/* grad.c: whole stacks through the harness of the ops: every kind of position, norm,
 * feed-forward and dropout, gradients of every weight and input through cross-attention into
 * the encoder.
 * SPDX-License-Identifier: MIT
 */
#include "block/stacks.h"

static void try_stacks(stacks s, bool decoder) {
    s.decoder = decoder;
    test_case c = stacks_case(&s);
    try_op(&c);
}

static void test_positions(void **state) {
    (void)state;
    for (heed_position_kind kind = HEED_POSITIONS_NONE; kind <= HEED_POSITIONS_T5; kind++) {
        stacks s = {.stack = small_stack()};
        s.stack.positions = kind;
        s.stack.pre_norm = kind % 2 == 0;
        try_stacks(s, false);
    }
}

static void test_decoder(void **state) {
    (void)state;
    stacks s = {.stack = small_stack()};
    s.stack.positions = HEED_POSITIONS_SINUSOIDAL;
    try_stacks(s, true); /* as in 2017, with a norm behind the last layer */
    s.stack.pre_norm = true;
    s.stack.final_norm = false;
    s.stack.embed_norm = true;
    s.stack.kv_heads = 1;
    s.stack.layers = 1;
    try_stacks(s, true);
    s.stack.positions = HEED_POSITIONS_T5;
    s.stack.gated = s.stack.rms = true;
    s.stack.bias = false;
    s.stack.act = HEED_ACT_SILU;
    try_stacks(s, true);
}

static void test_dropout(void **state) {
    (void)state;
    stacks s = {.stack = small_stack()};
    s.stack.layers = 1;
    s.stack.dropout = s.stack.attention_dropout = s.stack.activation_dropout = 0.3;
    try_stacks(s, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_positions),
                                       cmocka_unit_test(test_decoder),
                                       cmocka_unit_test(test_dropout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
