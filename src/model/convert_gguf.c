/* convert_gguf.c: a model as a GGUF file.
 * SPDX-License-Identifier: MIT
 */
#include "model/convert.h"

#include "base/fs.h"
#include "file/gguf_write.h"
#include "file/tensors.h"
#include "text/save_gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 256, FREQS = 512, TEMPLATE_LIMIT = 16 << 20, PATH = 4096 };

/* Everything that is made on the way and freed together. */
typedef struct {
    heed_conversion *c;
    const heed_form *form;
    heed_config said; /* what the settings say */
    heed_gguf_settings settings;
    heed_buf printed; /* the same as a file */
    float freqs[FREQS];
    int64_t n_freqs;
} work;

static bool choose_form(work *w, heed_error *err) {
    const heed_model *m = w->c->from;
    char known[200] = "";
    w->form = heed_gguf_form(m->family);
    if (w->form)
        return m->config.head == w->form->head ||
               heed_fail(err, HEED_VALUE, "GGUF's %s has %s on its last layer, '%s' has another",
                         w->form->architecture,
                         w->form->head == HEED_HEAD_VOCAB ? "logits over the vocabulary"
                                                          : "nothing",
                         w->c->path);
    for (int i = 0; heed_family_at(i); i++) {
        size_t n = strlen(known);
        if (heed_gguf_form(heed_family_at(i)))
            snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", heed_family_at(i)->type);
    }
    return heed_fail(err, HEED_VALUE, "family '%s' is not written as GGUF: %s are", m->family->type,
                     known);
}

/* ---- Settings ---- */

static void put_value(heed_gguf_settings *s, const char *key, const json_t *v) {
    switch (json_typeof(v)) {
    case JSON_INTEGER:
        heed_gguf_put_integer(s, key, json_integer_value(v));
        break;
    case JSON_REAL:
        heed_gguf_put_real(s, key, json_real_value(v));
        break;
    case JSON_STRING:
        heed_gguf_put_text(s, key, json_string_value(v), json_string_length(v));
        break;
    default:
        heed_gguf_put_bool(s, key, json_is_true(v));
    }
}

/* "llama" of the tree, and below it "attention.head_count". */
static bool put_keys(work *w, heed_error *err) {
    json_t *root = json_object(), *part, *value;
    const char *name, *key;
    char whole[NAME];
    bool fine = heed_gguf_write_keys(root, w->form, &w->said, err);
    json_object_foreach(root, name, part) {
        json_object_foreach(part, key, value) {
            snprintf(whole, sizeof whole, "%s.%s", name, key);
            put_value(&w->settings, whole, value);
        }
    }
    json_decref(root);
    return fine;
}

static void put_general(work *w) {
    heed_type type = w->c->type;
    heed_gguf_put_text(&w->settings, "general.architecture", w->form->architecture,
                       strlen(w->form->architecture));
    heed_gguf_put_text(&w->settings, "general.type", "model", 5);
    heed_gguf_put_integer(&w->settings, "general.file_type", /* as llama.h numbers them */
                          type == HEED_F16    ? 1
                          : type == HEED_BF16 ? 32
                                              : 0);
}

static bool put_vocabulary(work *w, heed_error *err) {
    const heed_tokenizer *t = heed_model_tokenizer(w->c->from);
    heed_gguf_ids ids = {w->said.bos, w->said.eos, w->said.unk};
    const char *note = NULL;
    if (!t) {
        heed_convert_note(w->c, "there is no tokenizer: the file is without a vocabulary");
        return true;
    }
    if (!heed_tokenizer_to_gguf(t, w->said.vocab, &ids, &w->settings, &note, err))
        return false;
    if (note)
        heed_convert_note(w->c, "%s", note);
    w->said.bos = ids.bos;
    w->said.eos = ids.eos;
    w->said.unk = ids.unk;
    return true;
}

/* Of several templates in tokenizer_config.json the one that is called "default". */
static const json_t *default_template(const json_t *root) {
    const json_t *v = json_object_get(root, "chat_template");
    for (size_t i = 0; i < json_array_size(v); i++) {
        const json_t *one = json_array_get(v, i);
        const char *name = json_string_value(json_object_get(one, "name"));
        if (name && !strcmp(name, "default"))
            return json_object_get(one, "template");
    }
    return v;
}

/* In tokenizer_config.json, or in a file of its own, which then counts. */
static bool put_folders_template(work *w, heed_error *err) {
    const heed_host *host = heed_model_host(w->c->from);
    char path[PATH];
    if (!heed_join_path(path, sizeof path, w->c->path, "chat_template.jinja", err))
        return false;
    if (heed_is_there(path)) {
        size_t n;
        char *text = heed_read_file(host, path, TEMPLATE_LIMIT, &n, err);
        if (text)
            heed_gguf_put_text(&w->settings, HEED_CHAT_TEMPLATE, text, n);
        heed_free(host, text);
        return text != NULL;
    }
    if (!heed_join_path(path, sizeof path, w->c->path, "tokenizer_config.json", err) ||
        !heed_is_there(path))
        return true;
    json_t *root = heed_json_read(host, path, TEMPLATE_LIMIT, err);
    const json_t *v = default_template(root);
    if (json_is_string(v))
        put_value(&w->settings, HEED_CHAT_TEMPLATE, v);
    json_decref(root);
    return root != NULL;
}

static bool put_template(work *w, heed_error *err) {
    const heed_gguf_text *text = heed_gguf_template_of(w->c->from);
    if (text)
        heed_gguf_put_text(&w->settings, HEED_CHAT_TEMPLATE, text->data, text->n);
    return w->c->from->gguf || !heed_is_folder(w->c->path) || put_folders_template(w, err);
}

/* ---- What the settings say ---- */

/* The name that a weight has in the file. */
static char *name_of(const work *w, heed_region *region, const char *ours, heed_error *err) {
    char name[NAME];
    if (heed_renamed(w->form->weights, ours, 0, name, sizeof name))
        return heed_region_text(region, name, strlen(name), err);
    heed_fail(err, HEED_NAME, "GGUF's %s has no name for weight '%s'", w->form->architecture, ours);
    return NULL;
}

static bool add_shape(heed_tensors *list, heed_tensor t, heed_error *err) {
    return t.name && heed_tensors_add(list, &t, "there twice", err);
}

/* Names and shapes of what is there, by which some settings are known; rope_freqs.weight whole. */
static heed_tensors *shapes_of(work *w, heed_error *err) {
    heed_tensors *list = heed_tensors_new(heed_model_host(w->c->from), err);
    const heed_model *m = w->c->from;
    bool fine = list;
    for (int64_t i = 0; fine && i < heed_weights_count(m->weights); i++) {
        const heed_weight_entry *e = heed_weights_at(m->weights, i);
        if (strncmp(e->name, "pooler.", 7) != 0)
            fine = add_shape(list,
                             (heed_tensor){.name = name_of(w, &list->texts, e->name, err),
                                           .type = HEED_F32,
                                           .rank = 2,
                                           .dim = {e->rows, e->cols}},
                             err);
    }
    if (fine && w->n_freqs)
        fine = add_shape(list,
                         (heed_tensor){.name = "rope_freqs.weight",
                                       .type = HEED_F32,
                                       .rank = 1,
                                       .dim = {w->n_freqs},
                                       .data = w->freqs,
                                       .bytes = (size_t)w->n_freqs * sizeof *w->freqs},
                         err);
    if (fine)
        return list;
    heed_tensors_free(list);
    return NULL;
}

static bool read_back(work *w, heed_error *err) {
    const heed_host *host = heed_model_host(w->c->from);
    heed_tensors *shapes = shapes_of(w, err);
    heed_gguf *gguf =
        shapes ? heed_gguf_from_bytes(host, w->c->out, w->printed.data, w->printed.n, err) : NULL;
    w->c->to = gguf ? heed_model_without_weights(w->c->from->engine, err) : NULL;
    if (w->c->to)
        return heed_gguf_read_back(w->c->to, gguf, shapes, err) &&
               heed_model_declare(w->c->to, err);
    heed_gguf_free(gguf);
    heed_tensors_free(shapes);
    return false;
}

static json_t *keys_of(const work *w, heed_config c, heed_error *err) {
    json_t *root = json_object();
    heed_config_drop_nothing(&c);
    if (!root)
        heed_fail(err, HEED_NOMEM, "no memory to compare the settings");
    if (root && (!w->form->say || w->form->say(&c, err)) &&
        heed_keys_write(root, w->c->from->family->keys, &c, err))
        return root;
    json_decref(root);
    return NULL;
}

/* Each key of config.json must say of both what it says of the one. */
static bool says_all(const work *w, heed_error *err) {
    json_t *mine = keys_of(w, w->c->from->config, err), *value;
    json_t *back = mine ? keys_of(w, w->c->to->config, err) : NULL;
    const char *key;
    bool fine = back;
    json_object_foreach(mine, key, value) {
        if (!fine || json_equal(value, json_object_get(back, key)))
            continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        fine = heed_fail(err, HEED_VALUE, "'%s': GGUF's %s cannot say that '%s' is %.80s",
                         w->c->path, w->form->architecture, key, text ? text : "?");
        free(text);
    }
    json_decref(mine);
    json_decref(back);
    return fine;
}

static bool names_all_ends(const work *w, heed_error *err) {
    const heed_config *a = &w->c->from->config, *b = &w->c->to->config;
    for (int64_t i = 0; i < a->ends; i++) {
        bool there = a->end[i] == b->eos;
        for (int64_t j = 0; j < b->ends; j++)
            there = there || a->end[i] == b->end[j];
        if (!there)
            return heed_fail(err, HEED_VALUE,
                             "'%s': %d tokens end a text, of which GGUF names three: not %d",
                             w->c->path, (int)a->ends, (int)a->end[i]);
    }
    return true;
}

static bool make_settings(work *w, heed_error *err) {
    w->said = w->c->from->config;
    w->n_freqs = heed_rope_gguf_freqs(&w->said, w->freqs, FREQS);
    put_general(w);
    return (!w->form->say || w->form->say(&w->said, err)) && put_vocabulary(w, err) &&
           put_keys(w, err) && put_template(w, err) &&
           heed_gguf_print(&w->printed, &w->settings, err) && read_back(w, err) &&
           says_all(w, err) && names_all_ends(w, err);
}

/* ---- Tensors ---- */

/* Vectors are float32 in every GGUF file, and so are tables whose rows are added to others. */
static heed_type type_of(const work *w, const heed_weight_entry *e) {
    bool added = strstr(e->name, "positions.weight") || !strcmp(e->name, "types.weight");
    return e->vector || added ? HEED_F32 : w->c->type;
}

static bool write_tensors(work *w, heed_error *err) {
    const heed_host *host = heed_model_host(w->c->from);
    heed_weights *weights = w->c->to->weights;
    int64_t n = heed_weights_count(weights), k = 0;
    heed_region region = {.host = host};
    heed_tensor *list = heed_alloc(host, (size_t)n + 1, sizeof *list, err);
    heed_convert_item *item = list ? heed_alloc(host, (size_t)n + 1, sizeof *item, err) : NULL;
    bool fine = item;
    if (fine && w->n_freqs) {
        item[0] = (heed_convert_item){.table = w->freqs};
        list[k++] = (heed_tensor){.name = "rope_freqs.weight",
                                  .type = HEED_F32,
                                  .rank = 1,
                                  .dim = {w->n_freqs},
                                  .data = &item[0]};
    }
    for (int64_t i = 0; fine && i < n; i++, k++) {
        heed_weight_entry *e = heed_weights_at(weights, i);
        item[k] = (heed_convert_item){.weight = e};
        list[k] = (heed_tensor){.name = name_of(w, &region, e->name, err),
                                .type = type_of(w, e),
                                .rank = e->vector ? 1 : 2,
                                .dim = {e->vector ? e->cols : e->rows, e->cols},
                                .data = &item[k]};
        fine = list[k].name != NULL;
    }
    fine = fine &&
           heed_gguf_write(host, w->c->out, &w->settings, list, k, heed_convert_bytes, w->c, err);
    heed_free(host, item);
    heed_free(host, list);
    heed_region_free(&region);
    return fine;
}

bool heed_convert_gguf(heed_conversion *c, heed_error *err) {
    const heed_host *host = heed_model_host(c->from);
    work w = {.c = c, .settings = {.bytes = {.host = host}}, .printed = {.host = host}};
    bool fine = choose_form(&w, err) && make_settings(&w, err) && heed_convert_match(c, err) &&
                write_tensors(&w, err);
    heed_buf_free(&w.settings.bytes);
    /* printed is what c->to's settings point into, and of these nothing is read any more */
    heed_buf_free(&w.printed);
    return fine;
}
