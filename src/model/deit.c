/* deit.c: DeiT (Touvron et al. 2021): ViT with a distillation token behind the class token, and a
 * class of model whose logits are the mean of a head on each of the two.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

enum { TOKENS = 2 };

static heed_value logits_of(heed_build *b, heed_value x, int64_t row, const char *name,
                            const heed_config *c) {
    return heed_linear(b, heed_pool_row(b, x, row), name, c->labels, true);
}

static void record_both(heed_build *b, const heed_config *c, const heed_want *want,
                        heed_outputs *out) {
    if (want->loss)
        out->loss =
            heed_refuse(b, HEED_VALUE, "a DeiT with two heads has no loss; it is to be used");
    heed_value sum = heed_add(b, logits_of(b, out->memory, 0, "classifier", c),
                              logits_of(b, out->memory, 1, "second", c));
    if (want->logits)
        out->logits = heed_name(b, heed_scale(b, sum, 0.5), "logits");
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_outputs out = heed_vit_record(b, c, TOKENS, want);
    if (!out.memory.id || c->head == HEED_HEAD_NONE)
        return out;
    if (c->two_heads)
        record_both(b, c, want, &out);
    else
        heed_record_classes(b, heed_pool_row(b, out.memory, 0), "classifier", c, want, &out);
    return out;
}

static const heed_architecture architectures[] = {
    {"DeiTModel", HEED_HEAD_NONE, true},
    {"DeiTForImageClassification", HEED_HEAD_SEQUENCES, false},
    {"DeiTForImageClassificationWithTeacher", HEED_HEAD_TWO, false},
    {0}};

static const heed_rename weights[] = {HEED_VIT_NAMES("deit."),
                                      {"distillation.weight", "deit.embeddings.distillation_token"},
                                      {"classifier.*", "classifier.*"},
                                      {"classifier.*", "cls_classifier.*"},
                                      {"second.*", "distillation_classifier.*"},
                                      {0}};

/* Of heads that the chosen class does not have. */
static const char *const unused[] = {"deit.pooler.dense.*", "deit.embeddings.mask_token",
                                     "cls_classifier.*", "distillation_classifier.*", NULL};

const heed_family heed_family_deit = {
    .type = "deit",
    .kind = HEED_ENCODER,
    .architectures = architectures,
    .prefix = "deit.",
    .defaults = heed_vit_defaults,
    .keys = (const heed_key *const[]){heed_picture_keys, heed_vit_keys, NULL},
    .finish = heed_vit_finish,
    .record = record,
    .weights = weights,
    .values = heed_encoder_values,
    .unused = unused};
