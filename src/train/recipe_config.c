/* recipe_config.c: a recipe's model as the model floor wants it.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "train/recipe.h"

static heed_stack stack_of(const heed_recipe_model *m, heed_stack stack, int64_t layers) {
    stack.width = m->width;
    stack.layers = layers;
    stack.heads = m->heads;
    stack.kv_heads = m->kv_heads;
    stack.feed_forward = m->feed_forward;
    stack.max_positions = m->max_positions;
    stack.act = (heed_act_kind)m->activation;
    stack.gated = m->gated;
    stack.rms = m->norm == HEED_RECIPE_RMSNORM;
    stack.pre_norm = m->norm_position == HEED_RECIPE_PRE;
    stack.final_norm = stack.pre_norm;
    stack.positions = (heed_position_kind)m->positions;
    stack.dropout = m->dropout;
    stack.attention_dropout = m->attention_dropout;
    stack.activation_dropout = m->activation_dropout;
    return stack;
}

/* A decoder of its family; what the family has fixed is heed_config_of's. */
static heed_config decoder_of(const heed_recipe_model *m) {
    heed_config c = heed_config_of(m->family == HEED_RECIPE_LLAMA ? "llama" : "gpt2");
    heed_stack own = stack_of(m, c.decoder, m->layers);
    own.pre_norm = c.decoder.pre_norm;
    own.final_norm = c.decoder.final_norm;
    c.decoder = own;
    c.embed_dropout = m->family == HEED_RECIPE_GPT2 ? m->dropout : 0.0;
    c.tie_output = m->tie != HEED_RECIPE_TIE_NONE;
    return c;
}

heed_config heed_recipe_config(const heed_recipe *recipe) {
    static const char *const families[] = {[HEED_RECIPE_AUTO] = "heed",
                                           [HEED_RECIPE_MARIAN] = "marian",
                                           [HEED_RECIPE_PEGASUS] = "pegasus",
                                           [HEED_RECIPE_HEED] = "heed"};
    const heed_recipe_model *m = &recipe->model;
    const heed_recipe_translate *t = &recipe->translate;
    if (m->task == HEED_RECIPE_LM) {
        return decoder_of(m);
    }
    heed_config c = heed_config_base();
    c.encoder = stack_of(m, c.encoder, m->encoder_layers);
    c.decoder = stack_of(m, c.decoder, m->decoder_layers);
    snprintf(c.family, sizeof c.family, "%s", families[m->family]);
    c.share_embeddings = m->tie == HEED_RECIPE_TIE_ALL;
    c.tie_output = m->tie != HEED_RECIPE_TIE_NONE;
    c.scale_embedding = m->scale_embedding;
    c.beam = t->beam;
    c.length_penalty = t->length_penalty;
    c.min_length = t->min_length;
    /* A translation may be twice as long as the longest that was trained on. */
    int64_t longest = 2 * recipe->data.max_target;
    c.max_length = longest < m->max_positions ? longest : m->max_positions;
    return c;
}
