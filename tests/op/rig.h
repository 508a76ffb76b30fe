/* rig.h: a case of an op's test: recorded, planned, filled with its numbers, run.
 *
 * A case names a function that records the op on the inputs that the case lists, and how the row
 * spaces "rows" and "keys" are cut. All numbers are functions of (name, row, column), so the same
 * sequence has the same numbers in any batch. The loss is the sum of the output times fixed
 * numbers, or the output itself.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_OP_RIG_H
#define HEED_TESTS_OP_RIG_H

#include "support.h"

#include <math.h>

#include "base/philox.h"
#include "heed_ops.h"

typedef struct {
    const char *name; /* NULL: end of the list */
    int64_t cols;     /* numbers in a row; 0: one integer, in [0, limit) */
    bool keys;        /* of the space "keys", else "rows" */
    int32_t limit;
    bool mask;  /* bytes for (rows, keys) */
    bool fixed; /* no gradient is asked for */
} test_input;

enum { MAX_SEQUENCES = 8 };

typedef struct {
    heed_value (*record)(heed_build *b, const void *arg);
    const void *arg;
    const test_input *input;
    int64_t rows[MAX_SEQUENCES], keys[MAX_SEQUENCES]; /* lengths of n sequences */
    int64_t n;
    double low, high; /* of all numbers; both 0: -1 to 1 */
    bool is_loss;     /* record returns a loss of 1 x 1 */
    bool pooled;      /* one row of output for each sequence */
    bool random;      /* depends on places in the batch: not tried alone; needs HEED_TRAIN */
} test_case;

/* The input of a case, as its record function asks for it. */
static inline heed_value rows_input(heed_build *b, const char *name, int64_t cols) {
    return heed_need_grad(b, heed_input_numbers(b, name, heed_rows(b, "rows"), cols));
}

static inline heed_value keys_input(heed_build *b, const char *name, int64_t cols) {
    return heed_need_grad(b, heed_input_numbers(b, name, heed_rows(b, "keys"), cols));
}

static inline heed_value rows_ints(heed_build *b, const char *name) {
    return heed_input(b, name, heed_rows(b, "rows"));
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static inline double unit_at(const char *name, int64_t row, int64_t col) {
    uint64_t place[] = {heed_hash(name, strlen(name)), (uint64_t)row, (uint64_t)col};
    return (double)(heed_hash(place, sizeof place) >> 11) * 0x1p-53;
}

static inline double number_at(const test_case *c, const char *name, int64_t row, int64_t col) {
    double low = c->low, high = c->high;
    if (low == 0 && high == 0) {
        low = -1;
        high = 1;
    }
    return (heed_number)(low + (high - low) * unit_at(name, row, col));
}

static inline int32_t int_at(const char *name, int64_t row, int32_t limit) {
    return (int32_t)(unit_at(name, row, 0) * limit);
}

static inline uint8_t mask_at(const char *name, int64_t row, int64_t key) {
    return unit_at(name, row, key) < 0.6;
}

/* Unit of rounding of the build. */
static inline double unit_rounding(void) {
    return sizeof(heed_number) == 4 ? 0x1p-24 : 0x1p-53;
}

/* got is want up to `steps` roundings of numbers of that size. */
static inline void expect_near(double got, double want, double size, double steps, const char *what,
                               int64_t i) {
    if (!(fabs(got - want) <= steps * unit_rounding() * size)) {
        fail_msg("%s[%ld] is %.17g, should be %.17g (+- %.3g)", what, (long)i, got, want,
                 steps * unit_rounding() * size);
    }
}

/* ---- One model, planned and ready to run ----------------------------------------------------- */

typedef struct {
    const test_case *c;
    heed_mode mode;
    int threads;
    bool watch_all, recompute;
    int64_t only; /* one sequence by itself; -1: all */
} rig_options;

typedef struct {
    const test_case *c;
    counting_host *host;
    heed_engine *engine;
    heed_weights *weights;
    heed_plan *plan;
    heed_session *s;
    heed_value loss;
    int64_t rows, keys; /* in this run */
    int64_t first_row, first_key;
} rig;

static inline int64_t total(const int64_t *length, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += length[i];
    }
    return sum;
}

static inline bool has_keys(const test_case *c) {
    bool any = false;
    for (const test_input *in = c->input; in->name; in++) {
        any |= in->keys;
    }
    return any;
}

static inline void give_weights(const test_case *c, heed_weights *w) {
    heed_error err = {0};
    for (int64_t i = 0; i < heed_weights_count(w); i++) {
        heed_weight_entry *e = heed_weights_at(w, i);
        heed_weights_own(w, e->name, NULL, &err);
        expect_no_error(&err);
        for (int64_t j = 0; j < e->rows * e->cols; j++) {
            e->data[j] = (heed_number)number_at(c, e->name, j / e->cols, j % e->cols);
        }
    }
}

static inline void cut_space(rig *r, const char *space, const int64_t *length, int64_t only) {
    int64_t starts[MAX_SEQUENCES + 1] = {0}, n = r->c->n;
    heed_error err = {0};
    for (int64_t i = 0; i < n; i++) {
        starts[i + 1] = starts[i] + length[i];
    }
    if (only >= 0) {
        n = 1;
        starts[1] = length[only];
    }
    if (!heed_set_rows(r->s, space, n, starts, NULL, &err)) {
        fail_msg("%s", err.text);
    }
}

static inline void fill_mask(rig *r, const test_input *in, int64_t only) {
    uint8_t *p = heed_bytes(r->s, in->name);
    int64_t row = r->first_row;
    for (int64_t s = only < 0 ? 0 : only; s < (only < 0 ? r->c->n : only + 1); s++) {
        for (int64_t i = 0; i < r->c->rows[s]; i++, row++) {
            for (int64_t j = 0; j < r->c->keys[s]; j++) {
                *p++ = mask_at(in->name, row, j);
            }
        }
    }
}

static inline void fill_input(rig *r, const test_input *in) {
    int64_t n = in->keys ? r->keys : r->rows, first = in->keys ? r->first_key : r->first_row;
    for (int64_t i = 0; i < n && in->cols == 0; i++) {
        heed_ints(r->s, in->name)[i] = int_at(in->name, first + i, in->limit);
    }
    for (int64_t i = 0; i < n * in->cols; i++) {
        int64_t row = first + i / in->cols;
        heed_numbers(r->s, in->name)[i] = (heed_number)number_at(r->c, in->name, row, i % in->cols);
    }
}

static inline void fill_probe(rig *r) {
    heed_number *probe = heed_numbers(r->s, "probe");
    if (!probe) {
        return;
    }
    int64_t cols = heed_read(r->s, "probe").cols;
    for (int64_t i = 0; i < r->rows * cols; i++) {
        probe[i] = (heed_number)(2 * unit_at("probe", r->first_row + i / cols, i % cols) - 1);
    }
}

/* The loss of a case: the sum of the output times a fixed number in each place. */
static inline heed_value loss_of(heed_build *b, const test_case *c, heed_value out) {
    if (c->is_loss) {
        return out;
    }
    if (c->pooled) {
        return heed_sum(b, heed_mul(b, out, out));
    }
    heed_value probe = heed_input_numbers(b, "probe", heed_rows(b, "rows"), heed_columns(b, out));
    return heed_sum(b, heed_mul(b, out, probe));
}

static inline bool open_rig(rig *r, const rig_options *o, heed_error *err) {
    const test_case *c = o->c;
    *r = (rig){.c = c};
    r->host = malloc(sizeof *r->host);
    assert_non_null(r->host);
    counting_host_init(r->host, 0, false);
    r->engine = heed_engine_new(&r->host->host, o->threads, NULL, err);
    r->weights = heed_weights_new(&r->host->host, err);
    assert_non_null(r->engine);
    assert_non_null(r->weights);
    heed_build *b = heed_build_new(r->engine, o->mode, r->weights, err);
    heed_enter(b, "unit", 0);
    heed_value out = heed_name(b, c->record(b, c->arg), "out");
    heed_leave(b);
    r->loss = loss_of(b, c, out);
    give_weights(c, r->weights);
    const char *watch[MAX_SEQUENCES * 4] = {"unit.0.out"}, **next = watch + 1;
    char grads[MAX_SEQUENCES][64];
    if (!c->is_loss && !c->pooled) {
        *next++ = "probe";
    }
    for (const test_input *in = c->input; in->name; in++) {
        if (o->mode == HEED_TRAIN && in->cols && !in->fixed) {
            snprintf(grads[in - c->input], sizeof grads[0], "grad.%s", in->name);
            *next++ = grads[in - c->input];
        }
    }
    if (o->watch_all) {
        *next++ = "*";
        *next++ = "*.*.*";
        *next++ = "*.*.*.*.*";
        *next++ = "*.*.*.*.*.*";
    }
    int64_t rows = total(c->rows, c->n), keys = total(c->keys, c->n);
    heed_capacity capacity[] = {{.space = "rows", .rows = rows, .sequences = c->n, .longest = rows},
                                {.space = "keys", .rows = keys, .sequences = c->n, .longest = keys},
                                {.space = NULL}};
    heed_plan_options options = {.capacity = capacity, .watch = watch};
    options.keep = (heed_value[]){r->loss, {0}};
    options.loss = o->mode == HEED_TRAIN ? r->loss : (heed_value){0};
    options.recompute = o->recompute ? "*" : NULL;
    r->plan = heed_plan_new(b, &options, err);
    r->s = r->plan ? heed_session_new(r->plan, err) : NULL;
    if (!r->s) {
        return false;
    }
    heed_set_random(r->s, 7, 3);
    r->rows = o->only < 0 ? rows : c->rows[o->only];
    r->keys = o->only < 0 ? keys : c->keys[o->only];
    r->first_row = o->only < 0 ? 0 : total(c->rows, o->only);
    r->first_key = o->only < 0 ? 0 : total(c->keys, o->only);
    cut_space(r, "rows", c->rows, o->only);
    if (has_keys(c)) {
        cut_space(r, "keys", c->keys, o->only);
    }
    for (const test_input *in = c->input; in->name; in++) {
        if (in->mask) {
            fill_mask(r, in, o->only);
        } else {
            fill_input(r, in);
        }
    }
    fill_probe(r);
    return true;
}

static inline void close_rig(rig *r) {
    heed_session_free(r->s);
    heed_plan_free(r->plan);
    heed_weights_free(r->weights);
    heed_engine_free(r->engine);
    assert_int_equal(r->host->live, 0);
    free(r->host);
}

/* A run takes no memory. */
static inline void run_rig(rig *r) {
    heed_error err = {0};
    long asked = r->host->asked;
    heed_weights_zero_grad(r->weights);
    if (!heed_run(r->s, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(r->host->asked, asked);
}

/* Opens, fills and runs. */
static inline void start_rig(rig *r, const rig_options *o) {
    heed_error err = {0};
    if (!open_rig(r, o, &err)) {
        fail_msg("%s", err.text);
    }
    run_rig(r);
}

static inline double loss_now(rig *r) {
    run_rig(r);
    return (double)*heed_read_value(r->s, r->loss).data;
}

#endif
