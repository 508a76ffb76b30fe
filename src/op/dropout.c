/* dropout.c: drops each element with chance p, the others grow by 1/(1-p); the gradient goes the
 * same way.
 *
 * The mask is never stored: it is a function of (seed, step, path, row, column), which the backward
 * pass computes again from the path that the recording fixed. So neither recomputing nor watching
 * changes it. Source: Srivastava et al. 2014; the counter-based generator: Salmon et al. 2011.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "base/philox.h"
#include "op/accumulate.h"
#include "op/drop.h"
#include "op/shape.h"

typedef struct {
    uint64_t stream;
    double p;
} drop_attr;

heed_drop heed_drop_of(const heed_work *w, uint64_t stream, double p) {
    uint64_t key = heed_hash((uint64_t[]){w->seed, w->step}, 2 * sizeof(uint64_t));
    heed_drop d = {.key = {(uint32_t)key, (uint32_t)(key >> 32)}, .stream = stream};
    d.threshold = (uint32_t)(p * 4294967296.0);
    return d;
}

bool heed_check_share(heed_build *b, const char *what, double p) {
    if (p >= 0 && p < 1) {
        return true;
    }
    heed_refuse(b, HEED_VALUE, "%s must be at least 0 and less than 1, not %g", what, p);
    return false;
}

typedef struct {
    const heed_work *w;
    heed_drop drop;
} drop_job;

static void drop_rows(void *ctx, int64_t from, int64_t to) {
    const drop_job *j = ctx;
    int64_t n = j->w->out[0].cols;
    const heed_real *x = j->w->in[0].data;
    heed_real *out = j->w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        j->w->kernels->dropout(&j->drop, r, n, x + r * n, NULL, out + r * n);
    }
}

enum { COST = 3 }; /* of a random number, in numbers moved */

static void run(const heed_work *w) {
    const drop_attr *a = w->attr;
    drop_job j = {.w = w, .drop = heed_drop_of(w, a->stream, a->p)};
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * COST, drop_rows, &j);
}

static const heed_op BACK = {.name = "dropout (gradient)", .run = run, .in_place = 1};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value dx = heed_record(b, &BACK, attr, sizeof(drop_attr), 1, d_out, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op DROPOUT = {.name = "dropout", .run = run, .grad = grad, .in_place = 1};

heed_value heed_dropout(heed_build *b, heed_value x, const char *name, double p) {
    if (!heed_check_numbers(b, "dropout", x) || !heed_check_share(b, "dropout", p)) {
        return (heed_value){0};
    }
    if (!heed_build_trains(b) || p == 0) {
        return x;
    }
    drop_attr attr = {.stream = heed_path_hash(b, name), .p = p};
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &DROPOUT, &attr, sizeof attr, 1, &x, 1, &shape);
}
