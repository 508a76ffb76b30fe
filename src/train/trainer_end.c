/* trainer_end.c: which weights become the model, and its folder.
 * SPDX-License-Identifier: MIT
 */
#include "base/fs.h"
#include "train/trainer.h"

/* The weights of the best checkpoint; the last ones where nothing was validated. */
static bool take_best(heed_trainer *t, const heed_param *params, int64_t count, heed_error *err) {
    int64_t step = t->state.best_at > 0 ? t->state.best_step : t->state.step;
    return step == t->state.step ||
           heed_checkpoint_average(t->host, t->checkpoints, &step, 1, params, count, err);
}

static bool take_average(heed_trainer *t, const heed_param *params, int64_t count,
                         heed_error *err) {
    heed_checkpoints list;
    size_t last = (size_t)t->recipe->train.average_last;
    if (!heed_checkpoint_list(t->host, t->checkpoints, &list, err)) {
        return false;
    }
    size_t n = list.n < last ? list.n : last;
    bool ok = n == 0 || heed_checkpoint_average(t->host, t->checkpoints, list.step + list.n - n, n,
                                                params, count, err);
    heed_free(t->host, list.step);
    return ok;
}

static bool take_weights(heed_trainer *t, heed_error *err) {
    int64_t count;
    const heed_param *params = heed_updater_params(t->updater, &count);
    switch (t->recipe->out.weights) {
    case HEED_RECIPE_WEIGHTS_BEST:
        return take_best(t, params, count, err);
    case HEED_RECIPE_WEIGHTS_AVERAGE:
        return take_average(t, params, count, err);
    default:
        return true;
    }
}

bool heed_trainer_finish(heed_trainer *t, heed_error *err) {
    if (!take_weights(t, err) || !heed_model_save(t->model, t->folder, err)) {
        return false;
    }
    if (t->validator) {
        return heed_trainer_validate(t, "model", HEED_TRAINING_DONE, err);
    }
    heed_trainer_tell(t, &(heed_training_progress){.kind = HEED_TRAINING_DONE});
    return true;
}
