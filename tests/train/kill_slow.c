/* kill_slow.c: a training killed at 20 random moments and resumed each time ends with the bits of
 * the one that was left alone. One that comes to its end before all 20 is compared too, and the
 * kills go on with another: how fast the machine is decides nothing.
 * SPDX-License-Identifier: MIT
 */
#include "train/small_training.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/philox.h"

enum { KILLS = 20, ROUNDS = 20 };

static settings longer(const char *out) {
    settings s = small(out);
    set(&s, "train.steps=900");
    set(&s, "train.accumulate=2");
    set(&s, "train.valid_every=25");
    set(&s, "train.save_every=5");
    set(&s, "train.log_every=1");
    set(&s, "train.average_last=3");
    return s;
}

static pid_t start(const settings *s) {
    pid_t child = fork();
    if (child == 0) {
        heed_error err = {0};
        seen what = {0};
        heed_trainer *t = opened(s, HEED_START_RESUME, 2, &what, &err);
        bool ok = t && heed_trainer_run(t, &err);
        heed_trainer_free(t);
        if (!ok) {
            fprintf(stderr, "%s\n", err.text);
        }
        _exit(ok ? 0 : 1);
    }
    assert_true(child > 0);
    return child;
}

static void wait_ms(int64_t ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* True where the child ended by itself, and well. */
static bool ended(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), 0);
        return true;
    }
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return false;
}

/* Milliseconds of a run to its end. */
static uint64_t time_of(const settings *s) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_true(ended(start(s)));
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (uint64_t)((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000);
}

/* Runs to the end, killed at most `most` times, each after 1 to `longest` ms; how often it was. */
static int run_killed(const settings *s, int most, uint64_t longest, heed_random *random) {
    int kills = 0;
    for (bool done = false; !done; kills += !done) {
        pid_t child = start(s);
        if (kills < most) {
            wait_ms(1 + (int64_t)heed_random_below(random, longest));
            kill(child, SIGKILL);
        }
        done = ended(child);
    }
    return kills;
}

static void any_kill_is_survived(void **state) {
    (void)state;
    heed_random random = {.seed = (uint64_t)time(NULL)};
    settings straight = longer("straight");
    print_message("seed %llu\n", (unsigned long long)random.seed);
    uint64_t longest = time_of(&straight) / 14 + 60;
    int kills = 0;
    for (int round = 1; round <= ROUNDS && kills < KILLS; round++) {
        char name[32];
        snprintf(name, sizeof name, "killed-%d", round);
        settings killed = longer(name);
        kills += run_killed(&killed, KILLS - kills, longest, &random);
        print_message("%d kills\n", kills);
        expect_same_file("straight", name, "model.safetensors");
        expect_same_metrics("straight", name);
    }
    assert_int_equal(kills, KILLS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_kill_is_survived, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
