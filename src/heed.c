/* heed.c: the small parts of the public face: the version, the processor.
 *
 * Most of heed.h is implemented where it belongs; a declaration there and the function on its floor
 * are one and the same.
 * SPDX-License-Identifier: MIT
 */
#include "base/thread.h"
#include "kernel/kernel.h"

const char *heed_version(void) {
    return HEED_VERSION;
}

heed_cpu_set heed_cpu_isa(int i) {
    if (i < 0 || i >= heed_isa_count()) {
        return (heed_cpu_set){0};
    }
    heed_isa set = heed_isa_at(i);
    return (heed_cpu_set){.name = set.name, .usable = set.usable, .why = set.why};
}

int heed_cpu_cores(void) {
    return heed_cores();
}
