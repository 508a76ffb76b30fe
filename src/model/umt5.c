/* umt5.c: umT5 (Chung et al. 2023): T5 1.1 whose layers have a table of distances each.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static void defaults(heed_config *c) {
    heed_t5_defaults(c, true);
    c->own_buckets = true;
    c->decoder_start = 0;
}

static const heed_architecture architectures[] = {
    {"UMT5ForConditionalGeneration", HEED_HEAD_VOCAB, false},
    {"UMT5Model", HEED_HEAD_NONE, false},
    {"UMT5EncoderModel", HEED_HEAD_NONE, false},
    {0}};

const heed_family heed_family_umt5 = {.type = "umt5",
                                      .architectures = architectures,
                                      .encoder_alone = "UMT5EncoderModel",
                                      .defaults = defaults,
                                      .finish = heed_t5_finish,
                                      HEED_T5_KIN};
