/* config.c: default settings, and which family can say what a recipe asks for.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <stdio.h>
#include <string.h>

heed_config heed_config_base(void) {
    heed_stack stack = {.width = 512,
                        .layers = 6,
                        .heads = 8,
                        .kv_heads = 8,
                        .feed_forward = 2048,
                        .max_positions = 1024,
                        .act = HEED_ACT_RELU,
                        .bias = true,
                        .eps = 1e-5,
                        .positions = HEED_POSITIONS_SINUSOIDAL,
                        .rope_base = 10000,
                        .buckets = 32,
                        .max_distance = 128,
                        .dropout = 0.1};
    return (heed_config){.family = "marian",
                         .kind = HEED_ENCODER_DECODER,
                         .head = HEED_HEAD_VOCAB,
                         .labels = 2,
                         .encoder = stack,
                         .decoder = stack,
                         .vocab = 8000,
                         .source_vocab = 8000,
                         .share_embeddings = true,
                         .tie_output = true,
                         .scale_embedding = true,
                         .logits_bias = true,
                         .pad = -1,
                         .bos = -1,
                         .eos = -1,
                         .unk = -1,
                         .decoder_start = -1,
                         .forced_eos = -1,
                         .forced_bos = -1,
                         .beam = 1,
                         .max_length = 256,
                         .length_penalty = 1,
                         .repetition_penalty = 1};
}

void heed_single_defaults(heed_config *c) {
    c->encoder.dropout = c->decoder.dropout = 0;
    c->share_embeddings = c->scale_embedding = c->logits_bias = false;
    c->tie_output = true;
}

heed_config heed_config_of(const char *family) {
    const heed_family *f = heed_family_called(family);
    heed_config c = heed_config_base();
    snprintf(c.family, sizeof c.family, "%s", f->type);
    c.kind = f->kind;
    c.head = f->architectures->head;
    if (f->defaults)
        f->defaults(&c);
    return c;
}

static const heed_family *const families[] = {
#define HEED_FAMILY(name) &heed_family_##name,
#include "model/families.def"
#undef HEED_FAMILY
    NULL};

const heed_family *heed_family_at(int i) {
    return families[i];
}

const heed_family *heed_family_called(const char *type) {
    for (int i = 0; families[i]; i++)
        if (!strcmp(families[i]->type, type))
            return families[i];
    return NULL;
}

void heed_config_choose_family(heed_config *config, char *why, size_t size) {
    const heed_family *chosen = NULL;
    why[0] = 0;
    for (int i = 0; !chosen; i++) {
        char obstacle[160] = "";
        if (!families[i]->expresses)
            continue;
        if (families[i]->expresses(config, obstacle, sizeof obstacle))
            chosen = families[i];
        /* Of several obstacles, tell that of the family that agrees about the norms. */
        if (obstacle[0] && !strstr(obstacle, "norms that"))
            snprintf(why, size, "%s", obstacle);
    }
    snprintf(config->family, sizeof config->family, "%s", chosen->type);
}
