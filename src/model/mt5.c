/* mt5.c: mT5 (Xue et al. 2021): T5 1.1 over many languages; rows are never scaled before the output
 * matrix.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static void defaults(heed_config *c) {
    heed_t5_defaults(c, true);
    c->decoder_start = 0;
}

static bool finish(heed_config *c, heed_error *err) {
    c->scale_output = false;
    return heed_t5_finish(c, err);
}

static const heed_architecture architectures[] = {
    {"MT5ForConditionalGeneration", HEED_HEAD_VOCAB, false},
    {"MT5Model", HEED_HEAD_NONE, false},
    {"MT5EncoderModel", HEED_HEAD_NONE, false},
    {0}};

const heed_family heed_family_mt5 = {.type = "mt5",
                                     .architectures = architectures,
                                     .encoder_alone = "MT5EncoderModel",
                                     .defaults = defaults,
                                     .finish = finish,
                                     HEED_T5_KIN};
