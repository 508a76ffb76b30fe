/* Rotary positions: pairs of either kind, any share of a head, against the formula in double.
 *
 * Bound: two products and their sum, each off by u = 2^-24 of its size.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

static walled x_buf, cos_buf, sin_buf, out_buf;

static void check_turn(const heed_kernels *k, int64_t half, int64_t rest, int shift, dice *d) {
    enum { HEADS = 3 };
    int64_t turned = 2 * half, width = turned + rest;
    const float *c = walled_fill(&cos_buf, half, 3, d, PLAIN);
    const float *s = walled_fill(&sin_buf, half, 5, d, PLAIN);
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        const float *x = walled_fill(&x_buf, HEADS * width, shift, d, PLAIN);
        float *out = walled_make(&out_buf, HEADS * width, shift / 2);
        k->rope(HEADS, width, turned, interleaved, c, s, x, out);
        walled_check(&out_buf, "rope");
        for (int64_t i = 0; i < HEADS * half; i++) {
            int64_t head = i / half * width, pair = i % half;
            int64_t p = head + (interleaved ? 2 * pair : pair), q = p + (interleaved ? 1 : half);
            double cx = (double)c[pair], sx = (double)s[pair], a = (double)x[p], b = (double)x[q];
            double bound = 3 * U * (fabs(a * cx) + fabs(b * sx) + fabs(b * cx) + fabs(a * sx));
            check_near((double)out[p], a * cx - b * sx, bound, "rope", p, half);
            check_near((double)out[q], b * cx + a * sx, bound, "rope", q, half);
        }
        for (int64_t head = 0; head < HEADS * width; head += width) {
            assert_true(same_bits(out + head + turned, x + head + turned, rest));
        }
        k->rope(HEADS, width, turned, interleaved, c, s, x, x_buf.p);
        assert_true(same_bits(x_buf.p, out, HEADS * width));
    }
}

static void check_rope(const heed_kernels *k, int64_t n, int shift, dice *d) {
    check_turn(k, n, 0, shift, d);
    if (3 * (2 * n + 40) <= CHECK_MAX) {
        check_turn(k, n, 1 + roll_below(d, 40), shift, d);
    }
}

static void check_shapes(const heed_kernels *k) {
    static const int64_t LONG[] = {127, 128, 255, 500, 512, 682};
    dice d = {5};
    for (int64_t n = 0; n <= 67; n++) {
        for (int shift = 0; shift < 16; shift += 1 + (int)n % 3) {
            check_rope(k, n, shift, &d);
        }
    }
    for (int i = 0; i < 6; i++) {
        check_rope(k, LONG[i], i, &d);
    }
}

static void test_shapes(void **state) {
    (void)state;
    FOR_EACH_SET(rope, check_shapes);
}

static void check_known(const heed_kernels *k) {
    /* width 4, base 10000, position 1 */
    const float x[4] = {1, 2, 3, 4}, c[2] = {cosf(1), cosf(0.01f)}, s[2] = {sinf(1), sinf(0.01f)};
    const double want[2][4] = {{-1.984111, 1.959901, 2.462378, 4.019800},
                               {-1.142640, 1.922076, 2.959851, 4.029800}};
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        float y[4];
        k->rope(1, 4, 4, interleaved, c, s, x, y);
        for (int i = 0; i < 4; i++) {
            check_near((double)y[i], want[interleaved][i], 1e-6, "rope", i, 4); /* digits given */
        }
    }
}

static void test_known_values(void **state) {
    (void)state;
    FOR_EACH_SET(rope, check_known);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_known_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
