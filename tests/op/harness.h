/* harness.h: what every op is put through: one call, try_op, for a function that records it.
 *
 * A case names a function that records the op on the inputs that the case lists, and how the row
 * spaces "rows" and "keys" are cut. All numbers are functions of (name, row, column), so the same
 * sequence has the same numbers in any batch. The loss is the sum of the output times fixed
 * numbers, or the output itself.
 *
 * try_op checks: training gives the bits of inference; one, two and three threads give the same
 * bits; so do watching everything, recomputing, and each sequence by itself; in the build in
 * double, every gradient of every input and weight equals central differences to 1e-6.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_OP_HARNESS_H
#define HEED_TESTS_OP_HARNESS_H

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

/* ---- One model, planned and ready to run -------------------------------------------------------- */

typedef struct {
    const test_case *c;
    heed_mode mode;
    int threads;
    bool watch_all, recompute;
    int64_t only; /* one sequence by itself; -1: all */
} rig_options;

typedef struct {
    const test_case *c;
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

static inline void fill_probe(rig *r, int64_t only) {
    heed_number *probe = heed_numbers(r->s, "probe");
    if (!probe) {
        return;
    }
    int64_t cols = heed_read(r->s, "probe").cols;
    for (int64_t i = 0; i < r->rows * cols; i++) {
        probe[i] = (heed_number)(2 * unit_at("probe", r->first_row + i / cols, i % cols) - 1);
    }
    (void)only;
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
    r->engine = heed_engine_new(NULL, o->threads, NULL, err);
    r->weights = heed_weights_new(NULL, err);
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
        *next++ = "*.*.*";
        *next++ = "*";
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
    fill_probe(r, o->only);
    return true;
}

static inline void close_rig(rig *r) {
    heed_session_free(r->s);
    heed_plan_free(r->plan);
    heed_weights_free(r->weights);
    heed_engine_free(r->engine);
}

static inline void run_rig(rig *r) {
    heed_error err = {0};
    heed_weights_zero_grad(r->weights);
    if (!heed_run(r->s, &err)) {
        fail_msg("%s", err.text);
    }
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

/* ---- Same bits --------------------------------------------------------------------------------- */

static inline void expect_same(heed_matrix got, heed_matrix want, const char *what,
                               const char *name) {
    assert_int_equal(got.rows, want.rows);
    assert_int_equal(got.cols, want.cols);
    for (int64_t i = 0; i < got.rows * got.cols; i++) {
        if (memcmp(&got.data[i], &want.data[i], sizeof *got.data) != 0) {
            fail_msg("%s: %s[%ld] is %.17g, was %.17g", what, name, (long)i, (double)got.data[i],
                     (double)want.data[i]);
        }
    }
}

static inline heed_matrix out_of(const rig *r) {
    return heed_read(r->s, "unit.0.out");
}

static inline heed_matrix input_gradient(const rig *r, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "grad.%s", name);
    return heed_read(r->s, path);
}

static inline heed_matrix weight_gradient(const heed_weight_entry *e) {
    return (heed_matrix){.data = e->grad, .rows = e->rows, .cols = e->cols};
}

static inline void expect_same_gradients(const rig *got, const rig *want, const char *what) {
    for (const test_input *in = want->c->input; in->name; in++) {
        if (in->cols && !in->fixed) {
            expect_same(input_gradient(got, in->name), input_gradient(want, in->name), what,
                        in->name);
        }
    }
    for (int64_t i = 0; i < heed_weights_count(want->weights); i++) {
        heed_weight_entry *e = heed_weights_at(want->weights, i);
        assert_non_null(e->grad);
        expect_same(weight_gradient(heed_weights_at(got->weights, i)), weight_gradient(e), what,
                    e->name);
    }
}

static inline void try_same(const rig *want, rig_options o, const char *what) {
    rig got;
    start_rig(&got, &o);
    expect_same(out_of(&got), out_of(want), what, "out");
    if (o.mode == HEED_TRAIN) {
        expect_same_gradients(&got, want, what);
    }
    close_rig(&got);
}

/* Each sequence by itself gives its rows of the batch. */
static inline void try_alone(const rig *all, heed_mode mode) {
    const test_case *c = all->c;
    for (int64_t s = 0; s < c->n; s++) {
        if (c->is_loss || c->random || c->rows[s] == 0) {
            continue;
        }
        rig one;
        start_rig(&one, &(rig_options){.c = c, .mode = mode, .threads = 1, .only = s});
        heed_matrix part = out_of(all);
        part.data += (c->pooled ? s : total(c->rows, s)) * part.cols;
        part.rows = c->pooled ? 1 : c->rows[s];
        heed_matrix got = out_of(&one);
        got.rows = part.rows;
        expect_same(got, part, "alone", "out");
        close_rig(&one);
    }
}

/* ---- Gradients by differences ------------------------------------------------------------------- */

/* Compares `gradient` with (loss(x + h) - loss(x - h)) / 2h for each of the n numbers at x. */
static inline void check_gradient(rig *r, heed_number *x, const heed_number *gradient, int64_t n,
                                  const char *name) {
    double h = 1e-5, size = 1e-3, *slope = malloc((size_t)(n + 1) * sizeof *slope);
    assert_non_null(slope);
    for (int64_t i = 0; i < n; i++) {
        heed_number old = x[i];
        x[i] = old + (heed_number)h;
        double above = loss_now(r);
        x[i] = old - (heed_number)h;
        slope[i] = (above - loss_now(r)) / (2 * h);
        x[i] = old;
        size = fmax(size, fmax(fabs(slope[i]), fabs((double)gradient[i])));
    }
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(slope[i] - (double)gradient[i]) <= 1e-6 * size)) {
            fail_msg("gradient of %s[%ld] is %.12g, differences give %.12g", name, (long)i,
                     (double)gradient[i], slope[i]);
        }
    }
    free(slope);
}

static inline heed_number *copy_numbers(const heed_number *x, int64_t n) {
    heed_number *copy = malloc((size_t)(n + 1) * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, x, (size_t)n * sizeof *copy);
    return copy;
}

static inline void try_gradients(rig *r) {
    for (const test_input *in = r->c->input; in->name; in++) {
        if (in->cols && !in->fixed) {
            run_rig(r);
            int64_t n = (in->keys ? r->keys : r->rows) * in->cols;
            heed_number *g = copy_numbers(input_gradient(r, in->name).data, n);
            check_gradient(r, heed_numbers(r->s, in->name), g, n, in->name);
            free(g);
        }
    }
    for (int64_t i = 0; i < heed_weights_count(r->weights); i++) {
        run_rig(r);
        heed_weight_entry *e = heed_weights_at(r->weights, i);
        heed_number *g = copy_numbers(e->grad, e->rows * e->cols);
        check_gradient(r, e->data, g, e->rows * e->cols, e->name);
        free(g);
    }
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static inline void try_op(const test_case *c) {
    rig train;
    rig_options o = {.c = c, .mode = HEED_TRAIN, .threads = 1, .only = -1};
    start_rig(&train, &o);
    for (o.threads = 2; o.threads <= 3; o.threads++) {
        try_same(&train, o, o.threads == 2 ? "two threads" : "three threads");
    }
    o.threads = 1;
    o.watch_all = true;
    try_same(&train, o, "watched");
    o.watch_all = false;
    o.recompute = true;
    try_same(&train, o, "recomputed");
    o.recompute = false;
    if (!c->random) {
        o.mode = HEED_INFER;
        try_same(&train, o, "inference");
    }
    try_alone(&train, HEED_INFER);
    if (sizeof(heed_number) == sizeof(double)) {
        try_gradients(&train);
    }
    close_rig(&train);
}

/* The build of `record` is refused with that code and a text that contains `part`. */
static inline void expect_refused(heed_value (*record)(heed_build *b, const void *arg),
                                  const void *arg, heed_code code, const char *part) {
    rig r;
    heed_error err = {0};
    static const test_input none[] = {{.name = NULL}};
    test_case c = {.record = record, .arg = arg, .input = none, .rows = {2}, .keys = {2}, .n = 1};
    c.is_loss = true;
    bool opened =
        open_rig(&r, &(rig_options){.c = &c, .mode = HEED_TRAIN, .threads = 1, .only = -1}, &err);
    close_rig(&r);
    assert_false(opened);
    expect_error(&err, code, part);
}

#endif
