/* t5.c: T5 (Raffel et al. 2020) and T5 1.1: the norm before each block, RMSNorm, no biases, scores
 * that are not scaled, and one table of distances for all layers of a stack. Heads may be wider or
 * narrower than width / heads. The file decides whether the output has a matrix of its own; the key
 * tie_word_embeddings, whether rows are scaled before it (transformers 5.24).
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Keys ---- */

/* An activation, or "gated-" and one; gated-gelu is the tanh form. */
static bool read_projection(const json_t *value, heed_config *c, heed_error *err) {
    const char *name = json_string_value(value), *act = name;
    bool gated = name && !strncmp(name, "gated-", 6);
    if (gated)
        act = strcmp(name, "gated-gelu") ? name + 6 : "gelu_new";
    if (!act || !heed_act_named(act, &c->encoder.act))
        return heed_fail(err, HEED_VALUE, "key 'feed_forward_proj': '%.40s' is not known here",
                         name ? name : "?");
    c->decoder.act = c->encoder.act;
    c->encoder.gated = c->decoder.gated = gated;
    return true;
}

static bool read_tie(const json_t *value, heed_config *c, heed_error *err) {
    if (!json_is_boolean(value))
        return heed_fail(err, HEED_VALUE, "key 'tie_word_embeddings' is neither true nor false");
    c->scale_output = json_is_true(value);
    return true;
}

const heed_key heed_t5_keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, source_vocab, vocab),
    HEED_MUST_BOTH("d_model", INT, encoder.width, decoder.width),
    HEED_MAY_BOTH("d_kv", INT, encoder.head_width, decoder.head_width),
    HEED_MUST_BOTH("d_ff", INT, encoder.feed_forward, decoder.feed_forward),
    HEED_MUST_BOTH("num_layers", INT, encoder.layers, decoder.layers),
    HEED_MAY("num_decoder_layers", INT, decoder.layers),
    HEED_MUST_BOTH("num_heads", INT, encoder.heads, decoder.heads),
    HEED_MAY_BOTH("relative_attention_num_buckets", INT, encoder.buckets, decoder.buckets),
    HEED_MAY_BOTH("relative_attention_max_distance", INT, encoder.max_distance,
                  decoder.max_distance),
    HEED_MAY_BOTH("dropout_rate", NUMBER, encoder.dropout, decoder.dropout),
    HEED_MAY_BOTH("layer_norm_epsilon", NUMBER, encoder.eps, decoder.eps),
    HEED_READ("feed_forward_proj", read_projection),
    HEED_MAY_BOTH("is_gated_act", BOOL, encoder.gated, decoder.gated),
    HEED_MAY_BOTH("dense_act_fn", ACT, encoder.act, decoder.act),
    HEED_READ("tie_word_embeddings", read_tie),
    HEED_MAY("scale_decoder_outputs", BOOL, scale_output),
    HEED_ONLY("is_decoder", "false"),
    HEED_KNOWN("is_encoder_decoder"), /* the class says it */
    HEED_KNOWN("n_positions"),        /* distances have no end */
    HEED_KNOWN("initializer_factor"),
    HEED_KNOWN("classifier_dropout"),
    HEED_KNOWN("scalable_attention"),
    {0}};

void heed_t5_defaults(heed_config *c, bool gated) {
    heed_stack s = c->encoder;
    s.act = gated ? HEED_ACT_GELU_TANH : HEED_ACT_RELU;
    s.gated = gated;
    s.head_width = 64;
    s.rms = s.pre_norm = s.final_norm = true;
    s.bias = s.embed_norm = false;
    s.eps = 1e-6;
    s.positions = HEED_POSITIONS_T5;
    s.dropout = 0.1;
    c->encoder = c->decoder = s;
    c->pad = 0;
    c->eos = 1;
    c->logits_bias = c->scale_embedding = false;
    c->scale_output = true;
}

static bool finish_stack(heed_stack *s, heed_error *err) {
    s->kv_heads = s->heads;
    s->attention_dropout = s->activation_dropout = s->dropout;
    if (s->heads < 1 || s->head_width < 1 || s->heads > INT32_MAX || s->head_width > INT32_MAX)
        return heed_fail(err, HEED_SHAPE, "%" PRId64 " heads of width %" PRId64 " are none",
                         s->heads, s->head_width);
    return true;
}

bool heed_t5_finish(heed_config *c, heed_error *err) {
    return finish_stack(&c->encoder, err) && finish_stack(&c->decoder, err);
}

void heed_t5_look(const heed_tensors *file, heed_config *c) {
    const heed_tensor *head = heed_tensors_find(file, "lm_head.weight"),
                      *table = heed_tensors_find(file, "shared.weight");
    c->tie_output = !head || !table ||
                    (head->bytes == table->bytes && !memcmp(head->data, table->data, head->bytes));
}

/* ---- Recording ---- */

/* What the layers of one stack need. */
typedef struct {
    const heed_config *c;
    const heed_stack *s;
    heed_value memory, buckets;
    bool causal;
} layers_of;

static heed_value buckets(heed_build *b, const heed_stack *s) {
    return heed_weight(b, "buckets.weight", s->buckets, s->heads,
                       (heed_init){HEED_INIT_NORMAL, 0.1});
}

/* Rows `x` look at rows `at`; o says how. */
static heed_value attend(heed_build *b, heed_value x, heed_value at, const heed_stack *s,
                         heed_attention_options o) {
    int64_t inner = s->heads * s->head_width;
    heed_value q = heed_linear(b, x, "q", inner, false), k = heed_linear(b, at, "k", inner, false),
               v = heed_linear(b, at, "v", inner, false);
    o.heads = s->heads;
    o.scale = 1;
    o.dropout = s->attention_dropout;
    heed_value y = heed_linear(b, heed_attend(b, q, k, v, &o), "out", s->width, false);
    return heed_dropout(b, y, "dropout", s->dropout);
}

static heed_value self(heed_build *b, heed_value x, const layers_of *l) {
    heed_enter(b, "self", -1);
    heed_value h = heed_block_norm(b, x, "norm", l->s);
    heed_attention_options o = {.causal = l->causal,
                                .cache = l->causal ? "self" : NULL,
                                .buckets = l->c->own_buckets ? buckets(b, l->s) : l->buckets,
                                .max_distance = l->s->max_distance};
    x = heed_add(b, x, attend(b, h, h, l->s, o));
    heed_leave(b);
    return x;
}

static heed_value cross(heed_build *b, heed_value x, const layers_of *l) {
    heed_enter(b, "cross", -1);
    heed_value h = heed_block_norm(b, x, "norm", l->s);
    x = heed_add(b, x, attend(b, h, l->memory, l->s, (heed_attention_options){0}));
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const layers_of *l = ctx;
    (void)i;
    x = self(b, x, l);
    if (l->memory.id)
        x = cross(b, x, l);
    return heed_block_feed(b, x, l->s);
}

static heed_value end(heed_build *b, heed_value x, const void *ctx) {
    const layers_of *l = ctx;
    return heed_dropout(b, heed_block_norm(b, x, "norm", l->s), "last", l->s->dropout);
}

static heed_value stack(heed_build *b, heed_value x, const char *name, layers_of *l) {
    if (!heed_stack_fits(b, l->s))
        return (heed_value){0};
    heed_enter(b, name, -1);
    x = heed_dropout(b, x, "dropout", l->s->dropout);
    if (!l->c->own_buckets)
        l->buckets = buckets(b, l->s);
    heed_leave(b);
    return heed_block_layers(b, x, &(heed_layers){name, l->s->layers, layer, end, l});
}

static void record_decoder(heed_build *b, const heed_config *c, heed_value table,
                           const heed_want *want, heed_outputs *out) {
    heed_init init = {HEED_INIT_NORMAL, 0.05};
    heed_space rows = heed_rows(b, "target");
    heed_value y = heed_embed(b, table, heed_input(b, "decoder_input_ids", rows), 1);
    layers_of l = {.c = c, .s = &c->decoder, .memory = out->memory, .causal = true};
    out->hidden = stack(b, y, "decoder", &l);
    if (c->head == HEED_HEAD_NONE)
        return;
    heed_value x = out->hidden;
    if (c->scale_output)
        x = heed_scale(b, x, 1 / sqrt((double)c->decoder.width));
    heed_value head =
        c->tie_output ? table : heed_weight(b, "head.weight", c->vocab, c->decoder.width, init);
    heed_record_vocab(b, x, head, (heed_value){0}, want, out);
}

heed_outputs heed_record_t5(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_outputs out = {.memory = {0}};
    heed_init init = {HEED_INIT_NORMAL, 1};
    heed_value table = heed_weight(b, c->tie_output ? "tokens.weight" : "inputs.weight", c->vocab,
                                   c->encoder.width, init);
    heed_value x = heed_embed(b, table, heed_input(b, "input_ids", heed_rows(b, "source")), 1);
    layers_of l = {.c = c, .s = &c->encoder};
    out.memory = stack(b, x, "encoder", &l);
    if (out.memory.id && c->kind == HEED_ENCODER_DECODER)
        record_decoder(b, c, table, want, &out);
    return out;
}

/* ---- Names ---- */

/* tokens: one table for all; inputs: the output has its own. */
const heed_rename heed_t5_weights[] = {
    {"tokens.weight", "shared.weight"},
    {"tokens.weight", "encoder.embed_tokens.weight"},
    {"tokens.weight", "decoder.embed_tokens.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"inputs.weight", "shared.weight"},
    {"inputs.weight", "encoder.embed_tokens.weight"},
    {"inputs.weight", "decoder.embed_tokens.weight"},
    {"head.weight", "lm_head.weight"},
    {"*.buckets.weight", "*.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"*.*.self.buckets.weight", "*.block.*.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"*.*.self.norm.weight", "*.block.*.layer.0.layer_norm.weight"},
    {"*.*.self.out.weight", "*.block.*.layer.0.SelfAttention.o.weight"},
    {"*.*.self.*.weight", "*.block.*.layer.0.SelfAttention.*.weight"},
    {"*.*.cross.norm.weight", "*.block.*.layer.1.layer_norm.weight"},
    {"*.*.cross.out.weight", "*.block.*.layer.1.EncDecAttention.o.weight"},
    {"*.*.cross.*.weight", "*.block.*.layer.1.EncDecAttention.*.weight"},
    {"encoder.*.feed.norm.weight", "encoder.block.*.layer.1.layer_norm.weight"},
    {"encoder.*.feed.up.weight", "encoder.block.*.layer.1.DenseReluDense.wi.weight"},
    {"encoder.*.feed.up.weight", "encoder.block.*.layer.1.DenseReluDense.wi_1.weight"},
    {"encoder.*.feed.gate.weight", "encoder.block.*.layer.1.DenseReluDense.wi_0.weight"},
    {"encoder.*.feed.down.weight", "encoder.block.*.layer.1.DenseReluDense.wo.weight"},
    {"decoder.*.feed.norm.weight", "decoder.block.*.layer.2.layer_norm.weight"},
    {"decoder.*.feed.up.weight", "decoder.block.*.layer.2.DenseReluDense.wi.weight"},
    {"decoder.*.feed.up.weight", "decoder.block.*.layer.2.DenseReluDense.wi_1.weight"},
    {"decoder.*.feed.gate.weight", "decoder.block.*.layer.2.DenseReluDense.wi_0.weight"},
    {"decoder.*.feed.down.weight", "decoder.block.*.layer.2.DenseReluDense.wo.weight"},
    {"*.norm.weight", "*.final_layer_norm.weight"},
    {NULL, NULL}};

/* A table that the first files of T5 hold and that no code ever read. */
const char *const heed_t5_unused[] = {
    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", NULL};

static void defaults(heed_config *c) {
    heed_t5_defaults(c, false);
}

static const heed_architecture architectures[] = {
    {"T5ForConditionalGeneration", HEED_HEAD_VOCAB, false},
    {"T5WithLMHeadModel", HEED_HEAD_VOCAB, false}, /* its name until 2020 */
    {"T5Model", HEED_HEAD_NONE, false},
    {"T5EncoderModel", HEED_HEAD_NONE, false},
    {0}};

const heed_family heed_family_t5 = {.type = "t5",
                                    .architectures = architectures,
                                    .encoder_alone = "T5EncoderModel",
                                    .defaults = defaults,
                                    .finish = heed_t5_finish,
                                    HEED_T5_KIN};
