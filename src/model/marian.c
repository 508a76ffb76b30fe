/* marian.c: Marian (Junczys-Dowmunt et al. 2018) as transformers has it: norms behind each block
 * (Post-LN), half-split sinusoidal positions, one table for source, target and output, a bias on
 * the logits.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

/* What the class of transformers has where config.json leaves a key out. */
static void defaults(heed_config *c) {
    heed_bart_defaults(c);
    c->pad = c->decoder_start = 58100;
    c->bos = -1;
    c->eos = c->forced_eos = 0;
}

static bool finish(heed_config *c, heed_error *err) {
    (void)err;
    heed_bart_finish(c, false);
    return true;
}

static bool expresses(const heed_config *c, char *why, size_t size) {
    return heed_bart_expresses(c, false, why, size);
}

static const heed_architecture architectures[] = {
    {"MarianMTModel", HEED_HEAD_VOCAB, false}, {"MarianModel", HEED_HEAD_NONE, false}, {0}};

const heed_family heed_family_marian = {
    .type = "marian",
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
    .unused = heed_bart_unused};
