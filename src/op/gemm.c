/* gemm.c: cuts a matrix product into tasks by its shape alone.
 *
 * Method: a task is a block of rows times a block of panels, deep through all of k, so that a block
 * of A stays in the second cache while the panels pass. With few rows the product reads B once and
 * little else, so tasks are cut by the bytes of B; otherwise panels are grouped up to 256 columns,
 * fewer where that leaves too few tasks to share. Where the kernel copies A, whose rows lie side by
 * side, a task takes whole rows of C up to 768 columns, since each group of panels copies A anew.
 * Source: Goto and van de Geijn 2008.
 * SPDX-License-Identifier: MIT
 */
#include "op/gemm.h"

enum {
    TILES = 8,           /* of the kernel's rows in a task */
    COLS = 256,          /* columns of a task */
    WIDE_COLS = 768,     /* the same, where A is copied from columns */
    FEW_TILES = 2,       /* the least rows of a task then */
    EVEN = 4,            /* few blocks of rows are a multiple of it, to be shared evenly */
    FEW_ROWS = 16,       /* below this B is the traffic */
    FEW_BYTES = 1 << 18, /* of B in a task with few rows */
    FEW_TASKS = 8,       /* the least of them, to be shared evenly */
    TASKS = 32,          /* enough to share evenly */
    TASK_WORK = 1 << 19, /* multiply-adds below which a task is not cut further */
    SMALL = 1 << 15,     /* multiply-adds that one thread does sooner than two */
    INT_TILES = 16,      /* of whole numbers' rows in a task */
    INT_WORK = 1 << 18   /* multiply-adds of whole numbers in a task, about */
};

int64_t heed_packed_cols(const heed_kernels *kernels, int64_t n) {
    return heed_panels(n, kernels->nr) * kernels->nr;
}

/* Columns of a panel. */
static int64_t panel_of(const heed_kernels *kernels, heed_panel_kind kind) {
    return kind == HEED_PANELS_PAIRS ? kernels->pairs_nr : kernels->nr;
}

/* Rows of a block: as many bytes in either kind. */
static int64_t depth_of(heed_panel_kind kind) {
    return kind == HEED_PANELS_PAIRS ? 2 * HEED_DEPTH : HEED_DEPTH;
}

/* Bytes that a number takes in a panel; depth_of is even, so blocks of pairs are whole. */
static int64_t number_bytes(heed_panel_kind kind) {
    return kind == HEED_PANELS_REAL ? (int64_t)sizeof(heed_real) : (int64_t)sizeof(uint16_t);
}

int64_t heed_packed_bytes(const heed_kernels *kernels, heed_panel_kind kind, int64_t k, int64_t n) {
    int64_t nr = panel_of(kernels, kind), rows = kind == HEED_PANELS_PAIRS ? k + k % 2 : k;
    return rows * heed_panels(n, nr) * nr * number_bytes(kind);
}

/* ---- Packing ---- */

typedef struct {
    const heed_kernels *kernels;
    const heed_packing *p;
    int64_t cols, panels, group, groups;
} pack_job;

static void pack_task(void *ctx, int64_t i) {
    const pack_job *j = ctx;
    const heed_packing *p = j->p;
    const heed_kernels *kernels = j->kernels;
    int64_t most = depth_of(p->kind);
    int64_t row = i / j->groups * most, panel = i % j->groups * j->group;
    int64_t depth = heed_min(most, p->k - row), end = heed_min(panel + j->group, j->panels);
    void *to = (char *)p->packed + row * j->cols * number_bytes(p->kind);
    if (p->kind == HEED_PANELS_REAL) {
        kernels->pack(depth, p->n, (const heed_real *)p->b + row * p->b_row, p->b_row, p->b_col,
                      panel, end, to);
    } else if (p->kind == HEED_PANELS_PAIRS) {
        kernels->pack_pairs(depth, p->n, (const heed_real *)p->b + row * p->b_row, p->b_row,
                            p->b_col, panel, end, to);
    } else {
        kernels->pack_half(depth, p->n, (const uint16_t *)p->b + row * p->b_row, p->b_row, p->b_col,
                           panel, end, to);
    }
}

void heed_pack_run(const heed_work *w, const heed_packing *p) {
    int64_t nr = panel_of(w->kernels, p->kind);
    pack_job j = {.kernels = w->kernels, .p = p, .panels = heed_panels(p->n, nr)};
    j.cols = j.panels * nr;
    j.group = heed_max(1, COLS / nr);
    j.groups = heed_panels(j.panels, j.group);
    int64_t tasks = heed_panels(p->k, depth_of(p->kind)) * j.groups;
    heed_pool_run(p->k * p->n < SMALL ? NULL : w->pool, tasks, pack_task, &j);
}

/* ---- Product ---- */

typedef struct {
    const heed_kernels *kernels;
    const heed_gemm *g;
    int64_t rows, row_blocks, panels, group, cols;
} gemm_job;

static void gemm_task(void *ctx, int64_t i) {
    const gemm_job *j = ctx;
    const heed_gemm *g = j->g;
    int64_t row = i % j->row_blocks * j->rows;
    heed_gemm part = *g;
    part.m = heed_min(j->rows, g->m - row);
    part.panel0 = i / j->row_blocks * j->group;
    part.panel1 = heed_min(part.panel0 + j->group, j->panels);
    part.c = g->c + row * g->ldc;
    int64_t depth = 0;
    do {
        part.k = heed_min(depth_of(g->kind), g->k - depth);
        part.a = g->a + row * g->a_row + depth * g->a_col;
        part.packed = (const char *)g->packed + depth * j->cols * number_bytes(g->kind);
        depth += part.k;
        part.bias = depth == g->k ? g->bias : NULL;
        (g->kind == HEED_PANELS_PAIRS ? j->kernels->gemm_pairs : j->kernels->gemm)(&part);
        part.accumulate = true;
    } while (depth < g->k);
}

/* A copied from columns: whole rows of C, so that few tasks copy the same part. */
static void cut_columns(gemm_job *j) {
    int64_t m = j->g->m, mr = j->kernels->mr, tiles = TILES;
    int64_t groups = heed_panels(j->g->n, WIDE_COLS);
    j->group = heed_panels(j->panels, groups);
    while (tiles > FEW_TILES && heed_panels(m, tiles * mr) * groups < TASKS) {
        tiles /= 2;
    }
    j->row_blocks = heed_panels(m, tiles * mr);
    if (j->row_blocks * groups < TASKS) {
        j->row_blocks = heed_panels(j->row_blocks, EVEN) * EVEN;
    }
    j->rows = heed_panels(m, j->row_blocks);
    j->row_blocks = heed_panels(m, j->rows);
}

/* Panels of a task. */
static int64_t group_of(const heed_gemm *g, int64_t nr, int64_t panels, int64_t rows,
                        int64_t blocks) {
    int64_t k = heed_max(g->k, 1);
    if (g->m <= FEW_ROWS) {
        int64_t most = heed_min(FEW_BYTES / (k * nr * number_bytes(g->kind)), panels / FEW_TASKS);
        return heed_max(1, most);
    }
    int64_t group = heed_max(1, COLS / nr);
    while (group > 1 && blocks * heed_panels(panels, group) < TASKS &&
           rows * k * nr * group > TASK_WORK) {
        group /= 2;
    }
    return group;
}

static void cut_rows(gemm_job *j, int64_t nr) {
    const heed_gemm *g = j->g;
    j->rows = TILES * j->kernels->mr;
    j->row_blocks = heed_panels(g->m, j->rows);
    j->group = group_of(g, nr, j->panels, heed_min(j->rows, g->m), j->row_blocks);
}

void heed_gemm_run(const heed_work *w, const heed_gemm *g) {
    if (g->m < 1 || g->n < 1) {
        return;
    }
    const heed_kernels *kernels = w->kernels;
    int64_t nr = panel_of(kernels, g->kind);
    gemm_job j = {.kernels = kernels, .g = g, .panels = heed_panels(g->n, nr)};
    j.cols = j.panels * nr;
    if (g->a_row == 1 && g->a_col != 1 && g->m > FEW_ROWS) {
        cut_columns(&j);
    } else {
        cut_rows(&j, nr);
    }
    int64_t tasks = j.row_blocks * heed_panels(j.panels, j.group);
    bool small = (double)g->m * (double)g->n * (double)g->k < SMALL;
    heed_pool_run(small ? NULL : w->pool, tasks, gemm_task, &j);
}

/* ---- Product with whole numbers ---- */

typedef struct {
    const heed_kernels *kernels;
    const heed_int_gemm *g;
    int64_t rows, row_blocks, panels, group, depth, blocks;
} int_job;

static void int_task(void *ctx, int64_t i) {
    const int_job *j = ctx;
    heed_int_gemm part = *j->g;
    int64_t row = i % j->row_blocks * j->rows;
    part.m = heed_min(j->rows, part.m - row);
    part.a = heed_int_row(&part.a, row, j->depth, j->blocks);
    part.c += row * part.ldc;
    part.panel0 = i / j->row_blocks * j->group;
    part.panel1 = heed_min(part.panel0 + j->group, j->panels);
    j->kernels->int_gemm(&part);
}

void heed_int_gemm_run(const heed_work *w, const heed_int_gemm *g) {
    if (g->m < 1 || g->n < 1) {
        return;
    }
    const heed_kernels *kernels = w->kernels;
    int_job j = {.kernels = kernels,
                 .g = g,
                 .rows = INT_TILES * kernels->int_mr,
                 .panels = heed_panels(g->n, kernels->int_nr),
                 .depth = heed_int_depth(g->k),
                 .blocks = heed_int_blocks(&g->form, g->k)};
    j.row_blocks = heed_panels(g->m, j.rows);
    int64_t panel = heed_max(1, g->k * kernels->int_nr * heed_min(g->m, j.rows));
    j.group = heed_max(1, INT_WORK / panel);
    int64_t tasks = j.row_blocks * heed_panels(j.panels, j.group);
    bool small = (double)g->m * (double)g->n * (double)g->k < 2 * SMALL;
    heed_pool_run(small ? NULL : w->pool, tasks, int_task, &j);
}

/* ---- Sums of columns ---- */

typedef struct {
    const heed_kernels *kernels;
    int64_t rows, n;
    const heed_real *x;
    heed_real *sum;
} sums_job;

enum { SUM_COLS = 64 };

static void sums_task(void *ctx, int64_t i) {
    const sums_job *j = ctx;
    int64_t col = i * SUM_COLS;
    j->kernels->column_sums(j->rows, heed_min(SUM_COLS, j->n - col), j->n, j->x + col,
                            j->sum + col);
}

void heed_column_sums_run(const heed_work *w, int64_t rows, int64_t n, const heed_real *x,
                          heed_real *sum) {
    sums_job j = {.kernels = w->kernels, .rows = rows, .n = n, .x = x, .sum = sum};
    heed_pool_run(rows * n < SMALL ? NULL : w->pool, heed_panels(n, SUM_COLS), sums_task, &j);
}
