/* checkpoint_list.c: which checkpoints a folder has, and which may go.
 *
 * The names are the list: there is no index that could disagree with the files. The newest, and the
 * best, are taken away by nothing; a file goes only when enough newer ones were written by this
 * training.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "train/checkpoint.h"

bool heed_checkpoint_path(char out[HEED_CHECKPOINT_PATH], const char *folder, int64_t step,
                          heed_error *err) {
    char name[64];
    snprintf(name, sizeof name, "step-%" PRId64 ".safetensors", step);
    return heed_join_path(out, HEED_CHECKPOINT_PATH, folder, name, err);
}

/* The step of a name that heed_checkpoint_path would give, else -1. */
static int64_t step_of(const char *name) {
    static const char start[] = "step-", end[] = ".safetensors";
    char again[64], *rest;
    if (strncmp(name, start, sizeof start - 1) != 0) {
        return -1;
    }
    long long step = strtoll(name + sizeof start - 1, &rest, 10);
    if (strcmp(rest, end) != 0 || step < 0) {
        return -1;
    }
    snprintf(again, sizeof again, "%s%lld%s", start, step, end);
    return strcmp(again, name) == 0 ? step : -1;
}

static int by_step(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool heed_checkpoint_list(const heed_host *host, const char *folder, heed_checkpoints *list,
                          heed_error *err) {
    size_t cap = 0;
    bool ok = true;
    *list = (heed_checkpoints){0};
    DIR *dir = opendir(folder);
    if (!dir) {
        return errno == ENOENT ||
               heed_fail_system(err, HEED_FILE, errno, "cannot read folder '%s'", folder);
    }
    for (struct dirent *e; ok && (e = readdir(dir));) {
        int64_t step = step_of(e->d_name);
        if (step >= 0) {
            ok = heed_reserve(host, (void **)&list->step, &cap, list->n + 1, sizeof *list->step,
                              err);
            if (ok) {
                list->step[list->n++] = step;
            }
        }
    }
    closedir(dir);
    if (!ok) {
        heed_free(host, list->step);
        *list = (heed_checkpoints){0};
    } else if (list->n > 0) {
        qsort(list->step, list->n, sizeof *list->step, by_step);
    }
    return ok;
}

/* The steps that the rule speaks of, without the stopped one; the others are behind them. */
static size_t counted(const heed_checkpoints *list, const heed_checkpoint_rule *rule) {
    size_t n = 0;
    for (size_t i = 0; i < list->n && list->step[i] <= rule->newest; i++) {
        n += list->step[i] != rule->stopped;
    }
    return n;
}

bool heed_checkpoint_prune(const heed_host *host, const char *folder, heed_checkpoint_rule rule,
                           heed_error *err) {
    heed_checkpoints list;
    if (!heed_checkpoint_list(host, folder, &list, err)) {
        return false;
    }
    bool ok = true;
    size_t left = counted(&list, &rule);
    for (size_t i = 0; ok && i < list.n && list.step[i] <= rule.newest; i++) {
        char path[HEED_CHECKPOINT_PATH];
        bool stopped = list.step[i] == rule.stopped;
        bool old = !stopped && left-- > (size_t)rule.keep;
        if ((stopped || old) && list.step[i] != rule.best) {
            ok = heed_checkpoint_path(path, folder, list.step[i], err) &&
                 heed_remove_file(path, err);
        }
    }
    heed_free(host, list.step);
    return ok;
}
