/* trainer.c: a whole training on a small corpus: it learns, resumes to the same bits, refuses.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

static char folder[TEST_PATH];

/* Sentences "a b c" with their words turned round: enough to learn from, in no time. */
static void write_corpus(void) {
    static const char *const word[] = {"red", "blue", "tall", "small", "dog", "cat", "sun", "sea"};
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/pairs.tsv", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 320; i++) {
        const char *a = word[i % 8], *b = word[i / 8 % 8], *c = word[(i / 64 + i) % 8];
        fprintf(f, "%s %s %s\t%s %s %s\n", a, b, c, c, b, a);
    }
    fclose(f);
}

static int make_folder(void **state) {
    (void)state;
    temp_folder(folder);
    write_corpus();
    return 0;
}
static int drop_folder(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

typedef struct {
    char text[24][TEST_PATH + 64];
    int n;
} settings;

static void set(settings *s, const char *format, ...) HEED_PRINTF(2, 3);
static void set(settings *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->text[s->n], sizeof s->text[0], format, args);
    va_end(args);
    s->n++;
}

static settings small(const char *out) {
    settings s = {.n = 0};
    set(&s, "data.train=%s/pairs.tsv", folder);
    set(&s, "data.split_valid=0.1");
    set(&s, "out.folder=%s/%s", folder, out);
    set(&s, "model.width=16");
    set(&s, "model.heads=2");
    set(&s, "model.feed_forward=32");
    set(&s, "model.encoder_layers=1");
    set(&s, "model.decoder_layers=1");
    set(&s, "model.max_positions=32");
    set(&s, "tokenizer.vocab=300");
    set(&s, "train.batch_tokens=128");
    set(&s, "train.warmup=10");
    set(&s, "train.lr=5e-3");
    set(&s, "train.steps=40");
    set(&s, "train.log_every=1");
    set(&s, "train.save_every=10");
    return s;
}

typedef struct {
    double first, last, valid;
    int steps, valids, saves, dones, notes;
    int64_t stop_at;
    volatile bool cancel;
} seen;

static void on_note(void *ctx, const char *line) {
    seen *s = ctx;
    assert_true(strlen(line) > 0);
    s->notes++;
}

static void on_progress(void *ctx, const heed_training_progress *p) {
    seen *s = ctx;
    switch (p->kind) {
    case HEED_TRAINING_STEP:
        s->first = s->steps++ == 0 ? p->loss : s->first;
        s->last = p->loss;
        assert_true(p->lr > 0 && p->norm > 0 && p->bytes > 0 && p->seconds_left >= 0);
        break;
    case HEED_TRAINING_VALID:
        s->valids++;
        s->valid = p->loss;
        break;
    case HEED_TRAINING_SAVED:
        s->saves++;
        break;
    case HEED_TRAINING_DONE:
        s->dones++;
        break;
    }
    s->cancel = s->stop_at > 0 && p->step >= s->stop_at;
}

static heed_trainer *opened(const settings *s, heed_start start, int threads, seen *what,
                            heed_error *err) {
    const char *list[24];
    for (int i = 0; i < s->n; i++) {
        list[i] = s->text[i];
    }
    heed_training_options o = {.settings = list,
                               .n_settings = s->n,
                               .start = start,
                               .threads = threads,
                               .note = on_note,
                               .progress = on_progress,
                               .ctx = what,
                               .cancel = &what->cancel};
    return heed_trainer_new(&o, err);
}

static void run(const settings *s, heed_start start, int threads, seen *what) {
    heed_error err = {0};
    heed_trainer *t = opened(s, start, threads, what, &err);
    if (!t || !heed_trainer_run(t, &err)) {
        fail_msg("%s", err.text);
    }
    heed_trainer_free(t);
}

static void it_learns(void **state) {
    (void)state;
    heed_error err = {0};
    seen what = {0};
    settings s = small("a");
    heed_trainer *t = opened(&s, HEED_START_NEW, 1, &what, &err);
    expect_no_error(&err);
    heed_training_outlook look = heed_trainer_look(t);
    assert_int_equal(look.updates, 40);
    assert_true(look.pairs > 250 && look.pairs < 320);
    assert_string_equal(look.family, "marian");
    assert_true(look.parameters > 1000 && look.need.total > 16 * (size_t)look.parameters);
    assert_true(heed_trainer_run(t, &err));
    heed_trainer_free(t);
    assert_int_equal(what.steps, 40);
    assert_int_equal(what.dones, 1);
    assert_true(what.saves >= 4 && what.valids >= 1);
    assert_true(what.first > 0.8 * look.start_loss && what.first < 1.6 * look.start_loss);
    assert_true(what.last < 0.7 * what.first);
}

static char *file_of(const char *out, const char *name, size_t *n) {
    char path[TEST_PATH + 128];
    snprintf(path, sizeof path, "%s/%s/%s", folder, out, name);
    return slurp(path, n);
}

static void expect_same_file(const char *a, const char *b, const char *name) {
    size_t n, m;
    char *x = file_of(a, name, &n), *y = file_of(b, name, &m);
    if (n != m || memcmp(x, y, n) != 0) {
        fail_msg("%s differs between %s and %s", name, a, b);
    }
    free(x);
    free(y);
}

/* All lines of metrics but those of the clock. */
static void expect_same_metrics(const char *a, const char *b) {
    char *x = file_of(a, "metrics.jsonl", NULL), *y = file_of(b, "metrics.jsonl", NULL);
    char *p, *q, *line = strtok_r(x, "\n", &p), *other = strtok_r(y, "\n", &q);
    int compared = 0;
    while (line && other) {
        if (!strstr(line, "\"speed\"")) {
            assert_string_equal(line, other);
            compared++;
        }
        line = strtok_r(NULL, "\n", &p);
        other = strtok_r(NULL, "\n", &q);
    }
    assert_null(line);
    assert_null(other);
    assert_true(compared > 40);
    free(x);
    free(y);
}

/* Stopped within the warm-up, within an accumulation's epoch, at a save and between two. */
static void a_resumed_training_is_the_straight_one(void **state) {
    (void)state;
    static const int64_t stops[] = {3, 10, 17, 31};
    seen what = {0};
    settings straight = small("straight");
    set(&straight, "train.accumulate=3");
    run(&straight, HEED_START_NEW, 2, &what);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char name[32];
        heed_error err = {0};
        seen first = {.stop_at = stops[i]}, second = {0};
        snprintf(name, sizeof name, "stop%d", (int)stops[i]);
        settings s = small(name);
        set(&s, "train.accumulate=3");
        heed_trainer *t = opened(&s, HEED_START_NEW, 1, &first, &err);
        assert_non_null(t);
        assert_false(heed_trainer_run(t, &err));
        expect_error(&err, HEED_CANCEL, "resume goes on from there");
        heed_trainer_free(t);
        run(&s, HEED_START_RESUME, 3, &second);
        assert_int_equal(first.steps + second.steps, 40);
        expect_same_file("straight", name, "model.safetensors");
        expect_same_file("straight", name, "tokenizer.json");
        expect_same_metrics("straight", name);
    }
}

static void saving_more_often_changes_nothing(void **state) {
    (void)state;
    seen what = {0};
    settings a = small("a"), b = small("b");
    set(&a, "out.weights=last");
    set(&b, "out.weights=last");
    set(&b, "train.save_every=7");
    set(&b, "train.valid_every=5");
    run(&a, HEED_START_NEW, 1, &what);
    run(&b, HEED_START_NEW, 2, &what);
    expect_same_file("a", "b", "model.safetensors");
}

static void a_used_folder_is_not_overwritten(void **state) {
    (void)state;
    heed_error err = {0};
    seen what = {0};
    settings s = small("a");
    run(&s, HEED_START_NEW, 1, &what);
    assert_null(opened(&s, HEED_START_NEW, 1, &what, &err));
    expect_error(&err, HEED_VALUE, "holds a training at update 40: resume it, start over");
    set(&s, "train.batch_tokens=256");
    assert_null(opened(&s, HEED_START_RESUME, 1, &what, &err));
    expect_error(&err, HEED_VALUE, "train.batch_tokens was 128 in the training of");
    what = (seen){0};
    run(&s, HEED_START_OVER, 1, &what);
    assert_int_equal(what.steps, 40);
}

static void more_updates_go_on_from_the_end(void **state) {
    (void)state;
    seen what = {0};
    settings s = small("a"), all = small("all");
    set(&s, "train.lr=1e-3");
    set(&all, "train.lr=1e-3");
    set(&s, "out.weights=last");
    set(&all, "out.weights=last");
    set(&all, "train.steps=60");
    run(&s, HEED_START_NEW, 1, &what);
    set(&s, "train.steps=60");
    what = (seen){0};
    run(&s, HEED_START_RESUME, 1, &what);
    assert_int_equal(what.steps, 20);
    run(&all, HEED_START_NEW, 1, &what);
    expect_same_file("a", "all", "model.safetensors");
}

static void bleu_and_averages(void **state) {
    (void)state;
    seen what = {0};
    settings s = small("a");
    set(&s, "train.metric=bleu");
    set(&s, "train.average_last=3");
    set(&s, "translate.beam=2");
    run(&s, HEED_START_NEW, 1, &what);
    char *lines = file_of("a", "metrics.jsonl", NULL);
    assert_non_null(strstr(lines, "\"kind\":\"model\",\"step\":40"));
    assert_non_null(strstr(lines, "\"bleu\":"));
    free(lines);
}

static void early_stop_ends_it(void **state) {
    (void)state;
    seen what = {0};
    settings s = small("a");
    set(&s, "train.early_stop=2");
    set(&s, "train.valid_every=1");
    set(&s, "train.steps=400");
    set(&s, "train.lr=0.2"); /* far too much: the loss soon rises */
    run(&s, HEED_START_NEW, 1, &what);
    assert_true(what.steps < 400 && what.steps >= 3);
    assert_int_equal(what.steps, what.valids);
}

static void a_time_limit_ends_it(void **state) {
    (void)state;
    seen what = {0};
    settings s = small("a");
    set(&s, "train.minutes=0.01");
    set(&s, "train.steps=0");
    run(&s, HEED_START_NEW, 1, &what);
    assert_true(what.steps >= 1);
    assert_int_equal(what.dones, 1);
}

static void a_loss_that_is_no_number_ends_it(void **state) {
    (void)state;
    heed_error err = {0};
    seen what = {0};
    settings s = small("a");
    set(&s, "train.optimizer=adamw"); /* each update multiplies the weights by 1 - 10 * 10 */
    set(&s, "train.weight_decay=10");
    set(&s, "train.lr=10");
    set(&s, "train.warmup=1");
    set(&s, "train.schedule=constant");
    set(&s, "train.steps=4000");
    heed_trainer *t = opened(&s, HEED_START_NEW, 1, &what, &err);
    assert_non_null(t);
    assert_false(heed_trainer_run(t, &err));
    if (!strstr(err.text, "update ") || !strstr(err.text, "lines ")) {
        fail_msg("%s", err.text);
    }
    expect_error(&err, HEED_NONFINITE, "lower train.lr");
    heed_trainer_free(t);
}

static void wrong_data_is_refused(void **state) {
    (void)state;
    heed_error err = {0};
    seen what = {0};
    settings s = small("a");
    set(&s, "data.train=%s/none.tsv", folder);
    assert_null(opened(&s, HEED_START_NEW, 1, &what, &err));
    expect_error(&err, HEED_FILE, "none.tsv");
    s = small("a");
    set(&s, "model.width=17");
    assert_null(opened(&s, HEED_START_NEW, 1, &what, &err));
    expect_error(&err, HEED_SHAPE, "model.width 17 is not a multiple of model.heads 2");
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(it_learns),
        IN_FOLDER(a_resumed_training_is_the_straight_one),
        IN_FOLDER(saving_more_often_changes_nothing),
        IN_FOLDER(a_used_folder_is_not_overwritten),
        IN_FOLDER(more_updates_go_on_from_the_end),
        IN_FOLDER(bleu_and_averages),
        IN_FOLDER(early_stop_ends_it),
        IN_FOLDER(a_time_limit_ends_it),
        IN_FOLDER(a_loss_that_is_no_number_ends_it),
        IN_FOLDER(wrong_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
