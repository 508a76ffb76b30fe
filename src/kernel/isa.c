/* isa.c: the table of instruction sets, and the choice among them.
 *
 * Derived from isa.def, worst first. A set's table is the reference with every usable set up to it
 * laid over.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/isa.h"

#include <string.h>

typedef struct {
    const char *name;
    const char *(*missing)(void);
    void (*init)(heed_kernels *);
} isa_entry;

static const isa_entry SETS[] = {
#define HEED_ISA(name) {#name, heed_missing_##name, heed_kernels_##name},
#include "kernel/isa.def"
#undef HEED_ISA
};

int heed_isa_count(void) {
    return (int)(sizeof SETS / sizeof *SETS);
}

heed_isa heed_isa_at(int i) {
    const char *missing = SETS[i].missing();
    return (heed_isa){SETS[i].name, missing == NULL, missing, SETS[i].init};
}

/* Index of the set asked for, or of the best usable one; -1 where there is none. */
static int chosen(const char *name) {
    for (int i = heed_isa_count() - 1; i >= 0; i--) {
        if (name && strcmp(name, SETS[i].name) != 0) {
            continue;
        }
        if (!SETS[i].missing()) {
            return i;
        }
    }
    return -1;
}

bool heed_kernels_init(heed_kernels *k, const char *name) {
    int last = chosen(name);
    for (int i = 0; i <= last; i++) {
        if (!SETS[i].missing()) {
            SETS[i].init(k);
        }
    }
    return last >= 0;
}
