/* save.c: a model as a Hugging Face folder: config.json, generation_config.json, model.safetensors,
 * tokenizer.json, tokenizer_config.json. The weights are written last, so that a folder with
 * weights is complete.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include "base/fs.h"
#include "graph/op.h"
#include "op/sinusoid.h"

#include <string.h>

enum { PATH = 4096, NAME = 256 };

static bool save_json(const heed_model *m, const char *folder, const char *name, const json_t *root,
                      heed_error *err) {
    char path[PATH];
    return heed_join_path(path, sizeof path, folder, name, err) &&
           heed_json_save(heed_model_host(m), path, root, 2, err);
}

/* Takes the value, NULL where there was no memory for it. */
static bool set(json_t *root, const char *key, json_t *value, heed_error *err) {
    return json_object_set_new(root, key, value) == 0 ||
           heed_fail(err, HEED_NOMEM, "no memory to write key '%s'", key);
}

/* The class of transformers that has the model's head. */
static const char *class_of(const heed_model *m) {
    const heed_config *c = &m->config;
    const heed_architecture *list = m->family->architectures;
    if (m->family->encoder_alone && c->kind != m->family->kind)
        return m->family->encoder_alone;
    for (const heed_architecture *a = list; a->name; a++)
        if (a->head == (c->two_heads ? HEED_HEAD_TWO : c->head))
            return a->name;
    return list->name;
}

const char *heed_dtype_name(heed_type type) {
    return type == HEED_F16 ? "float16" : type == HEED_BF16 ? "bfloat16" : "float32";
}

json_t *heed_model_config_json(const heed_model *m, heed_type type, heed_error *err) {
    const heed_family *f = m->family;
    const heed_key *tables[HEED_TABLES + 2] = {heed_generation_keys + HEED_SEARCH_KEYS};
    for (int i = 0; f->keys[i]; i++)
        tables[i + 1] = f->keys[i];
    json_t *root = json_pack("{s:s, s:[s], s:s, s:b}", "model_type", f->type, "architectures",
                             class_of(m), "dtype", heed_dtype_name(type), "is_encoder_decoder",
                             f->kind == HEED_ENCODER_DECODER);
    if (!root)
        heed_fail(err, HEED_NOMEM, "no memory to write config.json");
    else if (heed_keys_write(root, tables, &m->config, err))
        return root;
    json_decref(root);
    return NULL;
}

static bool save_config(const heed_model *m, const char *folder, heed_type type, heed_error *err) {
    json_t *root = heed_model_config_json(m, type, err);
    bool fine = root && save_json(m, folder, "config.json", root, err);
    json_decref(root);
    return fine;
}

/* The pad token must never be produced by a search: transformers learns it from bad_words_ids. A
 * decoder's pad token may be the one that ends a text. */
static bool save_generation(const heed_model *m, const char *folder, heed_error *err) {
    bool searched = m->config.kind == HEED_ENCODER_DECODER;
    const heed_key *tables[] = {heed_generation_keys + (searched ? 0 : HEED_SEARCH_KEYS), NULL};
    if (m->config.kind == HEED_ENCODER)
        return true;
    json_t *root = json_object();
    bool fine = root ? heed_keys_write(root, tables, &m->config, err)
                     : heed_fail(err, HEED_NOMEM, "no memory to write generation_config.json");
    if (fine && searched && m->config.pad >= 0)
        fine = set(root, "bad_words_ids", json_pack("[[i]]", (int)m->config.pad), err);
    fine = fine && save_json(m, folder, "generation_config.json", root, err);
    json_decref(root);
    return fine;
}

static bool set_token(const heed_model *m, json_t *root, const char *key, int32_t id,
                      heed_error *err) {
    const char *text = id >= 0 ? heed_token_text(m->tokenizer, id) : NULL;
    return !text || set(root, key, json_string(text), err);
}

static bool save_tokenizer(const heed_model *m, const char *folder, const json_t *template,
                           heed_error *err) {
    bool own = false; /* the files that it came with, tokenizer_config.json among them */
    if (!m->tokenizer)
        return true;
    if (!heed_tokenizer_save_folder(m->tokenizer, folder, &own, err))
        return false;
    if (own)
        return true;
    json_t *root =
        json_pack("{s:s, s:b, s:I}", "tokenizer_class", "PreTrainedTokenizerFast",
                  "clean_up_tokenization_spaces", 0, "model_max_length",
                  (json_int_t)(m->config.kind == HEED_DECODER ? m->config.decoder.max_positions
                                                              : m->config.encoder.max_positions));
    if (!root)
        return heed_fail(err, HEED_NOMEM, "no memory to write tokenizer_config.json");
    bool fine = set_token(m, root, "pad_token", m->config.pad, err) &&
                set_token(m, root, "bos_token", m->config.bos, err) &&
                set_token(m, root, "eos_token", m->config.eos, err) &&
                set_token(m, root, "unk_token", m->config.unk, err) &&
                (!template || set(root, "chat_template", json_deep_copy(template), err)) &&
                save_json(m, folder, "tokenizer_config.json", root, err);
    json_decref(root);
    return fine;
}

bool heed_model_save_settings(const heed_model *m, const char *folder, heed_type type,
                              const json_t *template, heed_error *err) {
    return heed_make_folder(folder, err) && save_config(m, folder, type, err) &&
           save_generation(m, folder, err) && save_tokenizer(m, folder, template, err);
}

bool heed_model_describe_weight(const heed_model *m, heed_region *names, const heed_weight_entry *e,
                                heed_tensor *t, heed_error *err) {
    char name[NAME];
    if (!heed_model_weight_name(m, e->name, name, sizeof name))
        return heed_fail(err, HEED_NAME, "family '%s' has no name for weight '%s'", m->family->type,
                         e->name);
    t->name = heed_region_text(names, name, strlen(name), err);
    t->rank = heed_model_weight_shape(m, e, t->dim);
    return t->name != NULL;
}

static bool describe(const heed_model *m, heed_region *names, const heed_weight_entry *e,
                     heed_tensor *t, heed_error *err) {
    *t = (heed_tensor){
        .type = HEED_F32, .data = e->data, .bytes = (size_t)(e->rows * e->cols) * sizeof(float)};
    return heed_model_describe_weight(m, names, e, t, err);
}

bool heed_add_sinusoids(const heed_model *m, heed_region *region, heed_tensor *list, int64_t *n,
                        heed_error *err) {
    const heed_stack *s = &m->config.encoder;
    for (const char *const *name = m->family->sinusoids; name && *name; name++) {
        size_t count = (size_t)(s->max_positions * s->width);
        float *table = heed_region_alloc(region, count, sizeof *table, err);
        if (!table)
            return false;
        heed_fill_sinusoids(table, s->width, false, 0, s->max_positions);
        list[(*n)++] = (heed_tensor){.name = *name,
                                     .type = HEED_F32,
                                     .rank = 2,
                                     .dim = {s->max_positions, s->width},
                                     .data = table,
                                     .bytes = count * sizeof *table};
    }
    return true;
}

static bool save_weights(const heed_model *m, const char *folder, heed_error *err) {
    const heed_host *host = heed_model_host(m);
    int64_t n = heed_weights_count(m->weights);
    heed_region region = {.host = host};
    heed_tensor *list = heed_alloc(host, (size_t)n + HEED_SINUSOIDS, sizeof *list, err);
    char path[PATH];
    bool fine = list && heed_join_path(path, sizeof path, folder, "model.safetensors", err);
    for (int64_t i = 0; fine && i < n; i++)
        fine = heed_weights_expand(m->weights, heed_weights_at(m->weights, i), err) &&
               describe(m, &region, heed_weights_at(m->weights, i), &list[i], err);
    heed_meta format = {"format", "pt"};
    fine = fine && heed_add_sinusoids(m, &region, list, &n, err) &&
           heed_tensors_write(host, path, list, n, &format, 1, err);
    heed_free(host, list);
    heed_region_free(&region);
    return fine;
}

bool heed_model_save(const heed_model *m, const char *folder, heed_error *err) {
    return heed_model_save_settings(m, folder, HEED_F32, NULL, err) && save_weights(m, folder, err);
}
