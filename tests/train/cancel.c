/* cancel.c: a training that is cancelled at any moment, in the middle of an update or of a
 * validation, writes a checkpoint and goes on from there to the bits of one that was left alone.
 * SPDX-License-Identifier: MIT
 */
#include "train/small_training.h"

#include <signal.h>
#include <sys/time.h>

static settings longer(const char *out) {
    settings s = small(out);
    set(&s, "train.steps=150");
    set(&s, "train.accumulate=2");
    set(&s, "train.save_every=1000");
    set(&s, "train.valid_every=25");
    set(&s, "train.metric=chrf");
    set(&s, "translate.beam=2");
    set(&s, "translate.max_length_extra=4");
    return s;
}

static volatile bool *flag;

static void on_alarm(int number) {
    (void)number;
    *flag = true;
}

/* The alarm goes off in the thread that runs the training: its workers, made while it is blocked,
 * never take it. */
static void block_alarm(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    assert_int_equal(pthread_sigmask(how, &set, NULL), 0);
}

static void set_alarm(int64_t us) {
    struct itimerval timer = {.it_value = {.tv_sec = us / 1000000, .tv_usec = us % 1000000}};
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* Runs until the alarm or the end; true at the end. */
static bool leg(const settings *s, int64_t us) {
    heed_error err = {0};
    seen what = {0};
    flag = &what.cancel;
    block_alarm(SIG_BLOCK);
    heed_trainer *t = opened(s, HEED_START_RESUME, 2, &what, &err);
    expect_no_error(&err);
    block_alarm(SIG_UNBLOCK);
    set_alarm(us);
    bool ok = heed_trainer_run(t, &err);
    set_alarm(0);
    heed_trainer_free(t);
    if (!ok) {
        expect_error(&err, HEED_CANCEL, "resume goes on from there");
    }
    return ok;
}

/* The number of times a training was stopped before its end, when the first alarm comes after
 * `us` and each later one an eighth later: however slow the machine, it ends. */
static int64_t stops_of(const settings *s, int64_t us) {
    int64_t stops = 0;
    while (!leg(s, us)) {
        us += us / 8;
        stops++;
    }
    return stops;
}

/* How fast the machine is decides nothing: a training that was over before it was stopped several
 * times is compared too, and another is stopped sooner. */
static void at_any_moment(void **state) {
    (void)state;
    seen what = {0};
    settings straight = longer("straight");
    run(&straight, HEED_START_NEW, 2, &what);
    signal(SIGALRM, on_alarm);
    int64_t stops = 0;
    for (int64_t us = 20000; stops < 4 && us > 0; us /= 2) {
        char name[32];
        snprintf(name, sizeof name, "stopped.%d", (int)us);
        settings stopped = longer(name);
        stops = stops_of(&stopped, us);
        print_message("%d stops, the first after %d us\n", (int)stops, (int)us);
        expect_same_file("straight", name, "model.safetensors");
        expect_same_metrics("straight", name);
    }
    signal(SIGALRM, SIG_DFL);
    assert_true(stops >= 4);
}

/* The flag is set between the update and the validation that follows it. */
static void before_a_validation(void **state) {
    (void)state;
    seen all = {0}, first = {.stop_at = 50}, second = {0};
    heed_error err = {0};
    settings straight = longer("straight"), stopped = longer("stopped");
    run(&straight, HEED_START_NEW, 1, &all);
    heed_trainer *t = opened(&stopped, HEED_START_NEW, 1, &first, &err);
    assert_false(heed_trainer_run(t, &err));
    expect_error(&err, HEED_CANCEL, "stopped after update 50");
    heed_trainer_free(t);
    run(&stopped, HEED_START_RESUME, 1, &second);
    assert_int_equal(first.steps + second.steps, all.steps);
    assert_int_equal(first.valids + second.valids, all.valids);
    expect_same_file("straight", "stopped", "model.safetensors");
    expect_same_metrics("straight", "stopped");
}

/* The checkpoint of a stop is not among those that are averaged, nor does it push one out. */
static void averages_do_not_see_it(void **state) {
    (void)state;
    seen all = {0};
    settings straight = small("straight"), stopped = small("stopped");
    set(&straight, "train.average_last=3");
    set(&stopped, "train.average_last=3");
    run(&straight, HEED_START_NEW, 1, &all);
    static const int64_t stops[] = {24, 33, 37};
    for (int i = 0; i < 3; i++) {
        seen what = {.stop_at = stops[i]};
        heed_error err = {0};
        heed_trainer *t = opened(&stopped, HEED_START_RESUME, 1, &what, &err);
        assert_false(heed_trainer_run(t, &err));
        expect_error(&err, HEED_CANCEL, "resume goes on from there");
        heed_trainer_free(t);
    }
    run(&stopped, HEED_START_RESUME, 1, &all);
    expect_same_file("straight", "stopped", "model.safetensors");
}

/* One trainer that is stopped may be run again. */
static void the_same_trainer_goes_on(void **state) {
    (void)state;
    seen all = {0}, what = {.stop_at = 26};
    heed_error err = {0};
    settings straight = longer("straight"), stopped = longer("stopped");
    run(&straight, HEED_START_NEW, 1, &all);
    heed_trainer *t = opened(&stopped, HEED_START_NEW, 1, &what, &err);
    assert_false(heed_trainer_run(t, &err));
    expect_error(&err, HEED_CANCEL, "stopped after update 26");
    what.stop_at = 0;
    what.cancel = false;
    assert_true(heed_trainer_run(t, &err));
    heed_trainer_free(t);
    expect_same_file("straight", "stopped", "model.safetensors");
    expect_same_metrics("straight", "stopped");
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
    const struct CMUnitTest tests[] = {IN_FOLDER(at_any_moment), IN_FOLDER(before_a_validation),
                                       IN_FOLDER(averages_do_not_see_it),
                                       IN_FOLDER(the_same_trainer_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
