/* convert_folder.c: a model as a folder of transformers'.
 *
 * A folder's settings and vocabulary are copied as they stand, but for the type in config.json:
 * what they say of a training, of labels or of pictures is then all there. What was read from
 * another format gets the settings that heed_model_save writes.
 * SPDX-License-Identifier: MIT
 */
#include "model/convert.h"

#include "base/fs.h"

enum { PATH = 4096, NAME = 256, CONFIG_LIMIT = 16 << 20 };

/* ---- From a folder ---- */

static bool copy_config(const heed_conversion *c, heed_error *err) {
    char path[PATH];
    if (!heed_join_path(path, sizeof path, c->path, "config.json", err))
        return false;
    json_t *root = heed_json_read(heed_model_host(c->from), path, CONFIG_LIMIT, err);
    if (!root)
        return false;
    const char *key = json_object_get(root, "torch_dtype") ? "torch_dtype" : "dtype";
    bool fine = json_object_set_new(root, key, json_string(heed_dtype_name(c->type))) == 0 ||
                heed_fail(err, HEED_NOMEM, "no memory to write config.json");
    fine = fine && heed_join_path(path, sizeof path, c->out, "config.json", err) &&
           heed_json_save(heed_model_host(c->from), path, root, 2, err);
    json_decref(root);
    return fine;
}

/* ---- From another format ---- */

/* The order of the weights that the family's own files have. */
static heed_config in_own_order(const heed_model *m) {
    heed_config c = m->config, own = heed_config_base();
    m->family->defaults(&own);
    c.decoder.positions = own.decoder.positions;
    c.norm_one_plus = own.norm_one_plus;
    c.output_by_input = own.output_by_input;
    return c;
}

/* The config that the written config.json says. */
static bool read_back(heed_conversion *c, heed_error *err) {
    heed_model *m = heed_model_without_weights(c->from->engine, err);
    heed_config config = in_own_order(c->from);
    if (!m)
        return false;
    c->to = m;
    m->family = c->from->family;
    m->config = config;
    bool fine = heed_model_take_config(m, heed_model_config_json(m, c->type, err), err);
    m->config.unk = config.unk;
    m->config.pooler = config.pooler;
    return fine && heed_model_declare(m, err);
}

static bool save_settings(heed_conversion *c, heed_error *err) {
    const heed_gguf_text *text = heed_gguf_template_of(c->from);
    json_t *template = text ? json_stringn(text->data, text->n) : NULL;
    if (text && !template)
        return heed_fail(err, HEED_VALUE, "setting '" HEED_CHAT_TEMPLATE "' is no UTF-8");
    c->to->tokenizer = c->from->tokenizer; /* lent */
    bool fine = heed_model_save_settings(c->to, c->out, c->type, template, err);
    c->to->tokenizer = NULL;
    json_decref(template);
    return fine;
}

/* ---- Weights ---- */

static bool describe(const heed_conversion *c, heed_region *region, heed_weight_entry *e,
                     heed_convert_item *item, heed_tensor *t, heed_error *err) {
    /* As in the folder that it comes from, whose names and shapes may be older ones. */
    const heed_model *called = c->from->names == c->from->family->weights ? c->from : c->to;
    *item = (heed_convert_item){.weight = e};
    *t = (heed_tensor){.type = c->type, .data = item};
    return heed_model_describe_weight(called, region, e, t, err);
}

/* A bias of zeros that no file holds is no tensor. */
static bool is_absent(const heed_conversion *c, const heed_weight_entry *e) {
    char name[NAME];
    return e->frozen && heed_model_weight_name(c->from, e->name, name, sizeof name) &&
           !heed_find_tensor(c->from, name);
}

static bool list_weights(const heed_conversion *c, heed_region *region, heed_convert_item *item,
                         heed_tensor *list, int64_t *n, heed_error *err) {
    for (int64_t i = 0; i < heed_weights_count(c->to->weights); i++) {
        heed_weight_entry *e = heed_weights_at(c->to->weights, i);
        if (is_absent(c, e))
            continue;
        if (!describe(c, region, e, &item[*n], &list[*n], err))
            return false;
        ++*n;
    }
    int64_t tables = *n;
    if (!heed_add_sinusoids(c->to, region, list, n, err))
        return false;
    for (; tables < *n; tables++) {
        item[tables] = (heed_convert_item){.table = list[tables].data};
        list[tables].data = &item[tables];
    }
    return true;
}

static bool write_weights(heed_conversion *c, heed_error *err) {
    const heed_host *host = heed_model_host(c->from);
    size_t most = (size_t)heed_weights_count(c->to->weights) + HEED_SINUSOIDS;
    heed_region region = {.host = host};
    heed_tensor *list = heed_alloc(host, most, sizeof *list, err);
    heed_convert_item *item = list ? heed_alloc(host, most, sizeof *item, err) : NULL;
    heed_meta format = {"format", "pt"};
    char path[PATH];
    int64_t n = 0;
    bool fine =
        item && list_weights(c, &region, item, list, &n, err) &&
        heed_join_path(path, sizeof path, c->out, "model.safetensors", err) &&
        heed_tensors_write_from(host, path, list, n, &format, 1, heed_convert_bytes, c, err);
    heed_free(host, item);
    heed_free(host, list);
    heed_region_free(&region);
    return fine;
}

static bool write_folder(heed_conversion *c, bool copies, heed_error *err) {
    if (copies ? !heed_convert_copy_files(c, err) || !copy_config(c, err) : !save_settings(c, err))
        return false;
    return write_weights(c, err);
}

bool heed_convert_folder(heed_conversion *c, heed_error *err) {
    bool copies = c->from->names == c->from->family->weights;
    if (copies)
        c->to = heed_model_sketch(c->from->engine, &c->from->config, NULL, err);
    if (copies ? !c->to : !read_back(c, err))
        return false;
    if (!heed_convert_match(c, err) || !heed_make_folder(c->out, err) ||
        !heed_convert_clear(c->out, err))
        return false;
    if (write_folder(c, copies, err))
        return true;
    heed_convert_clear(c->out, NULL); /* half a model is none */
    return false;
}
