/* choice.c: cross-entropy of one row chosen among others, from one logit in each row.
 *
 *   a group: the rows of a sequence, or `group` rows in order;
 *   loss_g = log sum_r exp z_r - z_m, m the first row of the group that is marked;
 *   dz_r = exp z_r / sum exp z - [r = m];  a group without a mark: 0 and no gradient
 *
 * Method: the logits of a group lie side by side, so they are one row for the kernel of the
 * cross-entropy. Source: Devlin et al. 2019, sections 4.2 (spans) and 4.4 (choices).
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/gemm.h"
#include "op/shape.h"

#include <inttypes.h>
#include <string.h>

enum { COST = 16 }; /* of an exponential and its share of a logarithm, in numbers moved */
enum { Z, MARKS, D_LOSS };
enum { LOSS, GROUPS };

typedef struct {
    uint32_t space;
    int64_t group; /* 0: a sequence */
} choice_attr;

typedef struct {
    const heed_work *w;
    const int64_t *starts; /* NULL: groups of a fixed size */
    int64_t group, rows;
} choice_job;

static choice_job job_of(const heed_work *w, int64_t *groups) {
    const choice_attr *a = w->attr;
    choice_job j = {.w = w, .group = a->group, .rows = w->in[Z].rows};
    if (a->group) {
        *groups = (j.rows + a->group - 1) / a->group;
        return j;
    }
    heed_cut cut = heed_work_cut(w, a->space);
    j.starts = cut.starts;
    *groups = cut.n;
    return j;
}

static void range(const choice_job *j, int64_t g, int64_t *from, int64_t *to) {
    *from = j->starts ? j->starts[g] : g * j->group;
    *to = j->starts ? j->starts[g + 1] : heed_min(j->rows, *from + j->group);
}

/* The loss of group g; where d is not NULL, its gradient goes to d, which begins with row 0. */
static heed_real of_group(const choice_job *j, int64_t g, heed_real *d) {
    const heed_real *z = j->w->in[Z].data;
    const int32_t *mark = j->w->in[MARKS].data;
    int64_t from, to, at;
    range(j, g, &from, &to);
    for (at = from; at < to && mark[at] != 1;) {
        at++;
    }
    if (at < to) {
        return j->w->kernels->xent(to - from, 0, z + from, at - from, d ? d + from : NULL);
    }
    if (d) {
        memset(d + from, 0, (size_t)(to - from) * sizeof *d);
    }
    return 0;
}

static void loss_groups(void *ctx, int64_t first, int64_t end) {
    const choice_job *j = ctx;
    heed_real *out = j->w->out[GROUPS].data;
    for (int64_t g = first; g < end; g++) {
        int64_t from, to;
        range(j, g, &from, &to);
        heed_real loss = of_group(j, g, NULL);
        for (int64_t r = from; r < to; r++) {
            out[r] = r == from ? loss : 0;
        }
    }
}

static void run(const heed_work *w) {
    int64_t groups;
    choice_job j = job_of(w, &groups);
    heed_sequences_run(w, groups, j.rows, COST, loss_groups, &j);
    *(heed_real *)w->out[LOSS].data = (heed_real)w->kernels->sum(j.rows, w->out[GROUPS].data);
}

static void slope_groups(void *ctx, int64_t first, int64_t end) {
    const choice_job *j = ctx;
    heed_real *out = j->w->out[0].data, d_loss = *(const heed_real *)j->w->in[D_LOSS].data;
    for (int64_t g = first; g < end; g++) {
        int64_t from, to;
        range(j, g, &from, &to);
        of_group(j, g, out);
        j->w->kernels->scale(to - from, d_loss, out + from, out + from);
    }
}

static void run_slope(const heed_work *w) {
    int64_t groups;
    choice_job j = job_of(w, &groups);
    heed_sequences_run(w, groups, j.rows, COST, slope_groups, &j);
}

static const heed_op SLOPE = {.name = "cross-entropy of a choice (gradient)", .run = run_slope};

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)out;
    if (d_out[GROUPS].id) {
        heed_refuse(b, HEED_VALUE, "the loss of a group has no gradient, their sum has");
        return;
    }
    heed_shape shape = heed_shape_of(b, in[Z]);
    heed_value from[] = {in[Z], in[MARKS], d_out[LOSS]};
    heed_value dz = heed_record(b, &SLOPE, attr, sizeof(choice_attr), 3, from, 1, &shape);
    heed_pass_gradient(b, in[Z], dz, &d_in[Z]);
}

static const heed_op CHOICE = {.name = "cross-entropy of a choice", .run = run, .grad = grad};

heed_value heed_choice_xent(heed_build *b, heed_value z, heed_value marks, int64_t group) {
    heed_shape zs = heed_shape_of(b, z), ms = heed_shape_of(b, marks);
    if (!heed_check_numbers(b, "cross-entropy of a choice", z) || !marks.id) {
        return (heed_value){0};
    }
    if (zs.cols != 1 || zs.extent != HEED_EXTENT_SPACE || ms.cell != HEED_CELL_INT ||
        ms.cols != 1 || ms.space != zs.space || group < 0) {
        return heed_refuse(b, HEED_SHAPE,
                           "a choice wants one logit and one mark in each row of a row space and "
                           "groups of at least one, not %" PRId64 ", %" PRId64 " and %" PRId64,
                           zs.cols, ms.cols, group);
    }
    heed_limit_ints(b, marks, 0, 2, 0, "marks");
    choice_attr attr = {.space = zs.space, .group = group};
    heed_shape shape[] = {heed_fixed(1, 1), heed_like(b, z, 1)};
    return heed_record(b, &CHOICE, &attr, sizeof attr, 2, (heed_value[]){z, marks}, 2, shape);
}
