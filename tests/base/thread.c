/* The pool: each task once, whatever the thread count, with callers that compete and workers that
 * sleep.
 * SPDX-License-Identifier: MIT
 */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>

#include "support.h"

enum { TASKS = 257 };

typedef struct {
    atomic_int times[TASKS];
} tally;

static void count_task(void *ctx, int64_t i) {
    tally *t = ctx;
    atomic_fetch_add(&t->times[i], 1);
}

static void slow_count_task(void *ctx, int64_t i) {
    if (i % 64 == 0) {
        sched_yield();
    }
    count_task(ctx, i);
}

static void run_and_check(heed_pool *pool, int64_t tasks) {
    tally t;
    for (int i = 0; i < TASKS; i++) {
        atomic_init(&t.times[i], 0);
    }
    heed_pool_run(pool, tasks, count_task, &t);
    for (int64_t i = 0; i < TASKS; i++) {
        assert_int_equal(t.times[i], i < tasks ? 1 : 0);
    }
}

static void test_each_task_once(void **state) {
    (void)state;
    static const int THREADS[] = {1, 2, 3, 7};
    static const int64_t COUNTS[] = {0, 1, 2, 3, 16, TASKS};
    for (int k = 0; k < 4; k++) {
        heed_error err = {0};
        heed_pool *pool = heed_pool_new(NULL, THREADS[k], &err);
        expect_no_error(&err);
        assert_int_equal(heed_pool_threads(pool), THREADS[k]);
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i < 6; i++) {
                run_and_check(pool, COUNTS[i]);
            }
        }
        usleep(20000); /* the workers are asleep by now */
        run_and_check(pool, TASKS);
        heed_pool_free(pool);
    }
    run_and_check(NULL, TASKS);
}

/* Its tasks give way, so that another caller comes between if nothing stops it. */
static void *compete(void *pool) {
    for (int round = 0; round < 400; round++) {
        tally t;
        for (int i = 0; i < TASKS; i++) {
            atomic_init(&t.times[i], 0);
        }
        int64_t tasks = 2 + round % (TASKS - 1);
        heed_pool_run(pool, tasks, slow_count_task, &t);
        for (int i = 0; i < TASKS; i++) {
            if (t.times[i] != (i < tasks)) {
                return pool;
            }
        }
    }
    return NULL;
}

static void test_callers_take_turns(void **state) {
    (void)state;
    heed_pool *pool = heed_pool_new(NULL, 3, NULL);
    pthread_t caller[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&caller[i], NULL, compete, pool), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *wrong;
        pthread_join(caller[i], &wrong);
        assert_null(wrong);
    }
    heed_pool_free(pool);
}

/* A slow task on a worker: the caller must sleep until it is done, not return early. */
static void slow_task(void *ctx, int64_t i) {
    usleep(i == 0 ? 0 : 30000);
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void test_caller_waits(void **state) {
    (void)state;
    heed_pool *pool = heed_pool_new(NULL, 4, NULL);
    for (int round = 0; round < 5; round++) {
        atomic_int done;
        atomic_init(&done, 0);
        heed_pool_run(pool, 4, slow_task, &done);
        assert_int_equal(done, 4);
    }
    heed_pool_free(pool);
}

static void test_arguments(void **state) {
    (void)state;
    heed_error err = {0};
    assert_null(heed_pool_new(NULL, -1, &err));
    expect_error(&err, HEED_VALUE, "-1 threads");
    assert_int_equal(heed_pool_threads(NULL), 1);
    heed_pool_free(NULL);
    assert_true(heed_cores() >= 1);
    heed_pool *pool = heed_pool_new(NULL, 0, &err);
    assert_int_equal(heed_pool_threads(pool), heed_cores());
    heed_pool_free(pool);
}

static bool make_pool(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_pool *pool = heed_pool_new(host, 3, err);
    heed_pool_free(pool);
    return pool != NULL;
}

static void test_failing_allocations(void **state) {
    (void)state;
    for_each_failing_allocation(make_pool, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_task_once),      cmocka_unit_test(test_callers_take_turns),
        cmocka_unit_test(test_caller_waits),        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
