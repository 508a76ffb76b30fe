/* memory_size.c: how much memory this process may have.
 *
 * The machine's, or the control group's limit where that is less (versions 2 and 1 of the
 * interface).
 * SPDX-License-Identifier: MIT
 */
#include "heed.h"

#include <stdio.h>
#include <unistd.h>

static size_t least_of_file(const char *path, size_t bytes) {
    unsigned long long limit;
    FILE *f = fopen(path, "r");
    if (!f) {
        return bytes;
    }
    int read = fscanf(f, "%llu", &limit); /* "max" is no number */
    fclose(f);
    return read == 1 && limit < bytes ? (size_t)limit : bytes;
}

size_t heed_machine_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) {
        return 0;
    }
    size_t bytes = (size_t)pages * (size_t)page;
    bytes = least_of_file("/sys/fs/cgroup/memory.max", bytes);
    return least_of_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", bytes);
}
