/* schedule.c: learning rates against values worked out by hand, and numbers in any locale.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <locale.h>
#include <math.h>

#include "train/number.h"
#include "train/schedule.h"

static void expect_near(double got, double want) {
    if (!(fabs(got - want) <= 1e-6 * fabs(want))) {
        fail_msg("got %.9g, wanted %.9g", got, want);
    }
}

/* d = 512, warm-up 4000, factor 1: the numbers of the paper's formula. */
static void inverse_root_is_the_formula_of_2017(void **state) {
    (void)state;
    heed_schedule s = {
        .kind = HEED_INVERSE_SQRT, .peak = heed_schedule_peak(512, 4000), .warmup = 4000};
    expect_near(heed_schedule_rate(&s, 1), 1.746928e-7);
    expect_near(heed_schedule_rate(&s, 4000), 6.987712e-4);
    expect_near(heed_schedule_rate(&s, 100000), 1.397542e-4);
    for (int64_t step = 1; step < 20000; step += 97) {
        double t = (double)step, d = pow(512.0, -0.5);
        expect_near(heed_schedule_rate(&s, step), d * fmin(pow(t, -0.5), t * pow(4000.0, -1.5)));
    }
}

static void others_rise_and_fall(void **state) {
    (void)state;
    heed_schedule s = {.kind = HEED_COSINE, .peak = 1.0, .floor = 0.1, .warmup = 10, .total = 110};
    expect_near(heed_schedule_rate(&s, 5), 0.5);
    expect_near(heed_schedule_rate(&s, 10), 1.0);
    expect_near(heed_schedule_rate(&s, 35), 0.1 + 0.9 * 0.5 * (1.0 + sqrt(0.5)));
    expect_near(heed_schedule_rate(&s, 60), 0.55);
    expect_near(heed_schedule_rate(&s, 110), 0.1);
    expect_near(heed_schedule_rate(&s, 1000), 0.1);
    s.kind = HEED_LINEAR;
    expect_near(heed_schedule_rate(&s, 1), 0.1);
    expect_near(heed_schedule_rate(&s, 35), 0.775);
    expect_near(heed_schedule_rate(&s, 110), 0.1);
    s.kind = HEED_CONSTANT;
    expect_near(heed_schedule_rate(&s, 9), 0.9);
    expect_near(heed_schedule_rate(&s, 100000), 1.0);
}

static void edges_are_defined(void **state) {
    (void)state;
    heed_schedule s = {.kind = HEED_LINEAR, .peak = 1.0, .warmup = 0, .total = 4};
    expect_near(heed_schedule_rate(&s, 1), 0.75);
    expect_near(heed_schedule_rate(&s, -7), 0.75);
    assert_true(heed_schedule_rate(&s, 4) == 0.0);
    s = (heed_schedule){.kind = HEED_INVERSE_SQRT, .peak = 1.0, .floor = 0.5, .warmup = 1};
    expect_near(heed_schedule_rate(&s, 2), sqrt(0.5));
    expect_near(heed_schedule_rate(&s, 100), 0.5);
    s = (heed_schedule){.kind = HEED_COSINE, .peak = 1.0, .warmup = 5, .total = 5};
    assert_true(heed_schedule_rate(&s, 5) == 0.0);
}

static void numbers_are_read_or_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"3e-4", 3e-4}, {"+.5", 0.5},    {"-0", 0.0},
                {"12.", 12.0},  {"1E+2", 100.0}, {"007", 7.0}};
    static const char *const bad[] = {"",    "-",   ".",     "e5", "1e", "1e+", "1.2.3", "0x1",
                                      "nan", "inf", "1e999", " 1", "1 ", "1_0", "1,5",   "--1"};
    double x;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(heed_number_read(good[i].text, strlen(good[i].text), &x));
        assert_true(x == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (heed_number_read(bad[i], strlen(bad[i]), &x)) {
            fail_msg("'%s' was read as %g", bad[i], x);
        }
    }
    assert_true(heed_number_read("12345", 3, &x) && x == 123.0); /* n counts, not a NUL */
    char digits[200];
    memset(digits, '1', sizeof digits);
    assert_false(heed_number_read(digits, sizeof digits, &x));
}

static void numbers_do_not_hang_on_the_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) {
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    }
    double x;
    assert_true(heed_number_read("2.5e-1", 6, &x));
    assert_true(x == 0.25);
    setlocale(LC_NUMERIC, "C");
    if (!found) {
        print_message("skipped: no locale with a decimal comma here\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse_root_is_the_formula_of_2017),
        cmocka_unit_test(others_rise_and_fall),
        cmocka_unit_test(edges_are_defined),
        cmocka_unit_test(numbers_are_read_or_refused),
        cmocka_unit_test(numbers_do_not_hang_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
