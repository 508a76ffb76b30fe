/* thread.h: a pool of worker threads that the caller makes.
 *
 * Work is split by the problem, never by the thread count: a task's result may depend only on its
 * number, so results have the same bits for any pool. Workers spin a bounded time for the next job,
 * then sleep.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_THREAD_H
#define HEED_BASE_THREAD_H

#include "heed.h"

typedef struct heed_pool heed_pool;

/* threads >= 1 counts the calling thread too, so 1 makes no worker. 0 = physical cores this process
 * may use. NULL with err HEED_SYSTEM where the system gives no thread. */
heed_pool *heed_pool_new(const heed_host *host, int threads, heed_error *err);
void heed_pool_free(heed_pool *pool);
int heed_pool_threads(const heed_pool *pool); /* 1 for NULL */

/* Calls task(ctx, i) for each i in [0, tasks), in any order, on any worker; returns when all are
 * done. pool may be NULL: then the calling thread does all of them. Not re-entrant: a task may not
 * call it. One caller at a time per pool (callers on several threads wait for each other). */
void heed_pool_run(heed_pool *pool, int64_t tasks, void (*task)(void *ctx, int64_t i), void *ctx);

/* Physical cores this process may run on: those of the affinity mask, hyper-threads counted once,
 * but no more than the control group's time quota allows; at least 1. */
int heed_cores(void);

#endif
