/* tensors.h: inside of heed_tensors, for the files that fill it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_TENSORS_H
#define HEED_FILE_TENSORS_H

#include "base/fs.h"
#include "base/map.h"
#include "file/safetensors.h"

struct heed_tensors {
    const heed_host *host;
    const char *format; /* of the last file */
    heed_tensor
        *tensor; /* names and metadata lie in `texts`, data in `file` or in the caller's bytes */
    size_t tensor_cap;
    int64_t n;
    heed_meta *meta;
    size_t meta_cap;
    int64_t metas;
    heed_map by_name; /* name to index into tensor */
    heed_map by_key;  /* key to index into meta */
    heed_mapped *file;
    size_t file_cap;
    int64_t files;
    bool mapped; /* data lies in files, also those of a heed_gguf */
    heed_region texts;
};

/* Appends the tensors and metadata of one file's bytes; a name already there is refused. */
bool heed_tensors_parse(heed_tensors *t, const char *label, const unsigned char *data, size_t n,
                        heed_error *err);
/* Appends one tensor, whose name and data live as long as t; one of that name already there is an
 * error: "tensor 'a' is <twice>". */
bool heed_tensors_add(heed_tensors *t, const heed_tensor *tensor, const char *twice,
                      heed_error *err);
/* Appends one of the metadata, copied; the first of a key wins. */
bool heed_tensors_add_meta(heed_tensors *t, const char *key, const char *value, heed_error *err);
heed_tensors *heed_tensors_new(const heed_host *host, heed_error *err); /* without tensors */
/* The same for a safetensors file, one of PyTorch's or of llama2.c's: the first bytes tell. */
bool heed_tensors_parse_any(heed_tensors *t, const char *label, const unsigned char *data, size_t n,
                            heed_error *err);
/* Maps a file and appends what is in it. */
bool heed_tensors_add_file(heed_tensors *t, const char *path, heed_error *err);
/* Appends the shards that an index file names; they lie beside it in `folder`. */
bool heed_tensors_add_index(heed_tensors *t, const char *folder, const char *path, heed_error *err);

/* Elements of a shape in *elements, bytes in *bytes; false with err (naming the tensor) where 64
 * bits do not hold them or a dimension is negative. */
bool heed_tensor_measure(const heed_tensor *t, int64_t *elements, size_t *bytes, heed_error *err);
/* The same for a tensor that is to be written, whose own `bytes` must be those, or 0. */
bool heed_tensor_check(const heed_tensor *t, size_t *bytes, heed_error *err);
/* HEED_NAME where two have one name. */
bool heed_tensors_differ(const heed_host *host, const heed_tensor *list, int64_t n,
                         heed_error *err);

/* A file to be written: its head, then the tensors in the order of the list, each followed by
 * zeros up to a multiple of `alignment`, at most 64. */
typedef struct {
    const char *path;
    const heed_buf *head;
    const heed_tensor *list;
    int64_t n;
    size_t alignment;
    heed_tensor_source *source; /* NULL: from `data` */
    void *ctx;
} heed_tensor_file;
bool heed_tensors_put(const heed_host *host, const heed_tensor_file *f, heed_error *err);
/* What n lacks to a multiple of the alignment. */
size_t heed_padding(size_t n, size_t alignment);

#endif
