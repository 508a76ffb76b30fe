/* memory_size.c: how much memory this process may have.
 *
 * The machine's, or what the control groups grant where that is less.
 * SPDX-License-Identifier: MIT
 */
#include "heed.h"

#include <unistd.h>

#include "base/control_group.h"

size_t heed_machine_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) {
        return 0;
    }
    size_t bytes = (size_t)pages * (size_t)page;
    int64_t granted = heed_group_memory(&heed_own_groups);
    return granted > 0 && (uint64_t)granted < bytes ? (size_t)granted : bytes;
}

size_t heed_most_bytes(void) {
    return heed_machine_bytes() / 16 * 15;
}
