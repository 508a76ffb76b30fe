/* Products of numbers of 16 bits: panels of them give the bits of panels of the same floats; pairs
 * of bfloat16 against double, and the bits of a row alone beside those among others.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

typedef struct {
    int64_t m, n, k;
    bool a_columns, b_columns, accumulate, bias;
    int shift;
} shape;

static const int64_t SIZES[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 47, 64};
enum { COUNT = sizeof SIZES / sizeof SIZES[0] };

static shape random_shape(dice *d) {
    return (shape){.m = SIZES[roll_below(d, COUNT)],
                   .n = SIZES[roll_below(d, COUNT)],
                   .k = SIZES[roll_below(d, COUNT)],
                   .a_columns = roll(d) % 2,
                   .b_columns = roll(d) % 2,
                   .accumulate = roll(d) % 2,
                   .bias = roll(d) % 2,
                   .shift = (int)roll_below(d, 16)};
}

static walled a_buf, b_buf, c_buf, bias_buf, packed_buf, half_buf, other_buf;

static heed_gemm make(const heed_kernels *k, const shape *s, dice *d) {
    float *a = walled_fill(&a_buf, s->m * s->k, s->shift, d, PLAIN);
    walled_fill(&b_buf, s->k * s->n, s->shift, d, PLAIN);
    return (heed_gemm){.m = s->m,
                       .n = s->n,
                       .k = s->k,
                       .a = a,
                       .a_row = s->a_columns ? 1 : s->k,
                       .a_col = s->a_columns ? s->m : 1,
                       .panel1 = heed_panels(s->n, k->nr),
                       .c = walled_fill(&c_buf, s->m * s->n, s->shift, d, PLAIN),
                       .ldc = s->n,
                       .bias = s->bias ? walled_fill(&bias_buf, s->n, s->shift, d, PLAIN) : NULL,
                       .accumulate = s->accumulate};
}

static int64_t row_of_b(const shape *s) {
    return s->b_columns ? 1 : s->n;
}
static int64_t col_of_b(const shape *s) {
    return s->b_columns ? s->k : 1;
}

/* ---- 16 bits, widened ---- */

static void check_half(const heed_kernels *k, const shape *s, heed_panel_kind kind, dice *d) {
    heed_gemm g = make(k, s, d);
    uint16_t half[64 * 64];
    for (int64_t i = 0; i < s->k * s->n; i++) {
        half[i] = kind == HEED_PANELS_BF16 ? heed_bf16_from_f32(b_buf.p[i])
                                           : heed_f16_from_f32(b_buf.p[i]);
        b_buf.p[i] =
            kind == HEED_PANELS_BF16 ? heed_f32_from_bf16(half[i]) : heed_f32_from_f16(half[i]);
    }
    int64_t size = heed_packed_size(s->k, s->n, k->nr);
    g.packed = walled_make(&packed_buf, size, s->shift);
    k->pack(s->k, s->n, b_buf.p, row_of_b(s), col_of_b(s), 0, g.panel1, packed_buf.p);
    walled_make(&half_buf, (size + 1) / 2, s->shift);
    k->pack_half(s->k, s->n, half, row_of_b(s), col_of_b(s), 0, g.panel1,
                 (uint16_t *)(void *)half_buf.p);
    walled_check(&half_buf, k->isa);
    heed_gemm h = g;
    h.kind = kind;
    h.packed = half_buf.p;
    h.c = walled_make(&other_buf, s->m * s->n, s->shift);
    memcpy(h.c, g.c, (size_t)(s->m * s->n) * sizeof *h.c);
    k->gemm(&g);
    k->gemm(&h);
    walled_check(&other_buf, k->isa);
    assert_true(same_bits(g.c, h.c, s->m * s->n));
}

static void check_halves(const heed_kernels *k) {
    dice d = {3};
    for (int round = 0; round < 600; round++) {
        shape s = random_shape(&d);
        check_half(k, &s, round % 2 ? HEED_PANELS_BF16 : HEED_PANELS_F16, &d);
    }
}

/* ---- Pairs ---- */

static double round_16(float x) {
    return (double)heed_f32_from_bf16(heed_bf16_from_f32(x));
}

static double at_a(const shape *s, int64_t i, int64_t l) {
    return round_16(s->a_columns ? a_buf.p[l * s->m + i] : a_buf.p[i * s->k + l]);
}
static double at_b(const shape *s, int64_t l, int64_t j) {
    return round_16(s->b_columns ? b_buf.p[j * s->k + l] : b_buf.p[l * s->n + j]);
}

static void check_pairs_alone(const heed_kernels *k, const shape *s, const heed_gemm *all,
                              const float *old) {
    float alone[64];
    for (int64_t i = 0; i < s->m; i++) {
        heed_gemm g = *all;
        g.m = 1;
        g.a += i * g.a_row;
        g.c = alone;
        memcpy(alone, old + i * s->n, (size_t)s->n * sizeof *alone);
        k->gemm_pairs(&g);
        assert_true(same_bits(alone, all->c + i * s->n, s->n));
    }
}

static void check_pairs_shape(const heed_kernels *k, const shape *s, dice *d) {
    heed_gemm g = make(k, s, d);
    float old[64 * 64];
    memcpy(old, g.c, (size_t)(s->m * s->n) * sizeof *old);
    g.panel1 = heed_panels(s->n, k->pairs_nr);
    walled_make(&packed_buf, (s->k + 1) / 2 * g.panel1 * k->pairs_nr, s->shift);
    k->pack_pairs(s->k, s->n, b_buf.p, row_of_b(s), col_of_b(s), 0, g.panel1,
                  (uint32_t *)(void *)packed_buf.p);
    walled_check(&packed_buf, k->isa);
    g.packed = packed_buf.p;
    g.kind = HEED_PANELS_PAIRS;
    k->gemm_pairs(&g);
    walled_check(&c_buf, k->isa);
    for (int64_t e = 0; e < s->m * s->n; e++) {
        double want = s->accumulate ? (double)old[e] : 0, size = fabs(want);
        for (int64_t l = 0; l < s->k; l++) {
            double x = at_a(s, e / s->n, l) * at_b(s, l, e % s->n);
            want += x;
            size += fabs(x);
        }
        if (s->bias) {
            want += (double)g.bias[e % s->n];
            size += fabs((double)g.bias[e % s->n]);
        }
        check_near((double)g.c[e], want, (double)(s->k + 2) * U * size, k->isa, e, s->m * s->n);
    }
    check_pairs_alone(k, s, &g, old);
}

static void check_pairs(const heed_kernels *k) {
    dice d = {5};
    for (int round = 0; round < 600; round++) {
        shape s = random_shape(&d);
        check_pairs_shape(k, &s, &d);
    }
}

static void test_halves(void **state) {
    (void)state;
    FOR_EACH_SET(gemm, check_halves);
}
static void test_pairs(void **state) {
    (void)state;
    FOR_EACH_SET(gemm_pairs, check_pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
