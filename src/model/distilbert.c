/* distilbert.c: DistilBERT (Sanh et al. 2019): half of BERT's layers, no token types, no pooler;
 * its sentences' classes stand on the first row through a layer with ReLU.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

/* Each class has a key of its own for what is dropped before its logits. */
static bool read_dropout(const json_t *value, const char *key, bool wanted, heed_config *c,
                         heed_error *err) {
    if (!json_is_number(value))
        return heed_fail(err, HEED_VALUE, "key '%s' is no number", key);
    if (wanted)
        c->head_dropout = json_number_value(value);
    return true;
}

static bool read_class_dropout(const json_t *value, heed_config *c, heed_error *err) {
    return read_dropout(value, "seq_classif_dropout", heed_per_sequence(c), c, err);
}

static bool read_span_dropout(const json_t *value, heed_config *c, heed_error *err) {
    return read_dropout(value, "qa_dropout", c->head == HEED_HEAD_SPAN, c, err);
}

static const heed_key keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST("dim", INT, encoder.width),
    HEED_MUST("n_layers", INT, encoder.layers),
    HEED_MUST_BOTH("n_heads", INT, encoder.heads, encoder.kv_heads),
    HEED_MUST("hidden_dim", INT, encoder.feed_forward),
    HEED_MAY("activation", ACT, encoder.act),
    HEED_MAY("max_position_embeddings", INT, encoder.max_positions),
    HEED_MAY("dropout", NUMBER, encoder.dropout),
    HEED_MAY("attention_dropout", NUMBER, encoder.attention_dropout),
    HEED_READ("seq_classif_dropout", read_class_dropout),
    HEED_READ("qa_dropout", read_span_dropout),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_KNOWN("sinusoidal_pos_embds"), /* the file holds the table either way */
    HEED_KNOWN("tie_weights_"),
    {0}};

static void defaults(heed_config *c) {
    heed_bert_defaults(c);
    c->types = 0;
    c->head_dropout = c->head == HEED_HEAD_SPAN ? 0.1 : 0.2;
}

static bool finish(heed_config *c, heed_error *err) {
    (void)err;
    if (c->head == HEED_HEAD_ROWS)
        c->head_dropout = c->encoder.dropout;
    return true;
}

/* Nothing is dropped behind attention. */
static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    heed_stack self = c->encoder;
    (void)i;
    self.dropout = 0;
    x = heed_block_self(b, x, &(heed_self_side){.causal = false}, &self);
    return heed_block_feed(b, x, &c->encoder);
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    const heed_layers layers = {"encoder", c->encoder.layers, layer, NULL, c};
    heed_outputs out = {.memory = {0}};
    if (!heed_stack_sound(b, &c->encoder))
        return out;
    heed_value top = out.memory = heed_block_layers(b, heed_bert_embed(b, c), &layers);
    if (c->head == HEED_HEAD_VOCAB)
        heed_bert_masked(b, top, c, c->encoder.act, want, &out);
    if (heed_per_sequence(c))
        top = heed_bert_pool(b, top, "dense", HEED_ACT_RELU);
    if (c->head == HEED_HEAD_SPAN)
        top = heed_dropout(b, top, "top", c->head_dropout);
    heed_record_classes(b, top, "classifier", c, want, &out);
    return out;
}

static const heed_architecture architectures[] = {
    {"DistilBertModel", HEED_HEAD_NONE, false},
    {"DistilBertForMaskedLM", HEED_HEAD_VOCAB, false},
    {"DistilBertForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"DistilBertForTokenClassification", HEED_HEAD_ROWS, false},
    {"DistilBertForQuestionAnswering", HEED_HEAD_SPAN, false},
    {"DistilBertForMultipleChoice", HEED_HEAD_CHOICE, false},
    {0}};

static const heed_rename weights[] = {
    {"tokens.weight", "distilbert.embeddings.word_embeddings.weight"},
    {"tokens.weight", "vocab_projector.weight"},
    {"head.weight", "vocab_projector.weight"},
    {"encoder.positions.weight", "distilbert.embeddings.position_embeddings.weight"},
    {"encoder.embed_norm.*", "distilbert.embeddings.LayerNorm.*"},
    {"encoder.*.self.norm.*", "distilbert.transformer.layer.*.sa_layer_norm.*"},
    {"encoder.*.self.*.*", "distilbert.transformer.layer.*.attention.*_lin.*"},
    {"encoder.*.feed.norm.*", "distilbert.transformer.layer.*.output_layer_norm.*"},
    {"encoder.*.feed.up.*", "distilbert.transformer.layer.*.ffn.lin1.*"},
    {"encoder.*.feed.down.*", "distilbert.transformer.layer.*.ffn.lin2.*"},
    {"masked.transform.*", "vocab_transform.*"},
    {"masked.norm.*", "vocab_layer_norm.*"},
    {"masked.bias", "vocab_projector.bias"},
    {"head.bias", "vocab_projector.bias"},
    {"dense.*", "pre_classifier.*"},
    {"classifier.*", "classifier.*"},
    {"span.*", "qa_outputs.*"},
    {NULL, NULL}};

/* A buffer of 0, 1, 2 ..., and heads that the chosen class does not have. */
static const char *const unused[] = {"distilbert.embeddings.position_ids", "vocab_projector.*",
                                     "vocab_transform.*", "vocab_layer_norm.*", NULL};

const heed_family heed_family_distilbert = {
    .type = "distilbert",
    .kind = HEED_ENCODER,
    .architectures = architectures,
    .prefix = "distilbert.",
    .defaults = defaults,
    .keys = (const heed_key *const[]){keys, heed_encoder_keys, NULL},
    .finish = finish,
    .record = record,
    .weights = weights,
    .values = heed_encoder_values,
    .unused = unused};
