/* load_gguf.c: a model from a GGUF file: its settings are read as a config.json is, through tables
 * of keys, its tensors found by the names of the family's form "gguf".
 *
 * Every setting is used, or known to change nothing that is computed here, or refused by name.
 * Format: ggml, gguf.md; names of keys and tensors as gguf-py 0.19 has them.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 128, DEPTH = 5, NAME = 256 };

/* ---- Settings as a tree: "llama.attention.head_count" is the key "attention.head_count" in
 * "llama" ---- */

/* Of a float the shortest decimal that is it: the setting before it was stored in 32 bits. */
static double shortest(double x) {
    char text[40];
    double back = x;
    if ((double)(float)x < x || (double)(float)x > x)
        return x;
    for (int digits = 1; digits < 10; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        back = strtod(text, NULL);
        if ((float)back == (float)x)
            return back;
    }
    return x;
}

/* Arrays are told by being there: what an array holds, only the tokenizer asks. */
static json_t *value_of(const heed_gguf_value *v) {
    switch (v->kind) {
    case HEED_GGUF_INTEGER:
        return json_integer(v->integer);
    case HEED_GGUF_REAL:
        return json_real(shortest(v->real));
    case HEED_GGUF_BOOL:
        return json_boolean(v->integer);
    case HEED_GGUF_TEXT:
        return json_stringn(v->text.data, v->text.n);
    case HEED_GGUF_ARRAY:
        break;
    }
    return json_array();
}

/* What says where a model comes from, and how it wants to be asked. */
static bool is_harmless(const char *key) {
    static const char *const starts[] = {"general.", "quantize.", HEED_CHAT_TEMPLATE, NULL};
    for (int i = 0; starts[i]; i++)
        if (!strncmp(key, starts[i], strlen(starts[i])))
            return true;
    return false;
}

/* Puts a value where its key says; false where that place is too deep or taken. */
static bool place(json_t *root, const heed_gguf_value *v, heed_error *err) {
    char key[KEY];
    json_t *at = root;
    int depth = 0;
    if ((size_t)snprintf(key, sizeof key, "%s", v->key) >= sizeof key)
        return heed_fail(err, HEED_NAME, "setting '%.60s...' is not known", v->key);
    char *part = key;
    for (char *dot; (dot = strchr(part, '.')); part = dot + 1) {
        *dot = 0;
        json_t *inner = json_object_get(at, part);
        if (!inner)
            json_object_set_new(at, part, inner = json_object());
        if (!json_is_object(inner) || ++depth > DEPTH)
            return heed_fail(err, HEED_NAME, "setting '%s' is not known", v->key);
        at = inner;
    }
    if (json_object_get(at, part))
        return heed_fail(err, HEED_NAME, "setting '%s' is not known", v->key);
    return json_object_set_new(at, part, value_of(v)) == 0 ||
           heed_fail(err, HEED_VALUE, "setting '%s' is no UTF-8, not finite, or finds no memory",
                     v->key);
}

static json_t *tree_of(const heed_gguf *g, heed_error *err) {
    json_t *root = json_object();
    for (int64_t i = 0; i < heed_gguf_count(g); i++) {
        const heed_gguf_value *v = heed_gguf_at(g, i);
        if (is_harmless(v->key) || place(root, v, err))
            continue;
        json_decref(root);
        return NULL;
    }
    if (!root)
        heed_fail(err, HEED_NOMEM, "no memory for the settings");
    return root;
}

/* ---- The vocabulary's settings, for every family ---- */

static bool read_end(const json_t *value, heed_config *c, heed_error *err) {
    int64_t id = json_is_integer(value) ? json_integer_value(value) : -1;
    return (id >= 0 && id <= INT32_MAX && heed_add_end(c, (int32_t)id, err)) ||
           heed_fail(err, HEED_VALUE, "a token that ends a text is no token id");
}

/* Behind eos, which has a key of its own, two more have. */
static json_t *write_eot(const heed_config *c) {
    return c->ends > 1 ? json_integer(c->end[1]) : NULL;
}

static json_t *write_eom(const heed_config *c) {
    return c->ends > 2 ? json_integer(c->end[2]) : NULL;
}

static const heed_key token_keys[] = {HEED_MAY("ggml.bos_token_id", ID, bos),
                                      HEED_MAY("ggml.eos_token_id", ID, eos),
                                      HEED_MAY("ggml.padding_token_id", ID, pad),
                                      HEED_MAY("ggml.unknown_token_id", ID, unk),
                                      HEED_BOTH_WAYS("ggml.eot_token_id", read_end, write_eot),
                                      HEED_BOTH_WAYS("ggml.eom_token_id", read_end, write_eom),
                                      HEED_KNOWN("ggml.token_type_count"), /* a table's rows */
                                      /* What the tokenizer reads, or refuses, itself. */
                                      HEED_KNOWN("ggml.model"),
                                      HEED_KNOWN("ggml.pre"),
                                      HEED_KNOWN("ggml.tokens"),
                                      HEED_KNOWN("ggml.token_type"),
                                      HEED_KNOWN("ggml.scores"),
                                      HEED_KNOWN("ggml.merges"),
                                      HEED_KNOWN("ggml.add_bos_token"),
                                      HEED_KNOWN("ggml.add_eos_token"),
                                      HEED_KNOWN("ggml.add_sep_token"),
                                      HEED_KNOWN("ggml.add_space_prefix"),
                                      HEED_KNOWN("ggml.remove_extra_whitespaces"),
                                      HEED_KNOWN("ggml.precompiled_charsmap"),
                                      HEED_KNOWN("ggml.cls_token_id"),
                                      HEED_KNOWN("ggml.seperator_token_id"), /* as it is spelt */
                                      HEED_KNOWN("ggml.mask_token_id"),
                                      /* Tokens of prompts that fill a gap in a program. */
                                      HEED_KNOWN("ggml.prefix_token_id"),
                                      HEED_KNOWN("ggml.suffix_token_id"),
                                      HEED_KNOWN("ggml.middle_token_id"),
                                      HEED_KNOWN("ggml.fim_pre_token_id"),
                                      HEED_KNOWN("ggml.fim_suf_token_id"),
                                      HEED_KNOWN("ggml.fim_mid_token_id"),
                                      HEED_KNOWN("ggml.fim_pad_token_id"),
                                      HEED_KNOWN("ggml.fim_rep_token_id"),
                                      HEED_KNOWN("ggml.fim_sep_token_id"),
                                      HEED_KNOWN("huggingface.json"),
                                      {0}};

/* ---- The family ---- */

static const heed_form *form_in(const heed_family *family, const char *name) {
    for (const heed_form *f = family->forms; f && f->format; f++)
        if (!strcmp(f->format, "gguf") && !strcmp(f->architecture, name))
            return f;
    return NULL;
}

static const heed_form *choose_form(heed_model *m, const char *name, heed_error *err) {
    char known[200] = "";
    for (int i = 0; heed_family_at(i); i++) {
        const heed_form *f = form_in(heed_family_at(i), name);
        if (f) {
            m->family = heed_family_at(i);
            return f;
        }
        for (f = heed_family_at(i)->forms; f && f->format; f++) {
            size_t n = strlen(known);
            if (!strcmp(f->format, "gguf"))
                snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", f->architecture);
        }
    }
    heed_fail(err, HEED_NAME, "general.architecture '%.60s' is none known here: %s", name, known);
    return NULL;
}

/* A text among the settings into out; false with err where it is absent or too long. */
static bool text_of(const heed_gguf *g, const char *key, char *out, size_t size, heed_error *err) {
    const heed_gguf_value *v = heed_gguf_find(g, key);
    if (!v || v->kind != HEED_GGUF_TEXT || v->text.n >= size)
        return heed_fail(err, HEED_NAME, "setting '%s' is missing, or no name", key);
    memcpy(out, v->text.data, v->text.n);
    out[v->text.n] = 0;
    return true;
}

/* A file may hold something else than a model. */
static bool is_model(const heed_gguf *g, heed_error *err) {
    char type[40] = "model";
    if (heed_gguf_find(g, "general.type") && !text_of(g, "general.type", type, sizeof type, err))
        return false;
    return !strcmp(type, "model") ||
           heed_fail(err, HEED_VALUE, "general.type is '%s', wanted 'model'", type);
}

static const heed_key split_keys[] = {
    HEED_KNOWN("no"), HEED_KNOWN("count"), HEED_KNOWN("tensors.count"), {0}};

/* Takes `name` out of the tree, read through the tables. Nothing where it is absent. */
static bool read_part(json_t *root, const char *name, const heed_key *const *tables, heed_config *c,
                      heed_error *err) {
    json_t *part = json_object_get(root, name);
    if (!part)
        return true;
    bool fine = heed_keys_read(part, name, tables, c, err);
    json_object_del(root, name);
    return fine;
}

/* Rows of the embedding, unless a key tells another number. */
static void set_vocab(heed_model *m, const heed_form *form) {
    char name[NAME];
    if (!heed_renamed(form->weights, "tokens.weight", 0, name, sizeof name))
        return;
    const heed_tensor *t = heed_tensors_find(m->tensors, name);
    if (t && t->rank == 2)
        m->config.vocab = m->config.source_vocab = t->dim[0];
}

static bool read_settings(heed_model *m, const heed_form *form, json_t *root, heed_error *err) {
    heed_config *c = &m->config;
    const heed_key *tokens[] = {token_keys, NULL}, *split[] = {split_keys, NULL};
    if (!json_object_get(root, form->architecture))
        return heed_fail(err, HEED_NAME, "there are no settings '%s.*'", form->architecture);
    if (!read_part(root, form->architecture, form->keys, c, err) ||
        !read_part(root, "tokenizer", tokens, c, err) || !read_part(root, "split", split, c, err))
        return false;
    const char *left = json_object_iter_key(json_object_iter(root));
    if (left)
        return heed_fail(err, HEED_NAME,
                         "settings '%s.*' are not known; their effect would be ignored", left);
    return form->finish(c, m->tensors, err) && heed_find_ends(m, err);
}

void heed_model_take_form(heed_model *m, const heed_form *form) {
    m->names = form->weights;
    m->unused = form->unused;
    m->config = heed_config_base();
    m->family->defaults(&m->config);
    snprintf(m->config.family, sizeof m->config.family, "%s", m->family->type);
    m->config.kind = m->family->kind;
    m->config.head = form->head;
}

static bool read_model(heed_model *m, heed_error *err) {
    char name[64];
    if (!is_model(m->gguf, err) ||
        !text_of(m->gguf, "general.architecture", name, sizeof name, err))
        return false;
    const heed_form *form = choose_form(m, name, err);
    json_t *root = form ? tree_of(m->gguf, err) : NULL;
    if (!root)
        return false;
    heed_model_take_form(m, form);
    set_vocab(m, form);
    bool fine = read_settings(m, form, root, err);
    json_decref(root);
    return fine;
}

bool heed_model_read_gguf(heed_model *m, const char *path, heed_error *err) {
    m->gguf = heed_gguf_open(heed_model_host(m), path, err);
    if (!m->gguf)
        return false;
    m->tensors = heed_gguf_tensors(m->gguf);
    return read_model(m, err) && (!heed_gguf_find(m->gguf, "tokenizer.ggml.model") ||
                                  heed_model_read_tokenizer(m, path, err));
}

const heed_gguf_text *heed_gguf_template_of(const heed_model *m) {
    const heed_gguf_value *v = m->gguf ? heed_gguf_find(m->gguf, HEED_CHAT_TEMPLATE) : NULL;
    return v && v->kind == HEED_GGUF_TEXT ? &v->text : NULL;
}

/* ---- Writing ---- */

const heed_form *heed_gguf_form(const heed_family *family) {
    for (const heed_form *f = family->forms; f && f->format; f++)
        if (!strcmp(f->format, "gguf"))
            return f;
    return NULL;
}

bool heed_gguf_write_keys(json_t *root, const heed_form *form, const heed_config *c,
                          heed_error *err) {
    const heed_key *tokens[] = {token_keys, NULL};
    json_t *part = json_object(), *vocabulary = json_object();
    bool fine = heed_keys_write_short(part, form->keys, c, err) &&
                heed_keys_write_short(vocabulary, tokens, c, err);
    int failed = json_object_set_new(root, form->architecture, part);
    failed |= json_object_set_new(root, "tokenizer", vocabulary);
    return fine && (!failed || heed_fail(err, HEED_NOMEM, "no memory for the settings"));
}

bool heed_gguf_read_back(heed_model *m, heed_gguf *gguf, heed_tensors *tensors, heed_error *err) {
    m->gguf = gguf;
    m->tensors = m->own = tensors;
    return read_model(m, err);
}
