/* bench_ops.c: products and attention alone, as a plan runs them.
 * SPDX-License-Identifier: MIT
 */
#include "cli/bench.h"
#include "heed_ops.h"

#include <stdlib.h>

typedef struct {
    heed_weights *weights;
    heed_plan *plan;
    heed_session *session;
} alone;

static void free_alone(void *state) {
    alone *a = state;
    heed_session_free(a->session);
    heed_plan_free(a->plan);
    heed_weights_free(a->weights);
    free(a);
}

static double run_alone(void *state, heed_error *err) {
    double start = bench_now();
    return heed_run(((alone *)state)->session, err) ? bench_now() - start : -1;
}

/* Numbers between -1 and 1; which they are does not matter. */
static void fill(heed_session *s, const char *name, int64_t n) {
    float *x = heed_numbers(s, name);
    uint32_t state = 1;
    for (int64_t i = 0; x && i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) / 8388608.0f - 1;
    }
}

static alone *new_alone(const bench_line *line, heed_engine *engine, heed_build **b,
                        bench_work *out, heed_error *err) {
    alone *a = calloc(1, sizeof *a);
    if (!a) {
        err->code = HEED_NOMEM;
        return NULL;
    }
    *out = (bench_work){.state = a, .run = run_alone, .free = free_alone};
    a->weights = heed_weights_new(NULL, err);
    if (a->weights) {
        heed_weights_compute(a->weights, bench_compute(line));
    }
    *b = a->weights ? heed_build_new(engine, line->back ? HEED_TRAIN : HEED_INFER, a->weights, err)
                    : NULL;
    return *b ? a : NULL;
}

/* The plan of what was recorded, for one sequence of `rows` in each space; `b` ends. */
static bool plan(alone *a, heed_build *b, heed_value keep, heed_value loss, int64_t rows,
                 heed_error *err) {
    const heed_capacity capacity[] = {
        {.space = "rows", .rows = rows, .sequences = 1, .longest = rows}, {0}};
    const heed_value kept[] = {keep, {0}};
    const char *const grads[] = {"grad.q", "grad.k", "grad.v", NULL};
    const int64_t starts[] = {0, rows};
    if (!heed_weights_init(a->weights, 0, err)) {
        heed_build_free(b);
        return false;
    }
    a->plan = heed_plan_new(b,
                            &(heed_plan_options){.capacity = capacity,
                                                 .keep = kept,
                                                 .loss = loss,
                                                 .watch = loss.id ? grads : NULL,
                                                 .frozen = !loss.id},
                            err);
    a->session = a->plan ? heed_session_new(a->plan, err) : NULL;
    return a->session && heed_set_rows(a->session, "rows", 1, starts, NULL, err);
}

bool bench_make_product(const bench_line *line, heed_engine *engine, const char *path,
                        bench_work *out, heed_error *err) {
    int64_t m = line->n[0], n = line->n[1], k = line->n[2];
    heed_build *b = NULL;
    alone *a = new_alone(line, engine, &b, out, err);
    (void)path;
    if (!a) {
        return false;
    }
    double numbers = (double)(m * k + m * n), weights = (double)(n * k);
    out->cost = (bench_cost){.operations = 2.0 * (double)m * weights,
                             .traffic = sizeof(float) * numbers + bench_bytes(line->type) * weights,
                             .units = 2e-9 * (double)m * weights};
    heed_value x = heed_input_numbers(b, "x", heed_rows(b, "rows"), k);
    heed_value y = heed_linear(b, x, "product", n, false);
    if (!plan(a, b, y, (heed_value){0}, m, err)) {
        return false;
    }
    fill(a->session, "x", m * k);
    return true;
}

enum { HEADS = 8, WIDTH = 64 };

bool bench_make_attention(const bench_line *line, heed_engine *engine, const char *path,
                          bench_work *out, heed_error *err) {
    static const char *const names[] = {"q", "k", "v"};
    int64_t n = line->n[0], width = HEADS * WIDTH;
    heed_build *b = NULL;
    alone *a = new_alone(line, engine, &b, out, err);
    (void)path;
    if (!a) {
        return false;
    }
    double pairs = (double)n * (line->causal ? (double)(n + 1) / 2 : (double)n);
    out->cost.operations = (line->back ? 3.5 : 1) * 4 * pairs * (double)width;
    out->cost.traffic = (line->back ? 8 : 4) * 4.0 * (double)(n * width); /* floats */
    heed_value in[3];
    for (int i = 0; i < 3; i++) {
        in[i] = heed_input_numbers(b, names[i], heed_rows(b, "rows"), width);
        in[i] = line->back ? heed_need_grad(b, in[i]) : in[i];
    }
    heed_attention_options o = {.heads = HEADS, .causal = line->causal};
    heed_value y = heed_attend(b, in[0], in[1], in[2], &o);
    heed_value loss = line->back ? heed_sum(b, y) : (heed_value){0};
    if (!plan(a, b, y, loss, n, err)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        fill(a->session, names[i], n * width);
    }
    /* Beside the result and, backward, the three gradients. */
    size_t known = (size_t)(n * width) * sizeof(float) * (line->back ? 4 : 1);
    heed_memory memory = heed_plan_memory(a->plan);
    out->memory = memory.arena > known ? memory.arena - known : 1;
    out->kept = memory.inputs + known;
    return true;
}
