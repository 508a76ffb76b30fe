/* trainer.c: the loop: updates, metrics, validation, checkpoints, and when it is over.
 *
 * What happens after an update depends on the state and the recipe alone (time limits aside), so a
 * resumed training does what the one that was never stopped does.
 * SPDX-License-Identifier: MIT
 */
#include "train/trainer.h"

#include <inttypes.h>

#include "base/error.h"

/* ---- Telling -------------------------------------------------------------------------------- */

static const char *score_name(const heed_recipe *recipe) {
    switch (recipe->train.metric) {
    case HEED_RECIPE_BY_BLEU:
        return "bleu";
    case HEED_RECIPE_BY_CHRF:
        return "chrf";
    default:
        return NULL;
    }
}

/* Seconds until the first limit that can be foreseen. */
static double seconds_left(const heed_trainer *t) {
    double left = -1.0, allowed = 60.0 * t->recipe->train.minutes;
    int64_t here = t->state.step - t->done;
    if (t->updates > 0 && here > 0) {
        double run = heed_trainer_clock() - t->started - t->run_from;
        left = run / (double)here * (double)(t->updates - t->state.step);
    }
    if (allowed > 0.0 && (left < 0.0 || allowed - t->state.seconds < left)) {
        left = allowed > t->state.seconds ? allowed - t->state.seconds : 0.0;
    }
    return left;
}

/* Of the last batch that was taken, from 1; behind an epoch's last one the state is in the next. */
static int64_t epoch_of(const heed_train_state *s) {
    return s->epoch + (s->batch > 0 || s->epoch == 0);
}

void heed_trainer_tell(const heed_trainer *t, heed_training_progress *p) {
    if (!t->options.progress) {
        return;
    }
    p->step = t->state.step;
    p->updates = t->updates;
    p->epoch = epoch_of(&t->state);
    p->seconds = t->state.seconds;
    p->seconds_left = seconds_left(t);
    p->bytes = heed_trainer_need(t).total;
    t->options.progress(t->options.ctx, p);
}

/* ---- Metrics -------------------------------------------------------------------------------- */

static bool log_speed(heed_trainer *t, double tokens_per_second, heed_error *err) {
    heed_metric list[] = {{"seconds", t->state.seconds, false},
                          {"tokens_per_second", tokens_per_second, false}};
    return heed_metrics_add(t->metrics, "speed", t->state.step, list, 2, err);
}

/* One line for the updates since the last one. */
static bool log_updates(heed_trainer *t, double lr, double tokens_per_second, heed_error *err) {
    heed_train_state *s = &t->state;
    heed_metric list[] = {{"epoch", (double)epoch_of(s), true},
                          {"tokens", (double)s->tokens, true},
                          {"loss", s->loss / (double)s->loss_tokens, false},
                          {"lr", lr, false},
                          {"gradient_norm", s->norm / (double)s->norms, false}};
    if (!heed_metrics_add(t->metrics, "train", s->step, list, 5, err)) {
        return false;
    }
    s->loss = s->norm = 0.0;
    s->loss_tokens = s->norms = 0;
    return log_speed(t, tokens_per_second, err);
}

/* ---- Validation and checkpoints ------------------------------------------------------------- */

static void note_best(heed_trainer *t, const heed_validation *v, heed_training_progress *p) {
    heed_train_state *s = &t->state;
    s->validations++;
    s->valid_step = s->step;
    if (s->best_at == 0 || heed_validation_better(t->recipe, v->metric, s->best)) {
        s->best = v->metric;
        s->best_at = s->validations;
        s->best_step = s->step;
        p->best = true;
    }
}

bool heed_trainer_validate(heed_trainer *t, const char *kind, heed_training_kind event,
                           heed_error *err) {
    heed_validation v;
    if (!heed_validate(t->validator, &v, err)) {
        return false;
    }
    heed_training_progress p = {
        .kind = event, .loss = v.loss, .metric = score_name(t->recipe), .score = v.score};
    heed_metric list[] = {{"loss", v.loss, false},
                          {"perplexity", v.perplexity, false},
                          {p.metric ? p.metric : "", v.score, false}};
    if (!heed_metrics_add(t->metrics, kind, t->state.step, list, p.metric ? 3 : 2, err)) {
        return false;
    }
    if (event == HEED_TRAINING_VALID) {
        note_best(t, &v, &p);
        t->saved = false;
    }
    heed_trainer_tell(t, &p);
    return true;
}

bool heed_trainer_save(heed_trainer *t, heed_error *err) {
    int64_t count;
    heed_metrics_size size;
    const heed_param *params = heed_updater_params(t->updater, &count);
    if (!heed_metrics_sync(t->metrics, &size, err)) {
        return false;
    }
    t->state.lines = size.lines;
    t->state.events = size.events;
    heed_checkpoint_rule rule = {.keep = t->recipe->train.keep_last};
    rule.stopped = t->stopped != t->state.step ? t->stopped : 0;
    if (!heed_checkpoint_save(t->host, t->checkpoints, &t->state, params, count, rule, err)) {
        return false;
    }
    t->saved = true;
    heed_trainer_tell(t, &(heed_training_progress){.kind = HEED_TRAINING_SAVED});
    return true;
}

/* ---- The loop ------------------------------------------------------------------------------- */

static bool is_over(const heed_trainer *t) {
    const heed_recipe_train *r = &t->recipe->train;
    const heed_train_state *s = &t->state;
    return (r->steps > 0 && s->step >= r->steps) || (r->epochs > 0 && s->epoch >= r->epochs) ||
           (r->minutes > 0.0 && s->seconds >= 60.0 * r->minutes) ||
           (r->early_stop > 0 && s->best_at > 0 && s->validations - s->best_at >= r->early_stop);
}

/* Every `every` updates, or at the end of each epoch: an update that took fewer batches of this
 * epoch than it takes in all began in the one before. */
static bool is_due(const heed_trainer *t, int64_t every) {
    return every > 0 ? t->state.step % every == 0 : t->state.batch < t->recipe->train.accumulate;
}

/* The place of the next batch; an epoch whose last batch was taken is over. */
static void note_place(heed_trainer *t) {
    heed_feed_place(&t->feed, &t->state.epoch, &t->state.batch);
}

static bool update(heed_trainer *t, heed_error *err) {
    heed_train_state *s = &t->state;
    heed_update_report report;
    double lr = heed_schedule_rate(&t->schedule, s->step + 1), before = heed_trainer_clock();
    if (!heed_update(t->updater, s->step + 1, lr, &report, err)) {
        return false;
    }
    double after = heed_trainer_clock(), rate = (double)report.tokens / (after - before);
    s->step++;
    s->tokens += report.tokens;
    s->loss += report.loss;
    s->loss_tokens += report.tokens;
    s->norm += report.norm;
    s->norms++;
    s->seconds = after - t->started;
    t->saved = false;
    note_place(t);
    if (s->step % t->recipe->train.log_every == 0 && !log_updates(t, lr, rate, err)) {
        return false;
    }
    heed_trainer_tell(t, &(heed_training_progress){.kind = HEED_TRAINING_STEP,
                                                   .loss = report.loss / (double)report.tokens,
                                                   .lr = lr,
                                                   .norm = report.norm,
                                                   .tokens_per_second = rate});
    return true;
}

static bool sample(heed_trainer *t, heed_error *err) {
    heed_buf text = {.host = t->host};
    bool ok = heed_sample(t->model, t->recipe, t->options.cancel, &text, err);
    if (ok) {
        heed_trainer_tell(
            t, &(heed_training_progress){.kind = HEED_TRAINING_SAMPLE, .text = text.data});
    }
    heed_buf_free(&text);
    return ok;
}

/* A validation that found the best so far is saved at once: that checkpoint is kept. The folder
 * holds a model from then on: the best so far, or the last where nothing is validated. */
static bool look_and_save(heed_trainer *t, heed_error *err) {
    const heed_recipe_train *r = &t->recipe->train;
    if (t->validator && is_due(t, r->valid_every) &&
        !heed_trainer_validate(t, "valid", HEED_TRAINING_VALID, err)) {
        return false;
    }
    if (r->sample_every > 0 && t->state.step % r->sample_every == 0 && !sample(t, err)) {
        return false;
    }
    bool best = t->state.best_at > 0 && t->state.best_step == t->state.step;
    if (!best && !is_due(t, r->save_every)) {
        return true;
    }
    return heed_trainer_save(t, err) &&
           ((t->validator && !best) || heed_model_save(t->model, t->folder, err));
}

static bool is_cancelled(const heed_trainer *t) {
    return t->options.cancel && *t->options.cancel;
}

/* A flag may be seen between two updates or in the middle of one, or of a validation: the state is
 * in each case that behind the last whole update, and so is the place of the next batch. */
static bool stop_here(heed_trainer *t, heed_error *err) {
    if ((!t->saved && !heed_trainer_save(t, err)) ||
        !heed_feed_seek(&t->feed, t->state.epoch, t->state.batch, err)) {
        return false;
    }
    return heed_fail(err, HEED_CANCEL,
                     "stopped after update %" PRId64 ", resume goes on from there", t->state.step);
}

/* Was the training stopped in the middle of the validation behind its last update? */
static bool owes_validation(const heed_trainer *t) {
    return t->validator && t->state.step > 0 && t->state.valid_step != t->state.step &&
           is_due(t, t->recipe->train.valid_every);
}

/* The checkpoint that the training goes on from, where one that was never stopped has none: it
 * must not be among those that are kept, or averaged. */
static int64_t stopped_at(const heed_trainer *t) {
    bool has_one = is_due(t, t->recipe->train.save_every) ||
                   (t->state.best_at > 0 && t->state.best_step == t->state.step);
    return t->saved && !has_one ? t->state.step : 0;
}

static bool train(heed_trainer *t, heed_error *err) {
    t->stopped = stopped_at(t);
    if (owes_validation(t) && !look_and_save(t, err)) {
        return false;
    }
    while (!is_over(t)) {
        if (is_cancelled(t)) {
            return heed_fail(err, HEED_CANCEL, "cancelled");
        }
        if (!update(t, err) || !look_and_save(t, err)) {
            return false;
        }
    }
    if (t->validator && t->state.valid_step != t->state.step &&
        !heed_trainer_validate(t, "valid", HEED_TRAINING_VALID, err)) {
        return false;
    }
    return t->saved || heed_trainer_save(t, err);
}

bool heed_trainer_run(heed_trainer *trainer, heed_error *err) {
    heed_trainer *t = trainer;
    heed_metrics_size keep = {.lines = t->state.lines, .events = t->state.events};
    if (t->options.plan_only) {
        return heed_fail(err, HEED_VALUE, "a training that was only planned cannot run");
    }
    t->metrics = heed_metrics_open(t->host, t->folder, t->recipe->out.tensorboard, keep, err);
    if (!t->metrics) {
        return false;
    }
    t->run_from = t->state.seconds;
    t->started = heed_trainer_clock() - t->state.seconds;
    heed_error inner = {0};
    bool ok = train(t, &inner) && heed_trainer_finish(t, &inner);
    if (!ok && inner.code == HEED_CANCEL) {
        stop_here(t, err);
    } else if (!ok) {
        heed_fail(err, inner.code, "%s", inner.text);
    }
    heed_metrics_close(t->metrics);
    t->metrics = NULL;
    return ok;
}
