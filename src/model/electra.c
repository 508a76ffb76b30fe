/* electra.c: ELECTRA (Clark et al. 2020): BERT over tables that may be narrower than the layers;
 * the discriminator tells for each row whether its token was replaced, the generator fills masked
 * words.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>

static const heed_key keys[] = {HEED_MAY("embedding_size", INT, embed_width),
                                HEED_KNOWN("summary_type"), /* of a class that is not here */
                                HEED_KNOWN("summary_use_proj"),
                                HEED_KNOWN("summary_activation"),
                                HEED_KNOWN("summary_last_dropout"),
                                {0}};

static void defaults(heed_config *c) {
    heed_bert_defaults(c);
    c->embed_width = 128;
}

static bool finish(heed_config *c, heed_error *err) {
    if (c->embed_width < 1)
        return heed_fail(err, HEED_SHAPE, "embedding_size is %" PRId64, c->embed_width);
    return heed_bert_finish(c, err);
}

/* A logit for each row: above 0 where its token was replaced. */
static void marks(heed_build *b, heed_value x, const heed_config *c, const heed_want *want,
                  heed_outputs *out) {
    heed_enter(b, "marks", -1);
    x = heed_linear(b, x, "transform", c->encoder.width, true);
    x = heed_linear(b, heed_act(b, x, c->encoder.act), "out", 1, true);
    heed_leave(b);
    if (want->logits)
        out->logits = heed_name(b, x, "logits");
    if (want->loss)
        out->loss = heed_name(
            b, heed_binary_xent(b, x, heed_input(b, "labels", heed_space_of(b, x))), "loss");
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_value x = heed_bert_embed(b, c);
    if (c->embed_width != c->encoder.width)
        x = heed_linear(b, x, "project", c->encoder.width, true);
    heed_outputs out = {.memory = heed_bert_layers(b, x, c)};
    heed_value top = out.memory;
    if (c->head == HEED_HEAD_VOCAB)
        heed_bert_masked(b, top, c, HEED_ACT_GELU, want, &out);
    if (c->head == HEED_HEAD_MARKS)
        marks(b, top, c, want, &out);
    if (c->head == HEED_HEAD_SEQUENCES)
        top = heed_record_first(b, top, HEED_ACT_GELU, c);
    heed_record_classes(b, top, "classifier", c, want, &out);
    return out;
}

static const heed_architecture architectures[] = {
    {"ElectraModel", HEED_HEAD_NONE, false},
    {"ElectraForPreTraining", HEED_HEAD_MARKS, false},
    {"ElectraForMaskedLM", HEED_HEAD_VOCAB, false},
    {"ElectraForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"ElectraForTokenClassification", HEED_HEAD_ROWS, false},
    {"ElectraForQuestionAnswering", HEED_HEAD_SPAN, false},
    {0}};

static const heed_rename weights[] = {
    HEED_BERT_WEIGHTS("electra."),
    {"tokens.weight", "generator_lm_head.weight"},
    {"head.weight", "generator_lm_head.weight"},
    {"project.*", "electra.embeddings_project.*"},
    {"masked.transform.*", "generator_predictions.dense.*"},
    {"masked.norm.*", "generator_predictions.LayerNorm.*"},
    {"masked.bias", "generator_lm_head.bias"},
    {"head.bias", "generator_lm_head.bias"},
    {"marks.transform.*", "discriminator_predictions.dense.*"},
    {"marks.out.*", "discriminator_predictions.dense_prediction.*"},
    {"dense.*", "classifier.dense.*"},
    {"classifier.*", "classifier.out_proj.*"},
    {"classifier.*", "classifier.*"},
    {"span.*", "qa_outputs.*"},
    {NULL, NULL}};

/* A buffer of 0, 1, 2 ..., and heads that the chosen class does not have. */
static const char *const unused[] = {"electra.embeddings.position_ids",
                                     "electra.embeddings.token_type_ids",
                                     "discriminator_predictions.*.*",
                                     "generator_predictions.*.*",
                                     "generator_lm_head.*",
                                     NULL};

const heed_family heed_family_electra = {
    .type = "electra",
    .kind = HEED_ENCODER,
    .architectures = architectures,
    .prefix = "electra.",
    .defaults = defaults,
    .keys = (const heed_key *const[]){heed_bert_keys, heed_encoder_keys, keys, NULL},
    .finish = finish,
    .record = record,
    .weights = weights,
    .values = heed_encoder_values,
    .unused = unused};
