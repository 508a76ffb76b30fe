/* control_group.h: the limits of Linux's control groups that this process is in.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_CONTROL_GROUP_H
#define HEED_BASE_CONTROL_GROUP_H

#include <stdint.h>

/* Where the system tells of them: another place in tests. */
typedef struct {
    const char *list;  /* "/proc/self/cgroup": a line for each hierarchy */
    const char *mount; /* "/sys/fs/cgroup" */
} heed_groups;
extern const heed_groups heed_own_groups;

/* The least limit of the process's group and of those above it, which hold too; -1: there is
 * none. */
int64_t heed_group_memory(const heed_groups *groups); /* bytes */
int64_t heed_group_cores(const heed_groups *groups);  /* whole ones, rounded up */

#endif
