/* The same bits: a row of a product, a query of an attention, give what they give alone, whatever
 * else is in the call and however the work is cut.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

enum { M = 131, N = 150, K = 700, SPARE = 64 };

static float a[M * K], a_turned[M * K], b[K * N], b_turned[K * N], bias[N];
static float packed[K * (N + SPARE)], want[M * N], got[M * N];

static void fill(float *x, int64_t n, dice *d) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = roll_between(d, -1, 1);
    }
}

static void turn(int64_t rows, int64_t columns, const float *from, float *to) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            to[j * rows + i] = from[i * columns + j];
        }
    }
}

static void expect_product(const heed_kernels *k, const heed_gemm *g, const char *how) {
    if (!same_bits(want, got, g->m * g->n)) {
        fail_msg("%s: other bits %s, %" PRId64 " x %" PRId64 " x %" PRId64, k->isa, how, g->m, g->n,
                 g->k);
    }
    memset(got, 0x55, sizeof got);
}

static void cut_product(const heed_kernels *k, heed_gemm g, dice *d) {
    heed_gemm part = g;
    for (int64_t i = 0, rows; i < g.m; i += rows) {
        rows = 1 + roll_below(d, 5 < g.m - i ? 5 : g.m - i);
        part.m = rows;
        part.a = g.a + i * g.a_row;
        part.c = g.c + i * g.ldc;
        k->gemm(&part);
    }
    expect_product(k, &g, "by few rows");
    part = g;
    for (int64_t p = 0; p < g.panel1; p = part.panel1) {
        part.panel0 = p;
        part.panel1 = p + 1 + roll_below(d, g.panel1 - p);
        k->gemm(&part);
    }
    expect_product(k, &g, "by panels");
}

/* The chain may rest in C between two calls: the first takes the l below `at`. */
static void cut_depth(const heed_kernels *k, heed_gemm g, int64_t at) {
    static float upper[K * (N + SPARE)];
    int64_t n = g.n, rest = g.k - at;
    k->pack(at, n, b, n, 1, 0, g.panel1, packed);
    k->pack(rest, n, b + at * n, n, 1, 0, g.panel1, upper);
    heed_gemm first = g, second = g;
    first.k = at;
    first.bias = NULL;
    second.k = rest;
    second.a = g.a + at * g.a_col;
    second.packed = upper;
    second.accumulate = true;
    k->gemm(&first);
    k->gemm(&second);
    expect_product(k, &g, "in two depths");
}

static void check_product(const heed_kernels *k, int64_t m, int64_t n, int64_t depth, dice *d) {
    fill(a, m * depth, d);
    fill(b, depth * n, d);
    fill(bias, n, d);
    turn(m, depth, a, a_turned);
    turn(depth, n, b, b_turned);
    int64_t panels = heed_panels(n, k->nr);
    assert_true(heed_packed_size(depth, n, k->nr) <= K * (N + SPARE));
    k->pack(depth, n, b, n, 1, 0, panels, packed);
    heed_gemm g = {.m = m,
                   .n = n,
                   .k = depth,
                   .a = a,
                   .a_row = depth,
                   .a_col = 1,
                   .packed = packed,
                   .panel1 = panels,
                   .c = want,
                   .ldc = n,
                   .bias = bias};
    k->gemm(&g);
    g.c = got;
    cut_product(k, g, d);
    heed_gemm turned = g;
    turned.a = a_turned;
    turned.a_row = 1;
    turned.a_col = m;
    k->gemm(&turned);
    expect_product(k, &g, "from columns of A");
    k->pack(depth, n, b_turned, 1, depth, 0, panels, packed);
    k->gemm(&g);
    expect_product(k, &g, "from columns of B");
    cut_depth(k, g, roll_below(d, depth));
}

static void check_products(const heed_kernels *k) {
    dice d = {7};
    check_product(k, M, N, K, &d);
    check_product(k, 1, N, K, &d);
    check_product(k, 40, 33, 512, &d); /* rows that crowd the first cache take lower tiles */
    for (int round = 0; round < 40; round++) {
        check_product(k, 1 + roll_below(&d, M), 1 + roll_below(&d, N), 1 + roll_below(&d, K), &d);
    }
}

static void test_products(void **state) {
    (void)state;
    FOR_EACH_SET(gemm, check_products);
}

/* ---- Attention ---- */

enum { QUERIES = 70, KEYS = 300, WIDTH = 72, ROWS = 512 };

static float q[QUERIES * WIDTH], keys[KEYS * WIDTH], values[KEYS * WIDTH];
static float far_keys[ROWS * WIDTH], far_values[ROWS * WIDTH];
static float out[QUERIES * WIDTH], lse[QUERIES], weights[QUERIES * KEYS];
static float out_want[QUERIES * WIDTH], lse_want[QUERIES], weights_want[QUERIES * KEYS];
static int32_t begin[QUERIES], end[QUERIES], rows[KEYS];

static void expect_queries(const heed_kernels *k, const heed_attention *s, const char *how) {
    bool same = same_bits(out, out_want, s->queries * s->value_width);
    same = same && (!s->lse || same_bits(lse, lse_want, s->queries));
    same =
        same && (!s->weights || same_bits(weights, weights_want, s->queries * s->weights_stride));
    if (!same) {
        fail_msg("%s: other bits %s, %" PRId64 " queries, %" PRId64 " keys, width %" PRId64
                 ", %" PRId64,
                 k->isa, how, s->queries, s->keys, s->width, s->value_width);
    }
    memset(out, 0x55, sizeof out);
}

static heed_attention from(const heed_attention *s, int64_t i, int64_t n) {
    heed_attention part = *s;
    part.queries = n;
    part.q += i * s->q_stride;
    part.out += i * s->out_stride;
    part.lse = s->lse ? s->lse + i : NULL;
    part.weights = s->weights ? s->weights + i * s->weights_stride : NULL;
    part.begin += i;
    part.end += i;
    return part;
}

static void cut_queries(const heed_kernels *k, const heed_attention *s, int64_t most, dice *d) {
    for (int64_t i = 0, n; i < s->queries; i += n) {
        n = 1 + roll_below(d, most < s->queries - i ? most : s->queries - i);
        heed_attention part = from(s, i, n);
        k->attention(&part);
    }
    expect_queries(k, s, most == 1 ? "query by query" : "by some queries");
}

/* As a decoder does: each query sees a cache that ends where it ends, rows anywhere in a pool. */
static void decode(const heed_kernels *k, const heed_attention *s) {
    for (int64_t j = 0; j < s->keys; j++) {
        rows[j] = (int32_t)((j * 211 + 5) % ROWS);
        memcpy(far_keys + rows[j] * s->width, keys + j * s->width,
               (size_t)s->width * sizeof(float));
        memcpy(far_values + rows[j] * s->value_width, values + j * s->value_width,
               (size_t)s->value_width * sizeof(float));
    }
    for (int64_t i = 0; i < s->queries; i++) {
        heed_attention step = from(s, i, 1);
        step.keys = s->end[i];
        step.rows = rows;
        step.k = far_keys;
        step.v = far_values;
        step.weights = NULL;
        k->attention(&step);
    }
    heed_attention plain = *s;
    plain.weights = NULL;
    expect_queries(k, &plain, "from a cache");
}

static void check_queries(const heed_kernels *k, int64_t queries, int64_t n, int64_t width,
                          int64_t value_width, dice *d) {
    fill(q, queries * width, d);
    fill(keys, n * width, d);
    fill(values, n * value_width, d);
    for (int64_t i = 0; i < queries; i++) {
        end[i] = (int32_t)(n - queries + i + 1 > 0 ? n - queries + i + 1 : 0);
        begin[i] = roll(d) % 3 == 0 ? (int32_t)roll_below(d, end[i] + 1) : 0;
    }
    heed_attention s = {.queries = queries,
                        .keys = n,
                        .width = width,
                        .value_width = value_width,
                        .q = q,
                        .q_stride = width,
                        .k = keys,
                        .v = values,
                        .k_stride = width,
                        .v_stride = value_width,
                        .scale = 0.5f,
                        .begin = begin,
                        .end = end,
                        .out = out_want,
                        .out_stride = value_width,
                        .lse = lse_want,
                        .weights = weights_want,
                        .weights_stride = n};
    k->attention(&s);
    s.out = out;
    s.lse = lse;
    s.weights = weights;
    cut_queries(k, &s, 1, d);
    cut_queries(k, &s, 20, d);
    decode(k, &s);
    s.lse = NULL;
    s.weights = NULL;
    k->attention(&s);
    expect_queries(k, &s, "unwatched");
}

static void check_attentions(const heed_kernels *k) {
    dice d = {8};
    check_queries(k, QUERIES, KEYS, 64, 64, &d);
    for (int round = 0; round < 60; round++) {
        int64_t most = round % 2 ? KEYS : 40;
        check_queries(k, 1 + roll_below(&d, QUERIES), 1 + roll_below(&d, most),
                      1 + roll_below(&d, WIDTH), 1 + roll_below(&d, WIDTH), &d);
    }
}

static void test_attentions(void **state) {
    (void)state;
    FOR_EACH_SET(attention, check_attentions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_attentions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
