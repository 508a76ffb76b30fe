/* qwen3.c: Qwen3 (Yang et al. 2025): Llama with a norm on each head's query and key.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static void defaults(heed_config *c) {
    heed_llama_defaults(c);
    c->norm_heads = true;
    c->decoder.head_width = 128;
    c->first_windowed = 28;
}

static const heed_form forms[] = {HEED_LLAMA_GGUF("qwen3", heed_llama_gguf_finish), {0}};

static const heed_architecture architectures[] = {
    {"Qwen3ForCausalLM", HEED_HEAD_VOCAB, false},
    {"Qwen3Model", HEED_HEAD_NONE, false},
    {"Qwen3ForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"Qwen3ForTokenClassification", HEED_HEAD_ROWS, false},
    {0}};

const heed_family heed_family_qwen3 = {
    .type = "qwen3",
    .architectures = architectures,
    .defaults = defaults,
    .keys = (const heed_key *const[]){heed_qwen_keys, heed_llama_keys, heed_rope_keys, NULL},
    .finish = heed_qwen_finish,
    HEED_LLAMA_KIN,
    .forms = forms};
