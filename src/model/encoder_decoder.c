/* encoder_decoder.c: the Transformer of Vaswani et al. 2017, section 3, as every encoder-decoder
 * family records it.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <math.h>

static heed_value table(heed_build *b, const heed_config *c, const char *own, int64_t vocab) {
    heed_init init = {HEED_INIT_NORMAL, 1 / sqrt((double)c->decoder.width)};
    return heed_weight(b, c->share_embeddings ? "tokens.weight" : own, vocab, c->decoder.width,
                       init);
}

static heed_value output_matrix(heed_build *b, const heed_config *c, heed_value target) {
    heed_init init = {HEED_INIT_NORMAL, 1 / sqrt((double)c->decoder.width)};
    return c->tie_output ? target : heed_weight(b, "head.weight", c->vocab, c->decoder.width, init);
}

heed_value heed_token_rows(heed_build *b, const heed_config *c, heed_value table, heed_value ids) {
    double scale = c->scale_embedding ? sqrt((double)c->decoder.width) : 1;
    return heed_embed_except(b, table, ids, scale, c->pad);
}

heed_outputs heed_record_pair(heed_build *b, const heed_config *c, const heed_want *want,
                              heed_rows_of *rows) {
    heed_outputs out = {.memory = {0}};
    heed_space source = heed_rows(b, "source"), target = heed_rows(b, "target");
    heed_value read = table(b, c, "source.weight", c->source_vocab);
    heed_value write = table(b, c, "target.weight", c->vocab);
    heed_value x = rows(b, c, read, heed_input(b, "input_ids", source));
    out.memory = heed_block_stack(b, x, (heed_value){0}, "encoder", false, &c->encoder);
    heed_value y = rows(b, c, write, heed_input(b, "decoder_input_ids", target));
    if (!out.memory.id)
        return out;
    out.hidden = heed_block_stack(b, y, out.memory, "decoder", true, &c->decoder);
    if (c->head != HEED_HEAD_VOCAB)
        return out;
    heed_value head = output_matrix(b, c, write), bias = {0};
    if (c->logits_bias)
        bias = heed_weight(b, "logits.bias", 1, c->vocab, (heed_init){HEED_INIT_ZERO, 0});
    heed_record_vocab(b, out.hidden, head, bias, want, &out);
    return out;
}

heed_outputs heed_record_encoder_decoder(heed_build *b, const heed_config *c,
                                         const heed_want *want) {
    return heed_record_pair(b, c, want, heed_token_rows);
}
