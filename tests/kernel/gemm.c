/* The matrix product and its packing: against double, and bit for bit whatever the tiles.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

typedef struct {
    int64_t m, n, k;
    bool a_columns, b_columns; /* laid out by columns */
    bool accumulate, bias;
    int kind, shift;
} shape;

static walled a_buf, b_buf, packed_buf, c_buf, bias_buf, old_buf;

static float at_a(const shape *s, const float *a, int64_t i, int64_t l) {
    return s->a_columns ? a[l * s->m + i] : a[i * s->k + l];
}
static float at_b(const shape *s, const float *b, int64_t l, int64_t j) {
    return s->b_columns ? b[j * s->k + l] : b[l * s->n + j];
}

static heed_gemm make(const heed_kernels *k, const shape *s, dice *d) {
    int64_t panels = heed_panels(s->n, k->nr);
    float *a = walled_fill(&a_buf, s->m * s->k, s->shift, d, s->kind);
    float *b = walled_fill(&b_buf, s->k * s->n, s->shift, d, s->kind);
    float *packed = walled_make(&packed_buf, heed_packed_size(s->k, s->n, k->nr), s->shift);
    k->pack(s->k, s->n, b, s->b_columns ? 1 : s->n, s->b_columns ? s->k : 1, 0, panels, packed);
    walled_check(&packed_buf, "pack");
    return (heed_gemm){.m = s->m,
                       .n = s->n,
                       .k = s->k,
                       .a = a,
                       .a_row = s->a_columns ? 1 : s->k,
                       .a_col = s->a_columns ? s->m : 1,
                       .packed = packed,
                       .panel1 = panels,
                       .c = walled_fill(&c_buf, s->m * s->n, s->shift, d, s->kind),
                       .ldc = s->n,
                       .bias = s->bias ? walled_fill(&bias_buf, s->n, s->shift, d, s->kind) : NULL,
                       .accumulate = s->accumulate};
}

static void check_packed(const heed_kernels *k, const shape *s) {
    for (int64_t p = 0; p < heed_panels(s->n, k->nr); p++) {
        for (int64_t l = 0; l < s->k; l++) {
            for (int64_t j = 0; j < k->nr; j++) {
                int64_t column = p * k->nr + j;
                float want = column < s->n ? at_b(s, b_buf.p, l, column) : 0;
                float got = packed_buf.p[(p * s->k + l) * k->nr + j];
                check_near(got, want, 0, "pack", column, s->n);
            }
        }
    }
}

static void check_shape(const heed_kernels *k, const shape *s, dice *d) {
    heed_gemm g = make(k, s, d);
    check_packed(k, s);
    old_buf = c_buf;
    const float *old = old_buf.cell + (c_buf.p - c_buf.cell);
    k->gemm(&g);
    walled_check(&c_buf, k->isa);
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            double want = s->accumulate ? (double)old[i * s->n + j] : 0, size = fabs(want);
            for (int64_t l = 0; l < s->k; l++) {
                double x = (double)at_a(s, a_buf.p, i, l) * (double)at_b(s, b_buf.p, l, j);
                want += x;
                size += fabs(x);
            }
            if (s->bias) {
                want += (double)g.bias[j];
                size += fabs((double)g.bias[j]);
            }
            /* each product below the normal numbers may lose half of the smallest one */
            double bound = (double)(s->k + 2) * (U * size + 0x1p-150);
            check_near((double)g.c[i * s->n + j], want, bound, k->isa, i * s->n + j, s->m * s->n);
        }
    }
}

static void check_gemm(const heed_kernels *k) {
    dice d = {1};
    static const int64_t SIZES[] = {0, 1, 2, 3, 5, 6, 7, 8, 13, 15, 16, 17, 31, 32, 33, 47, 48, 64};
    enum { COUNT = sizeof SIZES / sizeof SIZES[0] };
    for (int round = 0; round < 1500; round++) {
        shape s = {.m = SIZES[roll_below(&d, COUNT)],
                   .n = SIZES[roll_below(&d, COUNT)],
                   .k = SIZES[roll_below(&d, COUNT)],
                   .a_columns = roll(&d) % 2,
                   .b_columns = roll(&d) % 2,
                   .accumulate = roll(&d) % 2,
                   .bias = roll(&d) % 2,
                   .kind = (int)roll_below(&d, KINDS),
                   .shift = (int)roll_below(&d, 16)};
        check_shape(k, &s, &d);
    }
}

static void test_gemm(void **state) {
    (void)state;
    FOR_EACH_SET(gemm, check_gemm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
