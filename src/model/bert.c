/* bert.c: BERT (Devlin et al. 2019): an encoder with the norm behind each block, learned positions
 * and token types; a pooler over the first row; heads for masked words and classes.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

/* Without effect on an encoder; transformers once wrote the settings of a search into every
 * file. */
const heed_key heed_encoder_keys[] = {
    HEED_ONLY("is_decoder", "false"),
    HEED_ONLY("add_cross_attention", "false"),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_KNOWN("initializer_range"),
    HEED_KNOWN("sbert_ce_default_activation_function"), /* behind the logits, of another library */
    HEED_KNOWN("eos_token_ids"),
    HEED_KNOWN("num_return_sequences"),
    HEED_KNOWN("repetition_penalty"),
    HEED_KNOWN("temperature"),
    HEED_KNOWN("top_k"),
    HEED_KNOWN("top_p"),
    HEED_KNOWN("use_bfloat16"),
    HEED_KNOWN("xla_device"),
    {0}};

const heed_key heed_bert_keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST("hidden_size", INT, encoder.width),
    HEED_MUST("num_hidden_layers", INT, encoder.layers),
    HEED_MUST_BOTH("num_attention_heads", INT, encoder.heads, encoder.kv_heads),
    HEED_MUST("intermediate_size", INT, encoder.feed_forward),
    HEED_MAY("hidden_act", ACT, encoder.act),
    HEED_MAY("max_position_embeddings", INT, encoder.max_positions),
    HEED_MAY("type_vocab_size", INT, types),
    HEED_MAY("layer_norm_eps", NUMBER, encoder.eps),
    HEED_MAY("hidden_dropout_prob", NUMBER, encoder.dropout),
    HEED_MAY("attention_probs_dropout_prob", NUMBER, encoder.attention_dropout),
    HEED_MAY("classifier_dropout", NUMBER, head_dropout),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("position_embedding_type", "\"absolute\""),
    HEED_KNOWN("directionality"),
    HEED_KNOWN("pooler_fc_size"),
    HEED_KNOWN("pooler_num_attention_heads"),
    HEED_KNOWN("pooler_num_fc_layers"),
    HEED_KNOWN("pooler_size_per_head"),
    HEED_KNOWN("pooler_type"),
    {0}};

void heed_bert_defaults(heed_config *c) {
    heed_single_defaults(c);
    c->encoder.act = HEED_ACT_GELU;
    c->encoder.eps = 1e-12;
    c->encoder.max_positions = 512;
    c->encoder.positions = HEED_POSITIONS_LEARNED;
    c->encoder.embed_norm = true;
    c->encoder.dropout = c->encoder.attention_dropout = 0.1;
    c->head_dropout = -1; /* as the layers' */
    c->types = 2;
    c->pad = 0;
}

bool heed_bert_finish(heed_config *c, heed_error *err) {
    (void)err;
    if (c->head_dropout < 0)
        c->head_dropout = c->encoder.dropout;
    return true;
}

heed_value heed_bert_embed(heed_build *b, const heed_config *c) {
    const heed_stack *s = &c->encoder;
    heed_space rows = heed_rows(b, "source");
    heed_init init = {HEED_INIT_NORMAL, 0.02};
    int64_t width = c->embed_width ? c->embed_width : s->width;
    heed_value tokens = heed_weight(b, "tokens.weight", c->vocab, width, init);
    heed_value x = heed_embed_except(b, tokens, heed_input(b, "input_ids", rows), 1, c->pad);
    if (c->types) {
        heed_value types = heed_weight(b, "types.weight", c->types, width, init);
        x = heed_add(b, x, heed_embed(b, types, heed_input(b, "token_type_ids", rows), 1));
    }
    heed_enter(b, "encoder", -1);
    heed_value table =
        heed_weight(b, "positions.weight", s->max_positions + s->first_position, width, init);
    x = heed_add(b, x, heed_embed_from(b, table, heed_positions(b, rows), s->first_position));
    x = heed_layernorm(b, x, "embed_norm", s->eps);
    x = heed_dropout(b, x, "dropout", s->dropout);
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    (void)i;
    x = heed_block_self(b, x, &(heed_self_side){.causal = false}, &c->encoder);
    return heed_block_feed(b, x, &c->encoder);
}

heed_value heed_bert_layers(heed_build *b, heed_value x, const heed_config *c) {
    if (!heed_stack_sound(b, &c->encoder))
        return (heed_value){0};
    return heed_block_layers(b, x, &(heed_layers){"encoder", c->encoder.layers, layer, NULL, c});
}

heed_value heed_bert_pool(heed_build *b, heed_value x, const char *name, heed_act_kind act) {
    heed_value first = heed_pool_rows(b, x, HEED_POOL_FIRST);
    return heed_act(b, heed_linear(b, first, name, heed_columns(b, x), true), act);
}

void heed_bert_masked(heed_build *b, heed_value x, const heed_config *c, heed_act_kind act,
                      const heed_want *want, heed_outputs *out) {
    heed_init init = {HEED_INIT_NORMAL, 0.02};
    int64_t width = c->embed_width ? c->embed_width : c->encoder.width;
    heed_enter(b, "masked", -1);
    x = heed_act(b, heed_linear(b, x, "transform", width, true), act);
    x = heed_layernorm(b, x, "norm", c->encoder.eps);
    heed_leave(b);
    heed_value table =
        heed_weight(b, c->tie_output ? "tokens.weight" : "head.weight", c->vocab, width, init);
    heed_value bias = heed_weight_vector(b, c->tie_output ? "masked.bias" : "head.bias", c->vocab,
                                         (heed_init){HEED_INIT_ZERO, 0});
    heed_record_vocab(b, x, table, bias, want, out);
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_outputs out = {.memory = heed_bert_layers(b, heed_bert_embed(b, c), c)};
    if (c->pooler)
        out.pooled = heed_name(b, heed_bert_pool(b, out.memory, "pooler", HEED_ACT_TANH), "pooled");
    if (c->head == HEED_HEAD_VOCAB)
        heed_bert_masked(b, out.memory, c, c->encoder.act, want, &out);
    else
        heed_record_classes(b, heed_per_sequence(c) ? out.pooled : out.memory, "classifier", c,
                            want, &out);
    return out;
}

static const heed_architecture architectures[] = {
    {"BertModel", HEED_HEAD_NONE, true},
    {"BertForMaskedLM", HEED_HEAD_VOCAB, false},
    {"BertForPreTraining", HEED_HEAD_VOCAB, false}, /* its second head is left out */
    {"BertForSequenceClassification", HEED_HEAD_SEQUENCES, true},
    {"BertForTokenClassification", HEED_HEAD_ROWS, false},
    {"BertForQuestionAnswering", HEED_HEAD_SPAN, false},
    {"BertForMultipleChoice", HEED_HEAD_CHOICE, true},
    {0}};

static const heed_rename weights[] = {HEED_BERT_WEIGHTS("bert."),
                                      {"tokens.weight", "cls.predictions.decoder.weight"},
                                      {"head.weight", "cls.predictions.decoder.weight"},
                                      {"pooler.*", "bert.pooler.dense.*"},
                                      {"masked.transform.*", "cls.predictions.transform.dense.*"},
                                      {"masked.norm.*", "cls.predictions.transform.LayerNorm.*"},
                                      {"masked.bias", "cls.predictions.bias"},
                                      {"masked.bias", "cls.predictions.decoder.bias"},
                                      {"head.bias", "cls.predictions.decoder.bias"},
                                      {"classifier.*", "classifier.*"},
                                      {"span.*", "qa_outputs.*"},
                                      {NULL, NULL}};

/* A buffer of 0, 1, 2 ..., and heads that the chosen class does not have. */
static const char *const unused[] = {"bert.embeddings.position_ids",
                                     "bert.pooler.dense.*",
                                     "cls.seq_relationship.*",
                                     "cls.predictions.bias",
                                     "cls.predictions.*.*",
                                     "cls.predictions.transform.*.*",
                                     NULL};

/* ---- GGUF: the encoder alone; what stands on it is not stored ---- */

static const heed_key gguf_keys[] = {
    HEED_MUST("block_count", INT, encoder.layers),
    HEED_MUST("context_length", INT, encoder.max_positions),
    HEED_MUST("embedding_length", INT, encoder.width),
    HEED_MUST("feed_forward_length", INT, encoder.feed_forward),
    HEED_MUST_BOTH("attention.head_count", INT, encoder.heads, encoder.kv_heads),
    HEED_MUST("attention.layer_norm_epsilon", NUMBER, encoder.eps),
    HEED_MAY_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST_BE("attention.causal", "false"),
    HEED_KNOWN("pooling_type"), /* what becomes of the rows is asked elsewhere */
    {0}};

static const heed_rename gguf_weights[] = {{"tokens.weight", "token_embd.weight"},
                                           {"types.weight", "token_types.weight"},
                                           {"encoder.positions.weight", "position_embd.weight"},
                                           {"encoder.embed_norm.*", "token_embd_norm.*"},
                                           {"encoder.*.self.norm.*", "blk.*.attn_output_norm.*"},
                                           {"encoder.*.self.out.*", "blk.*.attn_output.*"},
                                           {"encoder.*.self.*.*", "blk.*.attn_*.*"},
                                           {"encoder.*.feed.norm.*", "blk.*.layer_output_norm.*"},
                                           {"encoder.*.feed.*.*", "blk.*.ffn_*.*"},
                                           {NULL, NULL}};

static bool gguf_finish(heed_config *c, const heed_tensors *tensors, heed_error *err) {
    const heed_tensor *types = heed_tensors_find(tensors, "token_types.weight");
    c->types = !types ? 0 : types->rank == 1 ? 1 : types->dim[0];
    return heed_bert_finish(c, err);
}

static const heed_form forms[] = {{.format = "gguf",
                                   .architecture = "bert",
                                   .head = HEED_HEAD_NONE,
                                   .keys = (const heed_key *const[]){gguf_keys, NULL},
                                   .weights = gguf_weights,
                                   .finish = gguf_finish},
                                  {0}};

const heed_family heed_family_bert = {
    .type = "bert",
    .kind = HEED_ENCODER,
    .architectures = architectures,
    .prefix = "bert.",
    .defaults = heed_bert_defaults,
    .keys = (const heed_key *const[]){heed_bert_keys, heed_encoder_keys, NULL},
    .finish = heed_bert_finish,
    .record = record,
    .weights = weights,
    .values = heed_encoder_values,
    .unused = unused,
    .forms = forms};
