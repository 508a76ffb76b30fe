/* recipe_check.c: the keys of a recipe against each other, and values that follow from others.
 *
 * What was not written follows what was: a limit in epochs takes away the default limit in updates,
 * a family brings its norm position. What was written is never changed, only refused, at the place
 * that set it.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "train/recipe_check.h"
#include "train/schedule.h"

typedef heed_recipe_checking checking;

static bool blame(const checking *c, const void *field, const void *other) {
    return heed_recipe_blame(c, field, other);
}

static bool is_set(const checking *c, const void *field) {
    return heed_recipe_where(c->r, field) != NULL;
}

bool heed_recipe_blame(const checking *c, const void *field, const void *other) {
    const char *where = heed_recipe_where(c->r, field);
    if (!where && other) {
        where = heed_recipe_where(c->r, other);
    }
    if (where) {
        heed_error_at(c->err, "%s", where);
    }
    return false;
}

bool heed_recipe_multiple(const checking *c, const char *name, const int64_t *whole,
                          const char *part_name, const int64_t *part) {
    if (*whole % *part == 0) {
        return true;
    }
    heed_fail(c->err, HEED_SHAPE, "model.%s %" PRId64 " is not a multiple of model.%s %" PRId64,
              name, *whole, part_name, *part);
    return blame(c, whole, part);
}

/* Pairs of columns turn together, so their number must be even. */
bool heed_recipe_even(const checking *c) {
    const heed_recipe_model *m = &c->r->model;
    bool rotary =
        m->positions == HEED_POSITIONS_ROPE || m->positions == HEED_POSITIONS_ROPE_INTERLEAVED;
    bool waves = m->positions == HEED_POSITIONS_SINUSOIDAL ||
                 m->positions == HEED_POSITIONS_SINUSOIDAL_INTERLEAVED;
    int64_t columns = rotary ? m->width / m->heads : m->width;
    if ((!rotary && !waves) || columns % 2 == 0) {
        return true;
    }
    heed_fail(c->err, HEED_SHAPE, "model.positions needs an even %s, %" PRId64 " is odd",
              rotary ? "width of a head" : "model.width", columns);
    return blame(c, &m->positions, &m->width);
}

/* The first family that can express the model, by the model floor's own judgement. */
static bool check_family(const checking *c) {
    static const char *const names[] = {
        [HEED_RECIPE_MARIAN] = "marian", [HEED_RECIPE_PEGASUS] = "pegasus"};
    heed_recipe_model *m = &c->r->model;
    heed_config config = heed_recipe_config(c->r);
    char why[160];
    heed_config_choose_family(&config, why, sizeof why);
    int fits = HEED_RECIPE_HEED;
    for (int i = HEED_RECIPE_MARIAN; i <= HEED_RECIPE_PEGASUS; i++) {
        fits = strcmp(config.family, names[i]) == 0 ? i : fits;
    }
    if (m->family == HEED_RECIPE_AUTO) {
        m->family = fits;
    }
    if (m->family == HEED_RECIPE_HEED || m->family == fits) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE,
              "model.family %s cannot express this model%s%s%s, the family for it is %s",
              names[m->family], *why ? " (" : "", why, *why ? ")" : "", config.family);
    return blame(c, &m->family, NULL);
}

static bool check_model(const checking *c) {
    heed_recipe_model *m = &c->r->model;
    if (m->kv_heads == 0) {
        m->kv_heads = m->heads;
    }
    if (!is_set(c, &m->norm_position) && m->family == HEED_RECIPE_PEGASUS) {
        m->norm_position = HEED_RECIPE_PRE;
    }
    return heed_recipe_multiple(c, "width", &m->width, "heads", &m->heads) &&
           heed_recipe_multiple(c, "heads", &m->heads, "kv_heads", &m->kv_heads) &&
           heed_recipe_even(c) && check_family(c);
}

static bool check_tokenizer(const checking *c) {
    heed_recipe_text *t = &c->r->tokenizer;
    if (!is_set(c, &t->type) && *t->file) {
        t->type = HEED_RECIPE_FILE;
    }
    if (!t->shared) {
        heed_fail(
            c->err, HEED_VALUE,
            "tokenizer.shared is false, heed trains one tokenizer for both sides: set it to true");
        return blame(c, &t->shared, NULL);
    }
    if ((t->type == HEED_RECIPE_FILE) == (*t->file != '\0')) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE,
              *t->file ? "tokenizer.file is for tokenizer.type file, which is another here"
                       : "tokenizer.type file needs tokenizer.file, the path of a tokenizer.json");
    return blame(c, *t->file ? (const void *)&t->file : (const void *)&t->type, NULL);
}

/* One part's files: two sides, or one TSV, or nothing. */
static bool check_part(const checking *c, const char *part, const char *const *source,
                       const char *const *target, const char *const *both) {
    bool has_source = **source != '\0', has_target = **target != '\0', has_both = **both != '\0';
    if (has_source != has_target) {
        heed_fail(c->err, HEED_VALUE, "data.%s_%s needs data.%s_%s, a corpus has two sides", part,
                  has_source ? "source" : "target", part, has_source ? "target" : "source");
        return blame(c, has_source ? source : target, NULL);
    }
    if (has_both && has_source) {
        heed_fail(c->err, HEED_VALUE, "data.%s is set, and data.%s_source too: one of them", part,
                  part);
        return blame(c, both, source);
    }
    return true;
}

/* Pieces held out by a share, where files name the same part. */
static bool check_split(const checking *c, const char *part, const double *share,
                        const char *const *source, const char *const *both) {
    if (*share <= 0.0 || (**source == '\0' && **both == '\0')) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE,
              "data.split_%s is %g, and files for the same part are given: one of them", part,
              *share);
    return blame(c, share, NULL);
}

static bool check_data(const checking *c) {
    heed_recipe_data *d = &c->r->data;
    if (!check_part(c, "train", &d->train_source, &d->train_target, &d->train) ||
        !check_part(c, "valid", &d->valid_source, &d->valid_target, &d->valid) ||
        !check_part(c, "test", &d->test_source, &d->test_target, &d->test) ||
        !check_split(c, "valid", &d->split_valid, &d->valid_source, &d->valid) ||
        !check_split(c, "test", &d->split_test, &d->test_source, &d->test)) {
        return false;
    }
    if (!*d->train && !*d->train_source) {
        return heed_fail(
            c->err, HEED_VALUE,
            "no training data: set data.train_source and data.train_target, or data.train");
    }
    if (d->split_valid + d->split_test >= 1.0) {
        heed_fail(c->err, HEED_VALUE,
                  "data.split_valid %g and data.split_test %g leave nothing to train on",
                  d->split_valid, d->split_test);
        return blame(c, &d->split_valid, &d->split_test);
    }
    if (d->source_column == d->target_column) {
        heed_fail(c->err, HEED_VALUE, "data.source_column and data.target_column are both %" PRId64,
                  d->source_column);
        return blame(c, &d->source_column, &d->target_column);
    }
    return true;
}

/* `most` holds for a length: an unwritten one gives way, a written one is refused. */
static bool check_length(const checking *c, const char *name, int64_t *length,
                         const char *most_name, const int64_t *most) {
    if (*length <= *most) {
        return true;
    }
    if (!is_set(c, length)) {
        *length = *most;
        return true;
    }
    heed_fail(c->err, HEED_VALUE, "data.%s is %" PRId64 ", more than the %" PRId64 " of %s", name,
              *length, *most, most_name);
    return blame(c, length, NULL);
}

static bool check_lengths(const checking *c) {
    heed_recipe_data *d = &c->r->data;
    const int64_t *rows = &c->r->train.batch_tokens, *positions = &c->r->model.max_positions;
    return check_length(c, "max_source", &d->max_source, "model.max_positions", positions) &&
           check_length(c, "max_target", &d->max_target, "model.max_positions", positions) &&
           check_length(c, "max_source", &d->max_source, "train.batch_tokens", rows) &&
           check_length(c, "max_target", &d->max_target, "train.batch_tokens", rows);
}

static bool check_schedule(const checking *c) {
    heed_recipe_train *t = &c->r->train;
    if (!is_set(c, &t->steps) && (t->epochs > 0 || t->minutes > 0.0)) {
        t->steps = 0;
    }
    if (t->steps == 0 && t->epochs == 0 && t->minutes <= 0.0) {
        heed_fail(c->err, HEED_VALUE, "no end: set train.steps, train.epochs or train.minutes");
        return blame(c, &t->steps, NULL);
    }
    bool inverse = t->schedule == HEED_INVERSE_SQRT;
    bool falls = t->schedule == HEED_COSINE || t->schedule == HEED_LINEAR;
    if (falls && t->steps == 0 && t->epochs == 0) {
        heed_fail(c->err, HEED_VALUE,
                  "this train.schedule falls to an end: set train.steps or train.epochs");
        return blame(c, &t->schedule, NULL);
    }
    if (inverse && t->warmup == 0) {
        heed_fail(c->err, HEED_VALUE, "train.warmup is 0, schedule inverse_sqrt needs at least 1");
        return blame(c, &t->warmup, NULL);
    }
    if (t->lr <= 0.0 && !inverse) {
        heed_fail(c->err, HEED_VALUE,
                  "train.lr is not set, only schedule inverse_sqrt has one of its own");
        return blame(c, &t->lr, &t->schedule);
    }
    if (t->lr <= 0.0) {
        t->lr = heed_schedule_peak(c->r->model.width, t->warmup);
    }
    if (t->min_lr > t->lr) {
        heed_fail(c->err, HEED_VALUE, "train.min_lr %g is above train.lr %g", t->min_lr, t->lr);
        return blame(c, &t->min_lr, &t->lr);
    }
    return true;
}

static bool check_warmup(const checking *c) {
    heed_recipe_train *t = &c->r->train;
    if (t->steps == 0 || t->warmup < t->steps) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE, "train.warmup %" PRId64 " is not below train.steps %" PRId64,
              t->warmup, t->steps);
    return blame(c, &t->warmup, &t->steps);
}

static bool check_validation(const checking *c) {
    const heed_recipe_data *d = &c->r->data;
    const heed_recipe_train *t = &c->r->train;
    if (*d->valid || *d->valid_source || d->split_valid > 0.0) {
        return true;
    }
    const void *wants = t->early_stop > 0 ? (const void *)&t->early_stop : NULL;
    wants = t->metric != HEED_RECIPE_BY_LOSS ? (const void *)&t->metric : wants;
    if (!wants) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE,
              "%s needs validation data: set data.valid_source and data.valid_target, "
              "data.valid or data.split_valid",
              t->metric != HEED_RECIPE_BY_LOSS ? "train.metric" : "train.early_stop");
    return blame(c, wants, NULL);
}

static bool check_average(const checking *c) {
    heed_recipe_train *t = &c->r->train;
    heed_recipe_out *out = &c->r->out;
    if (t->average_last > 1 && !is_set(c, &out->weights)) {
        out->weights = HEED_RECIPE_WEIGHTS_AVERAGE;
    }
    if (out->weights == HEED_RECIPE_WEIGHTS_AVERAGE && t->average_last < 2) {
        heed_fail(c->err, HEED_VALUE,
                  "out.weights average needs train.average_last of 2 or more, it is %" PRId64,
                  t->average_last);
        return blame(c, &out->weights, &t->average_last);
    }
    if (t->average_last > t->keep_last && !is_set(c, &t->keep_last)) {
        t->keep_last = t->average_last;
    }
    if (t->average_last > t->keep_last) {
        heed_fail(c->err, HEED_VALUE,
                  "train.average_last %" PRId64 " is more than train.keep_last %" PRId64,
                  t->average_last, t->keep_last);
        return blame(c, &t->average_last, &t->keep_last);
    }
    return true;
}

static bool check_out(const checking *c) {
    if (*c->r->out.folder) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE, "out.folder is empty, must be the folder of the model");
    return blame(c, &c->r->out.folder, NULL);
}

/* The last part of what holds for both tasks. */
static bool check_rest(const checking *c) {
    return check_schedule(c) && check_warmup(c) && check_average(c) && check_out(c);
}

bool heed_recipe_finish(heed_recipe *recipe, heed_error *err) {
    checking c = {.r = recipe, .err = err};
    heed_recipe_model *m = &recipe->model;
    if (!is_set(&c, &m->task) && (*recipe->data.text || *m->from)) {
        m->task = HEED_RECIPE_LM;
    }
    if (m->task == HEED_RECIPE_LM) {
        return heed_recipe_check_lm(&c) && check_rest(&c);
    }
    return heed_recipe_check_pairs(&c) && check_model(&c) && check_tokenizer(&c) &&
           check_data(&c) && check_lengths(&c) && check_validation(&c) && check_rest(&c);
}
