/* trace.c: what a run computes is what PyTorch computes in double, padding and all, on every
 * instruction set.
 * SPDX-License-Identifier: MIT
 */
#include "look/compare.h"

#define FOLDERS(X)                                                                                 \
    X(marian, a)                                                                                   \
    X(marian, b) X(marian, c) X(marian, d) X(pegasus, a) X(pegasus, b) X(pegasus, c) X(pegasus, d)
#define DEFINE(family, letter)                                                                     \
    static void family##_##letter(void **state) {                                                  \
        (void)state;                                                                               \
        trace_folder("tests/golden/" #family "-" #letter);                                         \
    }
FOLDERS(DEFINE)

int main(void) {
#define LIST(family, letter) cmocka_unit_test(family##_##letter),
    const struct CMUnitTest tests[] = {FOLDERS(LIST)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
