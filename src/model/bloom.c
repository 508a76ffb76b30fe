/* bloom.c: BLOOM (BigScience 2022): a decoder with ALiBi, a norm behind the embeddings and before
 * each block; one product makes query, key and value, for each head its own three beside each
 * other.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

/* Several keys have two names; that of transformers' class comes last, except for the width. */
static const heed_key keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MAY("hidden_size", INT, decoder.width),
    HEED_MAY("n_embed", INT, decoder.width),
    HEED_MAY("num_hidden_layers", INT, decoder.layers),
    HEED_MAY("n_layer", INT, decoder.layers),
    HEED_MAY_BOTH("num_attention_heads", INT, decoder.heads, decoder.kv_heads),
    HEED_MAY_BOTH("n_head", INT, decoder.heads, decoder.kv_heads),
    HEED_MAY("layer_norm_epsilon", NUMBER, decoder.eps),
    HEED_MAY("apply_residual_connection_post_layernorm", BOOL, residual_normed),
    HEED_MAY("hidden_dropout", NUMBER, decoder.dropout),
    HEED_MAY("attention_dropout", NUMBER, decoder.attention_dropout),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_KNOWN("initializer_range"),
    HEED_KNOWN("unk_token_id"),
    HEED_KNOWN("seq_length"),     /* of the training */
    HEED_KNOWN("n_inner"),        /* always 4 times the width, as transformers reads it */
    HEED_KNOWN("pretraining_tp"), /* with slow_but_exact cuts products into slices: */
    HEED_KNOWN("slow_but_exact"), /* the same values */
    HEED_KNOWN("attention_softmax_in_fp32"),
    HEED_KNOWN("bias_dropout_fusion"),
    HEED_KNOWN("masked_softmax_fusion"),
    HEED_KNOWN("offset_alibi"), /* of the training's code, as are the next two */
    HEED_KNOWN("skip_bias_add"),
    HEED_KNOWN("skip_bias_add_qkv"),
    {0}};

static void defaults(heed_config *c) {
    heed_single_defaults(c);
    c->decoder.width = c->decoder.layers = c->decoder.heads = 0;
    c->decoder.act = HEED_ACT_GELU_TANH;
    c->decoder.embed_norm = c->decoder.pre_norm = c->decoder.final_norm = true;
    c->decoder.positions = HEED_POSITIONS_ALIBI;
}

static bool finish(heed_config *c, heed_error *err) {
    const heed_stack *s = &c->decoder;
    const char *missing = s->width < 1    ? "hidden_size"
                          : s->layers < 1 ? "n_layer"
                          : s->heads < 1  ? "n_head"
                                          : NULL;
    c->decoder.feed_forward = 4 * s->width;
    return !missing || heed_fail(err, HEED_NAME, "key '%s' is missing, or not above 0", missing);
}

static heed_value self(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_attention_options o = {.heads = s->heads,
                                .causal = true,
                                .cache = "self",
                                .alibi = true,
                                .dropout = s->attention_dropout};
    int64_t d = s->width / s->heads;
    heed_enter(b, "self", -1);
    heed_value h = heed_layernorm(b, x, "norm", s->eps);
    heed_value all = heed_linear(b, h, "qkv", 3 * s->width, true);
    heed_value q = heed_pick_columns(b, all, 0, d, 3 * d, s->heads);
    heed_value k = heed_pick_columns(b, all, d, d, 3 * d, s->heads);
    heed_value v = heed_pick_columns(b, all, 2 * d, d, 3 * d, s->heads);
    heed_value a = heed_linear(b, heed_attend(b, q, k, v, &o), "out", s->width, true);
    x = heed_add(b, c->residual_normed ? h : x, heed_dropout(b, a, "dropout", s->dropout));
    heed_leave(b);
    return x;
}

static heed_value feed(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_enter(b, "feed", -1);
    heed_value h = heed_layernorm(b, x, "norm", s->eps);
    heed_value y = heed_act(b, heed_linear(b, h, "up", s->feed_forward, true), s->act);
    y = heed_linear(b, y, "down", s->width, true);
    x = heed_add(b, c->residual_normed ? h : x, heed_dropout(b, y, "dropout", s->dropout));
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    (void)i;
    return feed(b, self(b, x, ctx), ctx);
}

static heed_value begin(heed_build *b, heed_value x, const heed_config *c) {
    return heed_layernorm(b, x, "embed_norm", c->decoder.eps);
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    return heed_record_decoder(b, c, &(heed_decoder){.begin = begin, .layer = layer}, want);
}

static const heed_architecture architectures[] = {
    {"BloomForCausalLM", HEED_HEAD_VOCAB, false},
    {"BloomModel", HEED_HEAD_NONE, false},
    {"BloomForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"BloomForTokenClassification", HEED_HEAD_ROWS, false},
    {"BloomForQuestionAnswering", HEED_HEAD_SPAN, false},
    {0}};

static const heed_rename weights[] = {
    {"tokens.weight", "transformer.word_embeddings.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"head.weight", "lm_head.weight"},
    {"decoder.embed_norm.*", "transformer.word_embeddings_layernorm.*"},
    {"decoder.*.self.norm.*", "transformer.h.*.input_layernorm.*"},
    {"decoder.*.self.qkv.*", "transformer.h.*.self_attention.query_key_value.*"},
    {"decoder.*.self.out.*", "transformer.h.*.self_attention.dense.*"},
    {"decoder.*.feed.norm.*", "transformer.h.*.post_attention_layernorm.*"},
    {"decoder.*.feed.up.*", "transformer.h.*.mlp.dense_h_to_4h.*"},
    {"decoder.*.feed.down.*", "transformer.h.*.mlp.dense_4h_to_h.*"},
    {"decoder.norm.*", "transformer.ln_f.*"},
    {"score.weight", "score.weight"},
    {"classes.*", "classifier.*"},
    {"span.*", "qa_outputs.*"},
    {NULL, NULL}};

const heed_family heed_family_bloom = {.type = "bloom",
                                       .kind = HEED_DECODER,
                                       .architectures = architectures,
                                       .place = HEED_PLACE_ROW,
                                       .prefix = "transformer.",
                                       .defaults = defaults,
                                       .keys = (const heed_key *const[]){keys, NULL},
                                       .finish = finish,
                                       .record = record,
                                       .weights = weights,
                                       .values = heed_decoder_values};
