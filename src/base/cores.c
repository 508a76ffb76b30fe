/* cores.c: how many physical cores this process may use.
 *
 * Method (Linux): the affinity mask, of which a processor counts unless a lower one of the mask
 * sits on the same core; then the control groups' quota of time, rounded up, since threads
 * beyond it only take turns. Elsewhere the system's own count.
 * SPDX-License-Identifier: MIT
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base/thread.h"

#if defined(__linux__)

#include "base/control_group.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define SYSTEM "/sys/devices/system/cpu"

enum { MOST = 8192 };

/* One set of MOST processors; larger machines count as MOST. */
typedef struct {
    _Alignas(cpu_set_t) unsigned char bytes[MOST / 8];
} processors;

static bool has(const processors *set, long cpu) {
    return cpu >= 0 && cpu < MOST && CPU_ISSET_S((size_t)cpu, sizeof *set, (const cpu_set_t *)set);
}

/* The lowest processor of the mask among the siblings of `cpu`, from a list such as "0-1,64". */
static long lowest_sibling(const processors *set, long cpu) {
    char path[96], text[256];
    snprintf(path, sizeof path, SYSTEM "/cpu%ld/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "r");
    if (!f) {
        return cpu;
    }
    char *at = fgets(text, sizeof text, f);
    fclose(f);
    while (at && *at >= '0' && *at <= '9') {
        long from = strtol(at, &at, 10), to = from;
        if (*at == '-') {
            to = strtol(at + 1, &at, 10);
        }
        for (long i = from; i <= to && i < cpu; i++) {
            if (has(set, i)) {
                return i;
            }
        }
        at += *at == ',';
    }
    return cpu;
}

int heed_cores(void) {
    processors set = {{0}};
    if (sched_getaffinity(0, sizeof set, (cpu_set_t *)&set) != 0) {
        return 1;
    }
    int cores = 0;
    for (long cpu = 0; cpu < MOST; cpu++) {
        cores += has(&set, cpu) && lowest_sibling(&set, cpu) == cpu;
    }
    int64_t granted = heed_group_cores(&heed_own_groups);
    cores = granted > 0 && granted < cores ? (int)granted : cores;
    return cores > 0 ? cores : 1;
}

#elif defined(__APPLE__)

#include <sys/sysctl.h>

int heed_cores(void) {
    int cores = 0;
    size_t size = sizeof cores;
    return sysctlbyname("hw.physicalcpu", &cores, &size, NULL, 0) == 0 && cores > 0 ? cores : 1;
}

#else

#include <unistd.h>

int heed_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

#endif
