/* attend.h: attention in plain double, one weight after the other, for the tests of attention.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_OP_ATTEND_H
#define HEED_TESTS_OP_ATTEND_H

#include "op/harness.h"

typedef struct {
    heed_attention_options o; /* mask and buckets are set by record_attend */
    int64_t d, e;             /* width of one head's keys and values */
    bool cross, masked;
    int64_t buckets;          /* rows of the T5 table, 0: none */
    const int32_t *positions; /* of the rows of self-attention; NULL: from 0 in each sequence */
} attend;

static inline int64_t kv_heads_of(const attend *a) {
    return a->o.kv_heads ? a->o.kv_heads : a->o.heads;
}

static inline heed_value record_attend(heed_build *b, const void *arg) {
    const attend *a = arg;
    heed_attention_options o = a->o;
    heed_value (*input)(heed_build *, const char *, int64_t) = a->cross ? keys_input : rows_input;
    heed_value q = rows_input(b, "q", o.heads * a->d), k = input(b, "k", kv_heads_of(a) * a->d);
    heed_value v = input(b, "v", kv_heads_of(a) * a->e);
    if (a->masked) {
        o.mask = heed_input_mask(b, "mask", heed_rows(b, "rows"), heed_space_of(b, k));
    }
    if (a->buckets) {
        heed_init init = {.kind = HEED_INIT_NORMAL, .size = 1};
        o.buckets = heed_weight(b, "buckets", a->buckets, o.heads, init);
    }
    return heed_attend(b, q, k, v, &o);
}

enum { ATTEND_INPUTS = 5 };

static inline test_case attend_case(const attend *a, test_input input[ATTEND_INPUTS]) {
    int n = 0;
    input[n++] = (test_input){.name = "q", .cols = a->o.heads * a->d};
    input[n++] = (test_input){.name = "k", .cols = kv_heads_of(a) * a->d, .keys = a->cross};
    input[n++] = (test_input){.name = "v", .cols = kv_heads_of(a) * a->e, .keys = a->cross};
    if (a->masked) {
        input[n++] = (test_input){.name = "mask", .mask = true};
    }
    input[n] = (test_input){.name = NULL};
    test_case c = {.record = record_attend, .arg = a, .input = input};
    c.random = a->o.dropout > 0;
    return c;
}

/* ---- Goldens --------------------------------------------------------------------------------- */

/* The bucket of a distance, from tests/golden/ops. */
static inline int golden_bucket(bool causal, int64_t buckets, int64_t most, int64_t distance) {
    FILE *f = fopen("tests/golden/ops/t5_buckets.txt", "r");
    assert_non_null(f);
    int found = -1, is_causal, count, max, first;
    while (found < 0 && fscanf(f, "%d %d %d %d", &is_causal, &count, &max, &first) == 4) {
        for (int d = first; d <= -first; d++) {
            int bucket;
            assert_int_equal(fscanf(f, "%d", &bucket), 1);
            if (is_causal == causal && count == buckets && max == most && d == distance) {
                found = bucket;
            }
        }
    }
    fclose(f);
    assert_true(found >= 0);
    return found;
}

static inline double golden_slope(int64_t heads, int64_t head) {
    FILE *f = fopen("tests/golden/ops/alibi_slopes.txt", "r");
    assert_non_null(f);
    double found = NAN, slope;
    for (int n; fscanf(f, "%d", &n) == 1;) {
        for (int h = 0; h < n; h++) {
            assert_int_equal(fscanf(f, "%lf", &slope), 1);
            found = n == heads && h == head ? slope : found;
        }
    }
    fclose(f);
    assert_true(isfinite(found));
    return exp2(round(2 * log2(found)) /
                2); /* printed from float; all are powers of the root of 2 */
}

/* ---- The definition -------------------------------------------------------------------------- */

static inline bool may_see(const attend *a, int64_t place, int64_t key) {
    if (a->o.causal && key > place) {
        return false;
    }
    return !a->o.window || (key > place - a->o.window && key < place + a->o.window);
}

/* Bias of a key at `distance` from the query. */
static inline double want_bias(const test_case *c, const attend *a, int64_t head,
                               int64_t distance) {
    double bias = 0;
    if (a->o.alibi) {
        bias -= golden_slope(a->o.heads, head) * (double)llabs(distance);
    }
    if (a->buckets) {
        int64_t most = a->o.max_distance ? a->o.max_distance : 128;
        int64_t near = distance < -most ? -most : distance > most ? most : distance;
        int bucket = golden_bucket(a->o.causal, a->buckets, most, near);
        bias += number_at(c, "unit.0.buckets", bucket, head);
    }
    return bias;
}

/* Weights of one query and head over the keys of its sequence; all 0 where none is allowed. */
static inline void want_weights(const test_case *c, int64_t s, int64_t i, int64_t head, double *w) {
    const attend *a = c->arg;
    const int64_t *length = a->cross ? c->keys : c->rows;
    int64_t keys = length[s], place = keys - c->rows[s] + i, row = total(c->rows, s) + i;
    int64_t first = total(length, s), kv_head = head / (a->o.heads / kv_heads_of(a));
    double sum = 0, scale = a->o.scale != 0 ? a->o.scale : 1 / sqrt((double)a->d);
    for (int64_t j = 0; j < keys; j++) {
        double score = 0;
        for (int64_t l = 0; l < a->d; l++) {
            score += number_at(c, "q", row, head * a->d + l) *
                     number_at(c, "k", first + j, kv_head * a->d + l);
        }
        bool allowed = may_see(a, place, j) && (!a->masked || mask_at("mask", row, j));
        int64_t distance = j - i;
        if (a->positions) {
            distance = (int64_t)a->positions[first + j] - a->positions[row];
        }
        score *= scale;
        score = a->o.softcap > 0 ? a->o.softcap * tanh(score / a->o.softcap) : score;
        w[j] = allowed ? exp(score + want_bias(c, a, head, distance)) : 0;
        sum += w[j];
    }
    for (int64_t j = 0; j < keys && sum > 0; j++) {
        w[j] /= sum;
    }
}

/* Compares one query and head of a run; weights: of that query and head, or NULL. */
static inline void check_query(const test_case *c, int64_t s, int64_t i, int64_t head,
                               const heed_number *out, const heed_number *weights) {
    const attend *a = c->arg;
    const int64_t *length = a->cross ? c->keys : c->rows;
    int64_t keys = length[s], first = total(length, s);
    int64_t kv_head = head / (a->o.heads / kv_heads_of(a));
    double *w = calloc((size_t)keys + 1, sizeof *w), steps = 40 + 4 * (double)(a->d + keys);
    assert_non_null(w);
    want_weights(c, s, i, head, w);
    for (int64_t j = 0; j < keys; j++) {
        expect_near((double)weights[j], w[j], w[j], steps, "weight", j);
    }
    for (int64_t l = 0; l < a->e; l++) {
        double want = 0;
        for (int64_t j = 0; j < keys; j++) {
            want += w[j] * number_at(c, "v", first + j, kv_head * a->e + l);
        }
        expect_near((double)out[l], want, 1, steps, "out", l);
    }
    free(w);
}

/* Gives the rows of all sequences the positions of the case, and runs. */
static inline void give_positions(rig *r) {
    const attend *a = r->c->arg;
    int64_t starts[MAX_SEQUENCES + 1] = {0};
    heed_error err = {0};
    for (int64_t i = 0; i < r->c->n; i++) {
        starts[i + 1] = starts[i] + r->c->rows[i];
    }
    assert_true(heed_set_rows(r->s, "rows", r->c->n, starts, a->positions, &err));
    run_rig(r);
}

/* Every output and every watched weight of a run. */
static inline void check_attend(const test_case *c) {
    const attend *a = c->arg;
    rig r;
    rig_options o = {.c = c, .mode = HEED_INFER, .threads = 1, .only = -1, .watch_all = true};
    start_rig(&r, &o);
    if (a->positions) {
        give_positions(&r);
    }
    const heed_number *out = out_of(&r).data, *weights = heed_read(r.s, "unit.0.weights").data;
    for (int64_t s = 0; s < c->n; s++) {
        int64_t keys = (a->cross ? c->keys : c->rows)[s];
        for (int64_t head = 0; head < a->o.heads; head++) {
            for (int64_t i = 0; i < c->rows[s]; i++, weights += keys) {
                int64_t at = (total(c->rows, s) + i) * a->o.heads * a->e + head * a->e;
                check_query(c, s, i, head, out + at, weights);
            }
        }
    }
    close_rig(&r);
}

#endif
