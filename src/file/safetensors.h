/* safetensors.h: named tensors in files: memory-mapped reading, whole-or-nothing writing.
 *
 * Format (Hugging Face, safetensors 0.8): 8 bytes little-endian header length, a JSON object
 * {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {string: string}},
 * then the data, which the tensors cover without hole or overlap. All of that is checked before a
 * tensor is handed out.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_SAFETENSORS_H
#define HEED_FILE_SAFETENSORS_H

#include "base/dtype.h"
#include "base/mem.h"

enum { HEED_TENSOR_RANK = 8, HEED_TENSOR_HEADER_MAX = 100000000 };

typedef struct {
    const char *name;
    heed_type type;
    int rank; /* 0: one element */
    int64_t dim[HEED_TENSOR_RANK];
    /* NULL where bytes is 0; in an opened file of any alignment (others' headers need not pad). */
    const void *data;
    size_t bytes;
} heed_tensor;

typedef struct {
    const char *key, *value;
} heed_meta;

/* Opens one file (safetensors, what torch.save writes, llama2.c's), or a model folder: its
 * model.safetensors, the shards of model.safetensors.index.json, its pytorch_model.bin, or the
 * shards of that one's index. The tensors point into the mapped files and live until
 * heed_tensors_free; after opening, any number of threads may read. Failures name the file and the
 * tensor; a file cut short says by how many bytes. */
typedef struct heed_tensors heed_tensors;
heed_tensors *heed_tensors_open(const heed_host *host, const char *path, heed_error *err);
/* The same from bytes of the caller, which must outlive it; `label` stands for the path in
 * errors. */
heed_tensors *heed_tensors_from_bytes(const heed_host *host, const char *label, const void *data,
                                      size_t n, heed_error *err);
void heed_tensors_free(heed_tensors *t); /* NULL allowed */

/* "safetensors", "torch" or "llama2.c": of the last file that was read. */
const char *heed_tensors_format(const heed_tensors *t);
/* In file order (shards by name, then by place in the data). */
int64_t heed_tensors_count(const heed_tensors *t);
/* True where all data lies in mapped files, false where it is the caller's. */
bool heed_tensors_mapped(const heed_tensors *t);
const heed_tensor *heed_tensors_at(const heed_tensors *t, int64_t i);
const heed_tensor *heed_tensors_find(const heed_tensors *t,
                                     const char *name); /* NULL where absent */
int64_t heed_tensors_meta_count(const heed_tensors *t);
const heed_meta *heed_tensors_meta_at(const heed_tensors *t, int64_t i);
const char *heed_tensors_meta(const heed_tensors *t, const char *key); /* NULL where absent */

/* Writes a file that the reference library reads, byte for byte the one that it would write:
 * tensors ordered by type and name, header padded with spaces to 8 bytes; metadata in the order
 * given. Refuses (HEED_NAME) a name twice, (HEED_SHAPE) bytes that do not equal the shape times the
 * element. `bytes` may be 0 to have it computed. */
bool heed_tensors_write(const heed_host *host, const char *path, const heed_tensor *list, int64_t n,
                        const heed_meta *meta, int64_t metas, heed_error *err);

/* Gives the t->bytes bytes of a tensor that is being written; they stay until the next call. NULL
 * with err where that fails. */
typedef const void *heed_tensor_source(void *ctx, const heed_tensor *t, heed_error *err);
/* The same, one tensor at a time: its bytes come from `source` when it is written, and `data` may
 * be anything, which the source finds there again. */
bool heed_tensors_write_from(const heed_host *host, const char *path, const heed_tensor *list,
                             int64_t n, const heed_meta *meta, int64_t metas,
                             heed_tensor_source *source, void *ctx, heed_error *err);

int64_t heed_tensor_elements(const heed_tensor *t);
/* "(64,512)" into out, for messages. */
const char *heed_tensor_shape(const heed_tensor *t, char out[180]);
/* All elements as floats / integers; HEED_VALUE names the tensor and its type where that makes
 * no sense. */
bool heed_tensor_to_f32(const heed_tensor *t, float *out, heed_error *err);
bool heed_tensor_to_i64(const heed_tensor *t, int64_t *out, heed_error *err);

#endif
