/* opt.c: OPT (Zhang et al. 2022): a decoder with learned positions that begin in the table's third
 * row, the norm before each block or behind it, tables that may be narrower than the layers.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_key keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST("hidden_size", INT, decoder.width),
    HEED_MUST("num_hidden_layers", INT, decoder.layers),
    HEED_MUST_BOTH("num_attention_heads", INT, decoder.heads, decoder.kv_heads),
    HEED_MUST("ffn_dim", INT, decoder.feed_forward),
    HEED_MAY("max_position_embeddings", INT, decoder.max_positions),
    HEED_MAY("word_embed_proj_dim", INT, embed_width),
    HEED_MAY("do_layer_norm_before", BOOL, decoder.pre_norm),
    HEED_MAY("_remove_final_layer_norm", BOOL, no_final_norm),
    HEED_MAY("layer_norm_elementwise_affine", BOOL, norm_weights),
    HEED_MAY("enable_bias", BOOL, decoder.bias),
    HEED_MAY("activation_function", ACT, decoder.act),
    HEED_MAY("dropout", NUMBER, decoder.dropout),
    HEED_MAY("attention_dropout", NUMBER, decoder.attention_dropout),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_KNOWN("activation_dropout"), /* transformers has none either */
    HEED_KNOWN("layerdrop"),
    HEED_KNOWN("init_std"),
    HEED_KNOWN("prefix"),
    {0}};

static void defaults(heed_config *c) {
    heed_single_defaults(c);
    c->pad_still = c->norm_weights = true;
    c->pad = 1;
    c->decoder.pre_norm = c->decoder.bias = true;
    c->decoder.dropout = 0.1;
    c->decoder.max_positions = 2048;
    c->decoder.positions = HEED_POSITIONS_LEARNED;
    c->decoder.first_position = 2;
}

static bool finish(heed_config *c, heed_error *err) {
    (void)err;
    c->decoder.final_norm = c->decoder.pre_norm && !c->no_final_norm;
    if (c->embed_width == c->decoder.width)
        c->embed_width = 0;
    return true;
}

static heed_value norm(heed_build *b, heed_value x, const char *name, const heed_config *c) {
    return heed_layernorm_with(b, x, name,
                               &(heed_norm_options){.eps = c->decoder.eps,
                                                    .bias = c->norm_weights,
                                                    .plain = !c->norm_weights});
}

static heed_value before(heed_build *b, heed_value x, const heed_config *c) {
    return c->decoder.pre_norm ? norm(b, x, "norm", c) : x;
}

static heed_value behind(heed_build *b, heed_value x, heed_value change, const heed_config *c) {
    heed_value sum = heed_add(b, x, heed_dropout(b, change, "dropout", c->decoder.dropout));
    return c->decoder.pre_norm ? sum : norm(b, sum, "norm", c);
}

static heed_value self(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_attention_options o = {
        .heads = s->heads, .causal = true, .cache = "self", .dropout = s->attention_dropout};
    heed_enter(b, "self", -1);
    heed_value h = before(b, x, c);
    heed_value q = heed_linear(b, h, "q", s->width, s->bias);
    heed_value k = heed_linear(b, h, "k", s->width, s->bias);
    heed_value v = heed_linear(b, h, "v", s->width, s->bias);
    h = heed_linear(b, heed_attend(b, q, k, v, &o), "out", s->width, s->bias);
    x = behind(b, x, h, c);
    heed_leave(b);
    return x;
}

static heed_value feed(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_enter(b, "feed", -1);
    heed_value h = before(b, x, c);
    h = heed_act(b, heed_linear(b, h, "up", s->feed_forward, s->bias), s->act);
    x = behind(b, x, heed_linear(b, h, "down", s->width, s->bias), c);
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    (void)i;
    return feed(b, self(b, x, ctx), ctx);
}

static heed_value end(heed_build *b, heed_value x, const void *ctx) {
    const heed_config *c = ctx;
    if (c->decoder.final_norm)
        x = norm(b, x, "norm", c);
    return c->embed_width ? heed_linear(b, x, "project_out", c->embed_width, false) : x;
}

static heed_value begin(heed_build *b, heed_value x, const heed_config *c) {
    return c->embed_width ? heed_linear(b, x, "project_in", c->decoder.width, false) : x;
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    return heed_record_decoder(b, c, &(heed_decoder){.begin = begin, .layer = layer, .end = end},
                               want);
}

static const heed_architecture architectures[] = {
    {"OPTForCausalLM", HEED_HEAD_VOCAB, false},
    {"OPTModel", HEED_HEAD_NONE, false},
    {"OPTForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"OPTForQuestionAnswering", HEED_HEAD_SPAN, false},
    {0}};

static const heed_rename weights[] = {
    {"tokens.weight", "model.decoder.embed_tokens.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"head.weight", "lm_head.weight"},
    {"decoder.positions.weight", "model.decoder.embed_positions.weight"},
    {"decoder.project_in.weight", "model.decoder.project_in.weight"},
    {"decoder.project_out.weight", "model.decoder.project_out.weight"},
    {"decoder.*.self.norm.*", "model.decoder.layers.*.self_attn_layer_norm.*"},
    {"decoder.*.self.*.*", "model.decoder.layers.*.self_attn.*_proj.*"},
    {"decoder.*.feed.norm.*", "model.decoder.layers.*.final_layer_norm.*"},
    {"decoder.*.feed.up.*", "model.decoder.layers.*.fc1.*"},
    {"decoder.*.feed.down.*", "model.decoder.layers.*.fc2.*"},
    {"decoder.norm.*", "model.decoder.final_layer_norm.*"},
    {"score.weight", "score.weight"},
    {"span.*", "qa_outputs.*"},
    {NULL, NULL}};

const heed_family heed_family_opt = {.type = "opt",
                                     .kind = HEED_DECODER,
                                     .architectures = architectures,
                                     .place = HEED_PLACE_ROW,
                                     .prefix = "model.",
                                     .defaults = defaults,
                                     .keys = (const heed_key *const[]){keys, NULL},
                                     .finish = finish,
                                     .record = record,
                                     .weights = weights,
                                     .values = heed_decoder_values};
