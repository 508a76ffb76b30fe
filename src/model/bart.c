/* bart.c: BART (Lewis et al. 2020), and what the families of its shape in transformers share
 * (mBART, Marian, Pegasus, M2M-100): config keys, weight names, value names. They differ in
 * positions and in where the norms stand; no code of transformers reads the keys that speak of it.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <stdio.h>

const heed_key heed_bart_keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, source_vocab, vocab),
    HEED_MUST_BOTH("d_model", INT, encoder.width, decoder.width),
    HEED_MUST("encoder_layers", INT, encoder.layers),
    HEED_MUST("decoder_layers", INT, decoder.layers),
    HEED_MUST_BOTH("encoder_attention_heads", INT, encoder.heads, encoder.kv_heads),
    HEED_MUST_BOTH("decoder_attention_heads", INT, decoder.heads, decoder.kv_heads),
    HEED_MUST("encoder_ffn_dim", INT, encoder.feed_forward),
    HEED_MUST("decoder_ffn_dim", INT, decoder.feed_forward),
    HEED_MUST_BOTH("activation_function", ACT, encoder.act, decoder.act),
    HEED_MUST_BOTH("max_position_embeddings", INT, encoder.max_positions, decoder.max_positions),
    HEED_MAY_BOTH("dropout", NUMBER, encoder.dropout, decoder.dropout),
    HEED_MAY_BOTH("attention_dropout", NUMBER, encoder.attention_dropout,
                  decoder.attention_dropout),
    HEED_MAY_BOTH("activation_dropout", NUMBER, encoder.activation_dropout,
                  decoder.activation_dropout),
    HEED_MAY("scale_embedding", BOOL, scale_embedding),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("is_encoder_decoder", "true"),
    HEED_KNOWN("num_hidden_layers"),
    HEED_KNOWN("init_std"),
    HEED_KNOWN("encoder_layerdrop"),
    HEED_KNOWN("decoder_layerdrop"),
    HEED_KNOWN("classifier_dropout"),
    HEED_KNOWN("classif_dropout"),
    HEED_KNOWN("add_bias_logits"),
    HEED_KNOWN("add_final_layer_norm"),
    HEED_KNOWN("normalize_before"),
    HEED_KNOWN("normalize_embedding"),
    HEED_KNOWN("extra_pos_embeddings"),
    HEED_KNOWN("force_bos_token_to_be_generated"),
    HEED_KNOWN("do_blenderbot_90_layernorm"),
    HEED_KNOWN("save_step"),
    HEED_KNOWN("is_decoder"),
    {0}};

const heed_key heed_bart_table_keys[] = {
    HEED_MAY("decoder_vocab_size", INT, vocab),
    HEED_MAY("share_encoder_decoder_embeddings", BOOL, share_embeddings),
    HEED_ONLY("static_position_embeddings", "true"),
    {0}};
const heed_key heed_bart_learned_keys[] = {HEED_ONLY("static_position_embeddings", "false"),
                                           HEED_MAY("classifier_dropout", NUMBER, head_dropout),
                                           {0}};

static void finish(heed_stack *s, bool pre_norm) {
    s->rms = s->gated = s->embed_norm = false;
    s->pre_norm = s->final_norm = pre_norm;
    s->bias = true;
    s->eps = 1e-5;
    s->positions = HEED_POSITIONS_SINUSOIDAL;
}

void heed_bart_defaults(heed_config *c) {
    c->encoder.act = c->decoder.act = HEED_ACT_GELU;
    c->scale_embedding = false;
    c->pad = 1;
    c->bos = 0;
    c->eos = c->decoder_start = c->forced_eos = 2;
}

static void learn(heed_stack *s) {
    s->positions = HEED_POSITIONS_LEARNED;
    s->first_position = 2;
    s->embed_norm = true;
}

void heed_bart_learned(heed_config *c) {
    learn(&c->encoder);
    learn(&c->decoder);
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
    {"span.*", "qa_outputs.*"},
    {"classes.dense.*", "classification_head.dense.*"},
    {"classes.out.*", "classification_head.out_proj.*"},
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
                                        "model.*.version", "final_logits_bias", NULL};

static bool finish_family(heed_config *c, heed_error *err) {
    (void)err;
    heed_bart_finish(c, false);
    heed_bart_learned(c);
    return true;
}

heed_outputs heed_record_bart(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_outputs out = heed_record_encoder_decoder(b, c, want);
    if (c->head == HEED_HEAD_SPAN && out.hidden.id)
        heed_record_classes(b, out.hidden, "classes", c, want, &out);
    if (c->head != HEED_HEAD_SEQUENCES || !out.hidden.id)
        return out;
    heed_value x = heed_pool_rows(b, out.hidden, HEED_POOL_LAST);
    heed_enter(b, "classes", -1);
    x = heed_dropout(b, x, "dropout", c->head_dropout);
    x = heed_act(b, heed_linear(b, x, "dense", c->decoder.width, true), HEED_ACT_TANH);
    x = heed_dropout(b, x, "inner", c->head_dropout);
    heed_record_classes(b, x, "out", c, want, &out);
    heed_leave(b);
    return out;
}

static const heed_architecture architectures[] = {
    {"BartForConditionalGeneration", HEED_HEAD_VOCAB, false},
    {"BartModel", HEED_HEAD_NONE, false},
    {"BartForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"BartForQuestionAnswering", HEED_HEAD_SPAN, false},
    {0}};

const heed_family heed_family_bart = {
    .type = "bart",
    .kind = HEED_ENCODER_DECODER,
    .architectures = architectures,
    .prefix = "model.",
    .defaults = heed_bart_defaults,
    .keys = (const heed_key *const[]){heed_bart_keys, heed_bart_learned_keys, NULL},
    .finish = finish_family,
    .record = heed_record_bart,
    .weights = heed_bart_weights,
    .values = heed_bart_values,
    .unused = heed_bart_unused};
