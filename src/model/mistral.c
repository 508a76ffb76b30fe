/* mistral.c: Mistral 7B (Jiang et al. 2023): Llama with a window: a row sees `sliding_window` keys.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <string.h>

static const heed_key keys[] = {HEED_MAY("sliding_window", INT, window), {0}};

static void defaults(heed_config *c) {
    heed_llama_defaults(c);
    memset(c->windowed, 255, sizeof c->windowed);
}

static const heed_architecture architectures[] = {
    {"MistralForCausalLM", HEED_HEAD_VOCAB, false},
    {"MistralModel", HEED_HEAD_NONE, false},
    {"MistralForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"MistralForTokenClassification", HEED_HEAD_ROWS, false},
    {0}};

const heed_family heed_family_mistral = {
    .type = "mistral",
    .architectures = architectures,
    .defaults = defaults,
    .keys = (const heed_key *const[]){keys, heed_llama_keys, heed_rope_keys, NULL},
    .finish = heed_rope_finish,
    HEED_LLAMA_KIN};
