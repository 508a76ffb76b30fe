/* rows.c: splitting row-wise work into tasks.
 * SPDX-License-Identifier: MIT
 */
#include "graph/op.h"

/* Numbers that one task should touch: enough to outweigh handing it out (about a microsecond). */
enum { TASK_NUMBERS = 16384 };

typedef struct {
    void (*body)(void *ctx, int64_t from, int64_t to);
    void *ctx;
    int64_t rows, block;
} split;

static void one_task(void *ctx, int64_t i) {
    const split *s = ctx;
    int64_t from = i * s->block, to = from + s->block;
    s->body(s->ctx, from, to < s->rows ? to : s->rows);
}

void heed_rows_run(const heed_work *w, int64_t rows, int64_t cost,
                   void (*body)(void *ctx, int64_t from, int64_t to), void *ctx) {
    if (rows < 1)
        return;
    int64_t block = TASK_NUMBERS / (cost > 0 ? cost : 1);
    if (block < 1)
        block = 1;
    split s = {.body = body, .ctx = ctx, .rows = rows, .block = block};
    heed_pool_run(w->pool, (rows + block - 1) / block, one_task, &s);
}

void heed_sequences_run(const heed_work *w, int64_t n, int64_t rows, int64_t cost,
                        void (*body)(void *ctx, int64_t from, int64_t to), void *ctx) {
    int64_t average = n ? rows / n + 1 : 1;
    heed_rows_run(w, n, average * cost, body, ctx);
}
