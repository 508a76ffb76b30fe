/* keys.c: config.json through tables: one table both reads and writes a key.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    heed_act_kind act;
} named;

/* transformers' names; the first of several for one value is the one written. */
static const named acts[] = {{"relu", HEED_ACT_RELU},
                             {"gelu", HEED_ACT_GELU},
                             {"gelu_new", HEED_ACT_GELU_TANH},
                             {"silu", HEED_ACT_SILU},
                             {"swish", HEED_ACT_SILU},
                             {"gelu_pytorch_tanh", HEED_ACT_GELU_TANH},
                             {"gelu_python_tanh", HEED_ACT_GELU_TANH},
                             {"gelu_fast", HEED_ACT_GELU_TANH},
                             {"gelu_accurate", HEED_ACT_GELU_TANH},
                             {"gelu_python", HEED_ACT_GELU},
                             {"quick_gelu", HEED_ACT_QUICK_GELU},
                             {"relu2", HEED_ACT_RELU2},
                             {"tanh", HEED_ACT_TANH},
                             {"sigmoid", HEED_ACT_SIGMOID},
                             {NULL, HEED_ACT_RELU}};
/* id2label has an entry for each class. */
static bool count_labels(const json_t *value, heed_config *c, heed_error *err) {
    if (!json_is_object(value) || !json_object_size(value))
        return heed_fail(err, HEED_VALUE, "key 'id2label' holds no classes");
    c->labels = (int64_t)json_object_size(value);
    return true;
}

static bool read_problem(const json_t *value, heed_config *c, heed_error *err) {
    static const char *const kinds[] = {"single_label_classification", "multi_label_classification",
                                        "regression"};
    const char *kind = json_string_value(value);
    for (int i = 0; kind && i < 3; i++)
        if (!strcmp(kind, kinds[i])) {
            c->problem = (heed_problem)(HEED_PROBLEM_CLASS + i);
            return true;
        }
    return heed_fail(err, HEED_VALUE, "key 'problem_type' is '%.40s', wanted %s, %s or %s",
                     kind ? kind : "?", kinds[0], kinds[1], kinds[2]);
}

const heed_key heed_common_keys[] = {HEED_KNOWN("model_type"),
                                     HEED_KNOWN("architectures"),
                                     HEED_KNOWN("transformers_version"),
                                     HEED_KNOWN("_name_or_path"),
                                     HEED_KNOWN("torch_dtype"),
                                     HEED_KNOWN("dtype"),
                                     HEED_KNOWN("use_cache"),
                                     HEED_KNOWN("return_dict"),
                                     HEED_KNOWN("output_attentions"),
                                     HEED_KNOWN("output_hidden_states"),
                                     HEED_READ("id2label", count_labels),
                                     HEED_KNOWN("label2id"),
                                     HEED_MAY("num_labels", INT, labels),
                                     HEED_READ("problem_type", read_problem),
                                     HEED_KNOWN("chunk_size_feed_forward"),
                                     HEED_KNOWN("_num_labels"), /* of files before 2020 */
                                     HEED_KNOWN("task_specific_params"),
                                     HEED_KNOWN("tokenizer_class"),
                                     HEED_KNOWN("gradient_checkpointing"),
                                     HEED_KNOWN("output_past"),
                                     HEED_KNOWN("prefix"),
                                     HEED_KNOWN("finetuning_task"),
                                     HEED_KNOWN("torchscript"),
                                     HEED_KNOWN("sentence_transformers"),
                                     HEED_ONLY("pruned_heads", "{}"),
                                     HEED_KNOWN("heed_version"),
                                     {0}};

bool heed_act_named(const char *name, heed_act_kind *act) {
    for (const named *n = acts; n->name; n++)
        if (!strcmp(n->name, name)) {
            *act = n->act;
            return true;
        }
    return false;
}

static const char *name_of(heed_act_kind act) {
    for (const named *n = acts; n->name; n++)
        if (n->act == act)
            return n->name;
    return "";
}

static bool positions_named(const char *name, heed_position_kind *positions) {
    for (int i = 0; heed_position_names[i]; i++)
        if (!strcmp(heed_position_names[i], name)) {
            *positions = (heed_position_kind)i;
            return true;
        }
    return false;
}

static bool token_id(const json_t *v, const char *key, int32_t *out, heed_error *err) {
    if (!json_is_integer(v))
        return heed_fail(err, HEED_VALUE, "key '%s' is %s, wanted an integer", key,
                         heed_json_kind(v));
    json_int_t id = json_integer_value(v);
    if (id < -1 || id > INT32_MAX)
        return heed_fail(err, HEED_VALUE, "key '%s': %" JSON_INTEGER_FORMAT " is no token id", key,
                         id);
    *out = (int32_t)id;
    return true;
}

/* An id, or a list of ids: several tokens that end a text, of which the field holds the first. */
static bool read_id(const json_t *root, const heed_key *k, heed_config *c, int32_t *out,
                    heed_error *err) {
    const json_t *v = heed_json_find(root, k->key);
    if (v && json_is_null(v))
        *out = -1; /* not what the family takes it for where it is left out */
    if (!v || json_is_null(v))
        return true;
    if (!json_is_array(v) || k->at != HEED_AT(eos))
        return token_id(v, k->key, out, err);
    size_t n = json_array_size(v);
    if (!n || n > HEED_ENDS)
        return heed_fail(err, HEED_LIMIT, "key '%s' lists %zu tokens, wanted 1 to %d", k->key, n,
                         HEED_ENDS);
    c->ends = (int64_t)n;
    for (size_t i = n; i-- > 0;) /* the first stays in *out */
        if (!token_id(json_array_get(v, i), k->key, out, err))
            return false;
        else
            c->end[i] = *out;
    return true;
}

static bool read_named(const json_t *root, const heed_key *k, char *at, heed_error *err) {
    const char *name = NULL;
    if (!heed_json_opt_string(root, k->key, &name, err))
        return false;
    bool known = !name ? true
                 : k->kind == HEED_KEY_ACT
                     ? heed_act_named(name, (heed_act_kind *)(void *)at)
                     : positions_named(name, (heed_position_kind *)(void *)at);
    return known || heed_fail(err, HEED_VALUE, "key '%s': '%s' is not known here", k->key, name);
}

/* Compact JSON of a value, for comparing and for messages; NULL where memory fails. Free with
 * free. */
static char *compact(const json_t *v) {
    return json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
}

/* 1 for 1.0. */
static bool same_number(const json_t *v, const char *only) {
    json_t *wanted = json_loads(only, JSON_DECODE_ANY, NULL);
    double a = json_number_value(v), b = json_number_value(wanted);
    bool same = json_is_number(v) && json_is_number(wanted) && !(a < b) && !(a > b);
    json_decref(wanted);
    return same;
}

static bool read_only(const json_t *v, const heed_key *k, heed_error *err) {
    char *have = compact(v);
    if (!have)
        return heed_fail(err, HEED_NOMEM, "no memory to read key '%s'", k->key);
    bool fine = !strcmp(have, k->only) || same_number(v, k->only) ||
                heed_fail(err, HEED_VALUE, "key '%s' is %.60s, only %s is possible here", k->key,
                          have, k->only);
    free(have);
    return fine;
}

/* What needs the value itself, where there is one. */
static bool read_value(const json_t *root, const heed_key *k, heed_config *c, heed_error *err) {
    const json_t *v = heed_json_find(root, k->key);
    if (!v || json_is_null(v))
        return true;
    return k->kind == HEED_KEY_ONLY ? read_only(v, k, err) : k->read(v, c, err);
}

static bool read_stop(const json_t *root, const heed_key *k, heed_stop *out, heed_error *err) {
    const json_t *v = heed_json_find(root, k->key);
    bool first = false;
    if (!v || json_is_null(v))
        return true;
    if (json_is_string(v)) {
        *out = HEED_STOP_NEVER;
        return !strcmp(json_string_value(v), "never") ||
               heed_fail(err, HEED_VALUE, "key '%s' is '%s', wanted true, false or \"never\"",
                         k->key, json_string_value(v));
    }
    if (!heed_json_opt_bool(root, k->key, &first, err))
        return false;
    *out = first ? HEED_STOP_FIRST : HEED_STOP_AUTO;
    return true;
}

/* Small enough to be counted with. */
static bool read_int(const json_t *root, const heed_key *k, int64_t *out, heed_error *err) {
    const int64_t most = (int64_t)1 << 40;
    int64_t value = *out;
    if (!heed_json_opt_int(root, k->key, &value, err))
        return false;
    if (value > most || value < -most)
        return heed_fail(err, HEED_LIMIT,
                         "key '%s' is %" PRId64 ", at most %" PRId64 " is possible", k->key, value,
                         most);
    *out = value;
    return true;
}

static bool read_key(const json_t *root, const heed_key *k, heed_config *c, char *at,
                     heed_error *err) {
    switch (k->kind) {
    case HEED_KEY_INT:
        return read_int(root, k, (int64_t *)(void *)at, err);
    case HEED_KEY_ID:
        return read_id(root, k, c, (int32_t *)(void *)at, err);
    case HEED_KEY_NUMBER:
        return heed_json_opt_number(root, k->key, (double *)(void *)at, err);
    case HEED_KEY_BOOL:
        return heed_json_opt_bool(root, k->key, (bool *)(void *)at, err);
    case HEED_KEY_ACT:
    case HEED_KEY_POSITIONS:
        return read_named(root, k, at, err);
    case HEED_KEY_STOP:
        return read_stop(root, k, (heed_stop *)(void *)at, err);
    case HEED_KEY_ONLY:
    case HEED_KEY_READ:
    case HEED_KEY_HARMLESS:
        break;
    }
    return true;
}

static const heed_key *find_key(const heed_key *const *tables, const char *name) {
    for (; *tables; tables++)
        for (const heed_key *k = *tables; k->key; k++)
            if (!strcmp(k->key, name))
                return k;
    return NULL;
}

/* Does a table have keys that begin so? */
static bool within(const heed_key *const *tables, const char *prefix) {
    for (; *tables; tables++)
        for (const heed_key *k = *tables; k->key; k++)
            if (!strncmp(k->key, prefix, strlen(prefix)))
                return true;
    return false;
}

/* `inside`: "" or the path of root with a dot; a table may name keys within an object. */
static bool all_known(const json_t *root, const char *inside, const heed_key *const *tables,
                      heed_error *err) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, name, value) {
        char path[200], deeper[202];
        snprintf(path, sizeof path, "%s%s", inside, name);
        if (find_key(tables, path))
            continue;
        snprintf(deeper, sizeof deeper, "%s.", path);
        if (!json_object_size(value) || !within(tables, deeper))
            return heed_fail(err, HEED_NAME, "key '%s' is not known; its effect would be ignored",
                             path);
        if (!all_known(value, deeper, tables, err))
            return false;
    }
    return true;
}

static bool read_row(const json_t *root, const heed_key *k, heed_config *c, heed_error *err) {
    char *base = (char *)c;
    if (k->required && !heed_json_find(root, k->key))
        return heed_fail(err, HEED_NAME, "key '%s' is missing", k->key);
    if (k->kind == HEED_KEY_ONLY || k->kind == HEED_KEY_READ)
        return read_value(root, k, c, err);
    return read_key(root, k, c, base + k->at, err) &&
           (!k->also || read_key(root, k, c, base + k->also, err));
}

static bool read_tables(const json_t *root, const heed_key *const *tables, heed_config *c,
                        heed_error *err) {
    for (; *tables; tables++)
        for (const heed_key *k = *tables; k->key; k++)
            if (!read_row(root, k, c, err))
                return false;
    return true;
}

bool heed_keys_read(const json_t *root, const char *file, const heed_key *const *tables,
                    heed_config *c, heed_error *err) {
    if (all_known(root, "", tables, err) && read_tables(root, tables, c, err))
        return true;
    heed_error_at(err, "'%s'", file);
    return false;
}

static json_t *list_of_ends(const heed_config *c) {
    json_t *list = json_array();
    for (int64_t i = 0; i < c->ends; i++)
        json_array_append_new(list, json_integer(c->end[i]));
    return list;
}

static json_t *value_of(const heed_key *k, const heed_config *c) {
    const char *at = (const char *)c + k->at;
    switch (k->kind) {
    case HEED_KEY_INT:
        return json_integer(*(const int64_t *)(const void *)at);
    case HEED_KEY_ID: {
        int32_t id = *(const int32_t *)(const void *)at;
        return id < 0 ? json_null() : json_integer(id);
    }
    case HEED_KEY_NUMBER:
        return json_real(*(const double *)(const void *)at);
    case HEED_KEY_BOOL:
        return json_boolean(*(const bool *)(const void *)at);
    case HEED_KEY_STOP: {
        heed_stop stop = *(const heed_stop *)(const void *)at;
        return stop == HEED_STOP_NEVER ? json_string("never")
                                       : json_boolean(stop == HEED_STOP_FIRST);
    }
    case HEED_KEY_ACT:
        return json_string(name_of(*(const heed_act_kind *)(const void *)at));
    case HEED_KEY_POSITIONS:
        return json_string(heed_position_names[*(const heed_position_kind *)(const void *)at]);
    case HEED_KEY_ONLY:
        return json_loads(k->only, JSON_DECODE_ANY, NULL);
    case HEED_KEY_READ:
        return k->write ? k->write(c) : NULL;
    case HEED_KEY_HARMLESS:
        break;
    }
    return NULL;
}

static bool needs_no_word(const heed_key *k, const json_t *v, bool brief) {
    bool number = k->kind == HEED_KEY_INT || k->kind == HEED_KEY_NUMBER;
    bool none = number && !(json_number_value(v) > 0);
    if (!brief)
        return k->unsaid && none;
    return !k->required && (k->kind == HEED_KEY_ONLY || json_is_null(v) || none);
}

static bool write_tables(json_t *root, const heed_key *const *tables, const heed_config *c,
                         bool brief, heed_error *err) {
    for (; *tables; tables++)
        for (const heed_key *k = *tables; k->key; k++) {
            bool several = !brief && k->kind == HEED_KEY_ID && k->at == HEED_AT(eos) && c->ends > 1;
            json_t *v = several ? list_of_ends(c) : value_of(k, c);
            if (v && needs_no_word(k, v, brief))
                json_decref(v);
            else if (v && json_object_set_new(root, k->key, v))
                return heed_fail(err, HEED_NOMEM, "no memory to write key '%s'", k->key);
        }
    return true;
}

bool heed_keys_write(json_t *root, const heed_key *const *tables, const heed_config *c,
                     heed_error *err) {
    return write_tables(root, tables, c, false, err);
}

bool heed_keys_write_short(json_t *root, const heed_key *const *tables, const heed_config *c,
                           heed_error *err) {
    return write_tables(root, tables, c, true, err);
}
