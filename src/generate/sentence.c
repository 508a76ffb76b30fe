/* sentence.c: modules.json of sentence-transformers and the files that it names.
 *
 * A text goes through the modules in the order of the list: the model, pooling, and perhaps layers
 * and normalising. Anything else that a file asks for is refused by its name, since leaving it out
 * would give other vectors.
 * SPDX-License-Identifier: MIT
 */
#include "generate/sentence.h"

#include "base/error.h"
#include "base/fs.h"
#include "file/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT = 1 << 20 };

static const struct {
    const char *key, *name;
    heed_pooling pooling;
} modes[] = {{"pooling_mode_mean_tokens", "mean", HEED_POOLING_MEAN},
             {"pooling_mode_cls_token", "cls", HEED_POOLING_FIRST},
             {"pooling_mode_lasttoken", "lasttoken", HEED_POOLING_LAST},
             {"pooling_mode_max_tokens", "max", HEED_POOLING_MAX},
             {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", HEED_POOLING_MEAN_ROOT},
             {"pooling_mode_weightedmean_tokens", "weightedmean", HEED_POOLING_WEIGHTED}};
enum { MODES = sizeof modes / sizeof *modes };

const char *heed_pooling_name(heed_pooling pooling) {
    for (int i = 0; i < MODES; i++)
        if (modes[i].pooling == pooling)
            return modes[i].name;
    return "stated";
}

/* The file folder/name into *root, NULL where it is absent. An error names the file. */
static bool open_file(const heed_host *host, const char *folder, const char *name, json_t **root,
                      heed_error *err) {
    char path[HEED_SENTENCE_PATH];
    *root = NULL;
    if (!heed_join_path(path, sizeof path, folder, name, err))
        return false;
    if (!heed_is_there(path))
        return true;
    *root = heed_json_read(host, path, LIMIT, err);
    return *root != NULL;
}

static bool is_one_of(const char *name, const char *const *list) {
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* Every key of root is in the list. */
static bool all_known(const json_t *root, const char *const *list, heed_error *err) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, key, value) {
        if (!is_one_of(key, list))
            return heed_fail(err, HEED_NAME, "key '%s' is not known; its effect would be ignored",
                             key);
    }
    return true;
}

/* ---- Pooling ---- */

static bool set_pooling(heed_sentence_rules *r, heed_pooling pooling, heed_error *err) {
    if (r->pooling != HEED_POOLING_STATED)
        return heed_fail(err, HEED_VALUE,
                         "pooling by '%s' and by '%s' side by side is not known here",
                         heed_pooling_name(r->pooling), heed_pooling_name(pooling));
    r->pooling = pooling;
    return true;
}

/* One word in place of a flag for each mode. */
static bool read_mode(const json_t *root, heed_sentence_rules *r, heed_error *err) {
    const char *name = NULL;
    if (!heed_json_opt_string(root, "pooling_mode", &name, err))
        return false;
    if (!name)
        return true;
    for (int i = 0; i < MODES; i++)
        if (!strcmp(modes[i].name, name))
            return set_pooling(r, modes[i].pooling, err);
    return heed_fail(err, HEED_VALUE, "pooling_mode '%.60s' is not known here", name);
}

static bool read_pooling(const json_t *root, heed_sentence_rules *r, heed_error *err) {
    const char *known[MODES + 5] = {"word_embedding_dimension", "embedding_dimension",
                                    "include_prompt", "pooling_mode"};
    for (int i = 0; i < MODES; i++)
        known[4 + i] = modes[i].key;
    if (!all_known(root, known, err) || !read_mode(root, r, err) ||
        !heed_json_opt_bool(root, "include_prompt", &r->prompt_pooled, err))
        return false;
    for (int i = 0; i < MODES; i++) {
        bool on = false;
        if (!heed_json_opt_bool(root, modes[i].key, &on, err) ||
            (on && !set_pooling(r, modes[i].pooling, err)))
            return false;
    }
    return r->pooling != HEED_POOLING_STATED ||
           heed_fail(err, HEED_VALUE, "it chooses no way of pooling");
}

/* ---- The model's length ---- */

static bool read_length(const json_t *root, heed_sentence_rules *r, const char *name,
                        heed_error *err) {
    static const char *const known[] = {"max_seq_length",  "do_lower_case",      "transformer_task",
                                        "modality_config", "module_output_name", NULL};
    if (!all_known(root, known, err) ||
        !heed_json_opt_int(root, "max_seq_length", &r->max_tokens, err) ||
        !heed_json_opt_bool(root, "do_lower_case", &r->lower, err))
        return false;
    const char *rows = NULL;
    if (!heed_json_opt_string(root, "modality_config.text.method_output_name", &rows, err))
        return false;
    if (rows && strcmp(rows, "last_hidden_state") != 0)
        return heed_fail(err, HEED_VALUE, "the rows of '%.60s' are not known here", rows);
    if (r->max_tokens < 0)
        return heed_fail(err, HEED_VALUE, "max_seq_length is %" PRId64, r->max_tokens);
    r->max_from = name;
    return true;
}

/* The first of these that is there. */
static bool read_model(const heed_host *host, heed_sentence_rules *r, heed_error *err) {
    static const char *const names[] = {
        "sentence_bert_config.json",       "sentence_roberta_config.json",
        "sentence_distilbert_config.json", "sentence_camembert_config.json",
        "sentence_albert_config.json",     "sentence_xlm-roberta_config.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        heed_error inner = {0};
        json_t *root;
        if (!open_file(host, r->model, names[i], &root, err))
            return false;
        bool fine = root && read_length(root, r, names[i], &inner);
        json_decref(root);
        if (inner.code)
            return heed_fail(err, inner.code, "'%s': %s", names[i], inner.text);
        if (fine)
            break;
    }
    return true;
}

/* What the tokenizer's settings say, where nothing else does; they say "no limit" by 10^30. */
static bool read_tokenizer(const heed_host *host, heed_sentence_rules *r, heed_error *err) {
    json_t *root = NULL;
    if (r->max_tokens)
        return true;
    if (!open_file(host, r->model, "tokenizer_config.json", &root, err))
        return false;
    const json_t *most = root ? heed_json_find(root, "model_max_length") : NULL;
    json_int_t n = json_integer_value(most);
    if (n > 0 && n <= INT32_MAX) {
        r->max_tokens = n;
        r->max_from = "tokenizer_config.json";
    }
    json_decref(root);
    return true;
}

/* ---- Modules ---- */

/* "sentence_transformers.models.Pooling" is a Pooling. */
static const char *kind_of(const char *type) {
    const char *dot = strrchr(type, '.');
    return dot ? dot + 1 : type;
}

/* The place of a module's files; false for one outside the folder. */
static bool place(char *out, const char *folder, const char *path, heed_error *err) {
    if (path[0] == '/' || strstr(path, ".."))
        return heed_fail(err, HEED_VALUE, "path '%.60s' leads out of the folder", path);
    if (path[0])
        return heed_join_path(out, HEED_SENTENCE_PATH, folder, path, err);
    return snprintf(out, HEED_SENTENCE_PATH, "%s", folder) < HEED_SENTENCE_PATH ||
           heed_fail(err, HEED_FILE, "the path '%.60s' is too long", folder);
}

/* The config.json of a module, which must be there; NULL with an error that names it. */
static json_t *open_module(const heed_host *host, const char *folder, heed_error *err) {
    json_t *root;
    if (open_file(host, folder, "config.json", &root, err) && !root)
        heed_fail(err, HEED_FILE, "'%s/config.json': there is no such file", folder);
    return root;
}

static bool read_pooling_at(const heed_host *host, const char *folder, heed_sentence_rules *r,
                            heed_error *err) {
    heed_error inner = {0};
    json_t *root = open_module(host, folder, err);
    if (!root)
        return false;
    read_pooling(root, r, &inner);
    json_decref(root);
    return !inner.code || heed_fail(err, inner.code, "'%s/config.json': %s", folder, inner.text);
}

/* "torch.nn.modules.activation.Tanh" */
static bool read_act(const char *name, heed_sentence_dense *d, heed_error *err) {
    static const struct {
        const char *name;
        heed_act_kind act;
    } acts[] = {{"Tanh", HEED_ACT_TANH},       {"ReLU", HEED_ACT_RELU},
                {"GELU", HEED_ACT_GELU},       {"SiLU", HEED_ACT_SILU},
                {"Sigmoid", HEED_ACT_SIGMOID}, {"Identity", HEED_ACT_RELU}};
    enum { ACTS = sizeof acts / sizeof *acts };
    for (int i = 0; i < ACTS; i++)
        if (!strcmp(kind_of(name), acts[i].name)) {
            d->act = acts[i].act;
            d->plain = i == ACTS - 1;
            return true;
        }
    return heed_fail(err, HEED_VALUE,
                     "activation_function '%.60s' is not known here: Tanh, ReLU, GELU, SiLU, "
                     "Sigmoid and Identity are",
                     name);
}

static bool read_dense(const json_t *root, heed_sentence_dense *d, heed_error *err) {
    static const char *const known[] = {
        "in_features",       "out_features",       "bias", "activation_function",
        "module_input_name", "module_output_name", NULL};
    const char *act = "torch.nn.modules.activation.Tanh", *from = NULL, *to = NULL;
    d->bias = true;
    if (!all_known(root, known, err) || !heed_json_int(root, "in_features", &d->in, err) ||
        !heed_json_int(root, "out_features", &d->out, err) ||
        !heed_json_opt_bool(root, "bias", &d->bias, err) ||
        !heed_json_opt_string(root, "activation_function", &act, err) ||
        !heed_json_opt_string(root, "module_input_name", &from, err) ||
        !heed_json_opt_string(root, "module_output_name", &to, err))
        return false;
    const char *other = from && strcmp(from, "sentence_embedding") != 0 ? from
                        : to && strcmp(to, "sentence_embedding") != 0   ? to
                                                                        : NULL;
    if (other)
        return heed_fail(err, HEED_VALUE, "a layer on '%.60s' is not known here", other);
    if (d->in < 1 || d->out < 1 || d->in > INT32_MAX || d->out > INT32_MAX)
        return heed_fail(err, HEED_SHAPE, "%" PRId64 " to %" PRId64 " features", d->in, d->out);
    return read_act(act, d, err);
}

static bool read_dense_at(const heed_host *host, const char *folder, heed_sentence_rules *r,
                          heed_error *err) {
    heed_error inner = {0};
    if (r->n_dense == HEED_SENTENCE_LAYERS)
        return heed_fail(err, HEED_LIMIT, "more than %d Dense modules", HEED_SENTENCE_LAYERS);
    heed_sentence_dense *d = &r->dense[r->n_dense++];
    memcpy(d->folder, folder, sizeof d->folder);
    json_t *root = open_module(host, folder, err);
    if (!root)
        return false;
    read_dense(root, d, &inner);
    json_decref(root);
    return !inner.code || heed_fail(err, inner.code, "'%s/config.json': %s", folder, inner.text);
}

/* Module i of the list. */
static bool read_module(const heed_host *host, const char *folder, const json_t *module, size_t i,
                        heed_sentence_rules *r, heed_error *err) {
    const char *type = heed_json_string(module, "type", NULL, err);
    const char *path = type ? heed_json_string(module, "path", NULL, err) : NULL;
    char at[HEED_SENTENCE_PATH];
    if (!path || !place(at, folder, path, err))
        return false;
    const char *kind = kind_of(type);
    if (!strcmp(kind, "Transformer") && i == 0) {
        memcpy(r->model, at, sizeof at);
        return true;
    }
    if (!strcmp(kind, "Pooling") && i == 1)
        return read_pooling_at(host, at, r, err);
    if (!strcmp(kind, "Dense") && i > 1 && !r->normalize)
        return read_dense_at(host, at, r, err);
    if (!strcmp(kind, "Normalize") && i > 1 && !r->normalize) {
        r->normalize = true;
        return true;
    }
    return heed_fail(err, HEED_NAME,
                     "module %zu is '%.60s', known here are Transformer, then Pooling, then "
                     "Dense, then Normalize",
                     i + 1, kind);
}

static bool read_modules(const heed_host *host, const char *folder, heed_sentence_rules *r,
                         heed_error *err) {
    heed_error inner = {0};
    json_t *root;
    if (!open_file(host, folder, "modules.json", &root, err))
        return false;
    if (root && !json_is_array(root))
        heed_fail(&inner, HEED_VALUE, "it holds %s, wanted a list of modules",
                  heed_json_kind(root));
    for (size_t i = 0; root && !inner.code && i < json_array_size(root); i++)
        read_module(host, folder, json_array_get(root, i), i, r, &inner);
    if (root && !inner.code && r->pooling == HEED_POOLING_STATED)
        heed_fail(&inner, HEED_VALUE, "it has no Pooling behind a Transformer");
    r->stated = root != NULL;
    json_decref(root);
    return !inner.code || heed_fail(err, inner.code, "'modules.json': %s", inner.text);
}

/* ---- Prompts ---- */

static bool take_prompt(const json_t *root, const char *name, heed_sentence_rules *r,
                        heed_error *err) {
    const json_t *prompts = root ? heed_json_find(root, "prompts") : NULL;
    if (!name && root && !heed_json_opt_string(root, "default_prompt_name", &name, err))
        return false;
    if (!name)
        return true;
    const json_t *text = json_object_get(prompts, name);
    size_t n = json_string_length(text);
    if (!json_is_string(text))
        return heed_fail(err, HEED_NAME, "there is no prompt '%.60s'", name);
    if (n >= sizeof r->prompt || strlen(json_string_value(text)) != n)
        return heed_fail(err, HEED_LIMIT, "prompt '%.60s' has %zu bytes, or one that is NUL", name,
                         n);
    memcpy(r->prompt, json_string_value(text), n + 1);
    return true;
}

static bool read_prompts(const heed_host *host, const char *folder, const char *name,
                         heed_sentence_rules *r, heed_error *err) {
    static const char file[] = "config_sentence_transformers.json";
    heed_error inner = {0};
    json_t *root;
    if (!open_file(host, folder, file, &root, err))
        return false;
    take_prompt(root, name, r, &inner);
    json_decref(root);
    if (!inner.code && r->prompt[0] && !r->prompt_pooled)
        heed_fail(&inner, HEED_VALUE, "a prompt that is not pooled is not known here");
    return !inner.code || heed_fail(err, inner.code, "'%s': %s", file, inner.text);
}

bool heed_sentence_read(const heed_host *host, const char *folder, const char *prompt,
                        heed_sentence_rules *rules, heed_error *err) {
    memset(rules, 0, sizeof *rules);
    rules->prompt_pooled = true;
    if (!heed_is_folder(folder))
        return heed_fail(err, HEED_FILE,
                         heed_is_there(folder)
                             ? "a file, wanted a model's folder: `heed convert` makes one of it"
                             : "there is no such folder");
    return place(rules->model, folder, "", err) && read_modules(host, folder, rules, err) &&
           read_model(host, rules, err) && read_tokenizer(host, rules, err) &&
           read_prompts(host, folder, prompt, rules, err);
}
