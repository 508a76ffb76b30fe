/* trained.c: which weights are trained, and what they begin as.
 *
 * New language models begin as GPT-2 did (Radford et al. 2019, section 2.3; the reference code's
 * deviation of 0.02): normal matrices of deviation 0.02, those that end a residual block divided by
 * the root of the number of such blocks; biases 0, gains 1.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "base/fs.h"
#include "train/trainer.h"

static int64_t numbers_of(heed_weights *w, bool frozen) {
    int64_t n = 0;
    for (int64_t i = 0; i < heed_weights_count(w); i++) {
        const heed_weight_entry *e = heed_weights_at(w, i);
        n += frozen || !e->frozen ? e->rows * e->cols : 0;
    }
    return n;
}

bool heed_choose_trained(heed_model *model, const heed_recipe *recipe, const heed_notes *notes,
                         heed_error *err) {
    const char *only = recipe->train.only;
    heed_weights *w = heed_model_weights(model);
    if (!*only) {
        return true;
    }
    if (!heed_model_train_only(model, only, err)) {
        heed_error_at(err, "train.only");
        return false;
    }
    heed_note(notes, "%" PRId64 " of %" PRId64 " parameters are trained", numbers_of(w, false),
              numbers_of(w, true));
    return true;
}

#define DEVIATION 0.02

static void begin_as_gpt2(heed_model *model) {
    heed_weights *w = heed_model_weights(model);
    double blocks = 2.0 * (double)heed_model_config(model)->decoder.layers;
    for (int64_t i = 0; i < heed_weights_count(w); i++) {
        heed_weight_entry *e = heed_weights_at(w, i);
        bool last =
            heed_ends_in(e->name, ".self.out.weight") || heed_ends_in(e->name, ".feed.down.weight");
        if (!e->vector) {
            e->init = (heed_init){HEED_INIT_NORMAL, last ? DEVIATION / sqrt(blocks) : DEVIATION};
        }
    }
}

bool heed_start_weights(heed_model *model, const heed_recipe *recipe, heed_error *err) {
    if (*recipe->model.from) {
        return heed_model_fill(model, err);
    }
    if (recipe->model.task == HEED_RECIPE_LM) {
        begin_as_gpt2(model);
    }
    return heed_weights_init(heed_model_weights(model), (uint64_t)recipe->train.seed, err);
}
