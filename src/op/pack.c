/* pack.c: the right-hand side of a product in the kernel's panels.
 *
 * It is a node of its own, shared by all who ask for the same form: three projections of one x, the
 * steps of a decoder. In a plan whose weights do not change it is made with the plan.
 * SPDX-License-Identifier: MIT
 */
#include "op/pack.h"

#include "op/gemm.h"

typedef struct {
    int transposed; /* attributes are compared byte by byte: no bytes between them */
    heed_panel_kind kind;
} pack_attr;

static void run(const heed_work *w) {
    const pack_attr *a = w->attr;
    const heed_mat *m = &w->in[0];
    heed_packing p = {.k = m->rows, .n = m->cols, .b = m->data, .b_row = m->cols, .b_col = 1};
    if (a->transposed) {
        p = (heed_packing){.k = m->cols, .n = m->rows, .b = m->data, .b_row = 1, .b_col = m->cols};
    }
    p.kind = a->kind;
    p.packed = w->out[0].data;
    heed_pack_run(w, &p);
}

static const heed_op PACK = {.name = "pack", .run = run};
static const heed_op PACK_HALF = {.name = "pack 16 bits", .run = run, .kept = 1};

/* More columns of whole numbers than this could overflow a sum of 32 bits. */
enum { LONGEST_COLUMN = 1 << 16 };

heed_pack_way heed_pack_way_of(const heed_build *b, heed_value m, bool transposed) {
    heed_pack_way way = {.kind = HEED_PANELS_REAL};
    heed_type kept = heed_kept_type(b, m);
    heed_compute compute = heed_build_compute(b);
    heed_shape shape = heed_shape_of(b, m);
    int64_t k = transposed ? shape.cols : shape.rows;
    if (compute == HEED_COMPUTE_BF16) {
        bool pairs =
            heed_build_kernels(b)->fast_pairs && (heed_is_weight(b, m) || heed_build_trains(b));
        way.kind = pairs ? HEED_PANELS_PAIRS : HEED_PANELS_REAL;
    } else if (compute == HEED_COMPUTE_INT8 && heed_is_weight(b, m) && k <= LONGEST_COLUMN) {
        way.form = HEED_INT_COLUMNS;
    } else if (kept == HEED_BF16 || kept == HEED_F16) {
        way.kind = kept == HEED_BF16 ? HEED_PANELS_BF16 : HEED_PANELS_F16;
    } else if (compute == HEED_COMPUTE_KEPT && transposed) { /* blocks lie along the sum */
        heed_block_form(kept, &way.form);
    }
    return way;
}

heed_value heed_pack(heed_build *b, heed_value m, bool transposed, heed_pack_way *way) {
    const heed_kernels *kernels = heed_build_kernels(b);
    heed_shape shape = heed_shape_of(b, m);
    *way = heed_pack_way_of(b, m, transposed);
    if (way->form.bits) {
        return heed_pack_ints(b, m, transposed, &way->form);
    }
    pack_attr attr = {.transposed = transposed, .kind = way->kind};
    int64_t k = transposed ? shape.cols : shape.rows, n = transposed ? shape.rows : shape.cols;
    bool kept = way->kind == HEED_PANELS_BF16 || way->kind == HEED_PANELS_F16;
    bool fixed = shape.extent == HEED_EXTENT_FIXED;
    heed_shape out = fixed ? heed_fixed(k, heed_packed_cols(kernels, n))
                           : heed_like(b, m, heed_packed_cols(kernels, n));
    if (way->kind != HEED_PANELS_REAL) {
        out.cell = HEED_CELL_BYTE;
        out.cols = heed_packed_bytes(kernels, way->kind, 2, n) / 2; /* of a row */
    }
    if (way->kind == HEED_PANELS_PAIRS && fixed) {
        out.rows += k % 2; /* of a whole pair */
    } else if (way->kind == HEED_PANELS_PAIRS) {
        out.cols *= 2; /* so that one row has the room of a pair */
    }
    return heed_record_shared(b, kept ? &PACK_HALF : &PACK, &attr, sizeof attr, 1, &m, 1, &out);
}
