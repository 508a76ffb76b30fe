/* gemma.c: Gemma (Gemma Team 2024): Llama with gains of 1 + weight, GELU in its tanh form,
 * embeddings times the root of the width, a head width of its own.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_key keys[] = {HEED_MAY("hidden_activation", ACT, decoder.act),
                                HEED_ONLY("use_bidirectional_attention", "false"),
                                {0}};

static void defaults(heed_config *c) {
    heed_llama_defaults(c);
    c->norm_one_plus = c->scale_embedding = c->tie_output = true;
    c->decoder.act = HEED_ACT_GELU_TANH;
    c->decoder.head_width = 256;
}

/* Old files say "gelu" in hidden_act and mean the tanh form, as transformers reads them. */
static bool finish(heed_config *c, heed_error *err) {
    c->decoder.act = c->decoder.act == HEED_ACT_GELU ? HEED_ACT_GELU_TANH : c->decoder.act;
    return heed_rope_finish(c, err);
}

static const heed_form forms[] = {HEED_LLAMA_GGUF("gemma", heed_llama_gguf_finish), {0}};

static const heed_architecture architectures[] = {
    {"GemmaForCausalLM", HEED_HEAD_VOCAB, false},
    {"GemmaModel", HEED_HEAD_NONE, false},
    {"GemmaForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"GemmaForTokenClassification", HEED_HEAD_ROWS, false},
    {0}};

const heed_family heed_family_gemma = {
    .type = "gemma",
    .architectures = architectures,
    .defaults = defaults,
    .keys = (const heed_key *const[]){keys, heed_llama_keys, heed_rope_keys, NULL},
    .finish = finish,
    HEED_LLAMA_KIN,
    .forms = forms};
