/* thread.c: a pool of workers that take numbered tasks.
 *
 * Method: `left` counts tasks not yet taken. Whoever lowers it from a positive value owns the task
 * of that number, so a worker that comes late to one job can only ever take a task of the next,
 * never a stale one. The caller works too, then waits until `done` has reached the count.
 * Invariant: the job's fields change only while left <= 0 and done is complete, and are read only
 * by owners of a task, so they need no atomics of their own.
 * Sleeping: a sleeper announces itself, then looks again; who brings news publishes, then looks for
 * sleepers. With sequentially consistent order at least one of the two sees the other (Dekker), so
 * no wake-up is lost.
 * SPDX-License-Identifier: MIT
 */
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/mem.h"

#if defined(__x86_64__) || defined(__i386__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("yield")
#else
#define RELAX() ((void)0)
#endif

/* Spinning lasts some tens of microseconds: the gap between two kernels of a layer. */
enum { SPINS = 2000, LINE = 64, STACK = 1 << 20 };

struct heed_pool {
    const heed_host *host;
    pthread_t *worker;
    int workers;
    pthread_mutex_t turn; /* held by the caller whose job runs */
    pthread_mutex_t lock; /* guards both conditions */
    pthread_cond_t more, finished;
    void (*task)(void *ctx, int64_t i);
    void *ctx;
    int64_t tasks;
    _Alignas(LINE) atomic_llong left;
    _Alignas(LINE) atomic_llong done;
    _Alignas(LINE) atomic_int sleepers;
    atomic_bool waiting, stop;
};

/* Takes tasks until none is left; returns how many it did. */
static int64_t work(heed_pool *pool) {
    int64_t did = 0;
    while (atomic_load_explicit(&pool->left, memory_order_relaxed) > 0) {
        int64_t left = atomic_fetch_sub(&pool->left, 1);
        if (left <= 0) {
            break;
        }
        pool->task(pool->ctx, pool->tasks - left);
        did++;
    }
    return did;
}

static void report(heed_pool *pool, int64_t did) {
    if (did == 0) {
        return;
    }
    atomic_fetch_add(&pool->done, did);
    if (atomic_load(&pool->waiting)) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_signal(&pool->finished);
        pthread_mutex_unlock(&pool->lock);
    }
}

static bool has_news(heed_pool *pool) {
    return atomic_load(&pool->left) > 0 || atomic_load(&pool->stop);
}

static void await_job(heed_pool *pool) {
    for (int i = 0; i < SPINS; i++) {
        if (has_news(pool)) {
            return;
        }
        RELAX();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!has_news(pool)) {
        pthread_cond_wait(&pool->more, &pool->lock);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *run_worker(void *self) {
    heed_pool *pool = self;
    while (!atomic_load(&pool->stop)) {
        report(pool, work(pool));
        await_job(pool);
    }
    return NULL;
}

static void wake_workers(heed_pool *pool) {
    if (atomic_load(&pool->sleepers) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->more);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void await_done(heed_pool *pool, int64_t tasks) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&pool->done) == tasks) {
            return;
        }
        RELAX();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (atomic_load(&pool->done) != tasks) {
        pthread_cond_wait(&pool->finished, &pool->lock);
    }
    atomic_store(&pool->waiting, false);
    pthread_mutex_unlock(&pool->lock);
}

void heed_pool_run(heed_pool *pool, int64_t tasks, void (*task)(void *ctx, int64_t i), void *ctx) {
    if (!pool || pool->workers == 0 || tasks <= 1) {
        for (int64_t i = 0; i < tasks; i++) {
            task(ctx, i);
        }
        return;
    }
    pthread_mutex_lock(&pool->turn);
    pool->task = task;
    pool->ctx = ctx;
    pool->tasks = tasks;
    atomic_store(&pool->done, 0);
    atomic_store(&pool->left, tasks); /* publishes the job */
    wake_workers(pool);
    report(pool, work(pool));
    await_done(pool, tasks);
    pthread_mutex_unlock(&pool->turn);
}

/* Starts a worker whose stack holds what kernels keep there, where the system gives less. */
static int start_worker(heed_pool *pool, pthread_t *worker) {
    pthread_attr_t attr;
    size_t size;
    int rc = pthread_attr_init(&attr);
    if (rc != 0) {
        return rc;
    }
    if (pthread_attr_getstacksize(&attr, &size) == 0 && size < STACK) {
        rc = pthread_attr_setstacksize(&attr, STACK);
    }
    rc = rc ? rc : pthread_create(worker, &attr, run_worker, pool);
    pthread_attr_destroy(&attr);
    return rc;
}

static bool start_workers(heed_pool *pool, int count, heed_error *err) {
    pool->worker = heed_alloc(pool->host, (size_t)count, sizeof *pool->worker, err);
    if (!pool->worker) {
        return false;
    }
    while (pool->workers < count) {
        int rc = start_worker(pool, &pool->worker[pool->workers]);
        if (rc != 0) {
            return heed_fail_system(err, HEED_SYSTEM, rc, "cannot start thread %d of %d",
                                    pool->workers + 2, count + 1);
        }
        pool->workers++;
    }
    return true;
}

heed_pool *heed_pool_new(const heed_host *host, int threads, heed_error *err) {
    if (threads < 0) {
        heed_fail(err, HEED_VALUE, "%d threads: give 1 or more, or 0 for one per core", threads);
        return NULL;
    }
    heed_pool *pool = heed_alloc(host, 1, sizeof *pool, err);
    if (!pool) {
        return NULL;
    }
    pool->host = host;
    pthread_mutex_init(&pool->turn, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->more, NULL);
    pthread_cond_init(&pool->finished, NULL);
    int count = threads > 0 ? threads : heed_cores();
    if (count > 1 && !start_workers(pool, count - 1, err)) {
        heed_pool_free(pool);
        return NULL;
    }
    return pool;
}

void heed_pool_free(heed_pool *pool) {
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stop, true);
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->workers; i++) {
        pthread_join(pool->worker[i], NULL);
    }
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->more);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    heed_free(pool->host, pool->worker);
    heed_free(pool->host, pool);
}

int heed_pool_threads(const heed_pool *pool) {
    return pool ? pool->workers + 1 : 1;
}
