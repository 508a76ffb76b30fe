/* torch_view.h: a tensor of PyTorch's: an offset and strides into a storage.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_TORCH_VIEW_H
#define HEED_FILE_TORCH_VIEW_H

#include "file/pickle.h"
#include "file/tensors.h"

typedef struct {
    const unsigned char *data; /* of the storage */
    size_t n;
    heed_tensor tensor;                       /* its name and type are the caller's to fill */
    int64_t offset, stride[HEED_TENSOR_RANK]; /* in numbers */
} heed_view;

/* Offset, shape and strides from the arguments of _rebuild_tensor_v2: (storage, offset, size,
 * stride ...). */
bool heed_view_place(const heed_pickle *tree, const heed_pickle_node *args, heed_view *v,
                     heed_error *err);
/* Appends the tensor; one whose numbers do not lie in order is copied. */
bool heed_view_add(heed_tensors *all, heed_view *v, heed_error *err);

#endif
