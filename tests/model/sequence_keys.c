/* sequence_keys.c: what families of encoder and decoder read in config.json and in
 * generation_config.json: each key is used, harmless, or refused by its name.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "file/json.h"
#include "model/model.h"

/* A folder with the golden's weights and a config.json, or generation_config.json, that differs in
 * what `change` (an object) says; null takes a key away where `gone`. */
typedef struct {
    const char *golden, *file, *change;
    const char *gone;    /* a key that is taken away; NULL: none */
    const char *refusal; /* part of the error; NULL: it opens */
    heed_code code;
} key_case;

static void copy(const char *from, const char *folder, const char *name) {
    char path[TEST_PATH + 40], source[200];
    size_t n;
    snprintf(source, sizeof source, "%s/%s", from, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *data = slurp(source, &n);
    write_bytes(path, data, n);
    free(data);
}

static void patch(const key_case *k, const char *folder) {
    char path[TEST_PATH + 40], source[200];
    heed_error err = {0};
    bool config = strcmp(k->file, "config.json") == 0;
    snprintf(source, sizeof source, "%s/config.json", k->golden);
    json_t *root = config ? heed_json_read(NULL, source, 0, &err) : json_object();
    json_t *change = json_loads(k->change, 0, NULL);
    expect_no_error(&err);
    assert_non_null(change);
    assert_int_equal(json_object_update(root, change), 0);
    if (k->gone) {
        assert_int_equal(json_object_del(root, k->gone), 0);
    }
    snprintf(path, sizeof path, "%s/%s", folder, k->file);
    assert_true(heed_json_save(NULL, path, root, 2, &err));
    json_decref(root);
    json_decref(change);
    if (!config) {
        copy(k->golden, folder, "config.json");
    }
}

static heed_model *patched(const key_case *k, heed_engine *engine, heed_error *err) {
    char folder[TEST_PATH];
    temp_folder(folder);
    copy(k->golden, folder, "model.safetensors");
    patch(k, folder);
    heed_model *model = heed_model_open(engine, folder, err);
    remove_folder(folder);
    return model;
}

#define T5 "tests/golden/families/t5"
#define BART "tests/golden/families/bart"
#define M2M "tests/golden/families/m2m_100"
#define CONFIG "config.json"
#define GENERATION "generation_config.json"

static const key_case CASES[] = {
    {T5, CONFIG, "{\"feed_forward_proj\": \"gated-snake\"}", NULL, "'gated-snake' is not known",
     HEED_VALUE},
    {T5, CONFIG, "{\"is_decoder\": true}", NULL, "key 'is_decoder' is true", HEED_VALUE},
    {T5, CONFIG, "{\"num_heads\": 0}", NULL, "0 heads", HEED_SHAPE},
    {T5, CONFIG, "{\"d_kv\": 0}", NULL, "heads of width 0", HEED_SHAPE},
    {T5, CONFIG, "{\"d_kv\": 7}", NULL, "the model wants (21,16)", HEED_SHAPE},
    {T5, CONFIG, "{\"tie_word_embeddings\": 1}", NULL, "tie_word_embeddings", HEED_VALUE},
    {T5, CONFIG, "{\"some_new_key\": 1}", NULL, "key 'some_new_key' is not known", HEED_NAME},
    {T5, CONFIG, "{}", "d_model", "key 'd_model' is missing", HEED_NAME},
    {T5, CONFIG, "{\"architectures\": [\"T5ForTokenClassification\"]}", NULL,
     "T5ForTokenClassification", HEED_NAME},
    {T5, CONFIG, "{\"n_positions\": 512, \"output_past\": true, \"task_specific_params\": {}}",
     NULL, NULL, HEED_OK},
    /* As the files of bart-large-cnn and its kin have them. */
    {BART, CONFIG,
     "{\"_num_labels\": 3, \"add_bias_logits\": false, \"add_final_layer_norm\": false, "
     "\"classif_dropout\": 0.1, \"do_blenderbot_90_layernorm\": false, \"early_stopping\": true, "
     "\"extra_pos_embeddings\": 2, \"force_bos_token_to_be_generated\": false, "
     "\"forced_bos_token_id\": 0, \"gradient_checkpointing\": false, \"length_penalty\": 2.0, "
     "\"no_repeat_ngram_size\": 3, \"normalize_before\": false, \"normalize_embedding\": true, "
     "\"output_past\": true, \"prefix\": \" \", \"save_step\": 58, "
     "\"static_position_embeddings\": false, \"task_specific_params\": {}}",
     NULL, NULL, HEED_OK},
    {BART, CONFIG, "{\"static_position_embeddings\": true}", NULL, "static_position_embeddings",
     HEED_VALUE},
    {BART, CONFIG, "{\"max_position_embeddings\": 13}", NULL, "the model wants (15,16)",
     HEED_SHAPE},
    {BART, CONFIG, "{\"num_return_sequences\": 2}", NULL, "only 1 is possible", HEED_VALUE},
    {BART, CONFIG, "{\"repetition_penalty\": 1, \"num_beam_groups\": 1, \"top_k\": 50}", NULL, NULL,
     HEED_OK},
    {BART, GENERATION, "{\"num_beam_groups\": 2}", NULL, "num_beam_groups", HEED_VALUE},
    {BART, GENERATION, "{\"bad_words_ids\": [[4, 5]]}", NULL, "no list of one token", HEED_VALUE},
    {BART, GENERATION, "{\"bad_words_ids\": 3}", NULL, "is no list", HEED_VALUE},
    {BART, GENERATION, "{\"suppress_tokens\": [-1]}", NULL, "no token id", HEED_VALUE},
    {BART, GENERATION,
     "{\"suppress_tokens\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]}", NULL,
     "more than 16 tokens", HEED_LIMIT},
    {BART, GENERATION, "{\"begin_suppress_tokens\": [3]}", NULL, NULL, HEED_OK},
    {BART, GENERATION, "{\"begin_suppress_tokens\": 3}", NULL,
     "key 'begin_suppress_tokens' is no list", HEED_VALUE},
    {BART, GENERATION, "{\"max_new_tokens\": 0}", NULL, "max_new_tokens", HEED_VALUE},
    {BART, GENERATION, "{\"forced_bos_token_id\": 40}", NULL, "token id 40", HEED_VALUE},
    {M2M, CONFIG, "{\"pad_token_id\": null}", NULL, "pad_token_id", HEED_VALUE},
};

static void keys(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        heed_model *model = patched(&CASES[i], engine, &err);
        if (CASES[i].refusal) {
            assert_null(model);
            expect_error(&err, CASES[i].code, CASES[i].refusal);
        }
        expect_no_error(&err);
        heed_model_free(model);
    }
    heed_engine_free(engine);
}

/* Left out, a key is what the class of transformers has; null is none; and where there is a
 * generation_config.json, config.json has no say about the search. */
static void left_out(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    const key_case out = {BART, CONFIG, "{\"num_beams\": 3}", "forced_eos_token_id", NULL, HEED_OK};
    const key_case null = {BART, CONFIG, "{\"forced_eos_token_id\": null}", NULL, NULL, HEED_OK};
    const key_case other = {
        BART, GENERATION, "{\"max_new_tokens\": 7, \"bad_words_ids\": [[9], [9]]}",
        NULL, NULL,       HEED_OK};
    heed_model *model = patched(&out, engine, &err);
    expect_no_error(&err);
    assert_int_equal(heed_model_config(model)->forced_eos, 2);
    assert_int_equal(heed_model_config(model)->beam, 3);
    assert_false(heed_model_config(model)->scale_embedding);
    heed_model_free(model);
    model = patched(&null, engine, &err);
    expect_no_error(&err);
    assert_int_equal(heed_model_config(model)->forced_eos, -1);
    heed_model_free(model);
    model = patched(&other, engine, &err);
    expect_no_error(&err);
    assert_int_equal(heed_model_config(model)->forced_eos, -1);
    assert_int_equal(heed_model_config(model)->bans, 1);
    assert_int_equal(heed_model_config(model)->max_new, 7);
    heed_model_free(model);
    heed_engine_free(engine);
}

/* A published config.json opens: what is missed is the weights, which are not there. */
static void published(void **state) {
    (void)state;
    const char *data = getenv("HEED_DATA");
    char folder[TEST_PATH];
    heed_error err = {0};
    if (!data) {
        print_message("HEED_DATA is not set: no published config.json\n");
        skip();
    }
    snprintf(folder, sizeof folder, "%s/tokenizers/opus-mt-en-mg", data);
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    assert_null(heed_model_open(engine, folder, &err));
    expect_error(&err, HEED_FILE, "model.safetensors");
    heed_engine_free(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(left_out),
                                       cmocka_unit_test(published)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
