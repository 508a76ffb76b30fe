/* patches.c: pictures cut into patches, against a plain look-up of each number.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "data/patches.h"

enum { MOST = 512 };

static void try_cut(int64_t channels, int64_t height, int64_t width, int64_t ph, int64_t pw) {
    float picture[MOST], rows[MOST + 1];
    int64_t per_row = channels * ph * pw, across = width / pw, n = height / ph * across;
    for (int i = 0; i < MOST; i++)
        picture[i] = (float)i;
    for (int i = 0; i <= MOST; i++)
        rows[i] = -1;
    heed_cut_patches(picture, channels, height, width, (const int64_t[]){ph, pw}, rows);
    for (int64_t i = 0; i < n * per_row; i++) {
        int64_t patch = i / per_row, c = i % per_row / (ph * pw);
        int64_t y = patch / across * ph + i % (ph * pw) / pw, x = patch % across * pw + i % pw;
        assert_int_equal((int)rows[i], (c * height + y) * width + x);
    }
    assert_int_equal((int)rows[n * per_row], -1);
}

static void test_cut(void **state) {
    (void)state;
    try_cut(3, 8, 12, 4, 4);
    try_cut(1, 6, 6, 2, 3);
    try_cut(2, 5, 7, 2, 2);
    try_cut(3, 4, 4, 4, 4);
    try_cut(1, 3, 9, 4, 4); /* no patch is whole */
    try_cut(2, 3, 3, 1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
