/* gpt2.c: GPT-2 (Radford et al. 2019): a decoder with the norm before each block, learned
 * positions, one product for query, key and value; its matrices lie input by output ("Conv1D").
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <math.h>

static const heed_key keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST("n_positions", INT, decoder.max_positions),
    HEED_MUST("n_embd", INT, decoder.width),
    HEED_MUST("n_layer", INT, decoder.layers),
    HEED_MUST_BOTH("n_head", INT, decoder.heads, decoder.kv_heads),
    HEED_MAY("n_inner", INT, decoder.feed_forward),
    HEED_MAY("activation_function", ACT, decoder.act),
    HEED_MAY("resid_pdrop", NUMBER, decoder.dropout),
    HEED_MAY("attn_pdrop", NUMBER, decoder.attention_dropout),
    HEED_MAY("embd_pdrop", NUMBER, embed_dropout),
    HEED_MAY("classifier_dropout", NUMBER, head_dropout),
    HEED_MAY("layer_norm_epsilon", NUMBER, decoder.eps),
    HEED_MAY("scale_attn_weights", BOOL, scale_attention),
    HEED_MAY("scale_attn_by_inverse_layer_idx", BOOL, scale_by_layer),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("add_cross_attention", "false"),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_KNOWN("is_decoder"),
    HEED_KNOWN("n_ctx"),
    HEED_KNOWN("initializer_range"),
    HEED_KNOWN("reorder_and_upcast_attn"), /* all sums here are in float */
    HEED_KNOWN("summary_type"),
    HEED_KNOWN("summary_use_proj"),
    HEED_KNOWN("summary_activation"),
    HEED_KNOWN("summary_proj_to_labels"),
    HEED_KNOWN("summary_first_dropout"),
    HEED_KNOWN("task_specific_params"),
    {0}};

static void defaults(heed_config *c) {
    heed_single_defaults(c);
    c->head_dropout = 0.1;
    c->decoder.feed_forward = 0;
    c->decoder.act = HEED_ACT_GELU_TANH;
    c->decoder.dropout = c->decoder.attention_dropout = c->embed_dropout = 0.1;
    c->decoder.eps = 1e-5;
    c->decoder.pre_norm = c->decoder.final_norm = true;
    c->decoder.positions = HEED_POSITIONS_LEARNED;
    c->scale_attention = true;
}

static bool finish(heed_config *c, heed_error *err) {
    (void)err;
    if (!c->decoder.feed_forward)
        c->decoder.feed_forward = 4 * c->decoder.width;
    return true;
}

static heed_value product(heed_build *b, heed_value x, const char *name, int64_t out,
                          const heed_config *c) {
    return c->output_by_input ? heed_linear(b, x, name, out, true)
                              : heed_linear_in_out(b, x, name, out, true);
}

static heed_value self(heed_build *b, heed_value x, int64_t i, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    double scale = c->scale_attention ? 1 / sqrt((double)(s->width / s->heads)) : 1;
    heed_attention_options o = {.heads = s->heads,
                                .causal = true,
                                .cache = "self",
                                .scale = c->scale_by_layer ? scale / (double)(i + 1) : scale,
                                .dropout = s->attention_dropout};
    heed_enter(b, "self", -1);
    heed_value h = heed_layernorm(b, x, "norm", s->eps);
    heed_value all = product(b, h, "qkv", 3 * s->width, c);
    heed_value q = heed_pick_columns(b, all, 0, s->width, s->width, 1);
    heed_value k = heed_pick_columns(b, all, s->width, s->width, s->width, 1);
    heed_value v = heed_pick_columns(b, all, 2 * s->width, s->width, s->width, 1);
    h = product(b, heed_attend(b, q, k, v, &o), "out", s->width, c);
    x = heed_add(b, x, heed_dropout(b, h, "dropout", s->dropout));
    heed_leave(b);
    return x;
}

static heed_value feed(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_enter(b, "feed", -1);
    heed_value h = heed_layernorm(b, x, "norm", s->eps);
    h = heed_act(b, product(b, h, "up", s->feed_forward, c), s->act);
    h = product(b, h, "down", s->width, c);
    x = heed_add(b, x, heed_dropout(b, h, "dropout", s->dropout));
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    return feed(b, self(b, x, i, c), c);
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    return heed_record_decoder(b, c, &(heed_decoder){.layer = layer}, want);
}

static const heed_architecture architectures[] = {
    {"GPT2LMHeadModel", HEED_HEAD_VOCAB, false},
    {"GPT2Model", HEED_HEAD_NONE, false},
    {"GPT2ForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"GPT2ForTokenClassification", HEED_HEAD_ROWS, false},
    {"GPT2ForQuestionAnswering", HEED_HEAD_SPAN, false},
    {0}};

static const heed_rename weights[] = {{"tokens.weight", "transformer.wte.weight"},
                                      {"tokens.weight", "lm_head.weight"},
                                      {"head.weight", "lm_head.weight"},
                                      {"decoder.positions.weight", "transformer.wpe.weight"},
                                      {"decoder.*.self.norm.*", "transformer.h.*.ln_1.*"},
                                      {"decoder.*.self.qkv.*", "transformer.h.*.attn.c_attn.*"},
                                      {"decoder.*.self.out.*", "transformer.h.*.attn.c_proj.*"},
                                      {"decoder.*.feed.norm.*", "transformer.h.*.ln_2.*"},
                                      {"decoder.*.feed.up.*", "transformer.h.*.mlp.c_fc.*"},
                                      {"decoder.*.feed.down.*", "transformer.h.*.mlp.c_proj.*"},
                                      {"decoder.norm.*", "transformer.ln_f.*"},
                                      {"score.weight", "score.weight"},
                                      {"classes.*", "classifier.*"},
                                      {"span.*", "qa_outputs.*"},
                                      {NULL, NULL}};

/* Triangles of ones, and what stands for minus infinity there, that older files hold. */
static const char *const unused[] = {"transformer.h.*.attn.bias",
                                     "transformer.h.*.attn.masked_bias", NULL};

/* ---- GGUF: matrices lie output by input ---- */

static const heed_key gguf_keys[] = {
    HEED_MUST("block_count", INT, decoder.layers),
    HEED_MUST("context_length", INT, decoder.max_positions),
    HEED_MUST("embedding_length", INT, decoder.width),
    HEED_MUST("feed_forward_length", INT, decoder.feed_forward),
    HEED_MUST_BOTH("attention.head_count", INT, decoder.heads, decoder.kv_heads),
    HEED_MUST("attention.layer_norm_epsilon", NUMBER, decoder.eps),
    HEED_MAY_BOTH("vocab_size", INT, vocab, source_vocab),
    {0}};

static const heed_rename gguf_weights[] = {{"tokens.weight", "token_embd.weight"},
                                           {"head.weight", "output.weight"},
                                           {"decoder.positions.weight", "position_embd.weight"},
                                           {"decoder.*.self.norm.*", "blk.*.attn_norm.*"},
                                           {"decoder.*.self.qkv.*", "blk.*.attn_qkv.*"},
                                           {"decoder.*.self.out.*", "blk.*.attn_output.*"},
                                           {"decoder.*.feed.norm.*", "blk.*.ffn_norm.*"},
                                           {"decoder.*.feed.*.*", "blk.*.ffn_*.*"},
                                           {"decoder.norm.*", "output_norm.*"},
                                           {NULL, NULL}};

static bool gguf_finish(heed_config *c, const heed_tensors *tensors, heed_error *err) {
    c->tie_output = !heed_tensors_find(tensors, "output.weight");
    c->output_by_input = true;
    return finish(c, err);
}

static const heed_form forms[] = {{.format = "gguf",
                                   .architecture = "gpt2",
                                   .head = HEED_HEAD_VOCAB,
                                   .keys = (const heed_key *const[]){gguf_keys, NULL},
                                   .weights = gguf_weights,
                                   .finish = gguf_finish},
                                  {0}};

const heed_family heed_family_gpt2 = {.type = "gpt2",
                                      .kind = HEED_DECODER,
                                      .architectures = architectures,
                                      .prefix = "transformer.",
                                      .defaults = defaults,
                                      .keys = (const heed_key *const[]){keys, NULL},
                                      .finish = finish,
                                      .record = record,
                                      .weights = weights,
                                      .values = heed_decoder_values,
                                      .unused = unused,
                                      .forms = forms};
