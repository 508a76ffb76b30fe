/* roberta.c: RoBERTa (Liu et al. 2019), and what has its shape: BERT whose positions begin behind
 * the pad token's number, so that a table of 514 rows serves 512 tokens.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>

void heed_roberta_defaults(heed_config *c) {
    heed_bert_defaults(c);
    c->pad = 1;
    c->bos = 0;
    c->eos = 2;
}

bool heed_roberta_finish(heed_config *c, heed_error *err) {
    c->encoder.first_position = (int64_t)c->pad + 1;
    if (c->encoder.first_position >= c->encoder.max_positions)
        return heed_fail(err, HEED_VALUE,
                         "max_position_embeddings %" PRId64
                         " leaves no position behind pad_token_id "
                         "%" PRId32,
                         c->encoder.max_positions, c->pad);
    c->encoder.max_positions -= c->encoder.first_position; /* the key counts the table's rows */
    if (c->head == HEED_HEAD_CHOICE)
        c->head_dropout = c->encoder.dropout;
    return heed_bert_finish(c, err);
}

heed_outputs heed_record_roberta(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_outputs out = {.memory = heed_bert_layers(b, heed_bert_embed(b, c), c)};
    heed_value top = out.memory;
    if (c->pooler)
        out.pooled = heed_name(b, heed_bert_pool(b, top, "pooler", HEED_ACT_TANH), "pooled");
    if (c->head == HEED_HEAD_VOCAB)
        heed_bert_masked(b, top, c, HEED_ACT_GELU, want, &out);
    if (c->head == HEED_HEAD_SEQUENCES)
        top = heed_record_first(b, top, HEED_ACT_TANH, c);
    if (c->head == HEED_HEAD_CHOICE)
        top = out.pooled;
    heed_record_classes(b, top, "classifier", c, want, &out);
    return out;
}

const heed_rename heed_roberta_weights[] = {HEED_BERT_WEIGHTS("roberta."),
                                            {"tokens.weight", "lm_head.decoder.weight"},
                                            {"head.weight", "lm_head.decoder.weight"},
                                            {"pooler.*", "roberta.pooler.dense.*"},
                                            {"masked.transform.*", "lm_head.dense.*"},
                                            {"masked.norm.*", "lm_head.layer_norm.*"},
                                            {"masked.bias", "lm_head.bias"},
                                            {"masked.bias", "lm_head.decoder.bias"},
                                            {"head.bias", "lm_head.decoder.bias"},
                                            {"dense.*", "classifier.dense.*"},
                                            {"classifier.*", "classifier.out_proj.*"},
                                            {"classifier.*", "classifier.*"},
                                            {"span.*", "qa_outputs.*"},
                                            {NULL, NULL}};

/* A buffer of 0, 1, 2 ..., and heads that the chosen class does not have. */
const char *const heed_roberta_unused[] = {"roberta.embeddings.position_ids",
                                           "roberta.embeddings.token_type_ids",
                                           "roberta.pooler.dense.*",
                                           "lm_head.bias",
                                           "lm_head.*.*",
                                           NULL};

static const heed_architecture architectures[] = {
    {"RobertaModel", HEED_HEAD_NONE, true},
    {"RobertaForMaskedLM", HEED_HEAD_VOCAB, false},
    {"RobertaForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"RobertaForTokenClassification", HEED_HEAD_ROWS, false},
    {"RobertaForQuestionAnswering", HEED_HEAD_SPAN, false},
    {"RobertaForMultipleChoice", HEED_HEAD_CHOICE, true},
    {0}};

HEED_ROBERTA(roberta, "roberta");
