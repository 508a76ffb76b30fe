/* phi.c: Phi (Gunasekar et al. 2023): a decoder in which attention and feed-forward read the same
 * norm and stand side by side, with rotary positions on a part of each head, and biases everywhere,
 * on the logits too.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_key keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST("hidden_size", INT, decoder.width),
    HEED_MUST("num_hidden_layers", INT, decoder.layers),
    HEED_MUST_BOTH("num_attention_heads", INT, decoder.heads, decoder.kv_heads),
    HEED_MAY("num_key_value_heads", INT, decoder.kv_heads),
    HEED_MUST("intermediate_size", INT, decoder.feed_forward),
    HEED_MAY("hidden_act", ACT, decoder.act),
    HEED_MAY("max_position_embeddings", INT, decoder.max_positions),
    HEED_MAY("layer_norm_eps", NUMBER, decoder.eps),
    HEED_MAY("resid_pdrop", NUMBER, decoder.dropout),
    HEED_MAY("embd_pdrop", NUMBER, embed_dropout),
    HEED_MAY("attention_dropout", NUMBER, decoder.attention_dropout),
    HEED_MAY("partial_rotary_factor", NUMBER, rotary_part),
    HEED_MAY("qk_layernorm", BOOL, norm_heads),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_KNOWN("initializer_range"),
    HEED_KNOWN("auto_map"),
    {0}};

static void defaults(heed_config *c) {
    heed_single_defaults(c);
    c->head_dropout = 0.1;
    c->tie_output = false;
    c->pad_still = true;
    c->decoder.act = HEED_ACT_GELU_TANH;
    c->decoder.pre_norm = c->decoder.final_norm = true;
    c->decoder.positions = HEED_POSITIONS_ROPE;
    c->decoder.max_positions = 2048;
    c->rotary_part = 0.5;
    c->rope_truncate = true;
}

/* Query or key: its product, its norm where there is one, turned. */
static heed_value turned(heed_build *b, heed_value x, const char *name, int64_t heads,
                         const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_value y = heed_linear(b, x, name, s->width / s->heads * heads, true);
    if (c->norm_heads)
        y = heed_layernorm_with(b, y, name[0] == 'q' ? "q_norm" : "k_norm",
                                &(heed_norm_options){.eps = s->eps, .heads = heads, .bias = true});
    return heed_turn(b, y, heads, c);
}

static heed_value attention(heed_build *b, heed_value h, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_attention_options o = {.heads = s->heads,
                                .kv_heads = s->kv_heads,
                                .causal = true,
                                .cache = "self",
                                .dropout = s->attention_dropout};
    heed_enter(b, "self", -1);
    heed_value q = turned(b, h, "q", s->heads, c), k = turned(b, h, "k", s->kv_heads, c);
    heed_value v = heed_linear(b, h, "v", s->width / s->heads * s->kv_heads, true);
    h = heed_linear(b, heed_attend(b, q, k, v, &o), "out", s->width, true);
    h = heed_dropout(b, h, "dropout", s->dropout);
    heed_leave(b);
    return h;
}

static heed_value feed(heed_build *b, heed_value h, const heed_stack *s) {
    heed_enter(b, "feed", -1);
    h = heed_act(b, heed_linear(b, h, "up", s->feed_forward, true), s->act);
    h = heed_dropout(b, heed_linear(b, h, "down", s->width, true), "dropout", s->dropout);
    heed_leave(b);
    return h;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    (void)i;
    heed_value h = heed_layernorm(b, x, "norm", c->decoder.eps);
    return heed_add(b, heed_add(b, x, attention(b, h, c)), feed(b, h, &c->decoder));
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    return heed_record_decoder(b, c, &(heed_decoder){.layer = layer, .head_bias = "head.bias"},
                               want);
}

static const heed_architecture architectures[] = {
    {"PhiForCausalLM", HEED_HEAD_VOCAB, false},
    {"PhiModel", HEED_HEAD_NONE, false},
    {"PhiForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"PhiForTokenClassification", HEED_HEAD_ROWS, false},
    {0}};

static const heed_rename weights[] = {
    {"tokens.weight", "model.embed_tokens.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"head.*", "lm_head.*"},
    {"decoder.*.norm.*", "model.layers.*.input_layernorm.*"},
    {"decoder.*.self.q_norm.*", "model.layers.*.self_attn.q_layernorm.*"},
    {"decoder.*.self.k_norm.*", "model.layers.*.self_attn.k_layernorm.*"},
    {"decoder.*.self.out.*", "model.layers.*.self_attn.dense.*"},
    {"decoder.*.self.*.*", "model.layers.*.self_attn.*_proj.*"},
    {"decoder.*.feed.up.*", "model.layers.*.mlp.fc1.*"},
    {"decoder.*.feed.down.*", "model.layers.*.mlp.fc2.*"},
    {"decoder.norm.*", "model.final_layernorm.*"},
    {"score.weight", "score.weight"},
    {"classes.*", "score.*"},
    {NULL, NULL}};

const heed_family heed_family_phi = {.type = "phi",
                                     .kind = HEED_DECODER,
                                     .architectures = architectures,
                                     .prefix = "model.",
                                     .defaults = defaults,
                                     .keys = (const heed_key *const[]){keys, heed_rope_keys, NULL},
                                     .finish = heed_rope_finish,
                                     .record = record,
                                     .weights = weights,
                                     .values = heed_decoder_values,
                                     .unused = heed_llama_unused};
