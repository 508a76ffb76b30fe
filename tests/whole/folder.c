/* folder.c: a folder that transformers wrote, opened and saved again, holds the same tensors.
 *
 * All of them, bit for bit, the tables of positions too; what is never read (the shared table of an
 * untied model) may be left out. The saved folder has the family of the first and opens.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "file/safetensors.h"
#include "model/model.h"

static heed_tensors *tensors_of(const char *folder) {
    heed_error err = {0};
    char path[TEST_PATH + 40];
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    heed_tensors *file = heed_tensors_open(NULL, path, &err);
    expect_no_error(&err);
    return file;
}

static void expect_same_tensor(const heed_tensor *a, const heed_tensor *b, const char *folder) {
    char x[180], y[180];
    if (!b) {
        fail_msg("%s: '%s' is not saved", folder, a->name);
        return;
    }
    heed_tensor_shape(a, x);
    heed_tensor_shape(b, y);
    if (a->type != b->type || strcmp(x, y) != 0 || memcmp(a->data, b->data, a->bytes) != 0) {
        fail_msg("%s: '%s' %s is saved as another %s", folder, a->name, x, y);
    }
}

static void expect_same_tensors(const char *folder, const char *saved, bool tied) {
    heed_tensors *a = tensors_of(folder), *b = tensors_of(saved);
    int64_t unread = 0;
    for (int64_t i = 0; i < heed_tensors_count(a); i++) {
        const heed_tensor *t = heed_tensors_at(a, i);
        if (!tied && strcmp(t->name, "model.shared.weight") == 0) {
            unread++;
        } else {
            expect_same_tensor(t, heed_tensors_find(b, t->name), folder);
        }
    }
    assert_int_equal(heed_tensors_count(b), heed_tensors_count(a) - unread);
    heed_tensors_free(a);
    heed_tensors_free(b);
}

/* How to search stands in generation_config.json alone, as transformers wants it. */
static void expect_no_search(const char *saved) {
    static const char *const keys[] = {"num_beams", "length_penalty", "renormalize_logits"};
    char path[TEST_PATH + 40];
    snprintf(path, sizeof path, "%s/config.json", saved);
    char *config = slurp(path, NULL);
    snprintf(path, sizeof path, "%s/generation_config.json", saved);
    char *generation = slurp(path, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_null(strstr(config, keys[i]));
        assert_non_null(strstr(generation, keys[i]));
    }
    assert_non_null(strstr(config, "\"pad_token_id\""));
    free(config);
    free(generation);
}

static void round_trip(const char *name) {
    heed_error err = {0};
    char folder[200], saved[TEST_PATH], family[24];
    snprintf(folder, sizeof folder, "tests/golden/%s", name);
    temp_folder(saved);
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *model = heed_model_open(engine, folder, &err);
    expect_no_error(&err);
    bool tied = heed_model_config(model)->tie_output;
    snprintf(family, sizeof family, "%s", heed_model_config(model)->family);
    assert_true(heed_model_save(model, saved, &err));
    expect_no_search(saved);
    heed_config config = *heed_model_config(model);
    char why[100] = "";
    heed_config_choose_family(&config, why, sizeof why);
    assert_string_equal(config.family, family); /* a training would save it as what it was */
    heed_model_free(model);
    expect_same_tensors(folder, saved, tied);
    model = heed_model_open(engine, saved, &err);
    expect_no_error(&err);
    assert_string_equal(heed_model_config(model)->family, family);
    heed_model_free(model);
    heed_engine_free(engine);
    remove_folder(saved);
}

#define FOLDERS(X)                                                                                 \
    X(marian, a)                                                                                   \
    X(marian, b) X(marian, c) X(marian, d) X(pegasus, a) X(pegasus, b) X(pegasus, c) X(pegasus, d)
#define DEFINE(family, letter)                                                                     \
    static void family##_##letter(void **state) {                                                  \
        (void)state;                                                                               \
        round_trip(#family "-" #letter);                                                           \
    }
FOLDERS(DEFINE)

int main(void) {
#define LIST(family, letter) cmocka_unit_test(family##_##letter),
    const struct CMUnitTest tests[] = {FOLDERS(LIST)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
