/* The product with whole numbers: rows and panels, against a plain computation in double, and the
 * bits of a row alone beside those among others.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <stdlib.h>

enum { MOST_ROWS = 29, MOST_COLUMNS = 80, MOST_DEPTH = 352 };

/* Forms that files and models have: Q8_0, Q4_0, Q4_1, Q4_K, Q5_K, Q6_K, a scale for each column. */
static const heed_int_form FORMS[] = {
    {.bits = 8, .zero = 128, .block = 32, .half = true},
    {.bits = 4, .zero = 8, .block = 32, .half = true},
    {.bits = 4, .zero = 0, .block = 32, .half = true, .least = true},
    {.bits = 4, .zero = 0, .block = 32, .least = true},
    {.bits = 8, .zero = 0, .block = 32, .least = true},
    {.bits = 8, .zero = 32, .block = 16},
    {.bits = 8, .zero = 128, .block = 0},
};
enum { FORM_COUNT = sizeof FORMS / sizeof FORMS[0] };

typedef struct {
    heed_int_form form;
    int64_t m, n, k, blocks, depth;
    float *x; /* m x k */
    heed_int_rows a;
    uint8_t *q; /* n x depth */
    float *scale, *least;
    float *bias;
    uint8_t *packed;
    float *c; /* m x n */
} problem;

static void *room(int64_t n, size_t size) {
    void *p = calloc((size_t)n + 1, size);
    assert_non_null(p);
    return p;
}

/* A number that binary16 holds. */
static float half_number(dice *d) {
    return (float)(roll_below(d, 2001) - 1000) * 0x1p-12f;
}

static problem make(const heed_kernels *k, dice *d) {
    problem p = {.form = FORMS[roll_below(d, FORM_COUNT)],
                 .m = roll_below(d, MOST_ROWS) + 1,
                 .n = roll_below(d, MOST_COLUMNS) + 1,
                 .k = roll_below(d, MOST_DEPTH) + 1};
    p.depth = heed_int_depth(p.k);
    p.blocks = heed_int_blocks(&p.form, p.k);
    p.x = room(p.m * p.k, sizeof(float));
    p.a.q = room(p.m * p.depth, 1);
    p.a.scale = room(p.m * p.blocks, sizeof(float));
    p.a.part = room(p.m * p.blocks, sizeof(float));
    p.a.start = room(p.m * p.blocks, sizeof(int32_t));
    p.q = room(p.n * p.depth, 1);
    p.scale = room(p.n * p.blocks, sizeof(float));
    p.least = room(p.n * p.blocks, sizeof(float));
    p.bias = room(p.n, sizeof(float));
    p.c = room(p.m * p.n, sizeof(float));
    int64_t panels = heed_panels(p.n, k->int_nr);
    p.packed = room(panels * heed_int_panel_bytes(&p.form, p.k, k->int_nr), 1);
    int kind = (int)roll_below(d, KINDS);
    for (int64_t i = 0; i < p.m * p.k; i++) {
        p.x[i] = hostile(d, kind);
    }
    for (int64_t i = 0; i < p.n * p.depth; i++) {
        p.q[i] = (uint8_t)roll_below(d, 1 << p.form.bits);
    }
    for (int64_t i = 0; i < p.n * p.blocks; i++) {
        p.scale[i] = half_number(d);
        p.least[i] = half_number(d);
    }
    for (int64_t j = 0; j < p.n; j++) {
        p.bias[j] = hostile(d, kind);
    }
    return p;
}

static void drop(problem *p) {
    void *const all[] = {p->x,     p->a.q,   p->a.scale, p->a.part, p->a.start, p->q,
                         p->scale, p->least, p->bias,    p->packed, p->c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

/* ---- Rows ---- */

static void check_row(const heed_kernels *k, const problem *p, int64_t i) {
    int64_t block = p->form.block ? p->form.block : p->depth;
    for (int64_t n = 0; n < p->blocks; n++) {
        float most = 0;
        int32_t sum = 0;
        for (int64_t l = n * block; l < (n + 1) * block && l < p->k; l++) {
            most = fmaxf(most, fabsf(p->x[i * p->k + l]));
        }
        float scale = p->a.scale[i * p->blocks + n];
        check_near(scale, most > 0x1p-119f ? most / 127 : 0, U * most / 127, k->isa, n, p->blocks);
        for (int64_t l = n * block; l < (n + 1) * block; l++) {
            int8_t a = p->a.q[i * p->depth + l];
            float x = l < p->k ? p->x[i * p->k + l] : 0;
            sum += a;
            double bound = 0.5001 * (double)scale + 0x1p-119;
            check_near((double)a * (double)scale, (double)x, bound, k->isa, l, p->k);
        }
        assert_true(p->a.part[i * p->blocks + n] == scale * (float)sum);
    }
}

static heed_int_rows row_of(const problem *p, int64_t i) {
    return (heed_int_rows){p->a.q + i * p->depth, p->a.scale + i * p->blocks,
                           p->a.part + i * p->blocks, p->a.start + i * p->blocks};
}

static void make_rows(const heed_kernels *k, problem *p) {
    for (int64_t i = 0; i < p->m; i++) {
        heed_int_rows row = row_of(p, i);
        k->quantize(&p->form, p->k, p->x + i * p->k, &row);
        check_row(k, p, i);
    }
}

/* ---- Products ---- */

static void make_panels(const heed_kernels *k, problem *p) {
    int64_t bytes = heed_int_panel_bytes(&p->form, p->k, k->int_nr);
    for (int64_t j = 0; j < p->n; j += k->int_nr) {
        heed_int_columns b = {.k = p->k,
                              .columns = p->n - j < k->int_nr ? p->n - j : k->int_nr,
                              .q = p->q + j * p->depth,
                              .scale = p->scale + j * p->blocks,
                              .least = p->least + j * p->blocks};
        k->pack_ints(&p->form, &b, p->packed + j / k->int_nr * bytes);
    }
}

static void check_element(const heed_kernels *k, const problem *p, int64_t i, int64_t j) {
    int64_t block = p->form.block ? p->form.block : p->depth;
    double want = (double)p->bias[j], size = fabs(want);
    for (int64_t n = 0; n < p->blocks; n++) {
        double a_scale = (double)p->a.scale[i * p->blocks + n];
        double scale = (double)p->scale[j * p->blocks + n] * a_scale, dot = 0;
        for (int64_t l = n * block; l < (n + 1) * block; l++) {
            dot += (double)p->a.q[i * p->depth + l] * (p->q[j * p->depth + l] - p->form.zero);
        }
        want += scale * dot;
        size += fabs(scale * dot);
        if (p->form.least) {
            double least = (double)p->least[j * p->blocks + n];
            want += least * (double)p->a.part[i * p->blocks + n];
            size += fabs(least * (double)p->a.part[i * p->blocks + n]);
        }
    }
    double bound = (double)(2 * p->blocks + 4) * (U * size + 0x1p-149);
    check_near((double)p->c[i * p->n + j], want, bound, k->isa, i * p->n + j, p->m * p->n);
}

static heed_int_gemm gemm_of(const heed_kernels *k, const problem *p) {
    return (heed_int_gemm){.m = p->m,
                           .n = p->n,
                           .k = p->k,
                           .form = p->form,
                           .a = p->a,
                           .packed = p->packed,
                           .panel1 = heed_panels(p->n, k->int_nr),
                           .c = p->c,
                           .ldc = p->n,
                           .bias = p->bias};
}

static void check_alone(const heed_kernels *k, const problem *p) {
    float alone[MOST_COLUMNS];
    for (int64_t i = 0; i < p->m; i++) {
        heed_int_gemm g = gemm_of(k, p);
        g.m = 1;
        g.a = row_of(p, i);
        g.c = alone;
        k->int_gemm(&g);
        assert_true(same_bits(alone, p->c + i * p->n, p->n));
    }
}

static void check_products(const heed_kernels *k) {
    dice d = {7};
    for (int round = 0; round < 300; round++) {
        problem p = make(k, &d);
        make_rows(k, &p);
        make_panels(k, &p);
        heed_int_gemm g = gemm_of(k, &p);
        k->int_gemm(&g);
        for (int64_t i = 0; i < p.m * p.n; i++) {
            check_element(k, &p, i / p.n, i % p.n);
        }
        check_alone(k, &p);
        drop(&p);
    }
}

/* What is not finite in a row reaches every element of its block's sum. */
static void check_not_finite(const heed_kernels *k) {
    const heed_int_form form = FORMS[0];
    const float bad[] = {(float)NAN, (float)INFINITY, (float)-INFINITY};
    for (int b = 0; b < 3; b++) {
        for (int at = 0; at < 40; at++) {
            float x[40], scale[2], part[2];
            int8_t q[64];
            int32_t start[2];
            const heed_int_rows row = {q, scale, part, start};
            for (int i = 0; i < 40; i++) {
                x[i] = i == at ? bad[b] : (float)i;
            }
            k->quantize(&form, 40, x, &row);
            assert_int_equal(isfinite(scale[0]), at >= 32);
            assert_int_equal(isfinite(scale[1]), at < 32);
        }
    }
}

static void test_products(void **state) {
    (void)state;
    FOR_EACH_SET(int_gemm, check_products);
}
static void test_not_finite(void **state) {
    (void)state;
    FOR_EACH_SET(int_gemm, check_not_finite);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
