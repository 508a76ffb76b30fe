/* heed.c: the family for what no foreign one can say: any norm, any positions, grouped heads,
 * gates. The same files as a Hugging Face folder, with model_type "heed".
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#define BOTH(field) HEED_AT(encoder.field), HEED_AT(decoder.field)

static const heed_key keys[] = {
    {"vocab_size", HEED_KEY_INT, HEED_AT(vocab), HEED_AT(source_vocab), true},
    {"d_model", HEED_KEY_INT, BOTH(width), true},
    {"encoder_layers", HEED_KEY_INT, HEED_AT(encoder.layers), 0, true},
    {"decoder_layers", HEED_KEY_INT, HEED_AT(decoder.layers), 0, true},
    {"encoder_attention_heads", HEED_KEY_INT, HEED_AT(encoder.heads), 0, true},
    {"decoder_attention_heads", HEED_KEY_INT, HEED_AT(decoder.heads), 0, true},
    {"encoder_key_value_heads", HEED_KEY_INT, HEED_AT(encoder.kv_heads), 0, true},
    {"decoder_key_value_heads", HEED_KEY_INT, HEED_AT(decoder.kv_heads), 0, true},
    {"encoder_ffn_dim", HEED_KEY_INT, HEED_AT(encoder.feed_forward), 0, true},
    {"decoder_ffn_dim", HEED_KEY_INT, HEED_AT(decoder.feed_forward), 0, true},
    {"activation_function", HEED_KEY_ACT, BOTH(act), true},
    {"gated", HEED_KEY_BOOL, BOTH(gated), true},
    {"rms_norm", HEED_KEY_BOOL, BOTH(rms), true},
    {"norm_eps", HEED_KEY_NUMBER, BOTH(eps), true},
    {"pre_norm", HEED_KEY_BOOL, BOTH(pre_norm), true},
    {"embedding_norm", HEED_KEY_BOOL, BOTH(embed_norm), true},
    {"final_norm", HEED_KEY_BOOL, BOTH(final_norm), true},
    {"bias", HEED_KEY_BOOL, BOTH(bias), true},
    {"positions", HEED_KEY_POSITIONS, BOTH(positions), true},
    {"max_position_embeddings", HEED_KEY_INT, BOTH(max_positions), true},
    {"rope_base", HEED_KEY_NUMBER, BOTH(rope_base), true},
    {"relative_buckets", HEED_KEY_INT, BOTH(buckets), true},
    {"relative_max_distance", HEED_KEY_INT, BOTH(max_distance), true},
    {"dropout", HEED_KEY_NUMBER, BOTH(dropout), true},
    {"attention_dropout", HEED_KEY_NUMBER, BOTH(attention_dropout), true},
    {"activation_dropout", HEED_KEY_NUMBER, BOTH(activation_dropout), true},
    {"scale_embedding", HEED_KEY_BOOL, HEED_AT(scale_embedding), 0, true},
    {"share_embeddings", HEED_KEY_BOOL, HEED_AT(share_embeddings), 0, true},
    {"tie_word_embeddings", HEED_KEY_BOOL, HEED_AT(tie_output), 0, true},
    {"logits_bias", HEED_KEY_BOOL, HEED_AT(logits_bias), 0, true},
    {"is_encoder_decoder", HEED_KEY_TRUE, 0, 0, false},
    {0}};

static bool finish(heed_config *c, heed_error *err) {
    (void)c, (void)err;
    return true;
}

static bool expresses(const heed_config *c, char *why, size_t size) {
    (void)c, (void)why, (void)size;
    return true;
}

static const char *const unused[] = {NULL};

const heed_family heed_family_heed = {.type = "heed",
                                      .architecture = "HeedForConditionalGeneration",
                                      .keys = keys,
                                      .finish = finish,
                                      .expresses = expresses,
                                      .record = heed_record_encoder_decoder,
                                      .weights = heed_bart_weights,
                                      .values = heed_bart_values,
                                      .unused = unused};
