/* recipe_refusals.c: hostile and mistaken recipes, each with the line that the user gets.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "train/recipe.h"

typedef struct {
    const char *yaml;
    heed_code code;
    const char *line; /* the whole error */
} refusal;

/* Refused while reading. */
static const refusal READ[] = {
    {"train:\n  learning_rate: 3e-4\n", HEED_NAME, "a.yaml:2:3: unknown key 'train.learning_rate'"},
    {"train:\n  l_r: 3e-4\n", HEED_NAME,
     "a.yaml:2:3: unknown key 'train.l_r', did you mean 'train.lr'?"},
    {"model:\n  lr: 3e-4\n", HEED_NAME,
     "a.yaml:2:3: unknown key 'model.lr', did you mean 'train.lr'?"},
    {"trian: {lr: 1}\n", HEED_NAME,
     "a.yaml:1:1: unknown section 'trian', the sections are model, tokenizer, data, train, "
     "translate, out"},
    {"train.lr: 1\n", HEED_NAME,
     "a.yaml:1:1: unknown section 'train.lr', the sections are model, tokenizer, data, train, "
     "translate, out"},
    {"train:\n  lr: fast\n", HEED_VALUE, "a.yaml:2:7: train.lr is 'fast', must be a number"},
    {"train:\n  lr:\n", HEED_VALUE, "a.yaml:2:6: train.lr is empty, must be a number"},
    {"train:\n  lr: 3e\n", HEED_VALUE, "a.yaml:2:7: train.lr is '3e', must be a number"},
    {"train:\n  lr: 0x10\n", HEED_VALUE, "a.yaml:2:7: train.lr is '0x10', must be a number"},
    {"train:\n  lr: 1e999\n", HEED_VALUE, "a.yaml:2:7: train.lr is '1e999', must be a number"},
    {"train:\n  lr: .nan\n", HEED_VALUE, "a.yaml:2:7: train.lr is '.nan', must be a number"},
    {"train:\n  lr: '3e-4'\n", HEED_VALUE,
     "a.yaml:2:7: train.lr is the text '3e-4', write it without quotes"},
    {"train:\n  lr: -1\n", HEED_VALUE,
     "a.yaml:2:7: train.lr is -1, must be at least 0 and at most 10"},
    {"model:\n  dropout: 1.0\n", HEED_VALUE,
     "a.yaml:2:12: model.dropout is 1.0, must be at least 0 and below 1"},
    {"tokenizer:\n  coverage: 0\n", HEED_VALUE,
     "a.yaml:2:13: tokenizer.coverage is 0, must be above 0 and at most 1"},
    {"train:\n  steps: 10.5\n", HEED_VALUE,
     "a.yaml:2:10: train.steps is '10.5', must be a whole number"},
    {"train:\n  steps: 99999999999999999999\n", HEED_VALUE,
     "a.yaml:2:10: train.steps is 99999999999999999999, must be at least 0 and at most 1000000000"},
    {"model:\n  gated: yes\n", HEED_VALUE,
     "a.yaml:2:10: model.gated is 'yes', must be true or false"},
    {"model:\n  norm: batchnorm\n", HEED_VALUE,
     "a.yaml:2:9: model.norm is 'batchnorm', must be one of layernorm, rmsnorm"},
    {"train:\n  lr: [1, 2]\n", HEED_VALUE, "a.yaml:2:7: train.lr is a list, must be one value"},
    {"train:\n  lr: {a: 1}\n", HEED_VALUE, "a.yaml:2:7: train.lr is a mapping, must be one value"},
    {"train:\n  lr: 1\n  seed: 2\n  lr: 3\n", HEED_VALUE,
     "a.yaml:4:3: train.lr is here for the second time, the first is line 2"},
    {"train: {lr: 1}\nmodel:\ntrain: {seed: 1}\n", HEED_VALUE,
     "a.yaml:3:1: train is here for the second time, the first is line 1"},
    {"train: 5\n", HEED_VALUE,
     "a.yaml:1:8: a section holds keys, write 'key: value' lines under its name"},
    {"- train\n", HEED_VALUE,
     "a.yaml:1:1: a recipe is sections with keys, such as 'train:' and below it '  lr: 3e-4'"},
    {"train: &a {lr: 1}\n", HEED_VALUE,
     "a.yaml:1:8: a recipe has no anchors, aliases and tags, write the value itself"},
    {"train: *a\n", HEED_VALUE,
     "a.yaml:1:8: a recipe has no anchors, aliases and tags, write the value itself"},
    {"train:\n  lr: !!float 3\n", HEED_VALUE,
     "a.yaml:2:7: a recipe has no anchors, aliases and tags, write the value itself"},
    {"train:\n  ? {a: b}\n  : 3\n", HEED_VALUE, "a.yaml:2:5: the name of a key is wanted here"},
    {"? [train]\n: 3\n", HEED_VALUE, "a.yaml:1:3: the name of a section is wanted here"},
    {"train: {lr: 1}\n---\nmodel: {}\n", HEED_VALUE, "a.yaml:2:1: a recipe is one document"},
    {"train:\n\tlr: 1\n", HEED_VALUE,
     "a.yaml:2:1: not YAML: found character that cannot start any token"},
    {"train: {lr: 1\n", HEED_VALUE, "a.yaml:2:1: not YAML: did not find expected ',' or '}'"},
    {"data:\n  train: 'a\n", HEED_VALUE, "a.yaml:3:1: not YAML: found unexpected end of stream"},
    {"# ok\ndata:\n  train: a\xff\n", HEED_TEXT,
     "a.yaml:3:11: not YAML: invalid leading UTF-8 octet"},
    {"data:\n  train: \"a\\0b\"\n", HEED_TEXT,
     "a.yaml:2:10: data.train has a byte at 1 that is not printable UTF-8"},
};

/* Refused when the keys are checked against each other; "data: {train: a.tsv}" stands behind each.
 * */
static const refusal FINISH[] = {
    {"model:\n  width: 500\n", HEED_SHAPE,
     "a.yaml:2:10: model.width 500 is not a multiple of model.heads 8"},
    {"model:\n  heads: 7\n", HEED_SHAPE,
     "a.yaml:2:10: model.width 512 is not a multiple of model.heads 7"},
    {"model:\n  kv_heads: 3\n", HEED_SHAPE,
     "a.yaml:2:13: model.heads 8 is not a multiple of model.kv_heads 3"},
    {"model: {width: 9, heads: 3, positions: rope}\n", HEED_SHAPE,
     "a.yaml:1:40: model.positions needs an even width of a head, 3 is odd"},
    {"model: {width: 9, heads: 3}\n", HEED_SHAPE,
     "a.yaml:1:16: model.positions needs an even model.width, 9 is odd"},
    {"model: {family: marian, norm_position: pre}\n", HEED_VALUE,
     "a.yaml:1:17: model.family marian cannot express this model, the family for it is pegasus"},
    {"model: {family: pegasus, positions: alibi}\n", HEED_VALUE,
     "a.yaml:1:17: model.family pegasus cannot express this model (positions other than "
     "'sinusoidal'), the family "
     "for it is heed"},
    {"tokenizer: {shared: false}\n", HEED_VALUE,
     "a.yaml:1:21: tokenizer.shared is false, heed trains one tokenizer for both sides: set it to "
     "true"},
    {"tokenizer: {type: file}\n", HEED_VALUE,
     "a.yaml:1:19: tokenizer.type file needs tokenizer.file, the path of a tokenizer.json"},
    {"model: {max_positions: 100}\ntrain: {epochs: 1}\nout: {folder: ''}\n", HEED_VALUE,
     "a.yaml:3:15: out.folder is empty, must be the folder of the model"},
    {"train: {batch_tokens: 100}\nmodel: {max_positions: 90}\ntranslate: {beam: 1}\n"
     "out: {weights: average}\n",
     HEED_VALUE, "a.yaml:4:16: out.weights average needs train.average_last of 2 or more, it is 0"},
    {"train: {average_last: 5, keep_last: 2}\n", HEED_VALUE,
     "a.yaml:1:23: train.average_last 5 is more than train.keep_last 2"},
    {"train: {steps: 0}\n", HEED_VALUE,
     "a.yaml:1:16: no end: set train.steps, train.epochs or train.minutes"},
    {"train: {minutes: 5, schedule: cosine, lr: 1e-3}\n", HEED_VALUE,
     "a.yaml:1:31: this train.schedule falls to an end: set train.steps or train.epochs"},
    {"train: {schedule: linear}\n", HEED_VALUE,
     "a.yaml:1:19: train.lr is not set, only schedule inverse_sqrt has one of its own"},
    {"train: {warmup: 0}\n", HEED_VALUE,
     "a.yaml:1:17: train.warmup is 0, schedule inverse_sqrt needs at least 1"},
    {"train: {steps: 4000}\n", HEED_VALUE,
     "a.yaml:1:16: train.warmup 4000 is not below train.steps 4000"},
    {"train: {lr: 1e-4, min_lr: 1e-3}\n", HEED_VALUE,
     "a.yaml:1:27: train.min_lr 0.001 is above train.lr 0.0001"},
    {"train: {metric: bleu}\n", HEED_VALUE,
     "a.yaml:1:17: train.metric needs validation data: set data.valid_source and "
     "data.valid_target, data.valid or data.split_valid"},
    {"train: {early_stop: 3}\n", HEED_VALUE,
     "a.yaml:1:21: train.early_stop needs validation data: set data.valid_source and "
     "data.valid_target, data.valid or data.split_valid"},
};

static const refusal DATA[] = {
    {"model: {}\n", HEED_VALUE,
     "no training data: set data.train_source and data.train_target, or data.train"},
    {"data: {train_source: a}\n", HEED_VALUE,
     "a.yaml:1:22: data.train_source needs data.train_target, a corpus has two sides"},
    {"data: {train_source: a, train_target: b, train: c}\n", HEED_VALUE,
     "a.yaml:1:49: data.train is set, and data.train_source too: one of them"},
    {"data: {train: a, valid: b, split_valid: 0.1}\n", HEED_VALUE,
     "a.yaml:1:41: data.split_valid is 0.1, and files for the same part are given: one of them"},
    {"data: {train: a, split_test: 0.5, split_valid: 0.5}\n", HEED_VALUE,
     "a.yaml:1:48: data.split_valid 0.5 and data.split_test 0.5 leave nothing to train on"},
    {"data: {train: a, target_column: 1}\n", HEED_VALUE,
     "a.yaml:1:33: data.source_column and data.target_column are both 1"},
    {"data: {train: a, max_source: 2000}\n", HEED_VALUE,
     "a.yaml:1:30: data.max_source is 2000, more than the 1024 of model.max_positions"},
    {"data: {train: a, max_target: 200}\ntrain: {batch_tokens: 100}\n", HEED_VALUE,
     "a.yaml:1:30: data.max_target is 200, more than the 100 of train.batch_tokens"},
};

static const refusal ARGUMENTS[] = {
    {"train.lr", HEED_VALUE, "argument 'train.lr': no '=' in it, write section.key=value"},
    {"train.lr=abc", HEED_VALUE, "argument 'train.lr=abc': train.lr is 'abc', must be a number"},
    {"train.lr=50", HEED_VALUE,
     "argument 'train.lr=50': train.lr is 50, must be at least 0 and at most 10"},
    {"lr=3e-4", HEED_NAME, "argument 'lr=3e-4': unknown key 'lr', did you mean 'train.lr'?"},
    {"train.wibble_wobble=1", HEED_NAME,
     "argument 'train.wibble_wobble=1': unknown key 'train.wibble_wobble', see the keys of a "
     "recipe"},
    {"=1", HEED_NAME, "argument '=1': unknown key '', see the keys of a recipe"},
    {"model.heads=", HEED_VALUE,
     "argument 'model.heads=': model.heads is empty, must be a whole number"},
    {"data.train=\xc3", HEED_TEXT,
     "argument 'data.train=?': data.train has a byte at 0 that is not printable UTF-8"},
};

static void expect_line(heed_error *err, const refusal *want) {
    if (err->code != want->code || strcmp(err->text, want->line) != 0) {
        fail_msg("for\n%s\nwanted %s '%s'\ngot    %s '%s'", want->yaml, heed_code_name(want->code),
                 want->line, heed_code_name(err->code), err->text);
    }
    *err = (heed_error){0};
}

static void read_one(const refusal *want, const char *behind, bool parses) {
    heed_error err = {0};
    char yaml[1000];
    snprintf(yaml, sizeof yaml, "%s%s", want->yaml, behind);
    heed_recipe *r = heed_recipe_new(NULL, &err);
    assert_non_null(r);
    bool ok = heed_recipe_parse(r, "a.yaml", yaml, strlen(yaml), &err);
    if (ok != parses) {
        fail_msg("'%s' was %s: %s", yaml, ok ? "read" : "refused", err.text);
    }
    assert_false(ok && heed_recipe_finish(r, &err));
    expect_line(&err, want);
    heed_recipe_free(r);
}

static void mistakes_are_refused_where_they_stand(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof READ / sizeof *READ; i++) {
        read_one(&READ[i], "", false);
    }
}

static void keys_must_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof FINISH / sizeof *FINISH; i++) {
        read_one(&FINISH[i], "data: {train: a.tsv}\n", true);
    }
    for (size_t i = 0; i < sizeof DATA / sizeof *DATA; i++) {
        read_one(&DATA[i], "", true);
    }
}

static void arguments_are_checked_like_the_file(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ARGUMENTS / sizeof *ARGUMENTS; i++) {
        heed_error err = {0};
        heed_recipe *r = heed_recipe_new(NULL, &err);
        assert_non_null(r);
        assert_false(heed_recipe_set(r, ARGUMENTS[i].yaml, &err));
        expect_line(&err, &ARGUMENTS[i]);
        heed_recipe_free(r);
    }
}

static void an_argument_is_blamed_for_what_it_breaks(void **state) {
    (void)state;
    heed_error err = {0};
    heed_recipe *r = heed_recipe_new(NULL, &err);
    assert_true(heed_recipe_set(r, "data.train=a.tsv", &err));
    assert_true(heed_recipe_set(r, "model.heads=6", &err));
    assert_false(heed_recipe_finish(r, &err));
    assert_string_equal(
        err.text, "argument 'model.heads=6': model.width 512 is not a multiple of model.heads 6");
    heed_recipe_free(r);
}

static void a_refused_value_changes_nothing(void **state) {
    (void)state;
    heed_error err = {0};
    heed_recipe *r = heed_recipe_new(NULL, &err);
    assert_false(heed_recipe_set(r, "train.lr=50", &err));
    err = (heed_error){0};
    assert_false(heed_recipe_set(r, "model.gated=perhaps", &err));
    assert_true(r->train.lr == 0.0 && !r->model.gated);
    heed_recipe_free(r);
}

/* A megabyte of open brackets, or of one long key, ends in a line, not in an hour. */
static void great_nonsense_is_refused_quickly(void **state) {
    (void)state;
    static char yaml[1 << 20];
    for (int kind = 0; kind < 3; kind++) {
        heed_error err = {0};
        memset(yaml, "[a{"[kind], sizeof yaml);
        heed_recipe *r = heed_recipe_new(NULL, &err);
        assert_false(heed_recipe_parse(r, "a.yaml", yaml, sizeof yaml, &err));
        assert_true(err.text[0] && strlen(err.text) < sizeof err.text);
        heed_recipe_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_refused_where_they_stand),
        cmocka_unit_test(keys_must_agree),
        cmocka_unit_test(arguments_are_checked_like_the_file),
        cmocka_unit_test(an_argument_is_blamed_for_what_it_breaks),
        cmocka_unit_test(a_refused_value_changes_nothing),
        cmocka_unit_test(great_nonsense_is_refused_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
