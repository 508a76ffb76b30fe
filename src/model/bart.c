/* bart.c: what the BART-shaped families of transformers (Marian, Pegasus) share: config keys,
 * weight names, value names. They differ in where the norms stand.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <stdio.h>

const heed_key heed_bart_keys[] = {
    {"vocab_size", HEED_KEY_INT, HEED_AT(source_vocab), HEED_AT(vocab), true},
    {"decoder_vocab_size", HEED_KEY_INT, HEED_AT(vocab), 0, false},
    {"d_model", HEED_KEY_INT, HEED_AT(encoder.width), HEED_AT(decoder.width), true},
    {"encoder_layers", HEED_KEY_INT, HEED_AT(encoder.layers), 0, true},
    {"decoder_layers", HEED_KEY_INT, HEED_AT(decoder.layers), 0, true},
    {"encoder_attention_heads", HEED_KEY_INT, HEED_AT(encoder.heads), HEED_AT(encoder.kv_heads),
     true},
    {"decoder_attention_heads", HEED_KEY_INT, HEED_AT(decoder.heads), HEED_AT(decoder.kv_heads),
     true},
    {"encoder_ffn_dim", HEED_KEY_INT, HEED_AT(encoder.feed_forward), 0, true},
    {"decoder_ffn_dim", HEED_KEY_INT, HEED_AT(decoder.feed_forward), 0, true},
    {"activation_function", HEED_KEY_ACT, HEED_AT(encoder.act), HEED_AT(decoder.act), true},
    {"max_position_embeddings", HEED_KEY_INT, HEED_AT(encoder.max_positions),
     HEED_AT(decoder.max_positions), true},
    {"dropout", HEED_KEY_NUMBER, HEED_AT(encoder.dropout), HEED_AT(decoder.dropout), false},
    {"attention_dropout", HEED_KEY_NUMBER, HEED_AT(encoder.attention_dropout),
     HEED_AT(decoder.attention_dropout), false},
    {"activation_dropout", HEED_KEY_NUMBER, HEED_AT(encoder.activation_dropout),
     HEED_AT(decoder.activation_dropout), false},
    {"scale_embedding", HEED_KEY_BOOL, HEED_AT(scale_embedding), 0, false},
    {"tie_word_embeddings", HEED_KEY_BOOL, HEED_AT(tie_output), 0, false},
    {"share_encoder_decoder_embeddings", HEED_KEY_BOOL, HEED_AT(share_embeddings), 0, false},
    {"is_encoder_decoder", HEED_KEY_TRUE, 0, 0, false},
    {"static_position_embeddings", HEED_KEY_TRUE, 0, 0, false},
    {"num_hidden_layers", HEED_KEY_HARMLESS, 0, 0, false},
    {"init_std", HEED_KEY_HARMLESS, 0, 0, false},
    {"encoder_layerdrop", HEED_KEY_HARMLESS, 0, 0, false},
    {"decoder_layerdrop", HEED_KEY_HARMLESS, 0, 0, false},
    {"classifier_dropout", HEED_KEY_HARMLESS, 0, 0, false},
    {"classif_dropout", HEED_KEY_HARMLESS, 0, 0, false},
    {"add_bias_logits", HEED_KEY_HARMLESS, 0, 0, false},
    {"add_final_layer_norm", HEED_KEY_HARMLESS, 0, 0, false},
    {"normalize_before", HEED_KEY_HARMLESS, 0, 0, false},
    {"normalize_embedding", HEED_KEY_HARMLESS, 0, 0, false},
    {"extra_pos_embeddings", HEED_KEY_HARMLESS, 0, 0, false},
    {"is_decoder", HEED_KEY_HARMLESS, 0, 0, false},
    {0}};

static void finish(heed_stack *s, bool pre_norm) {
    s->rms = s->gated = s->embed_norm = false;
    s->pre_norm = s->final_norm = pre_norm;
    s->bias = true;
    s->eps = 1e-5;
    s->positions = HEED_POSITIONS_SINUSOIDAL;
}

void heed_bart_finish(heed_config *c, bool pre_norm) {
    finish(&c->encoder, pre_norm);
    finish(&c->decoder, pre_norm);
    c->share_embeddings &= c->tie_output; /* untied, transformers makes each table its own */
    c->logits_bias = true;
}

const heed_rename heed_bart_weights[] = {
    {"tokens.weight", "model.shared.weight"},
    {"tokens.weight", "shared.weight"},
    {"tokens.weight", "model.encoder.embed_tokens.weight"},
    {"tokens.weight", "model.decoder.embed_tokens.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"source.weight", "model.encoder.embed_tokens.weight"},
    {"target.weight", "model.decoder.embed_tokens.weight"},
    {"head.weight", "lm_head.weight"},
    {"logits.bias", "final_logits_bias"},
    {"*.*.self.norm.*", "model.*.layers.*.self_attn_layer_norm.*"},
    {"*.*.self.*.*", "model.*.layers.*.self_attn.*_proj.*"},
    {"*.*.cross.norm.*", "model.*.layers.*.encoder_attn_layer_norm.*"},
    {"*.*.cross.*.*", "model.*.layers.*.encoder_attn.*_proj.*"},
    {"*.*.feed.norm.*", "model.*.layers.*.final_layer_norm.*"},
    {"*.*.feed.up.*", "model.*.layers.*.fc1.*"},
    {"*.*.feed.down.*", "model.*.layers.*.fc2.*"},
    {"*.*.feed.gate.*", "model.*.layers.*.gate.*"},
    {"*.norm.*", "model.*.layer_norm.*"},
    {"*.embed_norm.*", "model.*.layernorm_embedding.*"},
    {"*.positions.weight", "model.*.embed_positions.weight"},
    {"*.buckets.weight", "model.*.relative_attention_bias.weight"},
    {NULL, NULL}};

const heed_rename heed_bart_values[] = {{"encoder.*.self.weights", "encoder_attentions.*"},
                                        {"decoder.*.self.weights", "decoder_attentions.*"},
                                        {"decoder.*.cross.weights", "cross_attentions.*"},
                                        {"encoder.hidden.*", "encoder_hidden_states.*"},
                                        {"decoder.hidden.*", "decoder_hidden_states.*"},
                                        {"logits", "logits"},
                                        {"loss", "loss"},
                                        {NULL, NULL}};

static const char *first_obstacle(const heed_stack *s, bool pre_norm) {
    if (s->positions != HEED_POSITIONS_SINUSOIDAL)
        return "positions other than 'sinusoidal'";
    if (s->rms)
        return "RMSNorm";
    if (s->gated)
        return "a gated feed-forward";
    if (!s->bias)
        return "linear layers without bias";
    if (s->kv_heads != s->heads)
        return "fewer key-value heads than heads";
    if (s->embed_norm)
        return "a norm behind the embeddings";
    if (s->eps < 0.99e-5 || s->eps > 1.01e-5)
        return "a norm epsilon other than 1e-5";
    if (s->pre_norm != pre_norm || s->final_norm != pre_norm)
        return pre_norm ? "norms that are not before each block and behind the stack"
                        : "norms that are not behind each block alone";
    return NULL;
}

bool heed_bart_expresses(const heed_config *c, bool pre_norm, char *why, size_t size) {
    const char *obstacle = first_obstacle(&c->encoder, pre_norm);
    if (!obstacle)
        obstacle = first_obstacle(&c->decoder, pre_norm);
    bool output_alone = c->tie_output && !c->share_embeddings; /* Marian alone has a key for it */
    if (!obstacle && c->share_embeddings != c->tie_output && (pre_norm || !output_alone))
        obstacle = "only some of the tables tied";
    if (!obstacle && !c->logits_bias)
        obstacle = "logits without bias";
    if (obstacle)
        snprintf(why, size, "%s", obstacle);
    return !obstacle;
}

const char *const heed_bart_unused[] = {"model.*.embed_positions.weight", "model.shared.weight",
                                        NULL};
