/* pack.c: the right-hand side of a product in the kernel's panels.
 *
 * It is a node of its own, shared by all who ask for the same form: three projections of one x, the
 * steps of a decoder. In a plan whose weights do not change it is made with the plan.
 * SPDX-License-Identifier: MIT
 */
#include "op/pack.h"

#include "op/gemm.h"

typedef struct {
    bool transposed;
} pack_attr;

static void run(const heed_work *w) {
    const pack_attr *a = w->attr;
    const heed_mat *m = &w->in[0];
    if (a->transposed) {
        heed_pack_run(w, m->cols, m->rows, m->data, 1, m->cols, w->out[0].data);
    } else {
        heed_pack_run(w, m->rows, m->cols, m->data, m->cols, 1, w->out[0].data);
    }
}

static const heed_op PACK = {.name = "pack", .run = run};

heed_value heed_pack(heed_build *b, heed_value m, bool transposed) {
    const heed_kernels *kernels = heed_build_kernels(b);
    heed_shape shape = heed_shape_of(b, m);
    pack_attr attr = {.transposed = transposed};
    heed_shape out = transposed ? heed_fixed(shape.cols, heed_packed_cols(kernels, shape.rows))
                                : heed_like(b, m, heed_packed_cols(kernels, shape.cols));
    return heed_record_shared(b, &PACK, &attr, sizeof attr, 1, &m, 1, &out);
}
