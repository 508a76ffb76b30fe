/* embed.c: rows of a table, times a number.
 *
 *   table V x d, ids R x 1  ->  out R x d,  out_r = scale * table[ids_r + offset]
 *   d_table[v] = sum of scale * d_out_r over the rows r with ids_r + offset = v, in order of r;
 *                0 for v = still
 *
 * Backward: each task owns the ids of one remainder, so frequent ids, which tokenizers number
 * first, spread over the tasks and every table row is summed by one task in order.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/gemm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    double scale;
    int64_t still;  /* row that gets no gradient, -1: none */
    int64_t offset; /* row id + offset */
} embed_attr;

/* Row `id` of a table that is kept in fewer bits. */
static void widen_row(const heed_mat *table, int64_t id, heed_real *out) {
    const char *row =
        (const char *)table->data + heed_elements_bytes(table->kept, id * table->cols);
    heed_widen(table->kept, row, table->cols, out);
}

static void copy_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const embed_attr *a = w->attr;
    int64_t d = w->out[0].cols;
    const heed_mat *table = &w->in[0];
    const int32_t *ids = w->in[1].data;
    heed_real *out = (heed_real *)w->out[0].data + from * d;
    for (int64_t r = from; r < to; r++, out += d) {
        int64_t id = ids[r] + a->offset;
        const heed_real *row = out;
        if (table->kept != HEED_F32) {
            widen_row(table, id, out);
        } else {
            row = (const heed_real *)table->data + id * d;
        }
        if (a->scale != 1) {
            w->kernels->scale(d, (heed_real)a->scale, row, out);
        } else if (row != out) {
            memcpy(out, row, (size_t)d * sizeof *out);
        }
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols, copy_rows, (void *)w);
}

enum { SCATTER_TASKS = 16, SCATTER_SMALL = 8192 }; /* tasks: a power of two */

typedef struct {
    const heed_work *w;
    heed_real *sum;
    int64_t tasks;
} scatter_job;

/* out += scale * x */
static void add_scaled(int64_t n, heed_real scale, const heed_real *x, heed_real *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] += scale * x[i];
    }
}

static void scatter_task(void *ctx, int64_t i) {
    const scatter_job *j = ctx;
    const embed_attr *a = j->w->attr;
    const heed_mat *dy = &j->w->in[0];
    const heed_real *d_out = dy->data;
    const int32_t *ids = j->w->in[1].data;
    for (int64_t r = 0; r < dy->rows; r++) {
        int64_t row = ids[r] + a->offset;
        if ((row & (j->tasks - 1)) == i && row != a->still) {
            add_scaled(dy->cols, (heed_real)a->scale, d_out + r * dy->cols,
                       j->sum + row * dy->cols);
        }
    }
}

/* in: d_out, ids */
static void scatter(const heed_work *w, heed_real *sum) {
    bool small = w->in[0].rows * w->in[0].cols < SCATTER_SMALL;
    scatter_job j = {.w = w, .sum = sum, .tasks = small ? 1 : SCATTER_TASKS};
    heed_pool_run(w->pool, j.tasks, scatter_task, &j);
}

static void run_add(const heed_work *w) {
    scatter(w, w->in[2].data);
}
static const heed_op ADD_TO_TABLE = {
    .name = "scatter (gradient of a table)", .run = run_add, .effect = true};

static void run_back(const heed_work *w) {
    memset(w->out[0].data, 0, (size_t)(w->out[0].rows * w->out[0].cols) * sizeof(heed_real));
    scatter(w, w->out[0].data);
}
static const heed_op BACK = {.name = "scatter", .run = run_back};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    if (heed_is_weight(b, in[0])) {
        heed_value from[] = {d_out[0], in[1], heed_gradient(b, in[0])};
        heed_record_effect(b, &ADD_TO_TABLE, attr, sizeof(embed_attr), 3, from);
        return;
    }
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value from[] = {d_out[0], in[1]};
    d_in[0] = heed_record(b, &BACK, attr, sizeof(embed_attr), 2, from, 1, &shape);
}

static const heed_op EMBED = {.name = "embed", .run = run, .grad = grad, .kept = 1u << 0};

static heed_value embed(heed_build *b, heed_value table, heed_value ids, const embed_attr *attr) {
    heed_shape ts = heed_shape_of(b, table), is = heed_shape_of(b, ids);
    if (!table.id || !ids.id) {
        return (heed_value){0};
    }
    if (ts.extent != HEED_EXTENT_FIXED || ts.cell != HEED_CELL_NUMBER) {
        return heed_refuse(b, HEED_SHAPE, "an embedding's table must be a matrix of fixed size");
    }
    if (is.cell != HEED_CELL_INT || is.cols != 1) {
        return heed_refuse(b, HEED_SHAPE,
                           "an embedding wants one integer in each row, not %" PRId64 " columns",
                           is.cols);
    }
    if (attr->offset < 0 || attr->offset >= ts.rows) {
        return heed_refuse(b, HEED_SHAPE,
                           "an embedding from row %" PRId64 " on of a table of %" PRId64 " rows",
                           attr->offset, ts.rows);
    }
    char what[64] = "the table";
    if (attr->offset) {
        snprintf(what, sizeof what, "the table behind its first %" PRId64 " rows", attr->offset);
    }
    heed_limit_ints(b, ids, -attr->offset, ts.rows - attr->offset, -1, what);
    heed_shape out = heed_like(b, ids, ts.cols);
    out.cell = HEED_CELL_NUMBER;
    return heed_record(b, &EMBED, attr, sizeof *attr, 2, (heed_value[]){table, ids}, 1, &out);
}

heed_value heed_embed(heed_build *b, heed_value table, heed_value ids, double scale) {
    return embed(b, table, ids, &(embed_attr){.scale = scale, .still = -1});
}

heed_value heed_embed_except(heed_build *b, heed_value table, heed_value ids, double scale,
                             int64_t still) {
    return embed(b, table, ids, &(embed_attr){.scale = scale, .still = still});
}

heed_value heed_embed_from(heed_build *b, heed_value table, heed_value ids, int64_t offset) {
    return embed(b, table, ids, &(embed_attr){.scale = 1, .still = -1, .offset = offset});
}
