/* memory.c: a training takes the memory that was said before, within 5 %: all of it, from the
 * reading of the data to the written model.
 * SPDX-License-Identifier: MIT
 */
#include "weigh.h"

enum { PAIRS = 1500 };
static char folder[TEST_PATH], pairs[TEST_PATH + 80];

typedef struct {
    const char *list[24];
    int n;
} settings;

static heed_trainer *opened(const weighing_host *w, const settings *s, bool plan_only) {
    heed_error err = {0};
    heed_training_options o = {.host = &w->host,
                               .settings = s->list,
                               .n_settings = s->n,
                               .start = HEED_START_OVER,
                               .plan_only = plan_only,
                               .threads = 2};
    heed_trainer *t = heed_trainer_new(&o, &err);
    expect_no_error(&err);
    return t;
}

static void train(const char *what, const char *const *own, int n) {
    heed_error err = {0};
    char out[TEST_PATH + 40];
    snprintf(out, sizeof out, "out.folder=%s/out", folder);
    settings s = {.list = {out, pairs, "tokenizer.vocab=800", "model.max_positions=128",
                           "train.lr=1e-3", "train.schedule=constant", "train.warmup=0"},
                  .n = 7};
    for (int i = 0; i < n; i++) {
        s.list[s.n++] = own[i];
    }
    weighing_host w;
    weighing_host_init(&w);
    heed_trainer *t = opened(&w, &s, true);
    heed_need said = heed_trainer_look(t).need;
    heed_trainer_free(t);
    assert_int_equal(w.live, 0);
    assert_true(w.most < said.total / 4 || said.total < 32u << 20); /* what was read, no more */
    w.most = 0;
    t = opened(&w, &s, false);
    size_t ready = w.most;
    heed_trainer_run(t, &err);
    expect_no_error(&err);
    heed_trainer_free(t);
    assert_int_equal(w.live, 0);
    print_message("%s: said %zu, ready with %zu, took %zu\n", what, said.total, ready,
                  (size_t)w.most);
    expect_near(what, said.total, w.most);
}

static void a_small_one(void **state) {
    (void)state;
    static const char *const own[] = {"model.width=64",         "model.heads=4",
                                      "model.feed_forward=128", "model.encoder_layers=1",
                                      "model.decoder_layers=1", "train.batch_tokens=256",
                                      "train.steps=1"};
    train("small", own, sizeof own / sizeof *own);
}

static void as_the_demo_has_it(void **state) {
    (void)state;
    static const char *const own[] = {"model.width=128",         "model.heads=4",
                                      "model.feed_forward=512",  "model.encoder_layers=2",
                                      "model.decoder_layers=2",  "model.norm_position=pre",
                                      "train.batch_tokens=1024", "train.steps=1"};
    train("demo", own, sizeof own / sizeof *own);
}

static void with_validation(void **state) {
    (void)state;
    static const char *const own[] = {"model.width=128",        "model.heads=4",
                                      "model.feed_forward=256", "model.encoder_layers=1",
                                      "model.decoder_layers=1", "train.batch_tokens=512",
                                      "train.steps=1",          "data.split_valid=0.01",
                                      "train.metric=bleu",      "train.valid_every=1"};
    train("validating", own, sizeof own / sizeof *own);
}

static int make_folder(void **state) {
    (void)state;
    char path[TEST_PATH + 40];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/pairs.tsv", folder);
    snprintf(pairs, sizeof pairs, "data.train=%s", path);
    char *text = slurp("examples/zh-en/train.tsv", NULL), *end = text;
    for (int i = 0; i < PAIRS; i++) {
        end = strchr(end, '\n') + 1;
    }
    write_bytes(path, text, (size_t)(end - text));
    free(text);
    return 0;
}
static int drop_folder(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_small_one),
                                       cmocka_unit_test(as_the_demo_has_it),
                                       cmocka_unit_test(with_validation)};
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
