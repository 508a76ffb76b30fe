/* kill_slow.c: a training killed at 20 random moments and resumed each time ends with the bits of
 * the one that was left alone.
 * SPDX-License-Identifier: MIT
 */
#include "train/small_training.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/philox.h"

enum { KILLS = 20, TRIES = 2000 };

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

static void any_kill_is_survived(void **state) {
    (void)state;
    heed_random random = {.seed = (uint64_t)time(NULL)};
    settings straight = longer("straight"), killed = longer("killed");
    print_message("seed %llu\n", (unsigned long long)random.seed);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_true(ended(start(&straight)));
    clock_gettime(CLOCK_MONOTONIC, &to);
    uint64_t ms =
        (uint64_t)((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000);
    int kills = 0, tries = 0;
    bool done = false;
    while (!done && tries++ < TRIES) {
        pid_t child = start(&killed);
        if (kills < KILLS) {
            wait_ms(1 + (int64_t)heed_random_below(&random, ms / 14 + 60));
            kill(child, SIGKILL);
        }
        done = ended(child);
        kills += !done;
    }
    assert_true(done);
    print_message("%d kills\n", kills);
    assert_int_equal(kills, KILLS);
    expect_same_file("straight", "killed", "model.safetensors");
    expect_same_metrics("straight", "killed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_kill_is_survived, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
