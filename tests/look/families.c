/* families.c: every family, class and twist of tests/golden/families computes what transformers
 * computes in double: a batch with rows padded left and right and with holes, on every instruction
 * set. Each folder is a test; a new one is found by itself.
 * SPDX-License-Identifier: MIT
 */
#include "look/compare.h"

#include <dirent.h>

#define ROOT "tests/golden/families/"
enum { MOST = 200 };

static void one(void **state) {
    char folder[300];
    snprintf(folder, sizeof folder, ROOT "%s", (const char *)*state);
    trace_folder(folder);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

int main(void) {
    static char name[MOST][256];
    struct CMUnitTest tests[MOST];
    size_t n = 0;
    DIR *root = opendir(ROOT);
    for (struct dirent *e; root && n < MOST && (e = readdir(root));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(name[n], sizeof name[n], "%.79s", e->d_name);
        tests[n] = (struct CMUnitTest){.name = name[n], .test_func = one, .initial_state = name[n]};
        n++;
    }
    if (root)
        closedir(root);
    qsort(tests, n, sizeof *tests, by_name);
    return n < 2 ? 1 : _cmocka_run_group_tests("families", tests, n, NULL, NULL);
}
