/* pack_ints.c: the right-hand side of a product as whole numbers in panels.
 *
 * From blocks as a file keeps them, whose numbers are taken over, or from floats, a scale for each
 * column: scale = max |b| / 127, q to the nearest. As with rows, numbers that are all tiny count as
 * zeros, and a column with one that is not finite gets a scale that is not finite. A panel is
 * filled piece by piece of k: blocks follow each other in it, so each piece is a panel of its own
 * that stands behind the one before. With one scale for the whole column each piece writes the
 * scales behind its numbers, the next piece over them, and those of the last stay.
 * SPDX-License-Identifier: MIT
 */
#include "op/pack.h"

#include "base/blocks.h"
#include "op/gemm.h"

#include <math.h>
#include <string.h>

enum { PIECE = HEED_BLOCK_MOST, WIDEST = 32, SCALES = PIECE / 16 };

typedef struct {
    bool transposed, whole; /* whole: a scale for each column; else blocks as they are kept */
} ints_attr;

typedef struct {
    const heed_work *w;
    const ints_attr *a;
    heed_int_form form;
    int64_t k, n, panel_bytes;
} ints_job;

/* Columns of one panel, a piece of k at a time. */
typedef struct {
    uint8_t q[WIDEST * PIECE];
    float scale[WIDEST * SCALES], least[WIDEST * SCALES];
} piece;

/* ---- From blocks ---- */

/* Column j is row j of the file: n numbers from l on, in blocks. */
static void read_blocks(const ints_job *j, int64_t column, int64_t l, int64_t n, uint8_t *q,
                        float *scale, float *least) {
    const heed_mat *m = &j->w->in[0];
    const int64_t numbers = heed_type_block(m->kept);
    const unsigned char *at = m->data;
    at += heed_elements_bytes(m->kept, column * j->k + l);
    for (; n > 0; n -= numbers, at += heed_type_bytes(m->kept), q += numbers) {
        heed_block_read(m->kept, at, q, scale, least);
        scale += numbers / j->form.block;
        least += numbers / j->form.block;
    }
}

static void block_piece(const ints_job *j, int64_t first, int64_t columns, int64_t l, int64_t n,
                        piece *p) {
    int64_t depth = heed_int_depth(n), blocks = heed_int_blocks(&j->form, n);
    for (int64_t i = 0; i < columns; i++) {
        read_blocks(j, first + i, l, n, p->q + i * depth, p->scale + i * blocks,
                    p->least + i * blocks);
    }
}

/* ---- From floats, or what is wider than 8 bits ---- */

/* n numbers of a column from l on. */
static void read_column(const ints_job *j, int64_t column, int64_t l, int64_t n, float *out) {
    const heed_mat *m = &j->w->in[0];
    const int64_t row = j->a->transposed ? 1 : m->cols, col = j->a->transposed ? m->cols : 1;
    if (m->kept == HEED_F32) {
        const heed_real *at = (const heed_real *)m->data + column * col + l * row;
        for (int64_t i = 0; i < n; i++) {
            out[i] = (float)at[i * row];
        }
        return;
    }
    const char *from = m->data;
    from += heed_elements_bytes(m->kept, column * col + l * row);
    if (row == 1) {
        heed_type_to_f32(m->kept, from, n, out);
        return;
    }
    size_t step = heed_elements_bytes(m->kept, row);
    for (int64_t i = 0; i < n; i++, from += step) {
        heed_type_to_f32(m->kept, from, 1, out + i);
    }
}

/* Sizes are compared by their bits: one that is not finite is the greatest, NaN before infinity. */
static float column_scale(const ints_job *j, int64_t column) {
    float x[PIECE], most;
    uint32_t greatest = 0;
    for (int64_t l = 0; l < j->k; l += PIECE) {
        int64_t n = heed_min(PIECE, j->k - l);
        read_column(j, column, l, n, x);
        for (int64_t i = 0; i < n; i++) {
            uint32_t bits;
            memcpy(&bits, x + i, sizeof bits);
            bits &= 0x7fffffff;
            greatest = bits > greatest ? bits : greatest;
        }
    }
    memcpy(&most, &greatest, sizeof most);
    return most <= HEED_INT_TINY ? 0 : most / 127;
}

static void float_piece(const ints_job *j, int64_t first, int64_t columns, int64_t l, int64_t n,
                        piece *p) {
    int64_t depth = heed_int_depth(n);
    float x[PIECE];
    for (int64_t i = 0; i < columns; i++) {
        float scale = p->scale[i], times = 1 / scale;
        int64_t some = scale > 0 && isfinite(scale) ? n : 0; /* else the scale tells all */
        uint8_t *q = p->q + i * depth;
        read_column(j, first + i, l, n, x);
        for (int64_t e = 0; e < depth; e++) {
            float y = e < some ? rintf(x[e] * times) : 0;
            q[e] = (uint8_t)(128 + (int)fmaxf(-127, fminf(127, y)));
        }
    }
}

/* ---- Panels ---- */

static void ints_task(void *ctx, int64_t i) {
    const ints_job *j = ctx;
    const heed_kernels *kernels = j->w->kernels;
    const heed_int_form *form = &j->form;
    int64_t first = i * kernels->int_nr, columns = heed_min(kernels->int_nr, j->n - first);
    uint8_t *to = (uint8_t *)j->w->out[0].data + i * j->panel_bytes;
    piece p;
    memset(&p, 0, sizeof p);
    for (int64_t c = 0; !form->block && c < columns; c++) {
        p.scale[c] = column_scale(j, first + c);
    }
    for (int64_t l = 0; l < j->k; l += PIECE) {
        int64_t n = heed_min(PIECE, j->k - l);
        (form->block ? block_piece : float_piece)(j, first, columns, l, n, &p);
        heed_int_columns b = {
            .k = n, .columns = columns, .q = p.q, .scale = p.scale, .least = p.least};
        kernels->pack_ints(form, &b, to);
        to += form->block ? heed_int_panel_bytes(form, n, kernels->int_nr)
                          : kernels->int_nr * heed_int_depth(n);
    }
}

static void run(const heed_work *w) {
    const ints_attr *a = w->attr;
    const heed_mat *m = &w->in[0];
    ints_job j = {.w = w, .a = a, .form = HEED_INT_COLUMNS, .k = m->rows, .n = m->cols};
    if (!a->whole) {
        heed_block_form(m->kept, &j.form);
    }
    if (a->transposed) {
        j.k = m->cols;
        j.n = m->rows;
    }
    j.panel_bytes = heed_int_panel_bytes(&j.form, j.k, w->kernels->int_nr);
    heed_pool_run(w->pool, heed_panels(j.n, w->kernels->int_nr), ints_task, &j);
}

static const heed_op PACK_INTS = {.name = "pack whole numbers", .run = run, .kept = 1};
/* Where the file's blocks lie across the sum. */
static const heed_op PACK_FLOATS = {.name = "pack floats as whole numbers", .run = run};

heed_value heed_pack_ints(heed_build *b, heed_value m, bool transposed, const heed_int_form *form) {
    int64_t nr = heed_build_kernels(b)->int_nr;
    heed_shape shape = heed_shape_of(b, m);
    ints_attr attr = {.transposed = transposed, .whole = !form->block};
    int64_t k = transposed ? shape.cols : shape.rows, n = transposed ? shape.rows : shape.cols;
    heed_shape out = heed_fixed(heed_panels(n, nr), heed_int_panel_bytes(form, k, nr));
    out.cell = HEED_CELL_BYTE;
    bool across = !transposed && heed_type_block(heed_kept_type(b, m)) > 1;
    return heed_record_shared(b, across ? &PACK_FLOATS : &PACK_INTS, &attr, sizeof attr, 1, &m, 1,
                              &out);
}
