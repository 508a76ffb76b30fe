/* pegasus.c: Pegasus (Zhang et al. 2020) as transformers has it: like Marian with the norm before
 * each block (Pre-LN) and one behind each stack.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

/* What the class of transformers has where config.json leaves a key out. */
static void defaults(heed_config *c) {
    heed_bart_defaults(c);
    c->pad = c->decoder_start = 0;
    c->bos = -1;
    c->eos = c->forced_eos = 1;
}

static bool finish(heed_config *c, heed_error *err) {
    (void)err;
    heed_bart_finish(c, true);
    return true;
}

static bool expresses(const heed_config *c, char *why, size_t size) {
    return heed_bart_expresses(c, true, why, size);
}

/* Of the encoder, of the decoder. */
static const char *const sinusoids[] = {"model.encoder.embed_positions.weight",
                                        "model.decoder.embed_positions.weight", NULL};

static const heed_architecture architectures[] = {
    {"PegasusForConditionalGeneration", HEED_HEAD_VOCAB, false},
    {"PegasusModel", HEED_HEAD_NONE, false},
    {0}};

const heed_family heed_family_pegasus = {
    .type = "pegasus",
    .kind = HEED_ENCODER_DECODER,
    .architectures = architectures,
    .prefix = "model.",
    .defaults = defaults,
    .keys = (const heed_key *const[]){heed_bart_keys, heed_bart_table_keys, NULL},
    .finish = finish,
    .expresses = expresses,
    .record = heed_record_encoder_decoder,
    .weights = heed_bart_weights,
    .values = heed_bart_values,
    .unused = heed_bart_unused,
    .sinusoids = sinusoids};
