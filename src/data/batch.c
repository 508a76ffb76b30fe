/* batch.c: batches made ahead on a thread.
 *
 * There are two buffers: one with the caller, one being filled or ready. Invariant: the worker
 * touches the order and the buffer `next` only while `ready` is false, the caller changes them and
 * the place only while it is true.
 * SPDX-License-Identifier: MIT
 */
#include "data/batch.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "data/order.h"

typedef struct {
    int64_t *source_start, *target_start, *line;
    int32_t *source_id, *target_id, *label;
} buffer;

struct heed_batches {
    const heed_host *host;
    const heed_pairs *pairs;
    heed_order order;
    buffer made[2];
    heed_batch batch[2];
    int next;                         /* the buffer that the worker fills */
    int64_t epoch, index;             /* the place it fills from */
    int64_t place_epoch, place_index; /* of the batch that the caller gets next */

    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, ready, quit;
};

/* ---- Filling a buffer ---- */

/* begin + ids cut to what fits + end; the number of rows written. */
static int64_t copy_source(int32_t *out, const heed_batches *b, int64_t pair, int64_t rows) {
    const heed_batch_opts *o = &b->order.opts;
    const int32_t *id = b->pairs->source.id + b->pairs->source.start[pair];
    int64_t begin = o->source_begin >= 0, end = o->source_end >= 0, n = rows - begin - end;
    if (begin)
        out[0] = o->source_begin;
    if (n)
        memcpy(out + begin, id, (size_t)n * sizeof *out);
    if (end)
        out[rows - 1] = o->source_end;
    return rows;
}

/* Input: the start token and all labels but the last. Labels: ids cut to what fits, and the end
 * token. */
static int64_t copy_target(int32_t *in, int32_t *label, const heed_batches *b, int64_t pair,
                           int64_t rows) {
    const heed_batch_opts *o = &b->order.opts;
    const int32_t *id = b->pairs->target.id + b->pairs->target.start[pair];
    int64_t end = o->target_end >= 0, n = rows - end;
    if (n)
        memcpy(label, id, (size_t)n * sizeof *label);
    if (end)
        label[rows - 1] = o->target_end;
    in[0] = o->target_begin;
    memcpy(in + 1, label, (size_t)(rows - 1) * sizeof *in);
    return rows;
}

static void fill(heed_batches *b) {
    buffer *m = &b->made[b->next];
    heed_order *o = &b->order;
    heed_order_epoch(o, b->epoch);
    int64_t from = o->first[o->batch[b->index]], to = o->first[o->batch[b->index] + 1], s = 0,
            t = 0;
    for (int64_t i = from; i < to; i++) {
        int64_t kept = o->place[i], pair = o->pair[kept];
        m->source_start[i - from] = s;
        m->target_start[i - from] = t;
        m->line[i - from] = b->pairs->line[pair];
        s += copy_source(m->source_id + s, b, pair, o->rows[0][kept]);
        t += copy_target(m->target_id + t, m->label + t, b, pair, o->rows[1][kept]);
    }
    m->source_start[to - from] = s;
    m->target_start[to - from] = t;
    b->batch[b->next] = (heed_batch){.n = to - from,
                                     .source_start = m->source_start,
                                     .target_start = m->target_start,
                                     .source_id = m->source_id,
                                     .target_id = m->target_id,
                                     .label = m->label,
                                     .line = m->line,
                                     .epoch = b->epoch,
                                     .index = b->index,
                                     .count = o->count};
}

/* ---- The worker ---- */

static void *work(void *self) {
    heed_batches *b = self;
    pthread_mutex_lock(&b->lock);
    while (!b->quit) {
        if (b->ready) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        fill(b);
        pthread_mutex_lock(&b->lock);
        b->ready = true;
        pthread_cond_signal(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* From here until `ask` the worker stands still. */
static void wait_ready(heed_batches *b) {
    pthread_mutex_lock(&b->lock);
    while (!b->ready)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

static void ask(heed_batches *b, int64_t epoch, int64_t index) {
    pthread_mutex_lock(&b->lock);
    b->epoch = epoch;
    b->index = index;
    b->ready = false;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

/* The signals of the process are the caller's business: the worker takes none. */
static int start_worker(heed_batches *b) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&b->worker, NULL, work, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static bool start(heed_batches *b, heed_error *err) {
    int rc = pthread_mutex_init(&b->lock, NULL);
    if (rc != 0)
        return heed_fail_system(err, HEED_SYSTEM, rc, "cannot make a lock for batches");
    rc = pthread_cond_init(&b->changed, NULL);
    if (rc == 0) {
        rc = start_worker(b);
        if (rc != 0)
            pthread_cond_destroy(&b->changed);
    }
    if (rc != 0)
        pthread_mutex_destroy(&b->lock);
    b->started = rc == 0;
    return b->started ||
           heed_fail_system(err, HEED_SYSTEM, rc, "cannot start a thread for batches");
}

static void stop(heed_batches *b) {
    pthread_mutex_lock(&b->lock);
    b->quit = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->worker, NULL);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}

/* ---- The caller ---- */

static bool take_buffer(buffer *m, const heed_batches *b, heed_error *err) {
    const heed_batch_bounds *most = &b->order.bounds;
    size_t n = (size_t)most->sequences, s = (size_t)most->source_rows,
           t = (size_t)most->target_rows;
    return (m->source_start = heed_alloc(b->host, n + 1, sizeof *m->source_start, err)) &&
           (m->target_start = heed_alloc(b->host, n + 1, sizeof *m->target_start, err)) &&
           (m->line = heed_alloc(b->host, n, sizeof *m->line, err)) &&
           (m->source_id = heed_alloc(b->host, s, sizeof *m->source_id, err)) &&
           (m->target_id = heed_alloc(b->host, t, sizeof *m->target_id, err)) &&
           (m->label = heed_alloc(b->host, t, sizeof *m->label, err));
}

heed_batches *heed_batches_new(const heed_host *host, const heed_pairs *pairs,
                               const heed_batch_opts *opts, heed_error *err) {
    heed_batches *b = heed_alloc(host, 1, sizeof *b, err);
    if (!b)
        return NULL;
    b->host = host;
    b->pairs = pairs;
    if (heed_order_init(&b->order, host, pairs, opts, err) && take_buffer(&b->made[0], b, err) &&
        take_buffer(&b->made[1], b, err) && start(b, err))
        return b;
    heed_batches_free(b);
    return NULL;
}

void heed_batches_free(heed_batches *b) {
    if (!b)
        return;
    if (b->started)
        stop(b);
    for (int i = 0; i < 2; i++) {
        buffer *m = &b->made[i];
        void *all[] = {m->source_start, m->target_start, m->line,
                       m->source_id,    m->target_id,    m->label};
        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            heed_free(b->host, all[j]);
    }
    heed_order_free(&b->order);
    heed_free(b->host, b);
}

const heed_batch *heed_batches_next(heed_batches *b) {
    wait_ready(b);
    const heed_batch *batch = &b->batch[b->next];
    bool last = batch->index + 1 == batch->count;
    b->next = 1 - b->next;
    b->place_epoch = batch->epoch + last;
    b->place_index = last ? 0 : batch->index + 1;
    ask(b, b->place_epoch, b->place_index);
    return batch;
}

bool heed_batches_seek(heed_batches *b, int64_t epoch, int64_t index, heed_error *err) {
    if (epoch < 0 || index < 0)
        return heed_fail(err, HEED_VALUE, "there is no batch %" PRId64 " of epoch %" PRId64, index,
                         epoch);
    wait_ready(b);
    heed_order_epoch(&b->order, epoch);
    int64_t count = b->order.count;
    if (index > count)
        return heed_fail(err, HEED_VALUE,
                         "there is no batch %" PRId64 " in epoch %" PRId64 ", which has %" PRId64,
                         index, epoch, count);
    b->place_epoch = epoch + (index == count);
    b->place_index = index == count ? 0 : index;
    ask(b, b->place_epoch, b->place_index);
    return true;
}

void heed_batches_place(const heed_batches *b, int64_t *epoch, int64_t *index) {
    *epoch = b->place_epoch;
    *index = b->place_index;
}

heed_batch_report heed_batches_report(const heed_batches *b) {
    return b->order.report;
}

heed_batch_bounds heed_batches_bounds(const heed_batches *b) {
    return b->order.bounds;
}
