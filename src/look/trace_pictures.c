/* trace_pictures.c: the pictures of a file to rows of patches.
 * SPDX-License-Identifier: MIT
 */
#include "look/trace.h"

#include "data/patches.h"

#include <inttypes.h>

/* pixel_values: batch x channels x height x width, as the model wants them. */
static const heed_tensor *find_pictures(const heed_trace_run *t, const heed_tensors *file,
                                        heed_error *err) {
    const heed_config *c = t->config;
    const heed_tensor *p = heed_tensors_find(file, "pixel_values");
    char shape[180];
    if (!p)
        heed_fail(err, HEED_NAME, "there is no tensor 'pixel_values'");
    else if (p->rank != 4 || p->dim[0] < 1 || p->dim[1] != c->channels)
        heed_fail(err, HEED_SHAPE,
                  "'pixel_values' is %s, wanted (pictures,%" PRId64 ",height,width)",
                  heed_tensor_shape(p, shape), c->channels);
    else if (p->dim[2] < c->patch[0] || p->dim[3] < c->patch[1])
        heed_fail(err, HEED_SHAPE,
                  "'pixel_values' is %s, which holds no patch of (%" PRId64 ",%" PRId64 ")",
                  heed_tensor_shape(p, shape), c->patch[0], c->patch[1]);
    else
        return p;
    return NULL;
}

/* What transformers reads besides, and is not read here. */
static bool nothing_else(const heed_tensors *file, heed_error *err) {
    static const char *const others[] = {"bool_masked_pos", "attention_mask"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (heed_tensors_find(file, others[i]))
            return heed_fail(err, HEED_NAME, "'%s' of pictures is not known here", others[i]);
    return true;
}

static bool cut(heed_trace_run *t, const heed_tensor *p, const float *pixels, heed_error *err) {
    const heed_config *c = t->config;
    int64_t height = p->dim[2], width = p->dim[3];
    t->grid[0] = height / c->patch[0];
    t->grid[1] = width / c->patch[1];
    int64_t rows = t->grid[0] * t->grid[1], cols = c->channels * c->patch[0] * c->patch[1];
    t->patches = heed_alloc(t->host, (size_t)(p->dim[0] * rows * cols), sizeof *t->patches, err);
    for (int64_t i = 0; t->patches && i < p->dim[0]; i++)
        heed_cut_patches(pixels + i * c->channels * height * width, c->channels, height, width,
                         c->patch, t->patches + i * rows * cols);
    return t->patches != NULL;
}

bool heed_trace_read_pictures(heed_trace_run *t, const heed_tensors *file, heed_error *err) {
    const heed_tensor *p = find_pictures(t, file, err);
    if (!p || !nothing_else(file, err))
        return false;
    float *pixels = heed_alloc(t->host, (size_t)heed_tensor_elements(p), sizeof *pixels, err);
    bool ok = pixels && heed_tensor_to_f32(p, pixels, err) && cut(t, p, pixels, err) &&
              heed_padded_make(&t->source, t->host, p->dim[0], t->grid[0] * t->grid[1], NULL, NULL,
                               0, err);
    heed_free(t->host, pixels);
    if (!ok || t->config->head == HEED_HEAD_NONE)
        return ok;
    return heed_trace_read_each(t, file, p->dim[0], err);
}
