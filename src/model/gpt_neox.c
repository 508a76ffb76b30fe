/* gpt_neox.c: GPT-NeoX (Black et al. 2022) and Pythia: a decoder with LayerNorm, rotary positions
 * on a part of each head, attention and feed-forward side by side; one product makes query, key and
 * value, for each head its own three beside each other.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_key keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST("hidden_size", INT, decoder.width),
    HEED_MUST("num_hidden_layers", INT, decoder.layers),
    HEED_MUST_BOTH("num_attention_heads", INT, decoder.heads, decoder.kv_heads),
    HEED_MUST("intermediate_size", INT, decoder.feed_forward),
    HEED_MAY("hidden_act", ACT, decoder.act),
    HEED_MAY_BOTH("hidden_dropout", NUMBER, decoder.dropout, embed_dropout),
    HEED_MAY("attention_dropout", NUMBER, decoder.attention_dropout),
    HEED_MAY("max_position_embeddings", INT, decoder.max_positions),
    HEED_MAY("layer_norm_eps", NUMBER, decoder.eps),
    HEED_MAY("rotary_pct", NUMBER, rotary_part),
    HEED_MAY("rotary_emb_base", NUMBER, decoder.rope_base),
    HEED_MAY("use_parallel_residual", BOOL, parallel),
    HEED_MAY_BOTH("attention_bias", BOOL, qkv_bias, out_bias),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_KNOWN("is_decoder"),
    HEED_KNOWN("initializer_range"),
    HEED_MAY("classifier_dropout", NUMBER, head_dropout),
    {0}};

static void defaults(heed_config *c) {
    heed_single_defaults(c);
    c->head_dropout = 0.1;
    c->tie_output = false;
    c->parallel = c->qkv_bias = c->out_bias = true;
    c->decoder.act = HEED_ACT_GELU;
    c->decoder.pre_norm = c->decoder.final_norm = true;
    c->decoder.positions = HEED_POSITIONS_ROPE;
    c->decoder.max_positions = 2048;
    c->rotary_part = 0.25;
    c->rope_truncate = true;
}

static heed_value attention(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_attention_options o = {
        .heads = s->heads, .causal = true, .cache = "self", .dropout = s->attention_dropout};
    int64_t d = s->width / s->heads;
    heed_enter(b, "self", -1);
    heed_value h = heed_layernorm(b, x, "norm", s->eps);
    heed_value all = heed_linear(b, h, "qkv", 3 * s->width, c->qkv_bias);
    heed_value q = heed_turn(b, heed_pick_columns(b, all, 0, d, 3 * d, s->heads), s->heads, c);
    heed_value k = heed_turn(b, heed_pick_columns(b, all, d, d, 3 * d, s->heads), s->heads, c);
    heed_value v = heed_pick_columns(b, all, 2 * d, d, 3 * d, s->heads);
    h = heed_linear(b, heed_attend(b, q, k, v, &o), "out", s->width, c->out_bias);
    h = heed_dropout(b, h, "dropout", s->dropout);
    heed_leave(b);
    return h;
}

static heed_value feed(heed_build *b, heed_value x, const heed_stack *s) {
    heed_enter(b, "feed", -1);
    heed_value h = heed_layernorm(b, x, "norm", s->eps);
    h = heed_act(b, heed_linear(b, h, "up", s->feed_forward, true), s->act);
    h = heed_dropout(b, heed_linear(b, h, "down", s->width, true), "dropout", s->dropout);
    heed_leave(b);
    return h;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    (void)i;
    heed_value sum = heed_add(b, x, attention(b, x, c));
    return heed_add(b, sum, feed(b, c->parallel ? x : sum, &c->decoder));
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    return heed_record_decoder(b, c, &(heed_decoder){.layer = layer}, want);
}

static const heed_architecture architectures[] = {
    {"GPTNeoXForCausalLM", HEED_HEAD_VOCAB, false},
    {"GPTNeoXModel", HEED_HEAD_NONE, false},
    {"GPTNeoXForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"GPTNeoXForTokenClassification", HEED_HEAD_ROWS, false},
    {"GPTNeoXForQuestionAnswering", HEED_HEAD_SPAN, false},
    {0}};

static const heed_rename weights[] = {
    {"tokens.weight", "gpt_neox.embed_in.weight"},
    {"tokens.weight", "embed_out.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"head.weight", "embed_out.weight"},
    {"head.weight", "lm_head.weight"},
    {"decoder.*.self.norm.*", "gpt_neox.layers.*.input_layernorm.*"},
    {"decoder.*.self.qkv.*", "gpt_neox.layers.*.attention.query_key_value.*"},
    {"decoder.*.self.out.*", "gpt_neox.layers.*.attention.dense.*"},
    {"decoder.*.feed.norm.*", "gpt_neox.layers.*.post_attention_layernorm.*"},
    {"decoder.*.feed.up.*", "gpt_neox.layers.*.mlp.dense_h_to_4h.*"},
    {"decoder.*.feed.down.*", "gpt_neox.layers.*.mlp.dense_4h_to_h.*"},
    {"decoder.norm.*", "gpt_neox.final_layer_norm.*"},
    {"score.weight", "score.weight"},
    {"classes.*", "classifier.*"},
    {"span.*", "qa_outputs.*"},
    {NULL, NULL}};

/* Triangles of ones, what stands for minus infinity there, and speeds of the rotary positions, that
 * older files hold. */
static const char *const unused[] = {"gpt_neox.layers.*.attention.bias",
                                     "gpt_neox.layers.*.attention.masked_bias",
                                     "gpt_neox.layers.*.attention.rotary_emb.inv_freq", NULL};

const heed_family heed_family_gpt_neox = {.type = "gpt_neox",
                                          .kind = HEED_DECODER,
                                          .architectures = architectures,
                                          .prefix = "gpt_neox.",
                                          .defaults = defaults,
                                          .keys =
                                              (const heed_key *const[]){keys, heed_rope_keys, NULL},
                                          .finish = heed_rope_finish,
                                          .record = record,
                                          .weights = weights,
                                          .values = heed_decoder_values,
                                          .unused = unused};
