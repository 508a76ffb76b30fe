/* fit.c: what a model asks for, looked up in a file by the names of the file's format.
 *
 * First names and shapes, of which nothing of the data is read: what is missing, has another shape,
 * or is left over is an error; nothing is ever initialised in silence. Then the numbers. A tensor
 * may stand under several names (tied weights): all that are there must be equal.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include "base/blocks.h"
#include "graph/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 256, SENTENCE = 220 };

/* The first of each kind, as a sentence, and how many there are. */
typedef struct {
    int64_t missing, shaped, unused;
    char first_missing[SENTENCE], first_shaped[SENTENCE], first_unused[NAME];
    json_t *list; /* all of them; NULL: not asked for */
    bool failed;  /* no memory for the list */
} misfits;

/* Takes the item, NULL where there was no memory for it. */
static void note(misfits *f, const char *kind, json_t *item) {
    json_t *all = json_object_get(f->list, kind);
    if (!all)
        json_object_set_new(f->list, kind, all = json_array());
    f->failed = json_array_append_new(all, item) != 0 || f->failed;
}

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

/* A tensor by its name, or by its name without the prefix; NULL: absent. */
static const heed_tensor *find_as(const heed_model *m, const char *name) {
    const heed_tensor *t = heed_tensors_find(m->tensors, name);
    if (t || !m->prefix || strncmp(name, m->prefix, strlen(m->prefix)) != 0)
        return t;
    return heed_tensors_find(m->tensors, name + strlen(m->prefix));
}

const heed_tensor *heed_find_tensor(const heed_model *m, const char *name) {
    static const char *const now[] = {"LayerNorm.weight", "LayerNorm.bias"};
    static const char *const then[] = {"LayerNorm.gamma", "LayerNorm.beta"};
    const heed_tensor *t = find_as(m, name);
    size_t n = strlen(name);
    for (int i = 0; !t && i < 2; i++) {
        char old[300];
        size_t end = strlen(now[i]);
        if (n >= end && n < sizeof old - 10 && !strcmp(name + n - end, now[i])) {
            snprintf(old, sizeof old, "%.*s%s", (int)(n - end), name, then[i]);
            t = find_as(m, old);
        }
    }
    return t;
}

static void miss(misfits *f, const heed_weight_entry *e, const char *name, bool head) {
    if (!f->missing++)
        snprintf(f->first_missing, sizeof f->first_missing,
                 "weight '%.100s' is missing in the file, the model wants (%" PRId64 ",%" PRId64
                 ")%s",
                 name, e->rows, e->cols,
                 head ? "; is \"tie_word_embeddings\": true left out of config.json?" : "");
    if (f->list)
        note(f, "missing",
             json_pack("{s:s, s:[I,I]}", "name", name, "wanted", (json_int_t)e->rows,
                       (json_int_t)e->cols));
}

static void misshape(misfits *f, const heed_weight_entry *e, const heed_tensor *t) {
    char shape[180];
    heed_tensor_shape(t, shape);
    if (!f->shaped++)
        snprintf(f->first_shaped, sizeof f->first_shaped,
                 "weight '%.80s' is %.60s in the file, the model wants (%" PRId64 ",%" PRId64 ")",
                 t->name, shape, e->rows, e->cols);
    if (f->list)
        note(f, "misshaped",
             json_pack("{s:s, s:s, s:[I,I]}", "name", t->name, "shape", shape, "wanted",
                       (json_int_t)e->rows, (json_int_t)e->cols));
}

enum { CLAIM = 32 }; /* bits of a claim that tell the weight; above them, the row of its name */

/* Who has which name by its first row that fits: of several weights, the one with the earliest. One
 * pass for each row: a hostile config.json of many layers costs no product of two of them. */
static bool claim_names(heed_model *m, heed_error *err) {
    char name[NAME];
    bool some = true;
    for (int64_t n = 0; some; n++) {
        some = false;
        for (int64_t i = 0; i < heed_weights_count(m->weights); i++) {
            const char *ours = heed_weights_at(m->weights, i)->name;
            if (!heed_renamed(m->names, ours, (int)n, name, sizeof name))
                continue;
            some = true;
            if (!heed_map_put(&m->claims, name, strlen(name), n << CLAIM | i, NULL, err))
                return false;
        }
    }
    return true;
}

/* Has another weight that the model has (an output matrix of its own) this name before its n-th? */
static bool is_anothers(const heed_model *m, const heed_weight_entry *e, const char *name, int n) {
    const heed_map_entry *claim = heed_map_find(&m->claims, name, strlen(name));
    int64_t owner = claim ? claim->value & (((int64_t)1 << CLAIM) - 1) : -1;
    return claim && claim->value >> CLAIM < n && heed_weights_at(m->weights, owner) != e;
}

/* The n-th name under which a file may hold a weight's tensor. False behind the last; "" where that
 * name is another's. */
static bool nth_name(const heed_model *m, const heed_weight_entry *e, int n, char out[NAME]) {
    if (!heed_renamed(m->names, e->name, n, out, NAME))
        return false;
    if (is_anothers(m, e, out, n))
        out[0] = 0;
    return true;
}

/* Finds the tensors of weight i; the first is the one that it is called after. */
static void match(heed_model *m, int64_t i, bool *used, misfits *f) {
    heed_weight_entry *e = heed_weights_at(m->weights, i);
    const heed_tensor *first = NULL;
    char name[NAME], asked[NAME] = "?";
    for (int n = 0; nth_name(m, e, n, name); n++) {
        const heed_tensor *t = heed_find_tensor(m, name);
        if (n == 0)
            snprintf(asked, sizeof asked, "%s", name);
        if (!t)
            continue;
        used[t - heed_tensors_at(m->tensors, 0)] = true;
        if (!same_shape(e, t))
            misshape(f, e, t);
        first = first ? first : t;
    }
    m->stored[i] = first ? first->name : NULL;
    if (!first && !e->frozen)
        miss(f, e, asked, !strcmp(e->name, "head.weight"));
}

/* Does the name, with or without the prefix, match a pattern of what may be left over? */
static bool may_be_unused(const heed_model *m, const char *name) {
    char whole[NAME];
    bool alone = m->config.kind == HEED_ENCODER && m->family->kind == HEED_ENCODER_DECODER;
    if (alone && (!strncmp(name, "decoder.", 8) || !strncmp(name, "lm_head.", 8)))
        return true; /* the stack that is left out */
    snprintf(whole, sizeof whole, "%s%s", m->prefix ? m->prefix : "", name);
    for (const char *const *p = m->unused; p && *p; p++)
        if (heed_name_matches(*p, name) || heed_name_matches(*p, whole))
            return true;
    return false;
}

static void find_unused(const heed_model *m, const bool *used, misfits *f) {
    for (int64_t i = 0; i < heed_tensors_count(m->tensors); i++) {
        const char *name = heed_tensors_at(m->tensors, i)->name;
        if (used[i] || may_be_unused(m, name))
            continue;
        if (!f->unused++)
            snprintf(f->first_unused, sizeof f->first_unused, "%.200s", name);
        if (f->list)
            note(f, "unused", json_string(name));
    }
}

/* " (and N more)" */
static const char *more(int64_t n, char out[40]) {
    out[0] = 0;
    if (n > 1)
        snprintf(out, 40, " (and %" PRId64 " more)", n - 1);
    return out;
}

static bool tell(const misfits *f, heed_error *err) {
    char text[3 * SENTENCE] = "", count[40];
    size_t n = 0;
    if (f->missing)
        n += (size_t)snprintf(text, sizeof text, "%s%s", f->first_missing, more(f->missing, count));
    if (f->shaped)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s", n ? "; " : "", f->first_shaped,
                              more(f->shaped, count));
    if (f->unused)
        snprintf(text + n, sizeof text - n,
                 "%s%" PRId64 " tensors of the file have no place in the model, first '%s'",
                 n ? "; " : "", f->unused, f->first_unused);
    if (f->failed)
        return heed_fail(err, HEED_NOMEM, "no memory to list what does not fit");
    heed_code code = f->shaped && !f->missing && !f->unused ? HEED_SHAPE : HEED_NAME;
    return !text[0] || heed_fail(err, code, "%s", text);
}

bool heed_model_match(heed_model *m, json_t *list, heed_error *err) {
    const heed_host *host = heed_model_host(m);
    misfits f = {.list = list};
    bool *used = heed_alloc(host, (size_t)heed_tensors_count(m->tensors), sizeof *used, err);
    m->stored = heed_alloc(host, (size_t)heed_weights_count(m->weights), sizeof *m->stored, err);
    bool fine = used && m->stored && claim_names(m, err);
    for (int64_t i = 0; fine && i < heed_weights_count(m->weights); i++)
        match(m, i, used, &f);
    if (fine)
        find_unused(m, used, &f);
    heed_free(host, used);
    return fine && tell(&f, err);
}

/* ---- Numbers ---- */

/* Matrices that products may read as they lie: 16 bits, or blocks that no row begins within. */
static bool can_be_kept(const heed_weight_entry *e, const heed_tensor *t) {
    heed_int_form form;
    if (t->type == HEED_F16 || t->type == HEED_BF16)
        return e->rows > 1 && (uintptr_t)t->data % sizeof(uint16_t) == 0;
    return heed_block_form(t->type, &form) && e->cols % heed_type_block(t->type) == 0;
}

static bool take(heed_model *m, heed_weight_entry *e, const heed_tensor *t, heed_error *err) {
    e->mapped = heed_tensors_mapped(m->tensors);
    if (t->type == HEED_F32 && (uintptr_t)t->data % sizeof(float) == 0)
        return heed_weights_borrow(m->weights, e->name, t->data, err);
    if (can_be_kept(e, t))
        return heed_weights_keep(m->weights, e->name, t->type, t->data, err);
    return heed_weights_own(m->weights, e->name, NULL, err) && heed_tensor_to_f32(t, e->data, err);
}

static bool equals(const heed_weight_entry *e, const heed_tensor *first, const heed_tensor *t,
                   heed_error *err) {
    if (t->type == first->type && t->bytes == first->bytes &&
        !memcmp(t->data, first->data, t->bytes))
        return true;
    return heed_fail(err, HEED_VALUE,
                     "'%s' and '%s' differ, but config.json ties them (weight '%s'); --untie gives "
                     "each its own",
                     first->name, t->name, e->name);
}

bool heed_model_stored(const heed_model *m, int64_t i, const heed_tensor **tensor,
                       heed_error *err) {
    const heed_weight_entry *e = heed_weights_at(m->weights, i);
    char name[NAME];
    *tensor = NULL;
    if (!m->stored[i])
        return true;
    const heed_tensor *first = heed_tensors_find(m->tensors, m->stored[i]);
    for (int n = 0; nth_name(m, e, n, name); n++) {
        const heed_tensor *t = heed_find_tensor(m, name);
        if (t && t != first && !equals(e, first, t, err))
            return false;
    }
    *tensor = first;
    return true;
}

static bool load(heed_model *m, int64_t i, heed_error *err) {
    heed_weight_entry *e = heed_weights_at(m->weights, i);
    const heed_tensor *t;
    return heed_model_stored(m, i, &t, err) &&
           (t ? take(m, e, t, err) : heed_weights_own(m->weights, e->name, NULL, err));
}

bool heed_model_take(heed_model *m, heed_error *err) {
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++)
        if (!load(m, i, err))
            return false;
    return true;
}
