/* tokenizer.c: reading, freeing and saving: tokenizer.json read into its parts.
 *
 * The file's own bytes are kept, and saving writes them: what was read is what others will read.
 * `truncation` is read for who wants to follow it; `padding` is not: there is none here.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "file/json_pull.h"
#include "text/part.h"
#include "text/pattern.h"
#include "text/post.h"

static const heed_model_kind *const models[] = {&heed_model_bpe, &heed_model_unigram,
                                                &heed_model_words, &heed_model_word_piece};

void heed_tokenizer_free(heed_tokenizer *t) {
    if (!t) {
        return;
    }
    if (t->model_settings) {
        t->model->free(t->model_settings);
    }
    heed_patterns_free(t->patterns);
    heed_kept_free(t);
    heed_added_free(&t->added);
    heed_free(t->host, t->normalizer.item);
    heed_free(t->host, t->pre_tokenizer.item);
    heed_free(t->host, t->post_processor.item);
    heed_free(t->host, t->decoder.item);
    heed_vocab_map_free(&t->ids);
    heed_free(t->host, t->piece);
    heed_free(t->host, t->json);
    heed_region_free(&t->region);
    heed_free(t->host, t);
}

static bool read_version(const json_t *root, heed_error *err) {
    const char *version = heed_json_string(root, "version", NULL, err);
    return version &&
           (strcmp(version, "1.0") == 0 ||
            heed_fail(err, HEED_FILE, "version '%s' is not known, wanted '1.0'", version));
}

/* Files of the first years have no model.type: those with merges are BPE. */
static bool read_model(heed_tokenizer *t, const json_t *root, heed_error *err) {
    const json_t *model = heed_json_object(root, "model", err);
    const char *type = model && json_object_get(model, "merges") ? "BPE" : NULL;
    if (!model || !heed_json_opt_string(model, "type", &type, err)) {
        return false;
    }
    if (!type) {
        return heed_fail(err, HEED_NAME, "model: key 'type' is missing");
    }
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (strcmp(models[i]->type, type) == 0) {
            t->model = models[i];
        }
    }
    if (!t->model) {
        return heed_fail(err, HEED_FILE, "model: component '%s' is not supported", type);
    }
    t->model_settings = heed_region_alloc(&t->region, 1, t->model->size, err);
    if (!t->model_settings || !t->model->read(t, model, t->model_settings, err)) {
        heed_error_at(err, "model");
        return false;
    }
    return true;
}

static bool read_truncation(heed_tokenizer *t, const json_t *root, heed_error *err) {
    const json_t *json = json_object_get(root, "truncation");
    t->truncates = json && !json_is_null(json);
    if (!heed_truncation_read(root, &t->truncation, err)) {
        heed_error_at(err, "truncation");
        return false;
    }
    return true;
}

bool heed_tokenizer_truncation(const heed_tokenizer *t, heed_truncation *out) {
    *out = t->truncation;
    return t->truncates;
}

static bool read_all(heed_tokenizer *t, const json_t *root, heed_error *err) {
    return read_version(root, err) && read_truncation(t, root, err) && read_model(t, root, err) &&
           heed_chain_read(t, root, &heed_normalizers, &t->normalizer, err) &&
           heed_chain_read(t, root, &heed_pre_tokenizers, &t->pre_tokenizer, err) &&
           heed_chain_read(t, root, &heed_decoders, &t->decoder, err) &&
           heed_added_read(t, root, err) &&
           heed_chain_read(t, root, &heed_post_processors, &t->post_processor, err);
}

/* The file without the model's long lists, which stay where they are in t->json. */
static json_t *read_json(heed_tokenizer *t, const char *name, heed_error *err) {
    static const char *const lists[] = {"vocab", "merges"};
    heed_line span[2];
    heed_buf rest = {.host = t->host};
    bool ok =
        heed_json_outline((heed_line){t->json, t->json_n}, "model", lists, 2, span, &rest, err);
    heed_error why = {0};
    json_t *root = ok ? heed_json_parse(t->host, name, rest.data, rest.n, &why) : NULL;
    if (why.code != HEED_OK && why.code != HEED_NOMEM) { /* its line is that of the file */
        root = heed_json_parse(t->host, name, t->json, t->json_n, err);
    } else if (why.code != HEED_OK) {
        heed_fail(err, why.code, "%s", why.text);
    }
    t->vocab_json = span[0];
    t->merges_json = span[1];
    heed_buf_free(&rest);
    return root;
}

heed_tokenizer *heed_tokenizer_new(const heed_host *host, heed_error *err) {
    heed_tokenizer *t = heed_alloc(host, 1, sizeof *t, err);
    if (!t) {
        return NULL;
    }
    t->host = host;
    t->region.host = host;
    t->ids.host = host;
    heed_trie_init(&t->added.raw, host);
    heed_trie_init(&t->added.normalized, host);
    return t;
}

heed_tokenizer *heed_tokenizer_take(const heed_host *host, char *json, size_t n, const char *name,
                                    heed_error *err) {
    heed_tokenizer *t = json ? heed_tokenizer_new(host, err) : NULL;
    if (!t) {
        heed_free(host, json);
        return NULL;
    }
    t->json = json;
    t->json_n = n;
    json_t *root = read_json(t, name, err);
    bool ok = root && read_all(t, root, err);
    if (root && !ok) {
        heed_error_at(err, "'%s'", name);
    }
    json_decref(root);
    t->vocab_json = t->merges_json = (heed_line){0};
    if (!ok) {
        heed_tokenizer_free(t);
        return NULL;
    }
    return t;
}

heed_tokenizer *heed_tokenizer_parse(const heed_host *host, const char *json, size_t n,
                                     const char *name, heed_error *err) {
    return heed_tokenizer_take(host, heed_copy_text(host, json, n, err), n, name, err);
}

heed_tokenizer *heed_tokenizer_from(const heed_host *host, const json_t *root, const char *name,
                                    heed_error *err) {
    heed_buf json = {.host = host};
    if (!heed_json_print(&json, root, 0, err)) {
        heed_buf_free(&json);
        return NULL;
    }
    return heed_tokenizer_take(host, json.data, json.n, name, err);
}

bool heed_tokenizer_save(const heed_tokenizer *t, const char *path, heed_error *err) {
    if (t->json) {
        return heed_write_file(t->host, path, t->json, t->json_n, err);
    }
    heed_buf json = {.host = t->host};
    bool ok = t->print(t, &json, err) && heed_write_file(t->host, path, json.data, json.n, err);
    heed_buf_free(&json);
    return ok;
}
