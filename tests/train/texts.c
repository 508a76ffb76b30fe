/* texts.c: language models: a batch of several texts against PyTorch; a training learns its text by
 * heart, resumes and goes on from a folder to the same bits; refusals.
 * SPDX-License-Identifier: MIT
 */
#include "train/small_training.h"

#include <math.h>

#include "file/safetensors.h"
#include "train/update.h"

/* ---- One update against PyTorch ---- */

static void add_text(heed_id_texts *texts, const heed_tensors *file, const char *name) {
    heed_error err = {0};
    const heed_tensor *t = heed_tensors_find(file, name);
    assert_non_null(t);
    assert_true(heed_id_texts_add(texts, t->data, heed_tensor_elements(t), &err));
}

/* Gradients are sums over all labels; 24 bits of arithmetic. */
static void expect_gradient(const heed_model *m, const heed_weight_entry *e,
                            const heed_tensors *file) {
    heed_error err = {0};
    char name[300] = "grad.";
    assert_true(heed_model_weight_name(m, e->name, name + 5, sizeof name - 5));
    const heed_tensor *t = heed_tensors_find(file, name);
    if (!t) {
        fail_msg("PyTorch has no '%s'", name);
    }
    int64_t n = e->rows * e->cols;
    assert_int_equal(heed_tensor_elements(t), n);
    float *want = calloc((size_t)n, sizeof *want);
    assert_true(heed_tensor_to_f32(t, want, &err));
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs((double)e->grad[i] - (double)want[i]) <= 2e-5 * (1 + fabs((double)want[i])))) {
            fail_msg("%s[%d] is %.9g, PyTorch has %.9g", name, (int)i, (double)e->grad[i],
                     (double)want[i]);
        }
    }
    free(want);
}

static void follow(const char *family) {
    heed_error err = {0};
    char path[200];
    snprintf(path, sizeof path, "tests/golden/lm/%s.safetensors", family);
    heed_tensors *file = heed_tensors_open(NULL, path, &err);
    expect_no_error(&err);
    heed_id_texts texts = {0};
    add_text(&texts, file, "text.0");
    add_text(&texts, file, "text.1");
    float loss;
    assert_true(heed_tensor_to_f32(heed_tensors_find(file, "loss"), &loss, &err));

    snprintf(path, sizeof path, "tests/golden/families/%s", family);
    heed_engine *engine = heed_engine_new(NULL, 2, NULL, &err);
    heed_model *m = heed_model_open_sketch(engine, path, NULL, &err);
    assert_non_null(m);
    assert_true(heed_model_fill(m, &err));
    heed_window_opts opts = {.context = 8, .tokens = 16};
    heed_windows *w = heed_windows_new(NULL, &texts, &opts, &err);
    heed_update_options update = {.seed = 1, .accumulate = 1};
    heed_optimizer_options adam = {.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8};
    heed_updater *u = heed_updater_new(m, (heed_feed){.texts = w}, &update, &adam, &err);
    expect_no_error(&err);
    heed_update_report report;
    assert_true(heed_update(u, 1, 0.0, &report, &err));
    assert_int_equal(report.tokens, 5 + 8);
    assert_true(fabs(report.loss - (double)loss) <= 1e-5 * (double)loss);
    for (int64_t i = 0; i < heed_weights_count(heed_model_weights(m)); i++) {
        expect_gradient(m, heed_weights_at(heed_model_weights(m), i), file);
    }
    heed_updater_free(u);
    heed_windows_free(w);
    heed_id_texts_free(&texts);
    heed_model_free(m);
    heed_engine_free(engine);
    heed_tensors_free(file);
}

static void an_update_is_that_of_pytorch(void **state) {
    (void)state;
    follow("gpt2");
    follow("llama");
}

/* ---- Whole trainings ---- */

static void write_rhymes(void) {
    static const char *const line[] = {"roses are red", "violets are blue", "sugar is sweet",
                                       "and so are you"};
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/rhymes.txt", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++) {
        fprintf(f, "%s,\n%s.\n\n", line[i % 4], line[(i / 4 + i) % 4]);
    }
    fclose(f);
}

static int make_rhymes(void **state) {
    make_folder(state);
    write_rhymes();
    return 0;
}

static settings small_lm(const char *out, bool join) {
    settings s = {.n = 0};
    set(&s, "data.text=%s/rhymes.txt", folder);
    if (join) {
        set(&s, "data.join=true");
    } else {
        set(&s, "data.document=blank");
    }
    set(&s, "out.folder=%s/%s", folder, out);
    set(&s, "model.width=16");
    set(&s, "model.heads=2");
    set(&s, "model.layers=1");
    set(&s, "model.dropout=0.1");
    set(&s, "tokenizer.type=char");
    set(&s, "tokenizer.vocab=60");
    set(&s, "train.context=32");
    set(&s, "train.batch_tokens=96");
    set(&s, "train.warmup=10");
    set(&s, "train.lr=1e-2");
    set(&s, "train.optimizer=adamw");
    set(&s, "train.steps=40");
    set(&s, "train.log_every=1");
    set(&s, "train.save_every=10");
    return s;
}

static void a_text_is_learnt_by_heart(void **state) {
    (void)state;
    heed_error err = {0};
    seen what = {0};
    settings s = small_lm("a", false);
    set(&s, "data.match=violets are blue,");
    set(&s, "model.dropout=0");
    set(&s, "train.steps=150");
    set(&s, "train.sample_every=150");
    heed_trainer *t = opened(&s, HEED_START_NEW, 1, &what, &err);
    expect_no_error(&err);
    heed_training_outlook look = heed_trainer_look(t);
    assert_true(look.documents > 2 && look.pairs == 0);
    assert_int_equal(look.target_tokens, look.documents * (int64_t)strlen("violets are blue,|"));
    assert_string_equal(look.family, "gpt2");
    assert_true(heed_trainer_run(t, &err));
    heed_trainer_free(t);
    assert_true(what.first > 0.8 * look.start_loss && what.first < 1.2 * look.start_loss);
    assert_true(what.last < 0.1);
    assert_int_equal(what.samples, 1);
    assert_string_equal(what.sample, "violets are blue,");
}

static void stopped_at(const settings *s, int64_t update) {
    heed_error err = {0};
    seen first = {.stop_at = update}, second = {0};
    heed_trainer *t = opened(s, HEED_START_NEW, 1, &first, &err);
    expect_no_error(&err);
    assert_false(heed_trainer_run(t, &err));
    expect_error(&err, HEED_CANCEL, "resume goes on from there");
    heed_trainer_free(t);
    run(s, HEED_START_RESUME, 3, &second);
    assert_int_equal(first.steps + second.steps, 40);
}

/* The straight one on two threads, the stopped ones on one and then three. */
static void a_resumed_training_is_the_straight_one(void **state) {
    (void)state;
    for (int join = 0; join < 2; join++) {
        char straight[32], stopped[64];
        snprintf(straight, sizeof straight, "straight%d", join);
        seen what = {0};
        settings s = small_lm(straight, join);
        set(&s, "data.split_valid=0.2");
        set(&s, "train.accumulate=2");
        run(&s, HEED_START_NEW, 2, &what);
        assert_true(what.valids > 0 && isfinite(what.valid) && what.valid > 0);
        for (int64_t at = 7; at < 40; at += 13) {
            snprintf(stopped, sizeof stopped, "stop%d-%d", join, (int)at);
            s = small_lm(stopped, join);
            set(&s, "data.split_valid=0.2");
            set(&s, "train.accumulate=2");
            stopped_at(&s, at);
            expect_same_file(straight, stopped, "model.safetensors");
            expect_same_file(straight, stopped, "tokenizer.json");
            expect_same_metrics(straight, stopped);
        }
    }
}

static settings going_on(const char *from, const char *out) {
    settings s = {.n = 0};
    set(&s, "model.from=%s/%s", folder, from);
    set(&s, "data.text=%s/rhymes.txt", folder);
    set(&s, "data.document=blank");
    set(&s, "out.folder=%s/%s", folder, out);
    set(&s, "train.context=32");
    set(&s, "train.batch_tokens=96");
    set(&s, "train.schedule=constant");
    set(&s, "train.lr=1e-3");
    set(&s, "train.warmup=0");
    set(&s, "train.steps=40");
    set(&s, "train.log_every=1");
    set(&s, "train.save_every=10");
    return s;
}

static void a_training_goes_on_from_a_folder(void **state) {
    (void)state;
    seen what = {0}, more = {0};
    settings s = small_lm("a", false);
    set(&s, "model.family=llama");
    set(&s, "model.dropout=0"); /* it has none */
    run(&s, HEED_START_NEW, 1, &what);
    s = going_on("a", "b");
    run(&s, HEED_START_NEW, 2, &more);
    assert_true(more.first < 0.8 * what.first);
    assert_true(more.last < more.first);
    expect_same_file("a", "b", "config.json");
    expect_same_file("a", "b", "tokenizer.json");
    s = going_on("a", "c");
    stopped_at(&s, 17);
    expect_same_file("b", "c", "model.safetensors");
}

/* A GGUF file, whose weights lie in another order, becomes a folder first: what is trained then is
 * what is trained from that folder. */
static void a_training_goes_on_from_a_gguf_file(void **state) {
    (void)state;
    static const char *const files[] = {"gpt2", "llama"};
    settings s = small_lm("a", false);
    run(&s, HEED_START_NEW, 1, &(seen){0});
    for (int i = 0; i < 2; i++) {
        seen what = {0}, again = {0};
        char name[3][32];
        for (int j = 0; j < 3; j++) {
            snprintf(name[j], sizeof name[j], j < 2 ? "%s%d" : "%s%d/start", files[i], j % 2);
        }
        s = going_on("none", name[0]);
        set(&s, "model.from=tests/golden/gguf-models/%s.gguf", files[i]);
        set(&s, "tokenizer.file=%s/a/tokenizer.json", folder);
        set(&s, "train.context=16");
        run(&s, HEED_START_NEW, 1, &what);
        assert_true(what.last < 0.9 * what.first);
        s = going_on(name[2], name[1]);
        set(&s, "tokenizer.file=%s/a/tokenizer.json", folder);
        set(&s, "train.context=16");
        run(&s, HEED_START_NEW, 1, &again);
        assert_true(again.first == what.first);
        expect_same_file(name[0], name[1], "model.safetensors");
    }
}

static void only_what_is_named_is_trained(void **state) {
    (void)state;
    heed_error err = {0};
    seen what = {0};
    settings s = small_lm("a", false);
    run(&s, HEED_START_NEW, 1, &what);
    s = going_on("a", "b");
    set(&s, "train.only=transformer.ln_f.* transformer.h.*.attn.c_attn.weight");
    run(&s, HEED_START_NEW, 1, &what);
    assert_non_null(strstr(what.said, "parameters are trained"));
    char path[2][TEST_PATH + 64];
    heed_tensors *file[2];
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s/model.safetensors", folder, i ? "b" : "a");
        file[i] = heed_tensors_open(NULL, path[i], &err);
        expect_no_error(&err);
    }
    for (int64_t i = 0; i < heed_tensors_count(file[0]); i++) {
        const heed_tensor *x = heed_tensors_at(file[0], i),
                          *y = heed_tensors_find(file[1], x->name);
        assert_non_null(y);
        bool trained = strstr(x->name, "ln_f.") || strstr(x->name, "c_attn.weight");
        if ((memcmp(x->data, y->data, x->bytes) != 0) != trained) {
            fail_msg("%s %s", x->name, trained ? "was not trained" : "was trained");
        }
    }
    heed_tensors_free(file[0]);
    heed_tensors_free(file[1]);
    s = going_on("a", "c");
    set(&s, "train.only=transformer.h.*.attn.q_attn.weight");
    assert_null(opened(&s, HEED_START_NEW, 1, &what, &err));
    expect_error(
        &err, HEED_NAME,
        "train.only: no weight of the model is called 'transformer.h.*.attn.q_attn.weight'");
}

/* ---- Refusals ---- */

static void refuse(settings s, const char *setting, heed_code code, const char *line) {
    heed_error err = {0};
    seen what = {0};
    set(&s, "%s", setting);
    assert_null(opened(&s, HEED_START_NEW, 1, &what, &err));
    expect_error(&err, code, line);
}

static void what_cannot_be_trained_is_refused(void **state) {
    (void)state;
    settings s = small_lm("a", true);
    refuse(s, "data.text=none.txt", HEED_FILE, "none.txt");
    refuse(s, "train.context=97", HEED_VALUE, "more than the 96 of train.batch_tokens");
    refuse(s, "model.max_positions=31", HEED_VALUE,
           "train.context is 32, more than the 31 of model.max_positions");
    refuse(s, "model.family=marian", HEED_VALUE, "is gpt2 or llama");
    refuse(s, "model.norm=rmsnorm", HEED_VALUE,
           "model.norm is rmsnorm, model.family gpt2 has layernorm");
    refuse(s, "data.train=pairs.tsv", HEED_VALUE,
           "data.train is for model.task pairs, which is lm here");
}

static void a_model_to_go_on_from_is_looked_at(void **state) {
    (void)state;
    seen what = {0};
    settings s = small_lm("a", false), other = small_lm("other", false);
    run(&s, HEED_START_NEW, 1, &what);
    set(&other, "tokenizer.type=bpe");
    set(&other, "tokenizer.vocab=300");
    run(&other, HEED_START_NEW, 1, &what);
    s = going_on("a", "b");
    refuse(s, "model.width=32", HEED_VALUE, "model.width has no say");
    refuse(s, "train.context=64", HEED_VALUE,
           "train.context is 64, more than the 32 positions of the model");
    refuse(s, "tokenizer.type=bpe", HEED_VALUE, "would learn another vocabulary");
    char file[TEST_PATH + 64];
    snprintf(file, sizeof file, "tokenizer.file=%s/other/tokenizer.json", folder);
    refuse(s, file, HEED_SHAPE, "tokenizer.file: the tokenizer has 300 ids");
    refuse(s, "model.from=tests/golden/families/bert-masked", HEED_VALUE,
           "model.task lm takes a decoder");
    refuse(s, "model.from=tests/golden/families/gpt2", HEED_NAME, "has no tokenizer");
}

int main(void) {
#define IN_RHYMES(test) cmocka_unit_test_setup_teardown(test, make_rhymes, drop_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_is_that_of_pytorch),
        IN_RHYMES(a_text_is_learnt_by_heart),
        IN_RHYMES(a_resumed_training_is_the_straight_one),
        IN_RHYMES(a_training_goes_on_from_a_folder),
        IN_RHYMES(a_training_goes_on_from_a_gguf_file),
        IN_RHYMES(only_what_is_named_is_trained),
        IN_RHYMES(what_cannot_be_trained_is_refused),
        IN_RHYMES(a_model_to_go_on_from_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
