/* mbart.c: mBART (Liu et al. 2020): BART over many languages, with the norm before each block and
 * one behind each stack. A sentence's last token names its language: decoder inputs made from
 * labels begin with it.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static void defaults(heed_config *c) {
    heed_bart_defaults(c);
    c->decoder_start = -1;
    c->labels_wrap = true;
}

static bool finish(heed_config *c, heed_error *err) {
    (void)err;
    heed_bart_finish(c, true);
    heed_bart_learned(c);
    return true;
}

static const heed_architecture architectures[] = {
    {"MBartForConditionalGeneration", HEED_HEAD_VOCAB, false},
    {"MBartModel", HEED_HEAD_NONE, false},
    {"MBartForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"MBartForQuestionAnswering", HEED_HEAD_SPAN, false},
    {0}};

const heed_family heed_family_mbart = {
    .type = "mbart",
    .kind = HEED_ENCODER_DECODER,
    .architectures = architectures,
    .prefix = "model.",
    .defaults = defaults,
    .keys = (const heed_key *const[]){heed_bart_keys, heed_bart_learned_keys, NULL},
    .finish = finish,
    .record = heed_record_bart,
    .weights = heed_bart_weights,
    .values = heed_bart_values,
    .unused = heed_bart_unused};
