/* trainer.c: a whole training on a small corpus: it learns, resumes to the same bits, refuses.
 * SPDX-License-Identifier: MIT
 */
#include "train/small_training.h"

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
    settings missing = s; /* nothing of the old goes before the new is ready to run */
    set(&missing, "data.train=%s/none.tsv", folder);
    assert_null(opened(&missing, HEED_START_OVER, 1, &what, &err));
    expect_error(&err, HEED_FILE, "none.tsv");
    assert_null(opened(&s, HEED_START_NEW, 1, &what, &err));
    expect_error(&err, HEED_VALUE, "holds a training at update 40");
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

static void the_average_is_of_the_last(void **state) {
    (void)state;
    seen what = {0};
    settings a = small("a"), b = small("b");
    set(&a, "train.average_last=2");
    set(&b, "train.average_last=2");
    set(&b, "train.keep_last=4");
    run(&a, HEED_START_NEW, 1, &what);
    run(&b, HEED_START_NEW, 1, &what);
    expect_same_file("a", "b", "model.safetensors");
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
    assert_true(what.steps < 400 && what.best > 0);
    assert_int_equal(what.steps, what.best + 2);
    assert_int_equal(what.steps, what.valids);
}

static void epochs_end_it(void **state) {
    (void)state;
    heed_error err = {0};
    seen what = {0};
    settings s = small("a");
    set(&s, "train.steps=0");
    set(&s, "train.epochs=2");
    heed_trainer *t = opened(&s, HEED_START_NEW, 1, &what, &err);
    expect_no_error(&err);
    int64_t an_epoch = heed_trainer_look(t).updates_an_epoch;
    assert_true(heed_trainer_run(t, &err));
    heed_trainer_free(t);
    assert_int_equal(what.steps, 2 * an_epoch);
    assert_int_equal(what.firsts, an_epoch);
    assert_int_equal(what.epoch, 2);
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

/* A corpus file and what the user is told about it. */
static void expect_notes(const char *text, const char *setting, const char *part) {
    heed_error err = {0};
    seen what = {0};
    char path[TEST_PATH + 64];
    settings s = small("notes");
    snprintf(path, sizeof path, "%s/other.tsv", folder);
    write_text(path, text);
    set(&s, setting, path);
    set(&s, "data.split_valid=0");
    set(&s, "data.max_source=4");
    heed_trainer *t = opened(&s, HEED_START_OVER, 1, &what, &err);
    if (!t || !strstr(what.said, part)) {
        fail_msg("wanted '%s', got '%s'%s", part, what.said, err.text);
    }
    heed_trainer_free(t);
}

static void what_is_odd_is_told(void **state) {
    (void)state;
    expect_notes("red tall dog\tdog tall red\nRed, tall dog!\tdog tall red\na\tb\n",
                 "data.valid=%s", "2 of 3 validation pairs stand in the training pairs too");
    expect_notes(
        "red\tblue\n\tcat\nsun\t \nsea\tsun\n", "data.train=%s",
        "data.train: 2 of 4 pairs have an empty side and are left out, the first in line 2");
    expect_notes(
        "red\tblue\nred red red red red\tcat\nsea\tsun\n", "data.train=%s",
        "1 of 3 training pairs are longer than data.max_source 4 or data.max_target 32 and "
        "were left out, the first in line 2");
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
        IN_FOLDER(the_average_is_of_the_last),
        IN_FOLDER(early_stop_ends_it),
        IN_FOLDER(epochs_end_it),
        IN_FOLDER(a_time_limit_ends_it),
        IN_FOLDER(a_loss_that_is_no_number_ends_it),
        IN_FOLDER(wrong_data_is_refused),
        IN_FOLDER(what_is_odd_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
