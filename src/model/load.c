/* load.c: from a path to a model's config, tokenizer and tensors: a folder of transformers', a GGUF
 * file, a folder that holds one, a file of llama2.c.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include "base/fs.h"

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

/* The class that config.json names, "" where it says something else; the family's first where it
 * is silent. */
static const char *class_of(const heed_model *m, const json_t *root) {
    const json_t *named = heed_json_find(root, "architectures.0");
    if (m->encoder_alone && m->family->encoder_alone)
        return m->family->encoder_alone;
    return !named                  ? m->family->architectures->name
           : json_is_string(named) ? json_string_value(named)
                                   : "";
}

/* The head that the class has. */
static bool choose_head(heed_model *m, const json_t *root, heed_error *err) {
    const heed_architecture *list = m->family->architectures, *a = list;
    const char *name = class_of(m, root);
    while (a->name && strcmp(a->name, name) != 0)
        a++;
    if (a->name) {
        const char *alone = m->family->encoder_alone;
        m->config.kind = alone && !strcmp(name, alone) ? HEED_ENCODER : m->family->kind;
        m->config.head = a->head == HEED_HEAD_TWO ? HEED_HEAD_SEQUENCES : a->head;
        m->config.pooler = a->pooler;
        m->config.two_heads = a->head == HEED_HEAD_TWO;
        return true;
    }
    char known[500] = "";
    for (a = list; a->name; a++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", a == list ? "" : ", ", a->name);
    }
    return heed_fail(err, HEED_NAME, "architecture '%.60s' is not known here, family '%s' has: %s",
                     name, m->family->type, known);
}

bool heed_model_take_config(heed_model *m, json_t *root, heed_error *err) {
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

static bool read_config(heed_model *m, const char *folder, heed_error *err) {
    char path[PATH];
    return heed_join_path(path, sizeof path, folder, "config.json", err) &&
           heed_model_take_config(m, heed_json_read(heed_model_host(m), path, CONFIG_LIMIT, err),
                                  err);
}

bool heed_model_read_config(heed_model *m, const char *text, size_t n, heed_error *err) {
    return heed_model_take_config(
        m, heed_json_parse(heed_model_host(m), "config.json", text, n, err), err);
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
    c->repetition_penalty = base.repetition_penalty;
    c->no_repeat = c->max_new = c->bans = c->begin_bans = 0;
    c->forced_bos = c->forced_eos = -1;
}

static bool read_generation(heed_model *m, const char *folder, heed_error *err) {
    char path[PATH];
    if (!heed_join_path(path, sizeof path, folder, "generation_config.json", err))
        return false;
    if (!heed_is_there(path))
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
    if (heed_is_there(path))
        return heed_model_read_tokenizer(m, path, err);
    if (!heed_tokenizer_in_folder(folder, m->config.family))
        return true;
    return heed_model_read_tokenizer(m, folder, err);
}

/* ---- From where ---- */

/* A model without a head may have been saved without its pooler too: then it has no pooled row. */
static void look_for_pooler(heed_model *m) {
    char name[NAME];
    if (m->config.pooler && m->config.head == HEED_HEAD_NONE &&
        heed_renamed(m->names, "pooler.weight", 0, name, sizeof name))
        m->config.pooler = heed_find_tensor(m, name) != NULL;
}

static bool read_folder(heed_model *m, const char *folder, heed_error *err) {
    if (!read_config(m, folder, err) || !read_generation(m, folder, err) ||
        !read_tokenizer(m, folder, err))
        return false;
    m->own = heed_tensors_open(heed_model_host(m), folder, err);
    m->tensors = m->own;
    if (m->own && m->family->look)
        m->family->look(m->own, &m->config);
    m->names = m->family->weights;
    m->prefix = m->family->prefix;
    m->unused = m->family->unused;
    if (m->own)
        look_for_pooler(m);
    return m->own != NULL;
}

static bool read_file(heed_model *m, const char *path, heed_error *err) {
    if (heed_is_gguf(path))
        return heed_model_read_gguf(m, path, err);
    return heed_is_there(path) ? heed_model_read_llama2c(m, path, err)
                               : heed_fail(err, HEED_FILE, "there is no such folder or file");
}

static bool read_any(heed_model *m, const char *path, heed_error *err) {
    char inside[PATH], name[HEED_GGUF_NAME];
    if (!heed_is_folder(path))
        return read_file(m, path, err);
    if (!heed_join_path(inside, sizeof inside, path, "config.json", err))
        return false;
    if (heed_is_there(inside))
        return read_folder(m, path, err);
    int found = heed_gguf_in_folder(path, name);
    if (found > 1)
        return heed_fail(err, HEED_FILE, "the folder has %d GGUF files: name one of them", found);
    if (found == 0)
        return heed_fail(err, HEED_FILE,
                         "the folder has no config.json and no GGUF file; a model of llama2.c is "
                         "named by its own file");
    return heed_join_path(inside, sizeof inside, path, name, err) &&
           heed_model_read_gguf(m, inside, err);
}

bool heed_model_read_tokenizer(heed_model *m, const char *path, heed_error *err) {
    snprintf(m->vocabulary, sizeof m->vocabulary, "%.90s", heed_name_in(path));
    if (m->bare)
        return true;
    heed_tokenizer_pair pair = {NULL, NULL}; /* Marian's folders hold two */
    if (!heed_is_folder(path))
        pair.source = heed_tokenizer_open(heed_model_host(m), path, err);
    else if (!heed_tokenizer_open_folder(heed_model_host(m), path, &pair, err))
        return false;
    m->tokenizer = pair.source;
    m->target_tokenizer = pair.target;
    if (m->tokenizer && m->config.unk < 0)
        m->config.unk = heed_token_id(m->tokenizer, "<unk>");
    return m->tokenizer != NULL;
}

bool heed_model_read(heed_model *m, const char *path, heed_error *err) {
    if (!read_any(m, path, err))
        return false;
    m->config.tie_output = m->config.tie_output && !m->untie;
    return heed_model_declare(m, err);
}
