/* control_group.c: the limits of control groups, versions 1 and 2 of the interface.
 *
 * Method: each line of the list is "number:controllers:path". Version 2 has no controllers there
 * and lies right under the mount, version 1 in a folder named as the controller. From the path up
 * to the mount every group's limit counts. A path that is not there (a container that sees its own
 * group as the mount) leaves the mount alone.
 * SPDX-License-Identifier: MIT
 */
#include "base/control_group.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 1024 };

const heed_groups heed_own_groups = {"/proc/self/cgroup", "/sys/fs/cgroup"};

/* The limit that a group's folder sets, -1: none. */
typedef int64_t limit_of(const char *folder);

static int64_t least(int64_t a, int64_t b) {
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Up to two numbers of the file; how many there are ("max" is none). */
static int read_numbers(const char *folder, const char *name, int64_t number[2]) {
    char path[PATH + 40];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        return 0;
    }
    int read = fscanf(f, "%" SCNd64 " %" SCNd64, &number[0], &number[1]);
    fclose(f);
    return read;
}

static int64_t memory_of(const char *folder) {
    int64_t limit[2];
    return read_numbers(folder, "memory.max", limit) > 0              ? limit[0]
           : read_numbers(folder, "memory.limit_in_bytes", limit) > 0 ? limit[0]
                                                                      : -1;
}

static int64_t cores_of(const char *folder) {
    int64_t time[2], period[2];
    if (read_numbers(folder, "cpu.max", time) < 2) {
        if (read_numbers(folder, "cpu.cfs_quota_us", time) < 1 ||
            read_numbers(folder, "cpu.cfs_period_us", period) < 1) {
            return -1;
        }
        time[1] = period[0];
    }
    return time[0] > 0 && time[1] > 0 ? (time[0] - 1) / time[1] + 1 : -1;
}

/* Of the groups from mount/path up to the mount itself. */
static int64_t walk(const char *mount, const char *path, limit_of *limit) {
    char folder[PATH];
    int64_t found = -1;
    size_t n = strlen(mount);
    int whole = snprintf(folder, sizeof folder, "%s%s", mount, path);
    if (whole < 0 || (size_t)whole >= sizeof folder || strstr(path, "/..")) {
        snprintf(folder, sizeof folder, "%s", mount);
    }
    for (;;) {
        found = least(found, limit(folder));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= n || !slash) {
            return found;
        }
        *slash = '\0';
    }
}

/* Is `name` one of the words between commas? */
static bool names(const char *controllers, const char *name) {
    size_t n = strlen(name);
    for (const char *at = controllers; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static int64_t limit_by(const heed_groups *groups, const char *controller, limit_of *limit) {
    char line[PATH], mount[PATH];
    snprintf(mount, sizeof mount, "%s/%s", groups->mount, controller);
    int64_t found = least(walk(groups->mount, "", limit), walk(mount, "", limit));
    FILE *f = fopen(groups->list, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *path = NULL;
        if (controllers) {
            path = strchr(++controllers, ':');
        }
        if (!path) {
            continue;
        }
        *path++ = '\0';
        if (!*controllers || names(controllers, controller)) {
            found = least(found, walk(*controllers ? mount : groups->mount, path, limit));
        }
    }
    if (f) {
        fclose(f);
    }
    return found;
}

int64_t heed_group_memory(const heed_groups *groups) {
    return limit_by(groups, "memory", memory_of);
}

int64_t heed_group_cores(const heed_groups *groups) {
    return limit_by(groups, "cpu", cores_of);
}
