/* decoder.c: what decoders without an encoder share: tokens in, layers, logits out.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <math.h>

static heed_value table(heed_build *b, const heed_config *c, const char *name) {
    int64_t width = c->embed_width ? c->embed_width : c->decoder.width;
    return heed_weight(b, name, c->vocab, width, (heed_init){HEED_INIT_NORMAL, 0.02});
}

static heed_value tokens(heed_build *b, const heed_config *c) {
    double scale = c->scale_embedding ? sqrt((double)c->decoder.width) : 1;
    heed_value ids = heed_input(b, "input_ids", heed_rows(b, "target"));
    return heed_embed_except(b, table(b, c, "tokens.weight"), ids, scale,
                             c->pad_still ? c->pad : -1);
}

static heed_value norm_at_the_end(heed_build *b, heed_value x, const void *ctx) {
    const heed_config *c = ctx;
    return heed_layernorm(b, x, "norm", c->decoder.eps);
}

heed_outputs heed_record_decoder(heed_build *b, const heed_config *c, const heed_decoder *parts,
                                 const heed_want *want) {
    const heed_layers layers = {"decoder", c->decoder.layers, parts->layer,
                                parts->end ? parts->end : norm_at_the_end, c};
    heed_outputs out = {.hidden = {0}};
    heed_value bias = {0};
    if (!heed_stack_sound(b, &c->decoder))
        return out;
    heed_value x = tokens(b, c);
    heed_enter(b, "decoder", -1);
    if (parts->begin)
        x = parts->begin(b, x, c);
    x = heed_block_positions(b, x, heed_positions(b, heed_space_of(b, x)), &c->decoder);
    x = heed_dropout(b, x, "dropout", c->embed_dropout);
    heed_leave(b);
    out.hidden = heed_block_layers(b, x, &layers);
    if (c->head != HEED_HEAD_VOCAB)
        return out;
    if (parts->head_bias)
        bias = heed_weight_vector(b, parts->head_bias, c->vocab, (heed_init){HEED_INIT_ZERO, 0});
    heed_record_vocab(b, out.hidden, table(b, c, c->tie_output ? "tokens.weight" : "head.weight"),
                      bias, want, &out);
    return out;
}
