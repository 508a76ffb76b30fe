/* Random numbers: the published answers, and that what is drawn from them has the right moments.
 * SPDX-License-Identifier: MIT
 */
#include "base/philox.h"

#include <math.h>

#include "support.h"

/* Known answers of Random123 1.14 (its file kat_vectors, philox4x32, 10 rounds). */
static void test_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } KNOWN[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, /* the digits of pi */
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        uint32_t out[4];
        heed_philox(KNOWN[i].counter, KNOWN[i].key, out);
        assert_memory_equal(out, KNOWN[i].out, sizeof out);
    }
}

static void test_stream_is_its_counter(void **state) {
    (void)state;
    heed_random r = {.seed = 5, .stream = 9}, fork;
    uint32_t first[10];
    for (int i = 0; i < 10; i++) {
        first[i] = heed_random_u32(&r);
    }
    assert_int_equal(r.at, 10);
    fork = (heed_random){.seed = 5, .stream = 9, .at = 7};
    assert_int_equal(heed_random_u32(&fork), first[7]);
    heed_random other = {.seed = 5, .stream = 10};
    assert_int_not_equal(heed_random_u32(&other), first[0]);
}

static void test_below(void **state) {
    (void)state;
    heed_random r = {.seed = 1};
    long seen[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t x = heed_random_below(&r, 7);
        assert_true(x < 7);
        seen[x]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_true(labs(seen[i] - 10000) < 500); /* five deviations of 92.6 */
    }
    assert_int_equal(heed_random_below(&r, 1), 0);
    /* Of these about half must be drawn again: without that, small numbers come twice as often. */
    uint64_t n = UINT64_C(0xc000000000000000);
    long low = 0;
    for (int i = 0; i < 9000; i++) {
        uint64_t x = heed_random_below(&r, n);
        assert_true(x < n);
        low += x < n / 3;
    }
    assert_true(labs(low - 3000) < 250);
}

static void test_unit_and_normal(void **state) {
    (void)state;
    enum { N = 200000 };
    heed_random r = {.seed = 3};
    double sum = 0, moment[5] = {0};
    for (int i = 0; i < N; i++) {
        double u = heed_random_unit(&r), x = heed_random_normal(&r), p = 1;
        assert_true(u >= 0 && u < 1);
        sum += u;
        for (int k = 1; k < 5; k++) {
            moment[k] += p *= x;
        }
    }
    /* Five standard errors of each: 1/sqrt(12 N), then sqrt((E x^2k - (E x^k)^2) / N). */
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(moment[1] / N) < 5 * sqrt(1.0 / N));
    assert_true(fabs(moment[2] / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(moment[3] / N) < 5 * sqrt(15.0 / N));
    assert_true(fabs(moment[4] / N - 3) < 5 * sqrt(96.0 / N));
}

/* The own log and cos against the C library's, through the formula. */
static void test_normal_is_box_muller(void **state) {
    (void)state;
    heed_random r = {.seed = 11}, same = {.seed = 11};
    for (int i = 0; i < 20000; i++) {
        double u = 1 - heed_random_unit(&same), turn = heed_random_unit(&same);
        double want = sqrt(-2 * log(u)) * cos(8 * atan(1) * turn);
        assert_true(fabs(heed_random_normal(&r) - want) < 1e-14);
    }
}

static void test_hash(void **state) {
    (void)state;
    assert_int_not_equal(heed_hash("a", 1), heed_hash("b", 1));
    assert_int_not_equal(heed_hash("a\0", 2), heed_hash("a", 1));
    assert_int_equal(heed_hash("abc", 3), heed_hash("abcd", 3));
    /* Keys that differ in a digit fill the low bits of a table evenly: 4096 balls in 4096 boxes
     * leave 1507 empty on the average, deviation 20. */
    static unsigned char hit[4096];
    int empty = 4096;
    for (int i = 0; i < 4096; i++) {
        char key[16];
        int n = snprintf(key, sizeof key, "k%d", i);
        unsigned char *box = &hit[heed_hash(key, (size_t)n) % 4096];
        empty -= !*box;
        *box = 1;
    }
    assert_in_range(empty, 1407, 1607);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_stream_is_its_counter),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_unit_and_normal),
        cmocka_unit_test(test_normal_is_box_muller),
        cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
