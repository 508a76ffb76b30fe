/* padded.h: padded matrices to ragged rows and back. Inside of look/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_LOOK_PADDED_H
#define HEED_LOOK_PADDED_H

#include "file/safetensors.h"

/* One side of a batch: which cells of batch x width are rows. */
typedef struct {
    const heed_host *host;
    int64_t batch, width, rows, longest;
    int64_t *start;    /* batch + 1 */
    int32_t *position; /* of each row: its column, or what was given */
    int64_t *cell;     /* of each row: its place in batch x width */
} heed_padded;

/* A tensor of integers, batch x width as an int64_t each; NULL where it is absent (with no error)
 * or has another shape (with one). batch 0: any. choices not NULL: the tensor is questions x
 * choices x width, and a batch is of both. Free with heed_free. */
int64_t *heed_padded_ints(const heed_host *host, const heed_tensors *file, const char *name,
                          int64_t *choices, int64_t *batch, int64_t *width, heed_error *err);
/* A tensor of `batch` integers, as above. */
int64_t *heed_padded_list(const heed_host *host, const heed_tensors *file, const char *name,
                          int64_t batch, heed_error *err);
/* Rows where mask (batch x width, or NULL: all) is not 0. positions: batch x width, or NULL; what
 * they count from is `first`, which an error adds again. */
bool heed_padded_make(heed_padded *p, const heed_host *host, int64_t batch, int64_t width,
                      const int64_t *mask, const int64_t *positions, int64_t first,
                      heed_error *err);
void heed_padded_free(heed_padded *p);

/* rows x cols to batch x width x cols, zeros elsewhere (out is all zeros before). */
void heed_padded_put(const heed_padded *p, const float *data, int64_t cols, float *out);
/* Blocks [heads][queries][keys], one a sequence, to batch x heads x query width x key width. */
void heed_padded_put_pairs(const heed_padded *queries, const heed_padded *keys, const float *data,
                           int64_t heads, float *out);

#endif
