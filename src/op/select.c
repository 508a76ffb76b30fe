/* select.c: the rows that an integer marks, without the others.
 *
 *   x R x d, ints R x 1  ->  the rows of x with ints != other, in order
 *   d_x: what comes back to the rows that were taken, 0 for the others
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "graph/op.h"

#include <string.h>

typedef struct {
    uint32_t whole, part; /* row spaces */
    int32_t other;
    uint32_t cell; /* bytes of one */
} select_attr;

typedef struct {
    const heed_work *w;
    heed_cut whole, part;
    size_t row; /* bytes */
    const char *from;
    char *to;
} select_job;

/* in: x, ints */
static void take_sequences(void *ctx, int64_t from, int64_t to) {
    const select_job *j = ctx;
    const select_attr *a = j->w->attr;
    const int32_t *ints = j->w->in[1].data;
    for (int64_t s = from; s < to; s++) {
        char *next = j->to + (size_t)j->part.starts[s] * j->row;
        for (int64_t r = j->whole.starts[s]; r < j->whole.starts[s + 1]; r++) {
            if (ints[r] != a->other) {
                memcpy(next, j->from + (size_t)r * j->row, j->row);
                next += j->row;
            }
        }
    }
}

/* in: d_out, ints */
static void put_sequences(void *ctx, int64_t from, int64_t to) {
    const select_job *j = ctx;
    const select_attr *a = j->w->attr;
    const int32_t *ints = j->w->in[1].data;
    for (int64_t s = from; s < to; s++) {
        const char *next = j->from + (size_t)j->part.starts[s] * j->row;
        for (int64_t r = j->whole.starts[s]; r < j->whole.starts[s + 1]; r++) {
            if (ints[r] != a->other) {
                memcpy(j->to + (size_t)r * j->row, next, j->row);
                next += j->row;
            } else {
                memset(j->to + (size_t)r * j->row, 0, j->row);
            }
        }
    }
}

static void each_sequence(const heed_work *w, void (*body)(void *ctx, int64_t from, int64_t to)) {
    const select_attr *a = w->attr;
    select_job j = {.w = w, .from = w->in[0].data, .to = w->out[0].data};
    j.whole = heed_work_cut(w, a->whole);
    j.part = heed_work_cut(w, a->part);
    j.row = (size_t)w->out[0].cols * a->cell;
    heed_sequences_run(w, j.whole.n, w->in[1].rows, w->out[0].cols, body, &j);
}

static void run(const heed_work *w) {
    each_sequence(w, take_sequences);
}

static void run_back(const heed_work *w) {
    each_sequence(w, put_sequences);
}
static const heed_op BACK = {.name = "select (gradient)", .run = run_back};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value from[] = {d_out[0], in[1]};
    d_in[0] = heed_record(b, &BACK, attr, sizeof(select_attr), 2, from, 1, &shape);
}

static const heed_op SELECT = {.name = "select", .run = run, .grad = grad, .passes_ints = true};

heed_value heed_select(heed_build *b, heed_value x, heed_value ints, int32_t other) {
    if (!x.id || !ints.id) {
        return (heed_value){0};
    }
    heed_space part = heed_selected(b, ints, other), whole = heed_space_of(b, ints);
    heed_shape out = heed_shape_of(b, x);
    if (!part.id) {
        return (heed_value){0};
    }
    if (heed_space_of(b, x).id != whole.id || out.extent != HEED_EXTENT_SPACE) {
        return heed_refuse(b, HEED_SHAPE, "rows are selected by integers of their own row space");
    }
    select_attr attr = {.whole = whole.id, .part = part.id, .other = other};
    attr.cell = out.cell == HEED_CELL_INT ? sizeof(int32_t) : sizeof(heed_real);
    out.space = part.id;
    return heed_record(b, &SELECT, &attr, sizeof attr, 2, (heed_value[]){x, ints}, 1, &out);
}
