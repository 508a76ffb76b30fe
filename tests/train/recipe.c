/* recipe.c: recipes as they should be: defaults, reading, arguments, what follows, writing back.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "train/recipe_value.h"
#include "train/schedule.h"

static heed_recipe *parsed(const char *yaml) {
    heed_error err = {0};
    heed_recipe *r = heed_recipe_new(NULL, &err);
    assert_non_null(r);
    if (!heed_recipe_parse(r, "a.yaml", yaml, strlen(yaml), &err)) {
        fail_msg("%s", err.text);
    }
    return r;
}

static heed_recipe *finished(const char *yaml) {
    heed_error err = {0};
    heed_recipe *r = parsed(yaml);
    if (!heed_recipe_finish(r, &err)) {
        fail_msg("%s", err.text);
    }
    return r;
}

static void defaults_are_those_of_2017(void **state) {
    (void)state;
    heed_recipe *r = parsed("");
    assert_int_equal(r->model.width, 512);
    assert_int_equal(r->model.heads, 8);
    assert_int_equal(r->model.feed_forward, 2048);
    assert_int_equal(r->model.encoder_layers, 6);
    assert_int_equal(r->model.norm_position, HEED_RECIPE_POST);
    assert_int_equal(r->model.positions, HEED_POSITIONS_SINUSOIDAL);
    assert_true(r->model.dropout == 0.1);
    assert_true(r->train.beta2 == 0.98 && r->train.eps == 1e-9);
    assert_true(r->train.label_smoothing == 0.1);
    assert_int_equal(r->train.schedule, HEED_INVERSE_SQRT);
    assert_int_equal(r->train.warmup, 4000);
    assert_string_equal(r->out.folder, "model");
    assert_string_equal(r->data.train, "");
    heed_recipe_free(r);
}

static void every_kind_of_value_is_read(void **state) {
    (void)state;
    heed_recipe *r = parsed("# a comment\n"
                            "model:\n"
                            "  width: 256   # another\n"
                            "  gated: true\n"
                            "  norm_position: pre\n"
                            "train:\n"
                            "  lr: 3e-4\n"
                            "  steps: 1e5\n"
                            "data: {train: 'it''s.tsv', valid: \"w\\xe9.tsv\"}\n"
                            "translate:\n"
                            "out: ~\n");
    assert_int_equal(r->model.width, 256);
    assert_true(r->model.gated);
    assert_int_equal(r->model.norm_position, HEED_RECIPE_PRE);
    assert_true(r->train.lr == 3e-4);
    assert_int_equal(r->train.steps, 100000);
    assert_string_equal(r->data.train, "it's.tsv");
    assert_string_equal(r->data.valid, "w\xc3\xa9.tsv");
    assert_string_equal(heed_recipe_where(r, &r->train.lr), "a.yaml:7:7");
    assert_null(heed_recipe_where(r, &r->train.warmup));
    heed_recipe_free(r);
}

static void arguments_win_over_the_file(void **state) {
    (void)state;
    heed_error err = {0};
    heed_recipe *r = parsed("train: {lr: 1e-3, seed: 5}\n");
    assert_true(heed_recipe_set(r, "train.lr=3e-4", &err));
    assert_true(heed_recipe_set(r, "data.train=a=b.tsv", &err));
    assert_true(heed_recipe_set(r, "out.folder=我的模型", &err));
    assert_true(r->train.lr == 3e-4);
    assert_int_equal(r->train.seed, 5);
    assert_string_equal(r->data.train, "a=b.tsv");
    assert_string_equal(r->out.folder, "我的模型");
    assert_string_equal(heed_recipe_where(r, &r->train.lr), "argument 'train.lr=3e-4'");
    heed_recipe_free(r);
}

static void what_is_not_written_follows(void **state) {
    (void)state;
    heed_recipe *r = finished("model: {family: pegasus, max_positions: 100}\n"
                              "data: {train: a.tsv}\n"
                              "train: {epochs: 3, average_last: 5}\n");
    assert_int_equal(r->model.kv_heads, 8);
    assert_int_equal(r->model.norm_position, HEED_RECIPE_PRE);
    assert_int_equal(r->data.max_source, 100);
    assert_int_equal(r->train.steps, 0);
    assert_int_equal(r->train.keep_last, 5);
    assert_int_equal(r->out.weights, HEED_RECIPE_WEIGHTS_AVERAGE);
    assert_true(r->train.lr == heed_schedule_peak(512, 4000));
    heed_recipe_free(r);
}

static void the_family_is_the_first_that_fits(void **state) {
    (void)state;
    static const struct {
        const char *yaml;
        int family;
    } cases[] = {
        {"model: {}\n", HEED_RECIPE_MARIAN},
        {"model: {norm_position: pre}\n", HEED_RECIPE_PEGASUS},
        {"model: {positions: rope}\n", HEED_RECIPE_HEED},
        {"model: {positions: sinusoidal_interleaved}\n", HEED_RECIPE_HEED},
        {"model: {norm: rmsnorm}\n", HEED_RECIPE_HEED},
        {"model: {gated: true}\n", HEED_RECIPE_HEED},
        {"model: {kv_heads: 2}\n", HEED_RECIPE_HEED},
        {"model: {tie: output}\n", HEED_RECIPE_MARIAN},
        {"model: {tie: output, norm_position: pre}\n", HEED_RECIPE_HEED},
        {"model: {family: heed}\n", HEED_RECIPE_HEED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[200];
        snprintf(yaml, sizeof yaml, "%sdata: {train: a.tsv}\n", cases[i].yaml);
        heed_recipe *r = finished(yaml);
        assert_int_equal(r->model.family, cases[i].family);
        heed_recipe_free(r);
    }
}

static char *printed(const heed_recipe *r, bool only_set) {
    heed_buf out = {0};
    assert_true(heed_recipe_print(r, only_set, &out));
    return out.data;
}

static void writing_and_reading_give_the_same(void **state) {
    (void)state;
    heed_recipe *r = finished("model: {dropout: 0.3, activation: gelu_tanh}\n"
                              "data: {train_source: '${HOME}/a \"b\\c', train_target: 'null'}\n"
                              "train: {lr: 0.00031415926, minutes: 0.1}\n");
    char *first = printed(r, false);
    heed_recipe *again = finished(first);
    char *second = printed(again, false);
    assert_string_equal(first, second);
    assert_string_equal(again->data.train_target, "null");
    assert_true(again->train.lr == 0.00031415926);
    heed_free(NULL, first);
    heed_free(NULL, second);
    heed_recipe_free(again);
    heed_recipe_free(r);

    r = parsed("train: {lr: 3e-4}\nmodel: {width: 64}\n");
    first = printed(r, true);
    assert_string_equal(first, "model:\n  width: 64\n\ntrain:\n  lr: 0.0003\n");
    heed_free(NULL, first);
    heed_recipe_free(r);
}

static void files_are_read_and_written(void **state) {
    (void)state;
    heed_error err = {0};
    char folder[TEST_PATH], path[TEST_PATH + 16];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/recipe.yaml", folder);
    heed_recipe *r = parsed("train: {seed: 77}\n"), *again = heed_recipe_new(NULL, &err);
    assert_true(heed_recipe_write(r, path, &err));
    assert_true(heed_recipe_read(again, path, &err));
    assert_int_equal(again->train.seed, 77);
    snprintf(path, sizeof path, "%s/none.yaml", folder);
    assert_false(heed_recipe_read(again, path, &err));
    expect_error(&err, HEED_FILE, "none.yaml");
    heed_recipe_free(r);
    heed_recipe_free(again);
    remove_folder(folder);
}

static void the_recipes_of_the_project_are_good(void **state) {
    (void)state;
    DIR *folder = opendir("recipes");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        char path[TEST_PATH];
        snprintf(path, sizeof path, "recipes/%s", e->d_name);
        if (!strstr(e->d_name, ".yaml")) {
            continue;
        }
        heed_error err = {0};
        heed_recipe *r = heed_recipe_new(NULL, &err);
        if (!heed_recipe_read(r, path, &err) || !heed_recipe_finish(r, &err)) {
            fail_msg("%s", err.text);
        }
        heed_recipe_free(r);
        count++;
    }
    closedir(folder);
    assert_true(count >= 3);
}

static void environment_variables_stand_for_folders(void **state) {
    (void)state;
    heed_error err = {0};
    setenv("HEED_TEST_FOLDER", "/some/where", 1);
    unsetenv("HEED_TEST_NOTHING");
    static const char *const cases[][2] = {
        {"${HEED_TEST_FOLDER}/a.de.gz", "/some/where/a.de.gz"},
        {"x${HEED_TEST_FOLDER}${HEED_TEST_FOLDER}", "x/some/where/some/where"},
        {"plain", "plain"},
        {"", ""},
        {"$HOME ${} ${open", "$HOME ${} ${open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = heed_recipe_path(NULL, cases[i][0], &err);
        assert_string_equal(path, cases[i][1]);
        heed_free(NULL, path);
    }
    assert_null(heed_recipe_path(NULL, "${HEED_TEST_NOTHING}/a", &err));
    expect_error(&err, HEED_NAME, "variable 'HEED_TEST_NOTHING' is not set");
}

static void the_table_is_sound(void **state) {
    (void)state;
    size_t count;
    const heed_recipe_key *key = heed_recipe_keys(&count);
    for (size_t i = 0; i < count; i++) {
        char path[100];
        size_t list = 0;
        snprintf(path, sizeof path, "%s.%s", key[i].section, key[i].name);
        assert_ptr_equal(heed_recipe_find(path, strlen(path)), &key[i]);
        assert_ptr_equal(heed_recipe_nearest(path, strlen(path)), &key[i]);
        assert_true(strlen(path) < 48);
        assert_true(strlen(key[i].help) > 0);
        assert_int_equal(key[i].kind == HEED_KEY_CHOICE, key[i].choices != NULL);
        for (int c = 0; key[i].choices && key[i].choices[c]; c++) {
            list += strlen(key[i].choices[c]) + 2;
        }
        assert_true(list < 200);
    }
    assert_true(count < 128);
    assert_null(heed_recipe_find("train.l", 7));
    assert_null(heed_recipe_find("train", 5));
}

/* What the ops can do, a recipe can ask for. */
static void every_activation_has_its_word(void **state) {
    (void)state;
    for (int i = 0; i <= HEED_ACT_RELU2; i++) {
        char yaml[120];
        snprintf(yaml, sizeof yaml, "model: {activation: %s}\ndata: {train: a.tsv}\n",
                 heed_act_names[i]);
        heed_recipe *r = finished(yaml);
        heed_config c = heed_recipe_config(r);
        assert_int_equal(c.encoder.act, i);
        assert_int_equal(c.decoder.act, i);
        heed_recipe_free(r);
    }
    assert_null(heed_act_names[HEED_ACT_RELU2 + 1]);
    assert_null(heed_position_names[HEED_POSITIONS_T5 + 1]);
}

/* A recipe written with every key is the same recipe, whatever its task. */
static void what_is_written_reads_back(void **state) {
    (void)state;
    static const char *const recipes[] = {
        "data: {train: a.tsv}\n",
        "data: {text: a.txt}\ntrain: {lr: 1e-3}\n",
        "data: {text: a.txt, join: true, split_valid: 0.1}\ntokenizer: {type: char}\n",
        "data: {text: a.txt, valid_text: b.txt}\nmodel: {family: llama, kv_heads: 2}\n",
        "data: {text: a.json, text_column: t, split_valid: 0.1}\nmodel: {from: b}\n",
    };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        heed_buf first = {0}, second = {0};
        heed_recipe *r = finished(recipes[i]);
        assert_int_equal(r->model.task, i == 0 ? HEED_RECIPE_PAIRS : HEED_RECIPE_LM);
        assert_true(heed_recipe_print(r, false, &first));
        heed_recipe *again = finished(first.data);
        assert_true(heed_recipe_print(again, false, &second));
        assert_string_equal(first.data, second.data);
        heed_recipe_free(r);
        heed_recipe_free(again);
        heed_buf_free(&first);
        heed_buf_free(&second);
    }
}

static void a_language_model_follows_its_family(void **state) {
    (void)state;
    heed_recipe *r = finished("data: {text: a.txt}\nmodel: {width: 96, heads: 4}\n"
                              "train: {context: 64}\n");
    assert_int_equal(r->model.family, HEED_RECIPE_GPT2);
    assert_int_equal(r->model.feed_forward, 384);
    assert_int_equal(r->model.max_positions, 64);
    assert_int_equal(r->model.positions, HEED_POSITIONS_LEARNED);
    assert_int_equal(r->tokenizer.normalization, HEED_RECIPE_RAW);
    assert_true(r->train.label_smoothing == 0.0 && r->model.dropout == 0.1);
    heed_recipe_free(r);
    r = finished("data: {text: a.txt}\nmodel: {family: llama, width: 96, heads: 4}\n");
    heed_config c = heed_recipe_config(r);
    assert_string_equal(c.family, "llama");
    assert_int_equal(c.kind, HEED_DECODER);
    assert_int_equal(c.decoder.feed_forward, 256);
    assert_true(c.decoder.rms && c.decoder.gated && c.decoder.dropout == 0.0);
    assert_true(c.tie_output && c.decoder.eps == 1e-6);
    heed_recipe_free(r);
}

static void the_documentation_holds_the_table(void **state) {
    (void)state;
    heed_buf out = {0};
    assert_true(heed_recipe_document(&out));
    char *page = slurp("docs/training.md", NULL);
    if (!strstr(page, out.data)) {
        fail_msg("docs/training.md is not what the table says; it should hold\n%s", out.data);
    }
    free(page);
    heed_buf_free(&out);
}

static bool live_with(const heed_host *host, void *ctx, heed_error *err) {
    static const char yaml[] = "model: {width: 64, heads: 4}\ndata: {train: a.tsv}\n";
    const char *path = ctx;
    heed_recipe *r = heed_recipe_new(host, err);
    bool ok = r && heed_recipe_parse(r, "a.yaml", yaml, strlen(yaml), err) &&
              heed_recipe_set(r, "train.lr=3e-4", err) && heed_recipe_finish(r, err) &&
              heed_recipe_write(r, path, err);
    char *expanded = ok ? heed_recipe_path(host, "${HOME}/a", err) : NULL;
    ok = ok && expanded;
    heed_free(host, expanded);
    heed_recipe_free(r);
    return ok;
}

static void memory_may_fail_anywhere(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 16];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/recipe.yaml", folder);
    for_each_failing_allocation(live_with, path);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_2017),
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(arguments_win_over_the_file),
        cmocka_unit_test(what_is_not_written_follows),
        cmocka_unit_test(the_family_is_the_first_that_fits),
        cmocka_unit_test(writing_and_reading_give_the_same),
        cmocka_unit_test(files_are_read_and_written),
        cmocka_unit_test(the_recipes_of_the_project_are_good),
        cmocka_unit_test(environment_variables_stand_for_folders),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(every_activation_has_its_word),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(a_language_model_follows_its_family),
        cmocka_unit_test(the_documentation_holds_the_table),
        cmocka_unit_test(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
