/* torch_view.c: where in a storage the numbers of a tensor lie.
 *
 * Invariant: a tensor's first and last number are compared with its storage before it is handed
 * out.
 * SPDX-License-Identifier: MIT
 */
#include "file/torch_view.h"

#include <string.h>

#include "base/error.h"

static bool bad(const heed_view *v, const char *what, heed_error *err) {
    return heed_fail(err, HEED_FILE, "tensor '%s': %s", v->tensor.name, what);
}

bool heed_view_place(const heed_pickle *tree, const heed_pickle_node *args, heed_view *v,
                     heed_error *err) {
    const heed_pickle_node *offset = heed_pickle_item(tree, args, 1),
                           *size = heed_pickle_item(tree, args, 2),
                           *stride = heed_pickle_item(tree, args, 3);
    if (!stride || offset->kind != HEED_PICKLE_INTEGER || size->kind != HEED_PICKLE_TUPLE ||
        stride->kind != HEED_PICKLE_TUPLE || size->count != stride->count) {
        return bad(v, "its record is not (storage, offset, size, stride)", err);
    }
    if (size->count > HEED_TENSOR_RANK) {
        return bad(v, "it has more than 8 dimensions", err);
    }
    v->offset = offset->integer;
    v->tensor.rank = (int)size->count;
    for (uint32_t i = 0; i < size->count; i++) {
        const heed_pickle_node *n = heed_pickle_item(tree, size, i),
                               *step = heed_pickle_item(tree, stride, i);
        if (n->kind != HEED_PICKLE_INTEGER || step->kind != HEED_PICKLE_INTEGER || n->integer < 0 ||
            step->integer < 0) {
            return bad(v, "a size or stride is no whole number from 0 on", err);
        }
        v->tensor.dim[i] = n->integer;
        v->stride[i] = n->integer > 1 ? step->integer : 0; /* else nobody takes a step */
    }
    return v->offset >= 0 || bad(v, "its offset is below 0", err);
}

/* The last number lies inside of the storage; none where a dimension is 0. */
static bool check_place(const heed_view *v, bool empty, heed_error *err) {
    int64_t room = (int64_t)(v->n / heed_type_bytes(v->tensor.type));
    int64_t left = room - 1 - v->offset;
    for (int i = 0; i < v->tensor.rank && left >= 0; i++) {
        int64_t most = v->tensor.dim[i] - 1;
        if (most > 0) {
            left = v->stride[i] > left / most ? -1 : left - most * v->stride[i];
        }
    }
    return empty || left >= 0 || bad(v, "it reaches behind the end of its storage", err);
}

static bool in_order(const heed_view *v) {
    int64_t step = 1;
    for (int i = v->tensor.rank - 1; i >= 0; i--) {
        if (v->tensor.dim[i] > 1 && v->stride[i] != step) {
            return false;
        }
        step *= v->tensor.dim[i];
    }
    return true;
}

/* The numbers in order, in memory of the tensors. */
static const unsigned char *copy_in_order(heed_tensors *t, const heed_view *v, int64_t elements,
                                          heed_error *err) {
    size_t size = heed_type_bytes(v->tensor.type);
    unsigned char *out = heed_region_alloc(&t->texts, (size_t)elements, size, err);
    int64_t index[HEED_TENSOR_RANK] = {0}, at = v->offset;
    for (int64_t n = 0; out && n < elements; n++) {
        memcpy(out + (size_t)n * size, v->data + (size_t)at * size, size);
        for (int i = v->tensor.rank - 1; i >= 0; i--) {
            at += v->stride[i];
            if (++index[i] < v->tensor.dim[i]) {
                break;
            }
            at -= v->stride[i] * v->tensor.dim[i];
            index[i] = 0;
        }
    }
    return out;
}

bool heed_view_add(heed_tensors *all, heed_view *v, heed_error *err) {
    int64_t elements;
    heed_tensor *t = &v->tensor;
    if (!heed_tensor_measure(t, &elements, &t->bytes, err) || !check_place(v, elements == 0, err)) {
        return false;
    }
    if (elements > 0 && in_order(v)) {
        t->data = v->data + (size_t)v->offset * heed_type_bytes(t->type);
    } else if (elements > 0) {
        /* A stride of 0 repeats numbers, so the copy could be larger than what the file holds. */
        if (t->bytes > v->n) {
            return bad(v, "it repeats numbers of its storage, which is not read", err);
        }
        t->data = copy_in_order(all, v, elements, err);
        if (!t->data) {
            return false;
        }
    }
    return heed_tensors_add(all, t, "there twice", err);
}
