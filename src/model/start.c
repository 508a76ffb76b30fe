/* start.c: a model that a training goes on from: opened without numbers, so that the training can
 * be planned first, then given floats of its own, since a mapped file is never written.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

static bool is_own_format(const heed_model *m) {
    return m->names == m->family->weights;
}

heed_model *heed_model_open_sketch(heed_engine *engine, const char *path, const char *folder,
                                   heed_error *err) {
    heed_model *m = heed_model_open_matched(engine, path, err);
    if (!m || is_own_format(m) || !folder)
        return m;
    heed_model_free(m);
    heed_convert_options options = {.to = HEED_TO_FOLDER, .type = "f32", .over = true};
    if (!heed_convert(engine, path, folder, &options, err))
        return NULL;
    return heed_model_open_matched(engine, folder, err);
}

static bool fill(heed_model *m, int64_t i, heed_error *err) {
    heed_weight_entry *e = heed_weights_at(m->weights, i);
    const heed_tensor *t;
    return heed_model_stored(m, i, &t, err) && heed_weights_own(m->weights, e->name, NULL, err) &&
           (!t || heed_tensor_to_f32(t, e->data, err));
}

bool heed_model_fill(heed_model *m, heed_error *err) {
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++)
        if (!fill(m, i, err))
            return false;
    return true;
}

bool heed_model_take_tokenizer(heed_model *m, heed_tokenizer *tokenizer, heed_error *err) {
    heed_tokenizer_free(m->tokenizer);
    m->tokenizer = tokenizer;
    return heed_model_tokenizer_fits(m, err);
}
