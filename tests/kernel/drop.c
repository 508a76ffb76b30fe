/* Dropout: the numbers of Philox as base/philox.h gives them, whatever the set.
 * SPDX-License-Identifier: MIT
 */
#include "base/philox.h"

#include "check.h"

static walled x_buf, base_buf, out_buf;

static bool kept(const heed_drop *d, int64_t row, int64_t e) {
    const uint32_t counter[4] = {(uint32_t)(e / 4), (uint32_t)row, (uint32_t)d->stream,
                                 (uint32_t)(d->stream >> 32)};
    uint32_t word[4];
    heed_philox(counter, d->key, word);
    return word[e % 4] >= d->threshold;
}

static void check_row(const heed_kernels *k, const heed_drop *d, int64_t row, int64_t n,
                      dice *numbers) {
    float scale = heed_drop_scale(d->threshold);
    const float *x = walled_fill(&x_buf, n, (int)n % 16, numbers, PLAIN);
    const float *base = walled_fill(&base_buf, n, (int)n % 7, numbers, PLAIN);
    float *out = walled_make(&out_buf, n, (int)n % 5);
    uint8_t keep[CHECK_MAX + 2];
    memset(keep, 77, sizeof keep);
    k->drop_mask(d, row, n, keep + 1);
    assert_true(keep[0] == 77 && keep[n + 1] == 77);
    for (int with_base = 0; with_base < 2; with_base++) {
        k->dropout(d, row, n, x, with_base ? base : NULL, out);
        walled_check(&out_buf, "dropout");
        for (int64_t e = 0; e < n; e++) {
            bool stays = kept(d, row, e);
            float want = stays ? x[e] * scale : 0;
            want = with_base ? base[e] + want : want;
            assert_int_equal(keep[1 + e], stays);
            check_near((double)out[e], (double)want, 0, "dropout", e, n);
        }
    }
    k->dropout(d, row, n, x, base, x_buf.p); /* over its input */
    walled_check(&x_buf, "dropout");
    assert_true(same_bits(x_buf.p, out, n));
}

static void check_drop(const heed_kernels *k) {
    static const uint32_t THRESHOLDS[] = {0, 1, 0x1999999a, 0x80000000, 0xffffffff};
    dice numbers = {6};
    for (int t = 0; t < 5; t++) {
        heed_drop d = {.key = {roll(&numbers), roll(&numbers)},
                       .stream = (uint64_t)roll(&numbers) << 32 | roll(&numbers),
                       .threshold = THRESHOLDS[t]};
        for (int64_t n = 0; n <= 135; n++) {
            check_row(k, &d, roll(&numbers), n, &numbers);
        }
        check_row(k, &d, 7, 1000, &numbers);
    }
}

static void test_drop(void **state) {
    (void)state;
    FOR_EACH_SET(dropout, check_drop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
