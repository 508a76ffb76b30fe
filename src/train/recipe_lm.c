/* recipe_lm.c: the keys of a recipe for a language model, checked against each other.
 *
 * Values that were not written follow the family and the context; keys that have no say in the
 * task are refused where they hold another value than their default, so that a recipe that was
 * written out with every key reads back.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "train/recipe_check.h"

typedef heed_recipe_checking checking;

static bool is_set(const checking *c, const void *field) {
    return heed_recipe_where(c->r, field) != NULL;
}

/* ---- Keys of the other task ---- */

static bool is_default(const checking *c, const heed_recipe *plain, const heed_recipe_key *key) {
    heed_buf is = {.host = c->r->host}, was = {.host = c->r->host};
    heed_recipe_print_value(c->r, key, &is);
    heed_recipe_print_value(plain, key, &was);
    bool same = !is.failed && !was.failed && strcmp(is.data, was.data) == 0;
    heed_buf_free(&is);
    heed_buf_free(&was);
    return same;
}

/* Refuses each key of the list ("section.name") that was set to something else than its default. */
static bool refuse_keys(const checking *c, const char *const *list, const char *why) {
    heed_recipe *plain = heed_recipe_new(c->r->host, c->err);
    bool ok = plain != NULL;
    for (; ok && *list; list++) {
        const heed_recipe_key *key = heed_recipe_find(*list, strlen(*list));
        const void *field = (const char *)c->r + key->offset;
        if (is_set(c, field) && !is_default(c, plain, key)) {
            heed_fail(c->err, HEED_VALUE, "%s %s", *list, why);
            ok = heed_recipe_blame(c, field, NULL);
        }
    }
    heed_recipe_free(plain);
    return ok;
}

bool heed_recipe_check_pairs(const checking *c) {
    static const char *const of_text[] = {
        "model.from",    "model.layers", "data.text", "data.valid_text",    "data.text_column",
        "data.document", "data.match",   "data.join", "train.sample_every", NULL};
    const heed_recipe *r = c->r;
    if (!refuse_keys(c, of_text, "is for model.task lm, which is pairs here")) {
        return false;
    }
    if (r->model.family == HEED_RECIPE_GPT2 || r->model.family == HEED_RECIPE_LLAMA) {
        heed_fail(c->err, HEED_VALUE, "model.family %s is a language model: set model.task lm",
                  r->model.family == HEED_RECIPE_GPT2 ? "gpt2" : "llama");
        return heed_recipe_blame(c, &r->model.family, NULL);
    }
    if (r->data.split_by > HEED_RECIPE_BY_SOURCE) {
        heed_fail(c->err, HEED_VALUE, "data.split_by is for pairs target or source");
        return heed_recipe_blame(c, &r->data.split_by, NULL);
    }
    if (r->tokenizer.type == HEED_RECIPE_OF_MODEL) {
        heed_fail(c->err, HEED_VALUE, "tokenizer.type model is for model.from, which is not set");
        return heed_recipe_blame(c, &r->tokenizer.type, NULL);
    }
    return true;
}

static bool check_others(const checking *c) {
    static const char *const of_pairs[] = {
        "model.encoder_layers", "model.decoder_layers", "model.scale_embedding",
        "data.train_source",    "data.train_target",    "data.valid_source",
        "data.valid_target",    "data.test_source",     "data.test_target",
        "data.train",           "data.valid",           "data.test",
        "data.split_test",      "data.max_source",      "data.max_target",
        "data.on_long",         "train.metric",         NULL};
    return refuse_keys(c, of_pairs, "is for model.task pairs, which is lm here");
}

/* ---- The model ---- */

/* What a family has, where others have a choice. */
typedef struct {
    const char *name;
    int norm, positions, activation;
    bool gated, dropout;
} shape;

static const shape GPT2 = {
    "gpt2", HEED_RECIPE_LAYERNORM, HEED_POSITIONS_LEARNED, HEED_ACT_GELU_TANH, false, true};
static const shape LLAMA = {"llama", HEED_RECIPE_RMSNORM, HEED_POSITIONS_ROPE, HEED_ACT_SILU, true,
                            false};

/* A choice that the family has made: the value follows where none was written, else it is refused
 * unless it is that one. */
static bool follow(const checking *c, const shape *s, int *field, int wanted, const char *key,
                   const char *const *names) {
    if (!is_set(c, field)) {
        *field = wanted;
    }
    if (*field == wanted) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE, "model.%s is %s, model.family %s has %s", key, names[*field],
              s->name, names[wanted]);
    return heed_recipe_blame(c, field, &c->r->model.family);
}

static bool follow_shape(const checking *c, const shape *s) {
    static const char *const norms[] = {
        [HEED_RECIPE_LAYERNORM] = "layernorm", [HEED_RECIPE_RMSNORM] = "rmsnorm"};
    static const char *const places[] = {[HEED_RECIPE_POST] = "post", [HEED_RECIPE_PRE] = "pre"};
    heed_recipe_model *m = &c->r->model;
    if (!follow(c, s, &m->norm, s->norm, "norm", norms) ||
        !follow(c, s, &m->norm_position, HEED_RECIPE_PRE, "norm_position", places) ||
        !follow(c, s, &m->positions, s->positions, "positions", heed_position_names)) {
        return false;
    }
    if (!is_set(c, &m->activation)) {
        m->activation = s->activation;
    }
    if (!is_set(c, &m->gated)) {
        m->gated = s->gated;
    }
    if (m->gated != s->gated) {
        heed_fail(c->err, HEED_VALUE, "model.gated is %s, model.family %s has %s",
                  m->gated ? "true" : "false", s->name, s->gated ? "gates" : "none");
        return heed_recipe_blame(c, &m->gated, &m->family);
    }
    return true;
}

static bool check_dropout(const checking *c, const shape *s) {
    heed_recipe_model *m = &c->r->model;
    if (!s->dropout && !is_set(c, &m->dropout)) {
        m->dropout = 0.0;
    }
    const double *bad = !s->dropout && m->dropout > 0.0 ? &m->dropout
                        : m->activation_dropout > 0.0   ? &m->activation_dropout
                                                        : NULL;
    if (!bad) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE, "model.%s is %g, model.family %s has no such dropout",
              bad == &m->dropout ? "dropout" : "activation_dropout", *bad, s->name);
    return heed_recipe_blame(c, bad, NULL);
}

enum { FEED_STEP = 32 };

/* Four times the width; two thirds of that with gates, which have three matrices for two (Shazeer
 * 2020). */
static void fill_sizes(const checking *c, const shape *s) {
    heed_recipe_model *m = &c->r->model;
    if (m->kv_heads == 0) {
        m->kv_heads = m->heads;
    }
    if (!is_set(c, &m->feed_forward)) {
        m->feed_forward =
            s->gated ? (8 * m->width / 3 + FEED_STEP - 1) / FEED_STEP * FEED_STEP : 4 * m->width;
    }
    if (!is_set(c, &m->max_positions)) {
        m->max_positions = c->r->train.context;
    }
    if (!is_set(c, &m->tie)) {
        m->tie = HEED_RECIPE_TIE_OUTPUT;
    }
    if (m->tie == HEED_RECIPE_TIE_ALL) {
        m->tie = HEED_RECIPE_TIE_OUTPUT;
    }
}

static bool check_new_model(const checking *c) {
    heed_recipe_model *m = &c->r->model;
    if (m->family == HEED_RECIPE_AUTO) {
        m->family = HEED_RECIPE_GPT2;
    }
    if (m->family != HEED_RECIPE_GPT2 && m->family != HEED_RECIPE_LLAMA) {
        heed_fail(c->err, HEED_VALUE, "model.family of a language model is gpt2 or llama");
        return heed_recipe_blame(c, &m->family, &m->task);
    }
    const shape *s = m->family == HEED_RECIPE_GPT2 ? &GPT2 : &LLAMA;
    if (!follow_shape(c, s) || !check_dropout(c, s)) {
        return false;
    }
    fill_sizes(c, s);
    if (m->family == HEED_RECIPE_GPT2 && m->kv_heads != m->heads) {
        heed_fail(c->err, HEED_VALUE,
                  "model.kv_heads is %" PRId64 ", model.family gpt2 has as many as model.heads",
                  m->kv_heads);
        return heed_recipe_blame(c, &m->kv_heads, NULL);
    }
    return heed_recipe_multiple(c, "width", &m->width, "heads", &m->heads) &&
           heed_recipe_multiple(c, "heads", &m->heads, "kv_heads", &m->kv_heads) &&
           heed_recipe_even(c);
}

static bool check_model(const checking *c) {
    static const char *const of_new[] = {"model.family",
                                         "model.width",
                                         "model.heads",
                                         "model.kv_heads",
                                         "model.feed_forward",
                                         "model.layers",
                                         "model.activation",
                                         "model.gated",
                                         "model.norm",
                                         "model.norm_position",
                                         "model.positions",
                                         "model.dropout",
                                         "model.attention_dropout",
                                         "model.activation_dropout",
                                         "model.tie",
                                         "model.max_positions",
                                         NULL};
    const heed_recipe_model *m = &c->r->model;
    if (!*m->from) {
        return check_new_model(c);
    }
    if (!refuse_keys(c, of_new, "has no say: the model of model.from has its own")) {
        return false;
    }
    if (strcmp(m->from, c->r->out.folder) == 0) {
        heed_fail(c->err, HEED_VALUE, "model.from and out.folder are both '%s'", m->from);
        return heed_recipe_blame(c, &c->r->out.folder, &m->from);
    }
    return true;
}

/* ---- The tokenizer ---- */

/* A language model says the text as it is: no letter is changed unless that is asked for. */
static void fill_tokenizer(const checking *c) {
    heed_recipe_text *t = &c->r->tokenizer;
    bool from = *c->r->model.from;
    if (!is_set(c, &t->type)) {
        t->type = *t->file ? HEED_RECIPE_FILE : from ? HEED_RECIPE_OF_MODEL : t->type;
    }
    if (!is_set(c, &t->normalization)) {
        t->normalization = HEED_RECIPE_RAW;
    }
    if (!is_set(c, &t->byte_fallback) && t->type == HEED_RECIPE_CHAR) {
        t->byte_fallback = false;
    }
    if (!is_set(c, &t->coverage) && t->type == HEED_RECIPE_CHAR) {
        t->coverage = 1.0;
    }
}

static bool check_tokenizer(const checking *c) {
    const heed_recipe_text *t = &c->r->tokenizer;
    bool from = *c->r->model.from;
    fill_tokenizer(c);
    if (t->type == HEED_RECIPE_OF_MODEL && !from) {
        heed_fail(c->err, HEED_VALUE, "tokenizer.type model is for model.from, which is not set");
        return heed_recipe_blame(c, &t->type, NULL);
    }
    if (from && t->type != HEED_RECIPE_OF_MODEL && t->type != HEED_RECIPE_FILE) {
        heed_fail(c->err, HEED_VALUE,
                  "tokenizer.type would learn another vocabulary than that of model.from: leave it "
                  "out, or set tokenizer.file");
        return heed_recipe_blame(c, &t->type, NULL);
    }
    if ((t->type == HEED_RECIPE_FILE) == (*t->file != '\0')) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE,
              *t->file ? "tokenizer.file is for tokenizer.type file, which is another here"
                       : "tokenizer.type file needs tokenizer.file, the path of a tokenizer.json");
    return heed_recipe_blame(c, *t->file ? (const void *)&t->file : (const void *)&t->type, NULL);
}

/* ---- Data ---- */

static bool check_split(const checking *c) {
    heed_recipe_data *d = &c->r->data;
    if (!is_set(c, &d->split_by)) {
        d->split_by = d->join ? HEED_RECIPE_BY_END : HEED_RECIPE_BY_DOCUMENT;
    }
    if (d->split_by < HEED_RECIPE_BY_DOCUMENT) {
        if (d->split_valid <= 0.0) {
            return true; /* what a recipe with every key has to say */
        }
        heed_fail(c->err, HEED_VALUE, "data.split_by is for text document or end");
        return heed_recipe_blame(c, &d->split_by, NULL);
    }
    if (d->split_valid > 0.0 && *d->valid_text) {
        heed_fail(c->err, HEED_VALUE,
                  "data.split_valid is %g, and data.valid_text is set: one of them",
                  d->split_valid);
        return heed_recipe_blame(c, &d->split_valid, &d->valid_text);
    }
    return true;
}

static bool check_data(const checking *c) {
    const heed_recipe_data *d = &c->r->data;
    if (!*d->text) {
        heed_fail(c->err, HEED_VALUE, "no training text: set data.text");
        return heed_recipe_blame(c, &c->r->model.task, &c->r->model.from);
    }
    if (*d->text_column && d->document != 0) {
        heed_fail(c->err, HEED_VALUE,
                  "data.document cuts text files, with data.text_column an object is a document");
        return heed_recipe_blame(c, &d->document, &d->text_column);
    }
    if (c->r->train.early_stop > 0 && !*d->valid_text && d->split_valid <= 0.0) {
        heed_fail(
            c->err, HEED_VALUE,
            "train.early_stop needs validation data: set data.valid_text or data.split_valid");
        return heed_recipe_blame(c, &c->r->train.early_stop, NULL);
    }
    return check_split(c);
}

static bool check_context(const checking *c) {
    heed_recipe_train *t = &c->r->train;
    const int64_t *positions = &c->r->model.max_positions;
    if (!is_set(c, &t->label_smoothing)) {
        t->label_smoothing = 0.0;
    }
    if (t->context > t->batch_tokens) {
        heed_fail(c->err, HEED_VALUE,
                  "train.context is %" PRId64 ", more than the %" PRId64 " of train.batch_tokens",
                  t->context, t->batch_tokens);
        return heed_recipe_blame(c, &t->context, &t->batch_tokens);
    }
    if (*c->r->model.from || t->context <= *positions) {
        return true;
    }
    heed_fail(c->err, HEED_VALUE,
              "train.context is %" PRId64 ", more than the %" PRId64 " of model.max_positions",
              t->context, *positions);
    return heed_recipe_blame(c, &t->context, positions);
}

bool heed_recipe_check_lm(const checking *c) {
    return check_others(c) && check_model(c) && check_tokenizer(c) && check_data(c) &&
           check_context(c);
}
