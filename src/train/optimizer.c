/* optimizer.c: Adam and AdamW in blocks over a pool.
 *
 * Invariant: what a block computes depends on the block alone; blocks never straddle two
 * parameters. Sources: optimizer.h.
 * SPDX-License-Identifier: MIT
 */
#include "train/optimizer.h"

#include "base/error.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 16384
}; /* numbers: long enough to hide the hand-over, short enough to share out a bias */

typedef struct {
    int64_t param, from, n;
} span;

struct heed_optimizer {
    const heed_host *host;
    const heed_kernels *kernels;
    heed_optimizer_options options;
    heed_param *param;
    int64_t params;
    span *span;
    double *squares; /* for each span */
    int64_t spans;
    heed_real *moments; /* m and v of every parameter, one after the other */
};

typedef struct {
    const heed_optimizer *o;
    heed_adam decayed, plain; /* for parameters with decay and without */
} job;

static int64_t count_spans(const heed_param *params, int64_t count) {
    int64_t spans = 0;
    for (int64_t i = 0; i < count; i++) {
        spans += (params[i].n + BLOCK - 1) / BLOCK;
    }
    return spans;
}

static void cut_spans(heed_optimizer *o) {
    span *next = o->span;
    for (int64_t i = 0; i < o->params; i++) {
        for (int64_t from = 0; from < o->param[i].n; from += BLOCK) {
            int64_t left = o->param[i].n - from;
            *next++ = (span){.param = i, .from = from, .n = left < BLOCK ? left : BLOCK};
        }
    }
}

static void place_moments(heed_optimizer *o) {
    heed_real *next = o->moments;
    for (int64_t i = 0; i < o->params; i++) {
        o->param[i].m = next;
        o->param[i].v = next + o->param[i].n;
        next += 2 * o->param[i].n;
    }
}

static bool reserve_all(heed_optimizer *o, const heed_param *params, heed_error *err) {
    int64_t numbers = 0;
    for (int64_t i = 0; i < o->params; i++) {
        numbers += params[i].n;
    }
    o->spans = count_spans(params, o->params);
    o->param = heed_alloc(o->host, (size_t)o->params, sizeof *o->param, err);
    o->span = o->param ? heed_alloc(o->host, (size_t)o->spans, sizeof *o->span, err) : NULL;
    o->squares = o->span ? heed_alloc(o->host, (size_t)o->spans, sizeof *o->squares, err) : NULL;
    o->moments =
        o->squares ? heed_alloc(o->host, (size_t)numbers, 2 * sizeof *o->moments, err) : NULL;
    return o->moments != NULL;
}

heed_optimizer *heed_optimizer_new(const heed_host *host, const heed_kernels *kernels,
                                   const heed_param *params, int64_t count,
                                   const heed_optimizer_options *options, heed_error *err) {
    heed_optimizer *o = heed_alloc(host, 1, sizeof *o, err);
    if (!o) {
        return NULL;
    }
    o->host = host;
    o->kernels = kernels;
    o->options = *options;
    o->params = count;
    if (!reserve_all(o, params, err)) {
        heed_optimizer_free(o);
        return NULL;
    }
    if (count > 0) {
        memcpy(o->param, params, (size_t)count * sizeof *params);
    }
    place_moments(o);
    cut_spans(o);
    return o;
}

void heed_optimizer_free(heed_optimizer *optimizer) {
    if (!optimizer) {
        return;
    }
    const heed_host *host = optimizer->host;
    heed_free(host, optimizer->moments);
    heed_free(host, optimizer->squares);
    heed_free(host, optimizer->span);
    heed_free(host, optimizer->param);
    heed_free(host, optimizer);
}

static void sum_span(void *ctx, int64_t i) {
    const heed_optimizer *o = ((const job *)ctx)->o;
    span s = o->span[i];
    o->squares[i] = o->kernels->sum_squares(s.n, o->param[s.param].grad + s.from);
}

static void update_span(void *ctx, int64_t i) {
    const job *j = ctx;
    span s = j->o->span[i];
    const heed_param *p = &j->o->param[s.param];
    j->o->kernels->adam(p->decay ? &j->decayed : &j->plain, s.n, p->grad + s.from,
                        p->weight + s.from, p->m + s.from, p->v + s.from);
}

static int64_t first_bad(const heed_optimizer *o) {
    for (int64_t i = 0; i < o->spans; i++) {
        if (!isfinite(o->squares[i])) {
            return o->span[i].param;
        }
    }
    return -1;
}

/* The report before anything is changed: norm, clipping, and whether the step may be taken. */
static heed_step_report measure(const heed_optimizer *o, double scale) {
    double squares = 0.0;
    for (int64_t i = 0; i < o->spans; i++) {
        squares += o->squares[i];
    }
    double norm = sqrt(squares) * fabs(scale), clip = 1.0;
    if (o->options.clip > 0.0 && o->options.clip / (norm + 1e-6) < 1.0) {
        clip = o->options.clip / (norm + 1e-6);
    }
    bool finite = isfinite(norm);
    return (heed_step_report){
        .norm = norm, .clip = clip, .finite = finite, .bad = finite ? -1 : first_bad(o)};
}

heed_step_report heed_optimizer_step(heed_optimizer *optimizer, heed_pool *pool, int64_t step,
                                     double lr, double scale) {
    const heed_optimizer_options *c = &optimizer->options;
    job j = {.o = optimizer};
    heed_pool_run(pool, optimizer->spans, sum_span, &j);
    heed_step_report report = measure(optimizer, scale);
    if (!report.finite) {
        return report;
    }
    j.plain = (heed_adam){
        .lr = (heed_real)lr,
        .beta1 = (heed_real)c->beta1,
        .beta2 = (heed_real)c->beta2,
        .rest1 = (heed_real)(1.0 - c->beta1),
        .rest2 = (heed_real)(1.0 - c->beta2),
        .eps = (heed_real)c->eps,
        .bias1 = (heed_real)(1.0 - pow(c->beta1, (double)step)),
        .bias2 = (heed_real)(1.0 - pow(c->beta2, (double)step)),
        .grad_scale = (heed_real)(scale * report.clip),
    };
    j.decayed = j.plain;
    if (c->decoupled) {
        j.decayed.decay = (heed_real)c->weight_decay;
    } else {
        j.decayed.l2 = (heed_real)c->weight_decay;
    }
    heed_pool_run(pool, optimizer->spans, update_span, &j);
    return report;
}

const heed_param *heed_optimizer_params(const heed_optimizer *optimizer, int64_t *count) {
    *count = optimizer->params;
    return optimizer->param;
}

size_t heed_optimizer_bytes(int64_t numbers) {
    return (size_t)numbers * 2 * sizeof(heed_real);
}
