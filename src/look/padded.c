/* padded.c: the only place that knows of padding.
 * SPDX-License-Identifier: MIT
 */
#include "look/padded.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

static bool shaped(const heed_tensor *t, const int64_t *choices, int64_t batch, int64_t width,
                   heed_error *err) {
    int64_t several = choices ? t->dim[1] : 1;
    char shape[180];
    heed_tensor_shape(t, shape);
    if (t->rank != (choices ? 3 : 2))
        return heed_fail(err, HEED_SHAPE, "'%s' is %s, wanted %s", t->name, shape,
                         choices ? "three dimensions: questions, choices and length"
                                 : "two dimensions: batch and length");
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] < 1)
            return heed_fail(err, HEED_SHAPE, "'%s' is %s, so there is nothing to run", t->name,
                             shape);
    if (!batch || (t->dim[0] * several == batch && t->dim[t->rank - 1] == width))
        return true;
    if (!choices)
        return heed_fail(err, HEED_SHAPE, "'%s' is %s, wanted (%" PRId64 ",%" PRId64 ")", t->name,
                         shape, batch, width);
    return heed_fail(err, HEED_SHAPE, "'%s' is %s, wanted (%" PRId64 ",%" PRId64 ",%" PRId64 ")",
                     t->name, shape, batch / *choices, *choices, width);
}

int64_t *heed_padded_ints(const heed_host *host, const heed_tensors *file, const char *name,
                          int64_t *choices, int64_t *batch, int64_t *width, heed_error *err) {
    const heed_tensor *t = heed_tensors_find(file, name);
    if (!t || !shaped(t, choices, *batch, *width, err)) {
        return NULL;
    }
    int64_t *out = heed_alloc(host, (size_t)heed_tensor_elements(t), sizeof *out, err);
    if (out && !heed_tensor_to_i64(t, out, err)) {
        heed_free(host, out);
        return NULL;
    }
    if (choices) {
        *choices = t->dim[1];
    }
    *batch = t->dim[0] * (choices ? t->dim[1] : 1);
    *width = t->dim[t->rank - 1];
    return out;
}

int64_t *heed_padded_list(const heed_host *host, const heed_tensors *file, const char *name,
                          int64_t batch, heed_error *err) {
    const heed_tensor *t = heed_tensors_find(file, name);
    char shape[180];
    if (!t) {
        return NULL;
    }
    if (t->rank != 1 || t->dim[0] != batch) {
        heed_fail(err, HEED_SHAPE, "'%s' is %s, wanted (%" PRId64 "): one for each sequence", name,
                  heed_tensor_shape(t, shape), batch);
        return NULL;
    }
    int64_t *out = heed_alloc(host, (size_t)batch, sizeof *out, err);
    if (out && !heed_tensor_to_i64(t, out, err)) {
        heed_free(host, out);
        return NULL;
    }
    return out;
}

static bool add_row(heed_padded *p, int64_t cell, const int64_t *positions, int64_t first,
                    heed_error *err) {
    int64_t position = positions ? positions[cell] : cell % p->width;
    if (position < -first || position > INT32_MAX) {
        return heed_fail(err, HEED_VALUE, "position_ids hold %" PRId64, position + first);
    }
    p->position[p->rows] = (int32_t)position;
    p->cell[p->rows++] = cell;
    return true;
}

bool heed_padded_make(heed_padded *p, const heed_host *host, int64_t batch, int64_t width,
                      const int64_t *mask, const int64_t *positions, int64_t first,
                      heed_error *err) {
    size_t cells = (size_t)(batch * width);
    *p = (heed_padded){.host = host, .batch = batch, .width = width};
    p->start = heed_alloc(host, (size_t)batch + 1, sizeof *p->start, err);
    p->position = heed_alloc(host, cells, sizeof *p->position, err);
    p->cell = heed_alloc(host, cells, sizeof *p->cell, err);
    if (!p->start || !p->position || !p->cell) {
        return false;
    }
    for (int64_t i = 0; i < batch; i++) {
        for (int64_t c = i * width; c < (i + 1) * width; c++) {
            if ((!mask || mask[c]) && !add_row(p, c, positions, first, err)) {
                return false;
            }
        }
        p->start[i + 1] = p->rows;
        int64_t length = p->rows - p->start[i];
        p->longest = length > p->longest ? length : p->longest;
    }
    return p->rows > 0 || heed_fail(err, HEED_VALUE, "the mask leaves no row");
}

void heed_padded_free(heed_padded *p) {
    heed_free(p->host, p->start);
    heed_free(p->host, p->position);
    heed_free(p->host, p->cell);
    *p = (heed_padded){0};
}

void heed_padded_put(const heed_padded *p, const float *data, int64_t cols, float *out) {
    for (int64_t r = 0; r < p->rows; r++) {
        memcpy(out + p->cell[r] * cols, data + r * cols, (size_t)cols * sizeof *out);
    }
}

void heed_padded_put_pairs(const heed_padded *queries, const heed_padded *keys, const float *data,
                           int64_t heads, float *out) {
    for (int64_t i = 0; i < queries->batch; i++) {
        int64_t q = queries->start[i + 1] - queries->start[i];
        int64_t k = keys->start[i + 1] - keys->start[i];
        const int64_t *row = queries->cell + queries->start[i], *col = keys->cell + keys->start[i];
        for (int64_t n = 0; n < heads * q * k; n++) {
            int64_t h = n / (q * k), a = row[n / k % q] % queries->width,
                    b = col[n % k] % keys->width;
            out[((i * heads + h) * queries->width + a) * keys->width + b] = data[n];
        }
        data += heads * q * k;
    }
}
