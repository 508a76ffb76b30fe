/* decoder.c: what decoders without an encoder share: tokens in, layers, logits out.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <math.h>

heed_outputs heed_record_decoder(heed_build *b, const heed_config *c, const heed_layers *layers,
                                 const heed_want *want) {
    heed_outputs out = {.hidden = {0}};
    const heed_stack *s = &c->decoder;
    heed_init init = {HEED_INIT_NORMAL, 0.02};
    double scale = c->scale_embedding ? sqrt((double)s->width) : 1;
    heed_value tokens = heed_weight(b, "tokens.weight", c->vocab, s->width, init);
    heed_space rows = heed_rows(b, "target");
    heed_value x = heed_embed(b, tokens, heed_input(b, "input_ids", rows), scale);
    heed_enter(b, "decoder", -1);
    x = heed_block_positions(b, x, heed_positions(b, rows), s);
    x = heed_dropout(b, x, "dropout", c->embed_dropout);
    heed_leave(b);
    out.hidden = heed_block_layers(b, x, layers);
    if (c->head != HEED_HEAD_VOCAB)
        return out;
    heed_value head =
        c->tie_output ? tokens : heed_weight(b, "head.weight", c->vocab, s->width, init);
    heed_record_vocab(b, out.hidden, head, (heed_value){0}, want, &out);
    return out;
}
