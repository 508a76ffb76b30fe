/* encoders.c: what the encoders refuse: settings without a meaning, losses that they do not have,
 * positions behind the end of a table.
 * SPDX-License-Identifier: MIT
 */
#include "look/compare.h"

/* Opens a folder that has this config.json alone. */
static void config_refused(const char *config, heed_code code, const char *line) {
    char folder[TEST_PATH], path[TEST_PATH + 20];
    heed_error err = {0};
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(config, out);
    fclose(out);
    heed_engine *engine = heed_engine_new(NULL, 1, "ref", &err);
    assert_null(heed_model_open(engine, folder, &err));
    expect_error(&err, code, line);
    heed_engine_free(engine);
    remove_folder(folder);
}

#define SIZES                                                                                      \
    "\"vocab_size\": 40, \"hidden_size\": 16, \"num_hidden_layers\": 2, "                          \
    "\"num_attention_heads\": 2, \"intermediate_size\": 24"

static void settings(void **state) {
    (void)state;
    config_refused("{\"model_type\": \"roberta\", " SIZES
                   ", \"max_position_embeddings\": 16, \"pad_token_id\": 15}",
                   HEED_VALUE,
                   "max_position_embeddings 16 leaves no position behind pad_token_id 15");
    config_refused("{\"model_type\": \"albert\", " SIZES ", \"num_hidden_groups\": 3}", HEED_VALUE,
                   "2 layers in 3 groups of 1 cannot be");
    config_refused("{\"model_type\": \"albert\", " SIZES ", \"inner_group_num\": 0}", HEED_VALUE,
                   "2 layers in 1 groups of 0 cannot be");
    config_refused("{\"model_type\": \"albert\", " SIZES ", \"embedding_size\": 0}", HEED_SHAPE,
                   "embedding_size is 0");
    config_refused("{\"model_type\": \"electra\", " SIZES ", \"embedding_size\": -1}", HEED_SHAPE,
                   "embedding_size is -1");
    config_refused("{\"model_type\": \"bert\", " SIZES
                   ", \"position_embedding_type\": \"relative_key\"}",
                   HEED_VALUE,
                   "key 'position_embedding_type' is \"relative_key\", only "
                   "\"absolute\" is possible here");
    config_refused("{\"model_type\": \"bert\", " SIZES ", \"is_decoder\": true}", HEED_VALUE,
                   "key 'is_decoder' is true, only false is possible here");
    config_refused("{\"model_type\": \"bert\", " SIZES ", \"problem_type\": \"ranking\"}",
                   HEED_VALUE,
                   "key 'problem_type' is 'ranking', wanted single_label_classification, "
                   "multi_label_classification or regression");
    config_refused(
        "{\"model_type\": \"distilbert\", \"vocab_size\": 40, \"dim\": 16, \"n_layers\": 1, "
        "\"n_heads\": 2, \"hidden_dim\": 24, \"qa_dropout\": \"some\"}",
        HEED_VALUE, "key 'qa_dropout' is no number");
    config_refused("{\"model_type\": \"electra\", \"architectures\": "
                   "[\"ElectraForMultipleChoice\"], " SIZES "}",
                   HEED_NAME,
                   "architecture 'ElectraForMultipleChoice' is not known here, family 'electra' "
                   "has: ElectraModel, ElectraForPreTraining");
}

static void write_ints(const char *path, const char *name, const int64_t *ids, int64_t n,
                       const char *other, const int64_t *more, int64_t more_n) {
    heed_error err = {0};
    heed_tensor list[] = {
        {.name = name, .type = HEED_I64, .rank = 2, .dim = {1, n}, .data = ids},
        {.name = other, .type = HEED_I64, .rank = more_n == 1 ? 1 : 2, .data = more},
    };
    list[1].dim[0] = 1;
    list[1].dim[1] = more_n;
    assert_true(heed_tensors_write(NULL, path, list, more ? 2 : 1, NULL, 0, &err));
}

/* Traces a golden model on one row of n ids and one more tensor. */
static void run_refused(const char *model, int64_t n, const char *other, const int64_t *more,
                        int64_t more_n, heed_code code, const char *line) {
    char folder[TEST_PATH], in[TEST_PATH + 20], out[TEST_PATH + 20], path[100];
    int64_t ids[32];
    heed_error err = {0};
    temp_folder(folder);
    snprintf(in, sizeof in, "%s/in.safetensors", folder);
    snprintf(out, sizeof out, "%s/out.safetensors", folder);
    snprintf(path, sizeof path, "tests/golden/families/%s", model);
    for (int i = 0; i < 32; i++)
        ids[i] = 5 + i;
    write_ints(in, "input_ids", ids, n, other, more, more_n);
    heed_engine *engine = heed_engine_new(NULL, 1, "ref", &err);
    heed_model *m = heed_model_open(engine, path, &err);
    expect_no_error(&err);
    assert_false(heed_trace(m, in, out, NULL, &err));
    expect_error(&err, code, line);
    heed_model_free(m);
    heed_engine_free(engine);
    remove_folder(folder);
}

static void runs(void **state) {
    (void)state;
    const int64_t label = 0, positions[] = {2, 16, 3}, before[] = {2, -1, 3};
    run_refused("bert-number", 3, "labels", &label, 1, HEED_VALUE,
                "tensor 'labels' is I64, wanted a float type");
    run_refused("bert-choice", 3, NULL, NULL, 0, HEED_SHAPE,
                "'input_ids' is (1,3), wanted three dimensions: questions, choices and length");
    run_refused("bert-span", 3, "start_positions", &label, 1, HEED_NAME,
                "'start_positions' comes without 'end_positions'");
    run_refused("bert-several", 3, "labels", &label, 1, HEED_SHAPE,
                "'labels' is (1), wanted (1,3): numbers for each sequence");
    run_refused("bert-model", 17, NULL, NULL, 0, HEED_VALUE, "is 16, the table holds 0 to 15");
    run_refused("roberta-model", 15, NULL, NULL, 0, HEED_VALUE,
                "is 14, the table behind its first 2 rows holds -2 to 13");
    run_refused("roberta-model", 3, "position_ids", positions, 3, HEED_VALUE,
                "is 14, the table behind its first 2 rows holds -2 to 13");
    run_refused("roberta-model", 3, "position_ids", before, 3, HEED_VALUE, "position_ids hold -1");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings), cmocka_unit_test(runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
