/* ceiling.c: the rates that no program passes on this machine.
 *
 * Each is the best of short runs, so that other work on the machine spoils few of them. Reading is
 * cut into streams because one alone leaves some memories idle; the sum of what was read decides a
 * branch, so that no compiler leaves the reading out.
 * SPDX-License-Identifier: MIT
 */
#include "heed_bench.h"

#include "base/mem.h"
#include "graph/op.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
    ROUNDS = 30000,
    TRIES = 40,
    FORKS = 2000,
    MOST_STREAMS = 16,
    PASSES = 4,
    BLOCK = 1 << 12, /* words that a stream reads before the next one's turn */
};
#define READ_BYTES ((size_t)256 << 20) /* more than any cache holds */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Multiply-adds ---- */

typedef struct {
    double (*run)(int64_t rounds);
} probe;

static void probe_task(void *ctx, int64_t i) {
    (void)i;
    ((const probe *)ctx)->run(ROUNDS);
}

static double rate(heed_engine *engine, heed_probe which) {
    heed_pool *pool = heed_engine_pool(engine);
    probe p = {heed_engine_kernels(engine)->probe[which]};
    double best = INFINITY;
    if (!p.run) {
        return 0;
    }
    for (int i = 0; i < TRIES; i++) {
        double start = now();
        heed_pool_run(pool, heed_pool_threads(pool), probe_task, &p);
        best = fmin(best, now() - start);
    }
    return p.run(1) * ROUNDS * heed_pool_threads(pool) / best;
}

/* ---- Memory ---- */

typedef struct {
    const uint64_t *word;
    int64_t words, streams; /* words of a stream */
    uint64_t sum[64];
} reading;

static uint64_t read_block(const uint64_t *p) {
    uint64_t sum[8] = {0};
    for (int64_t i = 0; i < BLOCK; i += 8) {
        for (int j = 0; j < 8; j++) {
            sum[j] += p[i + j];
        }
    }
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/* Task i reads its streams in turns of a block. */
static void read_task(void *ctx, int64_t i) {
    reading *r = ctx;
    uint64_t sum = 0;
    for (int64_t at = 0; at + BLOCK <= r->words; at += BLOCK) {
        for (int64_t s = 0; s < r->streams; s++) {
            sum += read_block(r->word + (i * r->streams + s) * r->words + at);
        }
    }
    r->sum[i % 64] = sum;
}

static double read_rate(heed_pool *pool, const uint64_t *word) {
    int64_t threads = heed_pool_threads(pool), all = (int64_t)(READ_BYTES / sizeof *word);
    double best = 0;
    for (int64_t streams = 1; streams <= MOST_STREAMS; streams *= 2) {
        reading r = {.word = word, .streams = streams};
        r.words = all / (threads * streams) / BLOCK * BLOCK;
        for (int pass = 0; pass < PASSES; pass++) {
            double start = now();
            heed_pool_run(pool, threads, read_task, &r);
            best = fmax(best, (double)(r.words * streams * threads) * 8 / (now() - start));
        }
    }
    return best;
}

/* ---- All ---- */

static void nothing(void *ctx, int64_t i) {
    (void)ctx, (void)i;
}

static double fork_seconds(heed_pool *pool) {
    double best = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        double start = now();
        for (int n = 0; n < FORKS / TRIES; n++) {
            heed_pool_run(pool, heed_pool_threads(pool), nothing, NULL);
        }
        best = fmin(best, (now() - start) / (FORKS / TRIES));
    }
    return best;
}

bool heed_ceiling_of(heed_engine *engine, heed_ceiling *out, heed_error *err) {
    const heed_host *host = heed_engine_host(engine);
    heed_pool *pool = heed_engine_pool(engine);
    *out = (heed_ceiling){0};
    uint64_t *word = heed_alloc(host, READ_BYTES / sizeof *word, sizeof *word, err);
    if (!word) {
        return false;
    }
    memset(word, 1, READ_BYTES); /* fresh pages of zeros may all be one page */
    *out = (heed_ceiling){.f32 = rate(engine, HEED_PROBE_F32),
                          .bf16 = rate(engine, HEED_PROBE_BF16),
                          .int8 = rate(engine, HEED_PROBE_INT8),
                          .read = read_rate(pool, word),
                          .fork = fork_seconds(pool)};
    heed_free(host, word);
    return true;
}
