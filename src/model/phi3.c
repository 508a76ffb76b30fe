/* phi3.c: Phi-3 (Abdin et al. 2024): Llama's layers, with query, key and value from one product,
 * gate and up from another.
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
    HEED_MAY("rms_norm_eps", NUMBER, decoder.eps),
    HEED_MAY("resid_pdrop", NUMBER, decoder.dropout),
    HEED_MAY("attention_dropout", NUMBER, decoder.attention_dropout),
    HEED_MAY("partial_rotary_factor", NUMBER, rotary_part),
    HEED_MAY("sliding_window", INT, window),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("attention_bias", "false"),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_MAY("original_max_position_embeddings", INT, rope_original),
    HEED_KNOWN("embd_pdrop"), /* transformers has none either */
    HEED_KNOWN("initializer_range"),
    HEED_KNOWN("auto_map"),
    {0}};

static void defaults(heed_config *c) {
    heed_llama_defaults(c);
    c->decoder.eps = 1e-5;
    c->decoder.max_positions = c->rope_original = 4096;
}

/* Old files say "su" or "yarn" and mean longrope. The length of the training stands beside the
 * rotary positions, not among them. */
static bool finish(heed_config *c, heed_error *err) {
    heed_rope_scaling *r = &c->decoder.rope_scaling;
    r->kind = r->kind == HEED_ROPE_YARN ? HEED_ROPE_LONGROPE : r->kind;
    if (r->kind != HEED_ROPE_PLAIN && r->kind != HEED_ROPE_LONGROPE)
        return heed_fail(err, HEED_VALUE,
                         "family 'phi3' has rope types 'default' and 'longrope' alone");
    r->original = c->rope_original;
    return heed_rope_finish(c, err);
}

static heed_value norm(heed_build *b, heed_value x, const heed_stack *s) {
    return heed_rmsnorm(b, x, "norm", s->eps);
}

static heed_value self(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_attention_options o = {.heads = s->heads,
                                .kv_heads = s->kv_heads,
                                .causal = true,
                                .window = c->window,
                                .cache = "self",
                                .dropout = s->attention_dropout};
    int64_t n = s->width, kv = s->width / s->heads * s->kv_heads;
    heed_enter(b, "self", -1);
    heed_value all = heed_linear(b, norm(b, x, s), "qkv", n + 2 * kv, false);
    heed_value q = heed_turn(b, heed_pick_columns(b, all, 0, n, 0, 1), s->heads, c);
    heed_value k = heed_turn(b, heed_pick_columns(b, all, n, kv, 0, 1), s->kv_heads, c);
    heed_value v = heed_pick_columns(b, all, n + kv, kv, 0, 1);
    heed_value h = heed_linear(b, heed_attend(b, q, k, v, &o), "out", n, false);
    x = heed_add(b, x, heed_dropout(b, h, "dropout", s->dropout));
    heed_leave(b);
    return x;
}

static heed_value feed(heed_build *b, heed_value x, const heed_stack *s) {
    int64_t n = s->feed_forward;
    heed_enter(b, "feed", -1);
    heed_value all = heed_linear(b, norm(b, x, s), "gate_up", 2 * n, false);
    heed_value h = heed_gated(b, heed_pick_columns(b, all, 0, n, 0, 1),
                              heed_pick_columns(b, all, n, n, 0, 1), s->act);
    h = heed_linear(b, h, "down", s->width, false);
    x = heed_add(b, x, heed_dropout(b, h, "dropout", s->dropout));
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    (void)i;
    return feed(b, self(b, x, c), &c->decoder);
}

static heed_value end(heed_build *b, heed_value x, const void *ctx) {
    const heed_config *c = ctx;
    return norm(b, x, &c->decoder);
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    return heed_record_decoder(b, c, &(heed_decoder){.layer = layer, .end = end}, want);
}

static const heed_architecture architectures[] = {
    {"Phi3ForCausalLM", HEED_HEAD_VOCAB, false},
    {"Phi3Model", HEED_HEAD_NONE, false},
    {"Phi3ForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"Phi3ForTokenClassification", HEED_HEAD_ROWS, false},
    {0}};

static const heed_rename weights[] = {
    {"tokens.weight", "model.embed_tokens.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"head.weight", "lm_head.weight"},
    {"decoder.*.self.norm.*", "model.layers.*.input_layernorm.*"},
    {"decoder.*.self.qkv.*", "model.layers.*.self_attn.qkv_proj.*"},
    {"decoder.*.self.out.*", "model.layers.*.self_attn.o_proj.*"},
    {"decoder.*.feed.norm.*", "model.layers.*.post_attention_layernorm.*"},
    {"decoder.*.feed.*.*", "model.layers.*.mlp.*_proj.*"},
    {"decoder.norm.*", "model.norm.*"},
    {"score.weight", "score.weight"},
    {"classes.*", "score.*"},
    {NULL, NULL}};

const heed_family heed_family_phi3 = {.type = "phi3",
                                      .kind = HEED_DECODER,
                                      .architectures = architectures,
                                      .prefix = "model.",
                                      .defaults = defaults,
                                      .keys = (const heed_key *const[]){keys, heed_rope_keys, NULL},
                                      .finish = finish,
                                      .record = record,
                                      .weights = weights,
                                      .values = heed_decoder_values,
                                      .unused = heed_llama_unused};
