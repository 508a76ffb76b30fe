/* qwen2.c: Qwen2 (Yang et al. 2024): Llama with biases on query, key and value, and a window in the
 * upper layers where it is switched on.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

const heed_key heed_qwen_keys[] = {HEED_MAY_OR_NONE("sliding_window", INT, window),
                                   HEED_MAY("use_sliding_window", BOOL, use_window),
                                   HEED_MAY("max_window_layers", INT, first_windowed),
                                   HEED_READ("layer_types", heed_read_layer_types),
                                   {0}};

static void defaults(heed_config *c) {
    heed_llama_defaults(c);
    c->qkv_bias = true;
    c->first_windowed = 28;
}

/* Without "layer_types", the layers from max_window_layers on have a window. */
bool heed_qwen_finish(heed_config *c, heed_error *err) {
    bool listed = c->windowed[0] || c->windowed[1] || c->windowed[2] || c->windowed[3];
    if (!c->use_window)
        c->window = 0;
    for (int64_t i = c->first_windowed; !listed && i >= 0 && i < HEED_WINDOWED; i++)
        c->windowed[i / 64] |= (uint64_t)1 << i % 64;
    return heed_rope_finish(c, err);
}

static const heed_form forms[] = {HEED_LLAMA_GGUF("qwen2", heed_llama_gguf_finish), {0}};

static const heed_architecture architectures[] = {
    {"Qwen2ForCausalLM", HEED_HEAD_VOCAB, false},
    {"Qwen2Model", HEED_HEAD_NONE, false},
    {"Qwen2ForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"Qwen2ForTokenClassification", HEED_HEAD_ROWS, false},
    {0}};

const heed_family heed_family_qwen2 = {
    .type = "qwen2",
    .architectures = architectures,
    .defaults = defaults,
    .keys = (const heed_key *const[]){heed_qwen_keys, heed_llama_keys, heed_rope_keys, NULL},
    .finish = heed_qwen_finish,
    HEED_LLAMA_KIN,
    .forms = forms};
