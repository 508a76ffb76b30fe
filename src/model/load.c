/* load.c: from a folder to a model: what the model asks for is looked up in the file, by the
 * family's names.
 *
 * A tensor may stand under several names (tied weights): all that are there must be equal. What is
 * missing, has another shape, or is left over is an error; nothing is ever initialised in silence.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include "base/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096, NAME = 256, CONFIG_LIMIT = 16 << 20 };

/* ---- config.json, generation_config.json, tokenizer.json ---- */

static bool family_of(heed_model *m, const json_t *root, heed_error *err) {
    const char *type = heed_json_string(root, "model_type", NULL, err);
    if (!type)
        return false;
    m->family = heed_family_called(type);
    if (!m->family)
        return heed_fail(err, HEED_NAME,
                         "model_type '%.60s' is no family known here; docs/families.md lists those "
                         "that are",
                         type);
    snprintf(m->config.family, sizeof m->config.family, "%s", type);
    return true;
}

/* The head that config.json's class of transformers has; without one, the family's first. */
static bool choose_head(heed_model *m, const json_t *root, heed_error *err) {
    const heed_architecture *list = m->family->architectures, *a = list;
    const json_t *named = heed_json_find(root, "architectures.0");
    const char *name = named ? json_string_value(named) : list->name;
    while (a->name && name && strcmp(a->name, name) != 0)
        a++;
    if (name && a->name) {
        const char *alone = m->family->encoder_alone;
        m->config.kind = alone && !strcmp(name, alone) ? HEED_ENCODER : m->family->kind;
        m->config.head = a->head == HEED_HEAD_TWO ? HEED_HEAD_SEQUENCES : a->head;
        m->config.pooler = a->pooler;
        m->config.two_heads = a->head == HEED_HEAD_TWO;
        return true;
    }
    char known[300] = "";
    for (a = list; a->name; a++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", a == list ? "" : ", ", a->name);
    }
    return heed_fail(err, HEED_NAME, "architecture '%.60s' is not known here, family '%s' has: %s",
                     name ? name : "?", m->family->type, known);
}

static bool read_config(heed_model *m, const char *folder, heed_error *err) {
    char path[PATH];
    if (!heed_join_path(path, sizeof path, folder, "config.json", err))
        return false;
    json_t *root = heed_json_read(heed_model_host(m), path, CONFIG_LIMIT, err);
    if (!root)
        return false;
    m->config = heed_config_base();
    bool fine = family_of(m, root, err) && choose_head(m, root, err);
    if (fine && m->family->defaults)
        m->family->defaults(&m->config);
    if (fine) {
        const heed_key *tables[HEED_TABLES + 4] = {heed_generation_keys, heed_generation_more_keys,
                                                   heed_common_keys};
        for (int i = 0; m->family->keys[i]; i++)
            tables[i + 3] = m->family->keys[i];
        fine = heed_keys_read(root, "config.json", tables, &m->config, err) &&
               m->family->finish(&m->config, err);
    }
    json_decref(root);
    return fine;
}

/* Where there is a generation_config.json, config.json has no say about the search. */
static void forget_search(heed_config *c) {
    const heed_config base = heed_config_base();
    c->beam = base.beam;
    c->max_length = base.max_length;
    c->min_length = base.min_length;
    c->length_penalty = base.length_penalty;
    c->stop = base.stop;
    c->renormalize = base.renormalize;
    c->no_repeat = c->max_new = c->bans = 0;
    c->forced_bos = c->forced_eos = -1;
}

static bool read_generation(heed_model *m, const char *folder, heed_error *err) {
    char path[PATH];
    if (!heed_join_path(path, sizeof path, folder, "generation_config.json", err))
        return false;
    if (!heed_is_file(path))
        return true;
    json_t *root = heed_json_read(heed_model_host(m), path, CONFIG_LIMIT, err);
    if (!root)
        return false;
    const heed_key *tables[] = {heed_generation_keys, heed_generation_more_keys, heed_common_keys,
                                NULL};
    forget_search(&m->config);
    bool fine = heed_keys_read(root, "generation_config.json", tables, &m->config, err);
    json_decref(root);
    return fine;
}

static bool read_tokenizer(heed_model *m, const char *folder, heed_error *err) {
    char path[PATH];
    if (!heed_join_path(path, sizeof path, folder, "tokenizer.json", err))
        return false;
    if (!heed_is_file(path))
        return true;
    m->tokenizer = heed_tokenizer_open(heed_model_host(m), path, err);
    if (m->tokenizer)
        m->config.unk = heed_token_id(m->tokenizer, "<unk>");
    return m->tokenizer != NULL;
}

/* ---- Weights ---- */

/* Vectors are rows; what has more than two dimensions (a convolution's patches) lies as rows of all
 * the others, behind dimensions of 1 (a class token's). */
static bool same_shape(const heed_weight_entry *e, const heed_tensor *t) {
    if (e->rows * e->cols != heed_tensor_elements(t))
        return false;
    if (t->rank == 1)
        return e->rows == 1;
    for (int i = 0; i + 1 < t->rank; i++) {
        if (t->dim[i] == e->rows)
            return true;
        if (t->dim[i] != 1)
            return false;
    }
    return false;
}

/* A tensor by its name, or by its name without the family's prefix. */
static const heed_tensor *find(const heed_model *m, const char *name) {
    const char *prefix = m->family->prefix;
    const heed_tensor *t = heed_tensors_find(m->tensors, name);
    if (t || !prefix || strncmp(name, prefix, strlen(prefix)) != 0)
        return t;
    return heed_tensors_find(m->tensors, name + strlen(prefix));
}

static bool take(heed_model *m, heed_weight_entry *e, const heed_tensor *t, heed_error *err) {
    char shape[180];
    if (!same_shape(e, t))
        return heed_fail(err, HEED_SHAPE,
                         "weight '%s' is %s in the file, the model wants (%" PRId64 ",%" PRId64 ")",
                         t->name, heed_tensor_shape(t, shape), e->rows, e->cols);
    if (t->type == HEED_F32 && (uintptr_t)t->data % sizeof(float) == 0)
        return heed_weights_borrow(m->weights, e->name, t->data, err);
    return heed_weights_own(m->weights, e->name, NULL, err) && heed_tensor_to_f32(t, e->data, err);
}

static bool equals(const heed_weight_entry *e, const heed_tensor *first, const heed_tensor *t,
                   heed_error *err) {
    if (t->type == first->type && t->bytes == first->bytes &&
        !memcmp(t->data, first->data, t->bytes))
        return true;
    return heed_fail(err, HEED_VALUE,
                     "'%s' and '%s' differ, but config.json ties them (weight '%s')", first->name,
                     t->name, e->name);
}

/* Has another weight that the model has (an output matrix of its own) this name before its n-th? */
static bool of_another(const heed_model *m, const heed_weight_entry *e, const char *name, int n) {
    char other[NAME];
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++) {
        const heed_weight_entry *w = heed_weights_at(m->weights, i);
        for (int k = 0; w != e && k < n; k++)
            if (heed_renamed(m->family->weights, w->name, k, other, sizeof other) &&
                !strcmp(other, name))
                return true;
    }
    return false;
}

/* Gives one weight its numbers; counts its tensors as used. */
static bool load_weight(heed_model *m, int64_t i, bool *used, heed_error *err) {
    heed_weight_entry *e = heed_weights_at(m->weights, i);
    const heed_tensor *first = NULL, *base = heed_tensors_at(m->tensors, 0);
    char name[NAME], asked[NAME] = "?";
    for (int n = 0; heed_renamed(m->family->weights, e->name, n, name, sizeof name); n++) {
        const heed_tensor *t = find(m, name);
        if (n == 0)
            snprintf(asked, sizeof asked, "%s", name);
        if (!t || of_another(m, e, name, n))
            continue;
        used[t - base] = true;
        if (first ? !equals(e, first, t, err) : !take(m, e, t, err))
            return false;
        if (!first)
            first = t;
    }
    if (first) {
        m->stored[i] = first->name;
        return true;
    }
    if (e->frozen)
        return heed_weights_own(m->weights, e->name, NULL, err); /* a bias of zeros */
    return heed_fail(err, HEED_NAME,
                     "weight '%s' is missing in the file, the model wants (%" PRId64 ",%" PRId64
                     ")",
                     asked, e->rows, e->cols);
}

/* Does the name, with or without the prefix, match a pattern of what may be left over? */
static bool may_be_unused(const heed_family *f, const char *name) {
    char whole[NAME];
    snprintf(whole, sizeof whole, "%s%s", f->prefix ? f->prefix : "", name);
    for (const char *const *p = f->unused; *p; p++)
        if (heed_name_matches(*p, name) || heed_name_matches(*p, whole))
            return true;
    return false;
}

static bool nothing_left(const heed_model *m, const bool *used, heed_error *err) {
    int64_t left = 0;
    const char *first = NULL;
    for (int64_t i = 0; i < heed_tensors_count(m->tensors); i++) {
        const char *name = heed_tensors_at(m->tensors, i)->name;
        if (used[i] || may_be_unused(m->family, name))
            continue;
        if (!left++)
            first = name;
    }
    return !left ||
           heed_fail(err, HEED_NAME,
                     "%" PRId64 " tensors of the file have no place in the model, first '%s'", left,
                     first);
}

static bool open_tensors(heed_model *m, const char *folder, heed_error *err) {
    m->tensors = heed_tensors_open(heed_model_host(m), folder, err);
    if (m->tensors && m->family->look)
        m->family->look(m->tensors, &m->config);
    return m->tensors != NULL;
}

static bool load_weights(heed_model *m, heed_error *err) {
    bool *used =
        heed_alloc(heed_model_host(m), (size_t)heed_tensors_count(m->tensors), sizeof *used, err);
    m->stored = heed_alloc(heed_model_host(m), (size_t)heed_weights_count(m->weights),
                           sizeof *m->stored, err);
    bool fine = used && m->stored;
    for (int64_t i = 0; fine && i < heed_weights_count(m->weights); i++)
        fine = load_weight(m, i, used, err);
    fine = fine && nothing_left(m, used, err);
    heed_free(heed_model_host(m), used);
    return fine;
}

bool heed_model_load(heed_model *m, const char *folder, heed_error *err) {
    if (!heed_is_folder(folder))
        return heed_fail(err, HEED_FILE, "there is no such folder");
    return read_config(m, folder, err) && read_generation(m, folder, err) &&
           read_tokenizer(m, folder, err) && open_tensors(m, folder, err) &&
           heed_model_declare(m, err) && load_weights(m, err);
}
