/* harness.h: what every op is put through: one call, try_op, for a function that records it.
 *
 * try_op checks: training gives the bits of inference; one, two and three threads give the same
 * bits; so do watching everything, recomputing, and each sequence by itself; in the build in
 * double, every gradient of every input and weight equals central differences to 1e-6.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_OP_HARNESS_H
#define HEED_TESTS_OP_HARNESS_H

#include "op/rig.h"

/* ---- Same bits ------------------------------------------------------------------------------- */

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

/* ---- Gradients by differences ---------------------------------------------------------------- */

/* Compares `gradient` with (loss(x + h) - loss(x - h)) / 2h for each of the n numbers at x. */
static inline void check_gradient(rig *r, heed_number *x, const heed_number *gradient, int64_t n,
                                  const char *name) {
    double h = 1e-5, size = 1e-3 * (1 + fabs(loss_now(r))),
           *slope = malloc((size_t)(n + 1) * sizeof *slope);
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

/* A second run adds its gradients to the sums of the first. */
static inline void try_accumulates(rig *r) {
    heed_error err = {0};
    run_rig(r);
    for (int64_t i = 0; i < heed_weights_count(r->weights); i++) {
        heed_weight_entry *e = heed_weights_at(r->weights, i);
        int64_t n = e->rows * e->cols;
        heed_weights_zero_grad(r->weights);
        assert_true(heed_run(r->s, &err));
        heed_number *once = copy_numbers(e->grad, n);
        assert_true(heed_run(r->s, &err));
        for (int64_t j = 0; j < n; j++) {
            expect_near((double)e->grad[j], 2 * (double)once[j], 10 + fabs((double)once[j]), 64,
                        e->name, j);
        }
        free(once);
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

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
    try_accumulates(&train);
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
