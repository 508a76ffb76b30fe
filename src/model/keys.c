/* keys.c: config.json through tables: one table both reads and writes a key.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const char *name;
    int value;
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
                             {NULL, 0}};
static const named positions[] = {{"none", HEED_POSITIONS_NONE},
                                  {"sinusoidal", HEED_POSITIONS_SINUSOIDAL},
                                  {"sinusoidal_interleaved", HEED_POSITIONS_SINUSOIDAL_INTERLEAVED},
                                  {"learned", HEED_POSITIONS_LEARNED},
                                  {"rope", HEED_POSITIONS_ROPE},
                                  {"rope_interleaved", HEED_POSITIONS_ROPE_INTERLEAVED},
                                  {"alibi", HEED_POSITIONS_ALIBI},
                                  {"t5", HEED_POSITIONS_T5},
                                  {NULL, 0}};

const heed_key heed_common_keys[] = {{"model_type", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"architectures", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"transformers_version", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"_name_or_path", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"torch_dtype", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"dtype", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"use_cache", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"return_dict", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"output_attentions", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"output_hidden_states", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"id2label", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"label2id", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"problem_type", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"chunk_size_feed_forward", HEED_KEY_HARMLESS, 0, 0, false},
                                     {"heed_version", HEED_KEY_HARMLESS, 0, 0, false},
                                     {0}};

const heed_key heed_generation_keys[] = {
    {"num_beams", HEED_KEY_INT, HEED_AT(beam), 0, false},
    {"max_length", HEED_KEY_INT, HEED_AT(max_length), 0, false},
    {"min_length", HEED_KEY_INT, HEED_AT(min_length), 0, false},
    {"length_penalty", HEED_KEY_NUMBER, HEED_AT(length_penalty), 0, false},
    {"early_stopping", HEED_KEY_STOP, HEED_AT(stop), 0, false},
    {"renormalize_logits", HEED_KEY_BOOL, HEED_AT(renormalize), 0, false},
    {"pad_token_id", HEED_KEY_ID, HEED_AT(pad), 0, false},
    {"bos_token_id", HEED_KEY_ID, HEED_AT(bos), 0, false},
    {"eos_token_id", HEED_KEY_ID, HEED_AT(eos), 0, false},
    {"forced_eos_token_id", HEED_KEY_ID, HEED_AT(forced_eos), 0, false},
    {"decoder_start_token_id", HEED_KEY_ID, HEED_AT(decoder_start), 0, false},
    {"bad_words_ids", HEED_KEY_HARMLESS, 0, 0, false},
    {"_from_model_config", HEED_KEY_HARMLESS, 0, 0, false},
    {"do_sample", HEED_KEY_HARMLESS, 0, 0, false},
    {0}};

static bool find_named(const named *table, const char *key, const char *name, int *value,
                       heed_error *err) {
    for (; table->name; table++)
        if (!strcmp(table->name, name)) {
            *value = table->value;
            return true;
        }
    return heed_fail(err, HEED_VALUE, "key '%s': '%s' is not known here", key, name);
}

static const char *name_of(const named *table, int value) {
    for (; table->name; table++)
        if (table->value == value)
            return table->name;
    return "";
}

static bool read_id(const json_t *root, const char *key, int32_t *out, heed_error *err) {
    int64_t id = *out;
    if (!heed_json_opt_int(root, key, &id, err))
        return false;
    if (id < -1 || id > INT32_MAX)
        return heed_fail(err, HEED_VALUE, "key '%s': %" PRId64 " is no token id", key, id);
    *out = (int32_t)id;
    return true;
}

static bool read_named(const json_t *root, const heed_key *k, char *at, heed_error *err) {
    const char *name = NULL;
    int value = 0;
    if (!heed_json_opt_string(root, k->key, &name, err))
        return false;
    if (!name)
        return true;
    if (!find_named(k->kind == HEED_KEY_ACT ? acts : positions, k->key, name, &value, err))
        return false;
    if (k->kind == HEED_KEY_ACT)
        *(heed_act_kind *)(void *)at = (heed_act_kind)value;
    else
        *(heed_position_kind *)(void *)at = (heed_position_kind)value;
    return true;
}

static bool read_same(const json_t *root, const heed_key *k, const char *at, heed_error *err) {
    int64_t want = *(const int64_t *)(const void *)at, have = want;
    if (!heed_json_opt_int(root, k->key, &have, err))
        return false;
    return have == want ||
           heed_fail(err, HEED_VALUE, "key '%s' is %" PRId64 ", only %" PRId64 " is possible here",
                     k->key, have, want);
}

static bool read_true(const json_t *root, const heed_key *k, heed_error *err) {
    bool have = true;
    if (!heed_json_opt_bool(root, k->key, &have, err))
        return false;
    return have ||
           heed_fail(err, HEED_VALUE, "key '%s' is false, only true is possible here", k->key);
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

static bool read_key(const json_t *root, const heed_key *k, char *at, heed_error *err) {
    switch (k->kind) {
    case HEED_KEY_INT:
        return heed_json_opt_int(root, k->key, (int64_t *)(void *)at, err);
    case HEED_KEY_ID:
        return read_id(root, k->key, (int32_t *)(void *)at, err);
    case HEED_KEY_NUMBER:
        return heed_json_opt_number(root, k->key, (double *)(void *)at, err);
    case HEED_KEY_BOOL:
        return heed_json_opt_bool(root, k->key, (bool *)(void *)at, err);
    case HEED_KEY_ACT:
    case HEED_KEY_POSITIONS:
        return read_named(root, k, at, err);
    case HEED_KEY_SAME:
        return read_same(root, k, at, err);
    case HEED_KEY_TRUE:
        return read_true(root, k, err);
    case HEED_KEY_STOP:
        return read_stop(root, k, (heed_stop *)(void *)at, err);
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

static bool all_known(const json_t *root, const heed_key *const *tables, heed_error *err) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, name, value) {
        if (!find_key(tables, name))
            return heed_fail(err, HEED_NAME, "key '%s' is not known; its effect would be ignored",
                             name);
    }
    return true;
}

static bool read_tables(const json_t *root, const heed_key *const *tables, heed_config *c,
                        heed_error *err) {
    for (; *tables; tables++)
        for (const heed_key *k = *tables; k->key; k++) {
            char *base = (char *)c;
            if (k->required && !heed_json_find(root, k->key))
                return heed_fail(err, HEED_NAME, "key '%s' is missing", k->key);
            if (!read_key(root, k, base + k->at, err))
                return false;
            if (k->also && !read_key(root, k, base + k->also, err))
                return false;
        }
    return true;
}

bool heed_keys_read(const json_t *root, const char *file, const heed_key *const *tables,
                    heed_config *c, heed_error *err) {
    if (all_known(root, tables, err) && read_tables(root, tables, c, err))
        return true;
    heed_error_at(err, "'%s'", file);
    return false;
}

static json_t *value_of(const heed_key *k, const char *at) {
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
        return json_string(name_of(acts, (int)*(const heed_act_kind *)(const void *)at));
    case HEED_KEY_POSITIONS:
        return json_string(name_of(positions, (int)*(const heed_position_kind *)(const void *)at));
    case HEED_KEY_TRUE:
        return json_true();
    case HEED_KEY_SAME:
    case HEED_KEY_HARMLESS:
        break;
    }
    return NULL;
}

bool heed_keys_write(json_t *root, const heed_key *const *tables, const heed_config *c,
                     heed_error *err) {
    for (; *tables; tables++)
        for (const heed_key *k = *tables; k->key; k++) {
            json_t *v = value_of(k, (const char *)c + k->at);
            if (v && json_object_set_new(root, k->key, v))
                return heed_fail(err, HEED_NOMEM, "no memory to write key '%s'", k->key);
        }
    return true;
}
