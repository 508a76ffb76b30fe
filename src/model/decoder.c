/* decoder.c: what decoders without an encoder share: tokens in, layers, logits out.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <math.h>

static heed_value table(heed_build *b, const heed_config *c, const char *name) {
    int64_t width = c->embed_width ? c->embed_width : c->decoder.width;
    return heed_weight(b, name, c->vocab, width, (heed_init){HEED_INIT_NORMAL, 0.02});
}

heed_value heed_decoder_embed(heed_build *b, const heed_config *c) {
    double scale = c->scale_embedding ? sqrt((double)c->decoder.width) : 1;
    heed_value tokens = table(b, c, "tokens.weight");
    heed_value ids = heed_input(b, "input_ids", heed_rows(b, "target"));
    return heed_embed_except(b, tokens, ids, scale, c->pad_still ? c->pad : -1);
}

void heed_decoder_head(heed_build *b, const heed_config *c, heed_value bias, const heed_want *want,
                       heed_outputs *out) {
    if (c->head == HEED_HEAD_VOCAB)
        heed_record_vocab(b, out->hidden,
                          table(b, c, c->tie_output ? "tokens.weight" : "head.weight"), bias, want,
                          out);
}

heed_outputs heed_record_decoder(heed_build *b, const heed_config *c, const heed_layers *layers,
                                 const heed_want *want) {
    heed_outputs out = {.hidden = {0}};
    heed_value x = heed_decoder_embed(b, c);
    heed_enter(b, "decoder", -1);
    x = heed_block_positions(b, x, heed_positions(b, heed_space_of(b, x)), &c->decoder);
    x = heed_dropout(b, x, "dropout", c->embed_dropout);
    heed_leave(b);
    out.hidden = heed_block_layers(b, x, layers);
    heed_decoder_head(b, c, (heed_value){0}, want, &out);
    return out;
}
