/* trainer_open.c: from a recipe to a training that is ready to run.
 *
 * Everything that the recipe, the data, the folder or memory can be wrong about fails here, before
 * the first update.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fs.h"
#include "graph/op.h"
#include "train/recipe_value.h"
#include "train/trainer.h"

double heed_trainer_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The recipe ----------------------------------------------------------------------------- */

static bool read_recipe(heed_trainer *t, heed_error *err) {
    const heed_training_options *o = &t->options;
    t->recipe = heed_recipe_new(t->host, err);
    if (!t->recipe || (o->recipe && !heed_recipe_read(t->recipe, o->recipe, err))) {
        return false;
    }
    for (int64_t i = 0; i < o->n_settings; i++) {
        if (!heed_recipe_set(t->recipe, o->settings[i], err)) {
            return false;
        }
    }
    return heed_recipe_finish(t->recipe, err);
}

/* Keys that make it another training when they change. */
static bool is_fixed(const heed_recipe_key *key) {
    static const char *const names[] = {
        "seed",   "optimizer", "batch_tokens", "accumulate", "label_smoothing",
        "metric", "context",   "only"};
    if (strcmp(key->section, "train") != 0) {
        return strcmp(key->section, "model") == 0 || strcmp(key->section, "tokenizer") == 0 ||
               strcmp(key->section, "data") == 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(key->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool compare_key(const heed_trainer *t, const heed_recipe *old, const heed_recipe_key *key,
                        heed_error *err) {
    heed_buf was = {.host = t->host}, is = {.host = t->host};
    heed_recipe_print_value(old, key, &was);
    heed_recipe_print_value(t->recipe, key, &is);
    bool ok = !was.failed && !is.failed;
    if (!ok) {
        heed_fail(err, HEED_NOMEM, "out of memory for the recipe");
    } else if (strcmp(was.data, is.data) != 0) {
        ok = heed_fail(err, HEED_VALUE,
                       "%s.%s was %s in the training of '%s', it is %s now: "
                       "resume with the same, or start over",
                       key->section, key->name, was.data, t->folder, is.data);
    }
    heed_buf_free(&was);
    heed_buf_free(&is);
    return ok;
}

/* A resumed training must be the same one: compares with the recipe in its folder. */
static bool compare_recipes(heed_trainer *t, heed_error *err) {
    char path[HEED_FOLDER_PATH];
    size_t count;
    const heed_recipe_key *key = heed_recipe_keys(&count);
    if (!heed_join_path(path, sizeof path, t->folder, "recipe.yaml", err)) {
        return false;
    }
    heed_recipe *old = heed_recipe_new(t->host, err);
    bool ok = old && heed_recipe_read(old, path, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = !is_fixed(&key[i]) || compare_key(t, old, &key[i], err);
    }
    heed_recipe_free(old);
    return ok;
}

/* ---- The folder ----------------------------------------------------------------------------- */

/* Checkpoints in the folder: refused, to be taken away, or the reason to resume. */
static bool look_at_folder(heed_trainer *t, bool *resumes, heed_error *err) {
    heed_checkpoints list;
    if (!heed_join_path(t->folder, sizeof t->folder, "", t->recipe->out.folder, err) ||
        !heed_join_path(t->checkpoints, sizeof t->checkpoints, t->folder, "checkpoints", err) ||
        !heed_checkpoint_list(t->host, t->checkpoints, &list, err)) {
        return false;
    }
    int64_t newest = list.n > 0 ? list.step[list.n - 1] : 0;
    heed_free(t->host, list.step);
    *resumes = list.n > 0 && t->options.start == HEED_START_RESUME;
    if (list.n == 0 || *resumes || t->options.plan_only) {
        return true;
    }
    if (t->options.start == HEED_START_OVER) {
        return true; /* they go when nothing else can fail any more */
    }
    return heed_fail(err, HEED_VALUE,
                     "'%s' holds a training at update %" PRId64
                     ": resume it, start over, or set out.folder to another folder",
                     t->folder, newest);
}

/* The folder gets what a resume needs: the recipe, and the tokenizer as it was learnt; old
 * checkpoints go where the training starts over. */
static bool prepare_folder(heed_trainer *t, heed_error *err) {
    char recipe[HEED_FOLDER_PATH], tokenizer[HEED_FOLDER_PATH];
    bool over = t->options.start == HEED_START_OVER;
    heed_checkpoint_rule none = {.newest = INT64_MAX};
    return heed_make_folder(t->folder, err) &&
           (!over || heed_checkpoint_prune(t->host, t->checkpoints, none, err)) &&
           heed_join_path(recipe, sizeof recipe, t->folder, "recipe.yaml", err) &&
           heed_join_path(tokenizer, sizeof tokenizer, t->folder, "tokenizer.json", err) &&
           (*t->recipe->model.from || /* which is opened again */
            heed_tokenizer_save(heed_model_tokenizer(t->model), tokenizer, err)) &&
           heed_recipe_write(t->recipe, recipe, err);
}

/* ---- The parts ------------------------------------------------------------------------------ */

static bool make_engine(heed_trainer *t, heed_error *err) {
    int threads = t->options.threads > 0 ? t->options.threads : (int)t->recipe->train.threads;
    t->engine = heed_engine_new(t->host, threads, t->options.isa, err);
    return t->engine != NULL;
}

static bool make_updater(heed_trainer *t, bool plan_only, heed_error *err) {
    const heed_recipe_train *r = &t->recipe->train;
    heed_update_options options = {.seed = (uint64_t)r->seed,
                                   .accumulate = r->accumulate,
                                   .smoothing = r->label_smoothing,
                                   .recompute = r->recompute,
                                   .plan_only = plan_only,
                                   .cancel = t->options.cancel};
    heed_optimizer_options optimizer = {.beta1 = r->beta1,
                                        .beta2 = r->beta2,
                                        .eps = r->eps,
                                        .weight_decay = r->weight_decay,
                                        .decoupled = r->optimizer == HEED_RECIPE_ADAMW,
                                        .clip = r->clip};
    t->updater = heed_updater_new(t->model, t->feed, &options, &optimizer, err);
    if (!t->updater || !heed_recipe_validates(t->recipe)) {
        return t->updater != NULL;
    }
    t->validator = t->feed.pairs ? heed_validator_new(t->model, &t->corpus, t->recipe,
                                                      t->options.cancel, plan_only, err)
                                 : heed_validator_of_texts(t->model, &t->texts.valid, t->recipe,
                                                           t->options.cancel, plan_only, err);
    return t->validator != NULL;
}

static bool fits(const heed_trainer *t, heed_error *err) {
    size_t limit = t->options.limit ? t->options.limit : heed_most_bytes();
    size_t need = heed_trainer_need(t).total;
    return limit == 0 || need <= limit ||
           heed_fail(err, HEED_LIMIT,
                     "the training takes %.1f MiB and may take %.1f MiB; use smaller batches",
                     (double)need / 1048576.0, (double)limit / 1048576.0);
}

/* Measures what it would take before it takes it. */
static bool take_memory(heed_trainer *t, heed_error *err) {
    if (!make_updater(t, true, err) || !heed_sample_bytes(t->model, t->recipe, &t->sampling, err) ||
        !fits(t, err)) {
        return false;
    }
    if (t->options.plan_only) {
        return true;
    }
    heed_validator_free(t->validator);
    heed_updater_free(t->updater);
    t->validator = NULL;
    t->updater = NULL;
    return heed_start_weights(t->model, t->recipe, err) && make_updater(t, false, err);
}

/* The end in updates: the first of the recipe's limits that can be said in updates. */
static void make_schedule(heed_trainer *t) {
    const heed_recipe_train *r = &t->recipe->train;
    int64_t by_epochs = r->epochs * t->an_epoch;
    t->updates = r->steps;
    if (by_epochs > 0 && (t->updates == 0 || by_epochs < t->updates)) {
        t->updates = by_epochs;
    }
    t->schedule = (heed_schedule){.kind = (heed_schedule_kind)r->schedule,
                                  .peak = r->lr,
                                  .floor = r->min_lr,
                                  .warmup = r->warmup,
                                  .total = t->updates};
}

static bool resume(heed_trainer *t, heed_error *err) {
    bool found;
    int64_t damaged, count;
    const heed_param *params = heed_updater_params(t->updater, &count);
    if (!heed_checkpoint_resume(t->host, t->checkpoints, &t->state, params, count, &found, &damaged,
                                err)) {
        return false;
    }
    if (damaged > 0) {
        heed_note(&t->notes, "%" PRId64 " damaged checkpoints were passed over", damaged);
    }
    t->state.seed = t->recipe->train.seed; /* compared with the old recipe's before */
    t->done = t->state.step;
    t->saved = found;
    return heed_feed_seek(&t->feed, t->state.epoch, t->state.batch, err);
}

static bool measure(heed_trainer *t, heed_error *err) {
    double start = heed_trainer_clock();
    if (!heed_updater_probe(t->updater, t->state.step + 1, err)) {
        return false;
    }
    t->batch_seconds = heed_trainer_clock() - start;
    return true;
}

static bool read_data(heed_trainer *t, bool resumes, heed_error *err) {
    bool pairs = t->recipe->model.task == HEED_RECIPE_PAIRS;
    if (pairs ? !heed_trainer_read_pairs(t, resumes, err)
              : !heed_trainer_read_texts(t, resumes, err)) {
        return false;
    }
    if (t->recipe->train.precision == HEED_RECIPE_BF16) {
        heed_weights_compute(heed_model_weights(t->model), HEED_COMPUTE_BF16);
    }
    int64_t batches = heed_feed_next(&t->feed)->count;
    t->an_epoch = (batches + t->recipe->train.accumulate - 1) / t->recipe->train.accumulate;
    if (!heed_feed_seek(&t->feed, 0, 0, err) ||
        !heed_choose_trained(t->model, t->recipe, &t->notes, err)) {
        return false;
    }
    t->reading = t->tally.most;
    t->data = t->tally.live;
    return true;
}

static bool open_all(heed_trainer *t, heed_error *err) {
    bool resumes;
    if (!read_recipe(t, err) || !look_at_folder(t, &resumes, err) ||
        (resumes && !compare_recipes(t, err)) || !make_engine(t, err) ||
        !read_data(t, resumes, err) || !take_memory(t, err)) {
        return false;
    }
    make_schedule(t);
    t->state.seed = t->recipe->train.seed;
    if (t->options.plan_only) {
        return true;
    }
    return (!resumes || resume(t, err)) && measure(t, err) && prepare_folder(t, err);
}

heed_trainer *heed_trainer_new(const heed_training_options *options, heed_error *err) {
    heed_trainer *t = heed_alloc(options->host, 1, sizeof *t, err);
    if (!t) {
        return NULL;
    }
    heed_tally_init(&t->tally, options->host);
    t->host = &t->tally.host;
    t->options = *options;
    t->notes = (heed_notes){.note = options->note, .ctx = options->ctx};
    if (open_all(t, err)) {
        t->options.recipe = NULL;
        t->options.settings = NULL;
        return t;
    }
    heed_trainer_free(t);
    return NULL;
}

void heed_trainer_free(heed_trainer *trainer) {
    if (!trainer) {
        return;
    }
    const heed_host *host = trainer->tally.behind;
    heed_metrics_close(trainer->metrics);
    heed_validator_free(trainer->validator);
    heed_updater_free(trainer->updater);
    heed_batches_free(trainer->feed.pairs);
    heed_windows_free(trainer->feed.texts);
    heed_model_free(trainer->model);
    heed_corpus_free(&trainer->corpus);
    heed_texts_free(&trainer->texts);
    heed_engine_free(trainer->engine);
    heed_recipe_free(trainer->recipe);
    heed_free(host, trainer);
}

heed_need heed_trainer_need(const heed_trainer *t) {
    heed_need need = heed_updater_need(t->updater);
    need.validation = (t->validator ? heed_validator_bytes(t->validator) : 0) + t->sampling;
    need.data = t->data;
    need.total += need.validation + need.data;
    need.total = need.total > t->reading ? need.total : t->reading;
    return need;
}

heed_training_outlook heed_trainer_look(const heed_trainer *trainer) {
    const heed_trainer *t = trainer;
    double batches = (double)((t->updates - t->state.step) * t->recipe->train.accumulate);
    double seconds = t->updates > 0 ? batches * t->batch_seconds : 0.0;
    double allowed = 60.0 * t->recipe->train.minutes;
    if (allowed > 0.0 && (t->updates == 0 || allowed - t->state.seconds < seconds)) {
        seconds = allowed - t->state.seconds;
    }
    return (heed_training_outlook){
        .folder = t->folder,
        .family = heed_model_config(t->model)->family,
        .parameters = heed_model_parameters(t->model),
        .vocab = heed_model_config(t->model)->vocab,
        .pairs = t->feed.pairs ? heed_batches_report(t->feed.pairs).kept : 0,
        .documents = t->texts.documents,
        .source_tokens = t->corpus.source_tokens,
        .target_tokens =
            t->feed.pairs ? t->corpus.target_tokens : heed_windows_report(t->feed.texts).rows,
        .updates = t->updates,
        .updates_an_epoch = t->an_epoch,
        .done = t->done,
        .start_loss = log((double)heed_model_config(t->model)->vocab),
        .need = heed_trainer_need(t),
        .seconds = seconds > 0.0 ? seconds : 0.0};
}
