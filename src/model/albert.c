/* albert.c: ALBERT (Lan et al. 2020): BERT whose layers share their weights in groups, over tables
 * that are narrower than the layers. A group may hold several layers, run one behind the other.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>
#include <stdio.h>

static const heed_key keys[] = {HEED_MAY("embedding_size", INT, embed_width),
                                HEED_MAY("num_hidden_groups", INT, groups),
                                HEED_MAY("inner_group_num", INT, group_layers),
                                HEED_MAY("classifier_dropout_prob", NUMBER, head_dropout),
                                HEED_KNOWN("down_scale_factor"),
                                HEED_KNOWN("gap_size"),
                                HEED_KNOWN("net_structure_type"),
                                HEED_KNOWN("num_memory_blocks"),
                                {0}};

static void defaults(heed_config *c) {
    heed_bert_defaults(c);
    c->encoder.act = HEED_ACT_GELU_TANH;
    c->encoder.dropout = c->encoder.attention_dropout = 0;
    c->head_dropout = 0.1;
    c->embed_width = 128;
    c->groups = c->group_layers = 1;
    c->bos = 2;
    c->eos = 3;
}

/* From here on a layer is one layer of a group. */
static bool finish(heed_config *c, heed_error *err) {
    int64_t layers = c->encoder.layers;
    if (c->groups < 1 || c->groups > layers || c->group_layers < 1 ||
        c->group_layers > INT32_MAX / (layers > 0 ? layers : 1))
        return heed_fail(err, HEED_VALUE,
                         "%" PRId64 " layers in %" PRId64 " groups of %" PRId64
                         " cannot be: wanted 1 group to one for each layer",
                         layers, c->groups, c->group_layers);
    if (c->embed_width < 1)
        return heed_fail(err, HEED_SHAPE, "embedding_size is %" PRId64, c->embed_width);
    c->encoder.layers = layers * c->group_layers;
    return true;
}

/* Layer i of all has the weights of a layer of a group; nothing is dropped behind its
 * feed-forward. */
static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    heed_stack feed = c->encoder;
    double each = (double)(c->encoder.layers / c->group_layers) / (double)c->groups;
    int64_t turn = i / c->group_layers, group = (int64_t)((double)turn / each);
    char path[80];
    snprintf(path, sizeof path, "encoder.group.%" PRId64 ".layer.%" PRId64, group,
             i % c->group_layers);
    heed_share(b, path);
    feed.dropout = 0;
    x = heed_block_self(b, x, &(heed_self_side){.causal = false}, &c->encoder);
    return heed_block_feed(b, x, &feed);
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    const heed_layers layers = {"encoder", c->encoder.layers, layer, NULL, c};
    heed_outputs out = {.memory = {0}};
    if (!heed_stack_sound(b, &c->encoder))
        return out;
    heed_value x = heed_linear(b, heed_bert_embed(b, c), "project", c->encoder.width, true);
    out.memory = heed_block_layers(b, x, &layers);
    if (c->pooler)
        out.pooled = heed_name(b, heed_bert_pool(b, out.memory, "pooler", HEED_ACT_TANH), "pooled");
    if (c->head == HEED_HEAD_VOCAB)
        heed_bert_masked(b, out.memory, c, c->encoder.act, want, &out);
    heed_record_classes(b, heed_per_sequence(c) ? out.pooled : out.memory, "classifier", c, want,
                        &out);
    return out;
}

static const heed_architecture architectures[] = {
    {"AlbertModel", HEED_HEAD_NONE, true},
    {"AlbertForMaskedLM", HEED_HEAD_VOCAB, false},
    {"AlbertForPreTraining", HEED_HEAD_VOCAB, false}, /* its second head is left out */
    {"AlbertForSequenceClassification", HEED_HEAD_SEQUENCES, true},
    {"AlbertForTokenClassification", HEED_HEAD_ROWS, false},
    {"AlbertForQuestionAnswering", HEED_HEAD_SPAN, false},
    {"AlbertForMultipleChoice", HEED_HEAD_CHOICE, true},
    {0}};

#define GROUP "albert.encoder.albert_layer_groups.*.albert_layers.*."
static const heed_rename weights[] = {
    {"tokens.weight", "albert.embeddings.word_embeddings.weight"},
    {"tokens.weight", "predictions.decoder.weight"},
    {"head.weight", "predictions.decoder.weight"},
    {"types.weight", "albert.embeddings.token_type_embeddings.weight"},
    {"encoder.positions.weight", "albert.embeddings.position_embeddings.weight"},
    {"encoder.embed_norm.*", "albert.embeddings.LayerNorm.*"},
    {"project.*", "albert.encoder.embedding_hidden_mapping_in.*"},
    {"encoder.group.*.layer.*.self.norm.*", GROUP "attention.LayerNorm.*"},
    {"encoder.group.*.layer.*.self.q.*", GROUP "attention.query.*"},
    {"encoder.group.*.layer.*.self.k.*", GROUP "attention.key.*"},
    {"encoder.group.*.layer.*.self.v.*", GROUP "attention.value.*"},
    {"encoder.group.*.layer.*.self.out.*", GROUP "attention.dense.*"},
    {"encoder.group.*.layer.*.feed.norm.*", GROUP "full_layer_layer_norm.*"},
    {"encoder.group.*.layer.*.feed.up.*", GROUP "ffn.*"},
    {"encoder.group.*.layer.*.feed.down.*", GROUP "ffn_output.*"},
    {"pooler.*", "albert.pooler.*"},
    {"masked.transform.*", "predictions.dense.*"},
    {"masked.norm.*", "predictions.LayerNorm.*"},
    {"masked.bias", "predictions.bias"},
    {"masked.bias", "predictions.decoder.bias"},
    {"head.bias", "predictions.decoder.bias"},
    {"classifier.*", "classifier.*"},
    {"span.*", "qa_outputs.*"},
    {NULL, NULL}};

/* A buffer of 0, 1, 2 ..., and heads that the chosen class does not have. */
static const char *const unused[] = {"albert.embeddings.position_ids",
                                     "albert.embeddings.token_type_ids",
                                     "albert.pooler.*",
                                     "sop_classifier.classifier.*",
                                     "predictions.bias",
                                     "predictions.*.*",
                                     NULL};

const heed_family heed_family_albert = {
    .type = "albert",
    .kind = HEED_ENCODER,
    .architectures = architectures,
    .prefix = "albert.",
    .defaults = defaults,
    .keys = (const heed_key *const[]){heed_bert_keys, heed_encoder_keys, keys, NULL},
    .finish = finish,
    .record = record,
    .weights = weights,
    .values = heed_encoder_values,
    .unused = unused};
