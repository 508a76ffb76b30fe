/* oom.c: memory fails at the n-th allocation, for every n: opening a folder with its tokenizer,
 * planning, translating text, tracing with gradients, measuring a likelihood, planning a training.
 * Each time a clean error, and no block is left. (Training itself: tests/train/trainer_memory.c.
 * The JSON reader has memory of its own, outside the host: it is left out.)
 *
 * The model is the smallest that can be trained; it is made here.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "file/safetensors.h"
#include "heed_look.h"
#include "model/model.h"

static char folder[TEST_PATH], model_path[TEST_PATH + 32], input[TEST_PATH + 32];
static char data[TEST_PATH + 64], out[TEST_PATH + 64];

/* ---- The model ---- */

static const char *const settings[] = {data,
                                       out,
                                       "model.width=4",
                                       "model.heads=2",
                                       "model.feed_forward=4",
                                       "model.encoder_layers=1",
                                       "model.decoder_layers=1",
                                       "model.norm_position=pre",
                                       "model.max_positions=16",
                                       "tokenizer.type=char",
                                       "tokenizer.vocab=24",
                                       "tokenizer.byte_fallback=false",
                                       "train.batch_tokens=16",
                                       "train.steps=2",
                                       "train.warmup=1"};

static heed_trainer *opened(const heed_host *host, bool plan_only, heed_error *err) {
    heed_training_options o = {.host = host,
                               .settings = settings,
                               .n_settings = sizeof settings / sizeof *settings,
                               .start = HEED_START_OVER,
                               .plan_only = plan_only,
                               .threads = 1};
    return heed_trainer_new(&o, err);
}

static void write_input(void) {
    heed_error err = {0};
    static const int64_t ids[] = {5, 6, 2, 7, 2, 0}, labels[] = {6, 5, 2, 2, -100, -100};
    static const int64_t mask[] = {1, 1, 1, 1, 1, 0};
    const heed_tensor list[] = {
        {.name = "input_ids", .type = HEED_I64, .rank = 2, .dim = {2, 3}, .data = ids},
        {.name = "attention_mask", .type = HEED_I64, .rank = 2, .dim = {2, 3}, .data = mask},
        {.name = "labels", .type = HEED_I64, .rank = 2, .dim = {2, 3}, .data = labels},
    };
    snprintf(input, sizeof input, "%s/in.safetensors", folder);
    assert_true(heed_tensors_write(NULL, input, list, 3, NULL, 0, &err));
}

static int make(void **state) {
    (void)state;
    heed_error err = {0};
    char pairs[TEST_PATH + 32];
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 1); /* thousands of files: no disk for them */
    }
    temp_folder(folder);
    snprintf(pairs, sizeof pairs, "%s/pairs.tsv", folder);
    snprintf(model_path, sizeof model_path, "%s/model", folder);
    snprintf(data, sizeof data, "data.train=%s", pairs);
    snprintf(out, sizeof out, "out.folder=%s", model_path);
    write_text(pairs, "a b\tb a\nb c\tc b\nc a\ta c\na a\ta a\nb b\tb b\nc c\tc c\na c\tc a\n");
    heed_trainer *t = opened(NULL, false, &err);
    expect_no_error(&err);
    heed_trainer_run(t, &err);
    expect_no_error(&err);
    heed_trainer_free(t);
    write_input();
    return 0;
}

static int drop(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

/* ---- What is done with little memory ---- */

typedef bool use_fn(heed_model *model, heed_error *err);

static bool with_model(const heed_host *host, void *ctx, heed_error *err) {
    use_fn *const *use = ctx;
    heed_engine *engine = heed_engine_new(host, 1, "ref", err);
    heed_model *model = engine ? heed_model_open(engine, model_path, err) : NULL;
    bool ok = model && (!*use || (*use)(model, err));
    heed_model_free(model);
    heed_engine_free(engine);
    return ok;
}

static bool plan(heed_model *model, heed_error *err) {
    heed_translate_options o = heed_translate_defaults(model);
    o.plan_only = true;
    heed_translator *t = heed_translator_new(model, &o, err);
    heed_translator_free(t);
    return t != NULL;
}

static bool translate(heed_model *model, heed_error *err) {
    heed_translate_options o = heed_translate_defaults(model);
    o.beam = o.n_best = 2;
    o.batch_tokens = 4;
    o.max_length = 5;
    const heed_line lines[] = {{"a b", 3}, {"", 0}, {"c a a", 5}};
    heed_translations answers = {0};
    heed_translator *t = heed_translator_new(model, &o, err);
    bool ok = t && heed_translate(t, lines, 3, &answers, err);
    assert_true(ok == (answers.item != NULL));
    heed_translations_free(&answers);
    heed_translator_free(t);
    return ok;
}

static bool trace(heed_model *model, heed_error *err) {
    char output[TEST_PATH + 32];
    snprintf(output, sizeof output, "%s/out.safetensors", folder);
    return heed_trace(model, input, output, &(heed_trace_options){true, true, true}, err);
}

static bool measure(heed_model *model, heed_error *err) {
    const heed_line a[] = {{"a b", 3}, {"c", 1}}, b[] = {{"b a", 3}, {"c", 1}};
    heed_likelihood found;
    return heed_likelihood_of(model, a, b, 2, &found, err);
}

static bool describe(heed_model *model, heed_error *err) {
    heed_buf json = {.host = heed_model_host(model)};
    bool ok = heed_model_describe(model, &json, err);
    heed_buf_free(&json);
    return ok;
}

static bool plan_training(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_trainer *t = opened(host, true, err);
    heed_trainer_free(t);
    return t != NULL;
}

/* ---- The tests ---- */

static void fail_everywhere(use_fn *use) {
    counting_host c;
    counting_host_init(&c, 0, false);
    heed_error err = {0};
    if (!with_model(&c.host, &use, &err)) {
        fail_msg("%s", err.text);
    }
    print_message("%ld allocations\n", (long)c.asked);
    for_each_failing_allocation(with_model, &use);
}

#define TEST(name, use)                                                                            \
    static void name(void **state) {                                                               \
        (void)state;                                                                               \
        fail_everywhere(use);                                                                      \
    }
TEST(opening, NULL)
TEST(planning, plan)
TEST(translating, translate)
TEST(tracing, trace)
TEST(measuring, measure)
TEST(describing, describe)

static void planning_a_training(void **state) {
    (void)state;
    for_each_failing_allocation(plan_training, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening),
        cmocka_unit_test(planning),
        cmocka_unit_test(translating),
        cmocka_unit_test(tracing),
        cmocka_unit_test(measuring),
        cmocka_unit_test(describing),
        cmocka_unit_test(planning_a_training),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
