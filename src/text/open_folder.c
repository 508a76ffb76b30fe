/* open_folder.c: the settings of a tokenizer in Hugging Face's files beside its vocabulary.
 *
 * Newer folders say in added_tokens_decoder which tokens have which ids and flags; older ones say
 * it in added_tokens.json (ids), special_tokens_map.json and tokenizer_config.json (names). Both
 * are followed as transformers 5 does; of two that name the same token the newer counts.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "text/open.h"

enum { PATH = 4096, SETTINGS_LIMIT = 16 << 20, ADDED_LIMIT = 1 << 14 };
static const size_t FILE_LIMIT = (size_t)1 << 30;

/* ---- Files --------------------------------------------------------------------------------- */

static bool read_settings(const heed_folder *f, const char *name, json_t **out, heed_error *err) {
    char path[PATH];
    if (!heed_join_path(path, sizeof path, f->path, name, err)) {
        return false;
    }
    if (!heed_is_there(path)) {
        *out = json_object();
        return *out || heed_fail(err, HEED_NOMEM, "out of memory: '%s'", path);
    }
    *out = heed_json_read(f->host, path, SETTINGS_LIMIT, err);
    return *out &&
           (json_is_object(*out) ||
            heed_fail(err, HEED_FILE, "'%s' is %s, wanted an object", path, heed_json_kind(*out)));
}

static void drop_tail(char *kind, const char *tail) {
    size_t n = strlen(kind), m = strlen(tail);
    if (n > m && strcmp(kind + n - m, tail) == 0) {
        kind[n - m] = '\0';
    }
}

/* "XLMRobertaTokenizerFast" and "xlm-roberta" are both xlmroberta. */
static void take_kind(heed_folder *f, const char *name) {
    size_t n = 0;
    for (; *name && n + 1 < sizeof f->kind; name++) {
        bool dash = *name == '-' || *name == '_', capital = *name >= 'A' && *name <= 'Z';
        f->kind[n] = (char)(capital ? *name + ('a' - 'A') : *name);
        n += dash ? 0 : 1;
    }
    f->kind[n] = '\0';
    drop_tail(f->kind, "fast");
    drop_tail(f->kind, "tokenizer");
}

bool heed_folder_open(heed_folder *f, const heed_host *host, const char *path, heed_error *err) {
    *f = (heed_folder){.host = host, .path = path};
    json_t *model = NULL;
    const char *class = NULL, *type = NULL;
    bool ok = read_settings(f, "tokenizer_config.json", &f->tokenizer, err) &&
              read_settings(f, "special_tokens_map.json", &f->special, err) &&
              read_settings(f, "added_tokens.json", &f->added, err) &&
              read_settings(f, "config.json", &model, err) &&
              heed_json_opt_string(f->tokenizer, "tokenizer_class", &class, err) &&
              heed_json_opt_string(model, "model_type", &type, err);
    bool said = class && strcmp(class, "PreTrainedTokenizerFast") != 0 &&
                strcmp(class, "TokenizersBackend") != 0;
    if (ok && (said || type)) {
        take_kind(f, said ? class : type);
    }
    json_decref(model);
    if (!ok) {
        heed_folder_close(f);
    }
    return ok;
}

void heed_folder_close(heed_folder *f) {
    json_decref(f->tokenizer);
    json_decref(f->special);
    json_decref(f->added);
    f->tokenizer = f->special = f->added = NULL;
}

bool heed_folder_has(const heed_folder *f, const char *name) {
    char path[PATH];
    return heed_join_path(path, sizeof path, f->path, name, NULL) && heed_is_there(path);
}

char *heed_folder_read(const heed_folder *f, const char *name, size_t *n, heed_error *err) {
    char path[PATH];
    if (name && !heed_join_path(path, sizeof path, f->path, name, err)) {
        return NULL;
    }
    return heed_read_file(f->host, name ? path : f->path, FILE_LIMIT, n, err);
}

json_t *heed_vocab_json(const heed_host *host, const char *text, size_t n, heed_error *err) {
    json_t *vocab = heed_json_parse(host, "vocab.json", text, n, err);
    if (vocab && !json_is_object(vocab)) {
        heed_fail(err, HEED_FILE, "vocab.json is %s, wanted an object", heed_json_kind(vocab));
        json_decref(vocab);
        return NULL;
    }
    return vocab;
}

bool heed_folder_flag(const heed_folder *f, const char *key, bool *out, heed_error *err) {
    if (!heed_json_opt_bool(f->tokenizer, key, out, err)) {
        heed_error_at(err, "tokenizer_config.json");
        return false;
    }
    return true;
}

/* ---- Tokens -------------------------------------------------------------------------------- */

/* A token stands as its text or as an object with it. */
static const char *text_of(const json_t *token) {
    return json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
}

static const json_t *token_of(const heed_folder *f, const char *key) {
    const json_t *token = json_object_get(f->tokenizer, key);
    return token ? token : json_object_get(f->special, key);
}

const char *heed_folder_token(const heed_folder *f, const char *key, const char *usual) {
    const json_t *token = token_of(f, key);
    return token ? text_of(token) : usual;
}

typedef struct {
    const heed_folder *folder;
    json_t *list;
    heed_find_id *find;
    const void *vocabulary;
    int64_t next;
    heed_error *err;
} gathering;

static const json_t *known(const gathering *g, const char *text) {
    for (size_t i = 0; i < json_array_size(g->list); i++) {
        const json_t *token = json_array_get(g->list, i);
        if (strcmp(text, json_string_value(json_object_get(token, "content"))) == 0) {
            return token;
        }
    }
    return NULL;
}

static bool flag_of(const json_t *token, const char *key, bool usual) {
    const json_t *flag = json_is_object(token) ? json_object_get(token, key) : NULL;
    return flag ? json_is_true(flag) : usual;
}

/* Appends a token as tokenizer.json has it; an id below 0: the vocabulary's, or the next one. */
static bool gather(gathering *g, const json_t *token, const char *text, int64_t id, bool special,
                   bool lstrip) {
    if (!text || !*text || known(g, text)) {
        return true;
    }
    if (json_array_size(g->list) >= ADDED_LIMIT) {
        return heed_fail(g->err, HEED_FILE, "more than %d added tokens", ADDED_LIMIT);
    }
    if (id < 0) {
        id = g->find(g->vocabulary, text, strlen(text));
    }
    id = id < 0 ? g->next : id;
    g->next = id >= g->next ? id + 1 : g->next;
    special = flag_of(token, "special", special);
    json_t *one =
        json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id", (json_int_t)id, "content", text,
                  "single_word", flag_of(token, "single_word", false), "lstrip",
                  flag_of(token, "lstrip", lstrip), "rstrip", flag_of(token, "rstrip", false),
                  "normalized", flag_of(token, "normalized", !special), "special", special);
    return (one && json_array_append_new(g->list, one) == 0) ||
           heed_fail(g->err, HEED_NOMEM, "out of memory: added token '%s'", text);
}

static bool id_of(const char *key, int64_t *id, heed_error *err) {
    char *end = NULL;
    long long value = strtoll(key, &end, 10);
    if (end == key || *end || value < 0 || value > HEED_MAX_ID) {
        return heed_fail(err, HEED_FILE,
                         "tokenizer_config.json: added_tokens_decoder: '%s' is no id", key);
    }
    *id = value;
    return true;
}

/* Newer folders: {"id": {"content": ...}}. */
static bool gather_decoder(gathering *g) {
    json_t *decoder = json_object_get(g->folder->tokenizer, "added_tokens_decoder");
    const char *key;
    json_t *token;
    json_object_foreach(decoder, key, token) {
        int64_t id = -1;
        if (!id_of(key, &id, g->err) || !gather(g, token, text_of(token), id, false, false)) {
            return false;
        }
    }
    return true;
}

static const char *const names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                    "pad_token", "cls_token", "mask_token"};
enum { NAMES = sizeof names / sizeof names[0] };
static const char *const lists[] = {"additional_special_tokens", "extra_special_tokens"};
enum { LISTS = sizeof lists / sizeof lists[0] };

static bool is_named(const heed_folder *f, const char *text);

/* Older folders: {"text": id}. */
static bool gather_ids(gathering *g) {
    const char *text;
    json_t *id;
    for (int i = 0; i < LISTS; i++) { /* each is looked through for each */
        if (json_array_size(token_of(g->folder, lists[i])) > ADDED_LIMIT) {
            return heed_fail(g->err, HEED_FILE, "%s has more than %d tokens", lists[i],
                             ADDED_LIMIT);
        }
    }
    json_object_foreach(g->folder->added, text, id) {
        int64_t value = json_is_integer(id) ? json_integer_value(id) : -1;
        if (value < 0 || value > HEED_MAX_ID) {
            return heed_fail(g->err, HEED_FILE, "added_tokens.json: token '%s' has no id", text);
        }
        if (!gather(g, NULL, text, value, is_named(g->folder, text), false)) {
            return false;
        }
    }
    return true;
}

static bool is_named(const heed_folder *f, const char *text) {
    for (int i = 0; i < NAMES; i++) {
        const char *named = heed_folder_token(f, names[i], NULL);
        if (named && strcmp(named, text) == 0) {
            return true;
        }
    }
    for (int i = 0; i < LISTS; i++) {
        const json_t *list = token_of(f, lists[i]);
        for (size_t k = 0; k < json_array_size(list); k++) {
            const char *named = text_of(json_array_get(list, k));
            if (named && strcmp(named, text) == 0) {
                return true;
            }
        }
    }
    return false;
}

static const heed_usual_token *usual_of(const heed_usual_token *usual, size_t n, const char *key) {
    for (size_t i = 0; i < n; i++) {
        if (usual[i].key && strcmp(usual[i].key, key) == 0) {
            return &usual[i];
        }
    }
    return NULL;
}

/* bos_token and the like: by a file's name for it, or by the usual one. */
static bool gather_named(gathering *g, const heed_usual_token *usual, size_t n) {
    for (int i = 0; i < NAMES; i++) {
        const heed_usual_token *own = usual_of(usual, n, names[i]);
        const char *text = heed_folder_token(g->folder, names[i], own ? own->text : NULL);
        if (!gather(g, token_of(g->folder, names[i]), text, -1, true, own && own->lstrip)) {
            return false;
        }
    }
    return true;
}

static bool gather_nameless(gathering *g, const heed_usual_token *usual, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!usual[i].key && !gather(g, NULL, usual[i].text, -1, true, usual[i].lstrip)) {
            return false;
        }
    }
    return true;
}

static bool gather_list(gathering *g, const json_t *list) {
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *token = json_array_get(list, k);
        if (!gather(g, token, text_of(token), -1, true, false)) {
            return false;
        }
    }
    return true;
}

static int64_t id_at(const json_t *list, size_t i) {
    return json_integer_value(json_object_get(json_array_get(list, i), "id"));
}

/* By id, since those without a place in the vocabulary have to come in order. */
static json_t *sorted(json_t *list, heed_error *err) {
    json_t *out = json_array();
    for (size_t i = 0; out && i < json_array_size(list); i++) {
        size_t at = json_array_size(out);
        while (at > 0 && id_at(out, at - 1) > id_at(list, i)) {
            at--;
        }
        if (json_array_insert(out, at, json_array_get(list, i)) != 0) {
            json_decref(out);
            out = NULL;
        }
    }
    if (!out) {
        heed_fail(err, HEED_NOMEM, "out of memory: added tokens");
    }
    return out;
}

json_t *heed_folder_added(const heed_folder *f, const heed_usual_token *usual, size_t n,
                          heed_find_id *find, const void *vocabulary, int64_t next,
                          heed_error *err) {
    gathering g = {f, json_array(), find, vocabulary, next, err};
    bool ok = g.list || heed_fail(err, HEED_NOMEM, "out of memory: added tokens");
    ok = ok && gather_decoder(&g) && gather_ids(&g) && gather_named(&g, usual, n) &&
         gather_nameless(&g, usual, n);
    for (int i = 0; ok && i < LISTS; i++) {
        ok = gather_list(&g, token_of(f, lists[i]));
    }
    json_t *out = ok ? sorted(g.list, err) : NULL;
    json_decref(g.list);
    return out;
}
