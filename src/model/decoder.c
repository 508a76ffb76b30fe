/* decoder.c: what decoders without an encoder share: tokens in, layers, logits out.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <math.h>

static heed_value table(heed_build *b, const heed_config *c, const char *name) {
    int64_t width = c->embed_width ? c->embed_width : c->decoder.width;
    return heed_weight(b, name, c->vocab, width, (heed_init){HEED_INIT_NORMAL, 0.02});
}

static heed_value tokens(heed_build *b, const heed_config *c, heed_value ids) {
    double scale = c->scale_embedding ? sqrt((double)c->decoder.width) : 1;
    return heed_embed_except(b, table(b, c, "tokens.weight"), ids, scale,
                             c->pad_still ? c->pad : -1);
}

static heed_value norm_at_the_end(heed_build *b, heed_value x, const void *ctx) {
    const heed_config *c = ctx;
    return heed_layernorm(b, x, "norm", c->decoder.eps);
}

/* Classes of a text, from its last row that is no padding, whatever the mask left. */
static void score(heed_build *b, heed_value x, heed_value ids, const heed_config *c,
                  const heed_want *want, heed_outputs *out) {
    if (c->pad >= 0)
        x = heed_select(b, x, ids, c->pad);
    x = heed_pool_rows(b, x, HEED_POOL_LAST);
    heed_value matrix = heed_weight(b, "score.weight", c->labels, heed_columns(b, x),
                                    (heed_init){HEED_INIT_NORMAL, 0.02});
    heed_record_labels(b, x, matrix, (heed_value){0}, c, want, out);
}

static void vocabulary(heed_build *b, heed_value x, const heed_config *c, const heed_decoder *parts,
                       const heed_want *want, heed_outputs *out) {
    heed_value bias = {0};
    if (parts->head_bias)
        bias = heed_weight_vector(b, parts->head_bias, c->vocab, (heed_init){HEED_INIT_ZERO, 0});
    heed_value matrix = table(b, c, c->tie_output ? "tokens.weight" : "head.weight");
    heed_record_vocab(b, x, matrix, bias, want, out);
}

heed_outputs heed_record_decoder(heed_build *b, const heed_config *c, const heed_decoder *parts,
                                 const heed_want *want) {
    const heed_layers layers = {"decoder", c->decoder.layers, parts->layer,
                                parts->end ? parts->end : norm_at_the_end, c};
    heed_outputs out = {.hidden = {0}};
    if (!heed_stack_sound(b, &c->decoder))
        return out;
    heed_value ids = heed_input(b, "input_ids", heed_rows(b, "target"));
    heed_value x = tokens(b, c, ids);
    heed_enter(b, "decoder", -1);
    if (parts->begin)
        x = parts->begin(b, x, c);
    x = heed_block_positions(b, x, heed_positions(b, heed_space_of(b, x)), &c->decoder);
    x = heed_dropout(b, x, "dropout", c->embed_dropout);
    heed_leave(b);
    out.hidden = heed_block_layers(b, x, &layers);
    if (c->head == HEED_HEAD_SEQUENCES)
        score(b, out.hidden, ids, c, want, &out);
    else if (c->head == HEED_HEAD_VOCAB)
        vocabulary(b, out.hidden, c, parts, want, &out);
    else
        heed_record_classes(b, out.hidden, "classes", c, want, &out);
    return out;
}
