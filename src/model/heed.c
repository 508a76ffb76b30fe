/* heed.c: the family for what no foreign one can say: any norm, any positions, grouped heads,
 * gates. The same files as a Hugging Face folder, with model_type "heed".
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_key keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST_BOTH("d_model", INT, encoder.width, decoder.width),
    HEED_MUST("encoder_layers", INT, encoder.layers),
    HEED_MUST("decoder_layers", INT, decoder.layers),
    HEED_MUST("encoder_attention_heads", INT, encoder.heads),
    HEED_MUST("decoder_attention_heads", INT, decoder.heads),
    HEED_MUST("encoder_key_value_heads", INT, encoder.kv_heads),
    HEED_MUST("decoder_key_value_heads", INT, decoder.kv_heads),
    HEED_MUST("encoder_ffn_dim", INT, encoder.feed_forward),
    HEED_MUST("decoder_ffn_dim", INT, decoder.feed_forward),
    HEED_MUST_BOTH("activation_function", ACT, encoder.act, decoder.act),
    HEED_MUST_BOTH("gated", BOOL, encoder.gated, decoder.gated),
    HEED_MUST_BOTH("rms_norm", BOOL, encoder.rms, decoder.rms),
    HEED_MUST_BOTH("norm_eps", NUMBER, encoder.eps, decoder.eps),
    HEED_MUST_BOTH("pre_norm", BOOL, encoder.pre_norm, decoder.pre_norm),
    HEED_MUST_BOTH("embedding_norm", BOOL, encoder.embed_norm, decoder.embed_norm),
    HEED_MUST_BOTH("final_norm", BOOL, encoder.final_norm, decoder.final_norm),
    HEED_MUST_BOTH("bias", BOOL, encoder.bias, decoder.bias),
    HEED_MUST_BOTH("positions", POSITIONS, encoder.positions, decoder.positions),
    HEED_MUST_BOTH("max_position_embeddings", INT, encoder.max_positions, decoder.max_positions),
    HEED_MUST_BOTH("rope_base", NUMBER, encoder.rope_base, decoder.rope_base),
    HEED_MUST_BOTH("relative_buckets", INT, encoder.buckets, decoder.buckets),
    HEED_MUST_BOTH("relative_max_distance", INT, encoder.max_distance, decoder.max_distance),
    HEED_MUST_BOTH("dropout", NUMBER, encoder.dropout, decoder.dropout),
    HEED_MUST_BOTH("attention_dropout", NUMBER, encoder.attention_dropout,
                   decoder.attention_dropout),
    HEED_MUST_BOTH("activation_dropout", NUMBER, encoder.activation_dropout,
                   decoder.activation_dropout),
    HEED_MUST("scale_embedding", BOOL, scale_embedding),
    HEED_MUST("share_embeddings", BOOL, share_embeddings),
    HEED_MUST("tie_word_embeddings", BOOL, tie_output),
    HEED_MUST("logits_bias", BOOL, logits_bias),
    HEED_ONLY("is_encoder_decoder", "true"),
    {0}};

static bool finish(heed_config *c, heed_error *err) {
    (void)c, (void)err;
    return true;
}

static bool expresses(const heed_config *c, char *why, size_t size) {
    (void)c, (void)why, (void)size;
    return true;
}

static const heed_architecture architectures[] = {
    {"HeedForConditionalGeneration", HEED_HEAD_VOCAB, false}, {0}};

const heed_family heed_family_heed = {.type = "heed",
                                      .kind = HEED_ENCODER_DECODER,
                                      .architectures = architectures,
                                      .keys = (const heed_key *const[]){keys, NULL},
                                      .finish = finish,
                                      .expresses = expresses,
                                      .record = heed_record_encoder_decoder,
                                      .weights = heed_bart_weights,
                                      .values = heed_bart_values};
