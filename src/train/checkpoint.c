/* checkpoint.c: what is in a checkpoint, written and read back.
 *
 * Numbers of the state are written as their bits, so that they come back as they were.
 * SPDX-License-Identifier: MIT
 */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "file/safetensors.h"

enum { NUMBER = 40, NAME_MOST = 256 };

/* ---- The state as metadata ------------------------------------------------------------------- */

typedef struct {
    const char *name;
    size_t offset; /* in heed_train_state; all fields have 8 bytes */
    bool whole;
} field;
enum { KIND_number, KIND_whole };
static const field STATE[] = {
#define STATE_FIELD(kind, name) {#name, offsetof(heed_train_state, name), KIND_##kind},
    HEED_TRAIN_STATE(STATE_FIELD)
#undef STATE_FIELD
};
enum { FIELDS = sizeof STATE / sizeof *STATE };

/* Whole numbers in decimal for a reader, the others as their bits. */
static void describe(const heed_train_state *state, char text[FIELDS][NUMBER],
                     heed_meta meta[FIELDS]) {
    for (int i = 0; i < FIELDS; i++) {
        uint64_t bits;
        memcpy(&bits, (const char *)state + STATE[i].offset, sizeof bits);
        if (STATE[i].whole) {
            snprintf(text[i], NUMBER, "%" PRId64, (int64_t)bits);
        } else {
            snprintf(text[i], NUMBER, "%016" PRIx64, bits);
        }
        meta[i] = (heed_meta){.key = STATE[i].name, .value = text[i]};
    }
}

static bool read_field(const field *f, const char *text, heed_train_state *state) {
    char *end;
    uint64_t bits = f->whole ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 16);
    memcpy((char *)state + f->offset, &bits, sizeof bits);
    return *text != '\0' && *end == '\0';
}

static bool read_state(const heed_tensors *file, const char *path, heed_train_state *state,
                       heed_error *err) {
    for (int i = 0; i < FIELDS; i++) {
        const char *text = heed_tensors_meta(file, STATE[i].name);
        if (!text || !read_field(&STATE[i], text, state)) {
            return heed_fail(err, HEED_FILE, "'%s' is no checkpoint: its '%s' is %s", path,
                             STATE[i].name, text ? "not a number" : "missing");
        }
    }
    return true;
}

/* ---- Weights and moments ----------------------------------------------------------------------
 * Three tensors for each parameter. */

typedef struct {
    const char *prefix;
    size_t offset; /* of the pointer in heed_param */
} part;
static const part PARTS[] = {{"", offsetof(heed_param, weight)},
                             {"adam.m.", offsetof(heed_param, m)},
                             {"adam.v.", offsetof(heed_param, v)}};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

static heed_real *data_of(const heed_param *param, int which) {
    heed_real *data;
    memcpy(&data, (const char *)param + PARTS[which].offset, sizeof data);
    return data;
}

static bool list_tensors(heed_region *names, heed_tensor *list, const heed_param *params,
                         int64_t count, heed_error *err) {
    for (int64_t i = 0; i < count; i++) {
        for (int which = 0; which < PART_COUNT; which++) {
            char name[NAME_MOST];
            int n = snprintf(name, sizeof name, "%s%s", PARTS[which].prefix, params[i].name);
            if (n < 0 || n >= NAME_MOST) {
                return heed_fail(err, HEED_NAME, "the name of weight '%s' is too long",
                                 params[i].name);
            }
            *list++ = (heed_tensor){.name = heed_region_text(names, name, (size_t)n, err),
                                    .type = HEED_F32,
                                    .rank = 1,
                                    .dim = {params[i].n},
                                    .data = data_of(&params[i], which),
                                    .bytes = (size_t)params[i].n * sizeof(heed_real)};
            if (!list[-1].name) {
                return false;
            }
        }
    }
    return true;
}

static bool write_checkpoint(const heed_host *host, const char *path, const heed_train_state *state,
                             const heed_param *params, int64_t count, heed_error *err) {
    char text[FIELDS][NUMBER];
    heed_meta meta[FIELDS];
    heed_region names = {.host = host};
    heed_tensor *list = heed_alloc(host, (size_t)count * PART_COUNT, sizeof *list, err);
    describe(state, text, meta);
    bool ok = list && list_tensors(&names, list, params, count, err) &&
              heed_tensors_write(host, path, list, count * PART_COUNT, meta, FIELDS, err);
    heed_free(host, list);
    heed_region_free(&names);
    return ok;
}

/* The tensor of a part of a parameter, of the right size. */
static const heed_tensor *find_part(const heed_tensors *file, const char *path,
                                    const heed_param *param, int which, heed_error *err) {
    char name[NAME_MOST];
    snprintf(name, sizeof name, "%s%s", PARTS[which].prefix, param->name);
    const heed_tensor *t = heed_tensors_find(file, name);
    if (!t) {
        heed_fail(err, HEED_NAME, "checkpoint '%s' has no '%s', it is of another model", path,
                  name);
        return NULL;
    }
    if (t->type != HEED_F32 || heed_tensor_elements(t) != param->n) {
        char shape[180];
        heed_fail(err, HEED_SHAPE, "'%s' is %s in checkpoint '%s', the model wants (%" PRId64 ")",
                  name, heed_tensor_shape(t, shape), path, param->n);
        return NULL;
    }
    return t;
}

static bool check_parts(const heed_tensors *file, const char *path, const heed_param *params,
                        int64_t count, heed_error *err) {
    for (int64_t i = 0; i < count; i++) {
        for (int which = 0; which < PART_COUNT; which++) {
            if (!find_part(file, path, &params[i], which, err)) {
                return false;
            }
        }
    }
    if (heed_tensors_count(file) == count * PART_COUNT) {
        return true;
    }
    return heed_fail(err, HEED_NAME,
                     "checkpoint '%s' has %" PRId64 " tensors, the model wants %" PRId64, path,
                     heed_tensors_count(file), count * PART_COUNT);
}

static bool copy_parts(const heed_tensors *file, const char *path, const heed_param *params,
                       int64_t count, heed_error *err) {
    for (int64_t i = 0; i < count; i++) {
        for (int which = 0; which < PART_COUNT; which++) {
            const heed_tensor *t = find_part(file, path, &params[i], which, err);
            if (!t || !heed_tensor_to_f32(t, data_of(&params[i], which), err)) {
                return false;
            }
        }
    }
    return true;
}

static bool read_checkpoint(const heed_host *host, const char *path, heed_train_state *state,
                            const heed_param *params, int64_t count, heed_error *err) {
    heed_train_state read = {0};
    heed_tensors *file = heed_tensors_open(host, path, err);
    bool ok = file && read_state(file, path, &read, err) &&
              check_parts(file, path, params, count, err) &&
              copy_parts(file, path, params, count, err);
    heed_tensors_free(file);
    if (ok) {
        *state = read;
    }
    return ok;
}

bool heed_checkpoint_save(const heed_host *host, const char *folder, const heed_train_state *state,
                          const heed_param *params, int64_t count, heed_checkpoint_rule rule,
                          heed_error *err) {
    char path[HEED_CHECKPOINT_PATH];
    rule.best = state->best_step;
    rule.newest = state->step;
    return heed_make_folder(folder, err) && heed_checkpoint_path(path, folder, state->step, err) &&
           write_checkpoint(host, path, state, params, count, err) &&
           heed_checkpoint_prune(host, folder, rule, err);
}

bool heed_checkpoint_resume(const heed_host *host, const char *folder, heed_train_state *state,
                            const heed_param *params, int64_t count, bool *found, int64_t *damaged,
                            heed_error *err) {
    heed_checkpoints list = {0};
    heed_error last = {0};
    *found = false;
    *damaged = 0;
    if (!heed_checkpoint_list(host, folder, &list, err)) {
        return false;
    }
    for (size_t i = list.n; i-- > 0 && !*found;) {
        char path[HEED_CHECKPOINT_PATH];
        last = (heed_error){0};
        *found = heed_checkpoint_path(path, folder, list.step[i], &last) &&
                 read_checkpoint(host, path, state, params, count, &last);
        if (!*found && last.code != HEED_FILE) {
            break; /* another model, or no memory: an older one would not help */
        }
        *damaged += !*found;
    }
    heed_free(host, list.step);
    if (*found || list.n == 0) {
        return true;
    }
    return heed_fail(err, last.code, "%s", last.text);
}

/* ---- Means ----------------------------------------------------------------------------------- */

static void add_weights(double *sum, const float *weight, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        sum[i] += weight[i];
    }
}

static void set_mean(heed_real *weight, const double *sum, int64_t n, size_t files) {
    for (int64_t i = 0; i < n; i++) {
        weight[i] = (heed_real)(sum[i] / (double)files);
    }
}

static bool average_one(heed_tensors *const *file, const int64_t *steps, size_t files,
                        const heed_param *param, double *sum, float *weight, heed_error *err) {
    memset(sum, 0, (size_t)param->n * sizeof *sum);
    for (size_t f = 0; f < files; f++) {
        char label[64];
        snprintf(label, sizeof label, "step-%" PRId64, steps[f]);
        const heed_tensor *t = find_part(file[f], label, param, 0, err);
        if (!t || !heed_tensor_to_f32(t, weight, err)) {
            return false;
        }
        add_weights(sum, weight, param->n);
    }
    set_mean(param->weight, sum, param->n, files);
    return true;
}

static bool average_all(heed_tensors *const *file, const int64_t *steps, size_t files,
                        const heed_param *params, int64_t count, const heed_host *host,
                        heed_error *err) {
    int64_t longest = 0;
    for (int64_t i = 0; i < count; i++) {
        longest = params[i].n > longest ? params[i].n : longest;
    }
    double *sum = heed_alloc(host, (size_t)longest, sizeof *sum, err);
    float *weight = sum ? heed_alloc(host, (size_t)longest, sizeof *weight, err) : NULL;
    bool ok = weight != NULL;
    for (int64_t i = 0; ok && i < count; i++) {
        ok = average_one(file, steps, files, &params[i], sum, weight, err);
    }
    heed_free(host, weight);
    heed_free(host, sum);
    return ok;
}

bool heed_checkpoint_average(const heed_host *host, const char *folder, const int64_t *steps,
                             size_t n, const heed_param *params, int64_t count, heed_error *err) {
    heed_tensors **file = heed_alloc(host, n, sizeof(heed_tensors *), err);
    bool ok = file != NULL;
    for (size_t f = 0; ok && f < n; f++) {
        char path[HEED_CHECKPOINT_PATH];
        ok = heed_checkpoint_path(path, folder, steps[f], err) &&
             (file[f] = heed_tensors_open(host, path, err)) != NULL;
    }
    ok = ok && average_all(file, steps, n, params, count, host, err);
    for (size_t f = 0; file && f < n; f++) {
        heed_tensors_free(file[f]);
    }
    heed_free(host, file);
    return ok;
}
