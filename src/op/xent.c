/* xent.c: cross-entropy through the output layer, in blocks of rows.
 *
 *   logits = x W' + bias;  loss_r = (1-eps) * -log p[label] + eps/V * sum_j -log p[j]
 *   dlogits = p - (1-eps) [j = label] - eps/V
 *   dx = dlogits W, dW = dlogits' x, dbias = sums over the rows
 *
 * Method: the logits of one block of rows exist at a time, in scratch; in training their gradient
 * takes their place and is multiplied on at once, so the matrix of all probabilities is never
 * built. W changes with each step then, and is packed piece by piece where it is read. Sums go
 * through the rows in order, whatever the block, so neither it nor the threads change a bit. A
 * label of -100 gives no loss and no gradient. Source: Szegedy et al. 2016 (smoothing), in
 * PyTorch's form: eps spread over all V classes.
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/gemm.h"
#include "op/pack.h"
#include "op/shape.h"

#include <inttypes.h>
#include <string.h>

enum { IGNORED = -100 };

enum {
    X,
    W,
    BIAS, /* or absent */
    LABELS,
    LOGITS_B, /* W', packed; absent in training */
    INPUTS,
    D_W = INPUTS, /* training: sums of gradients, or absent */
    D_BIAS,
    TRAIN_INPUTS
};
enum { LOSS, ROWS, OUTPUTS, DX = OUTPUTS, TRAIN_OUTPUTS };

/* Without training, where W is whole numbers: x as such, too. */
enum { Q = INPUTS, INT_INPUTS = Q + HEED_INT_PARTS };

typedef struct {
    double smoothing;
    int64_t classes;
    heed_pack_way way; /* of LOGITS_B */
} xent_attr;

/* ---- Running ---- */

enum { BLOCK_NUMBERS = 1 << 25, FEWEST = 128, MOST = 512 };

static int64_t block_rows(int64_t classes) {
    return heed_max(FEWEST, heed_min(MOST, BLOCK_NUMBERS / classes));
}

enum { PIECE_NUMBERS = 1 << 20 }; /* of W: its packed form stays in the last cache */

/* Classes of a piece, in which W is packed anew for each block of rows in training. */
static int64_t piece_of(const heed_work *w) {
    int64_t classes = w->in[W].rows, many = PIECE_NUMBERS / heed_max(w->in[W].cols, 1);
    return heed_min(classes, heed_max(many / HEED_DEPTH, 1) * HEED_DEPTH);
}

static int64_t logits_size(const heed_work *w) {
    const xent_attr *a = w->attr;
    return heed_min(block_rows(a->classes), w->in[X].rows) * a->classes;
}

static size_t scratch(const heed_work *w) {
    const xent_attr *a = w->attr;
    int64_t rows = heed_min(block_rows(a->classes), w->in[X].rows);
    int64_t packed = 0;
    if (w->n_in == TRAIN_INPUTS) {
        int64_t piece = piece_of(w), d = w->in[X].cols;
        packed = heed_packed_bytes(w->kernels, a->way.kind, rows, d);
        packed = heed_max(packed, heed_packed_bytes(w->kernels, a->way.kind, d, piece));
        packed = heed_max(packed, heed_packed_bytes(w->kernels, a->way.kind, piece, d));
    }
    return (size_t)logits_size(w) * sizeof(heed_real) + (size_t)packed;
}

typedef struct {
    const heed_work *w;
    int64_t from; /* first row of the block */
    heed_real *logits, *packed;
    bool train;
} xent_job;

static void loss_rows(void *ctx, int64_t from, int64_t to) {
    const xent_job *j = ctx;
    const xent_attr *a = j->w->attr;
    const int32_t *labels = j->w->in[LABELS].data;
    heed_real *loss = j->w->out[ROWS].data;
    for (int64_t r = from; r < to; r++) {
        heed_real *row = j->logits + r * a->classes;
        int32_t label = labels[j->from + r];
        if (label == IGNORED) {
            loss[j->from + r] = 0;
            memset(row, 0, (size_t)a->classes * sizeof *row);
            continue;
        }
        loss[j->from + r] = j->w->kernels->xent(a->classes, (heed_real)a->smoothing, row, label,
                                                j->train ? row : NULL);
    }
}

static void make_logits(const xent_job *j, int64_t rows) {
    const heed_work *w = j->w;
    const xent_attr *a = w->attr;
    int64_t d = w->in[X].cols;
    if (a->way.form.bits) {
        heed_int_gemm g = {.m = rows, .n = a->classes, .k = d, .form = a->way.form};
        g.a = heed_int_rows_at(&w->in[Q], j->from);
        g.packed = w->in[LOGITS_B].data;
        g.c = j->logits;
        g.ldc = a->classes;
        g.bias = w->in[BIAS].data;
        heed_int_gemm_run(w, &g);
        return;
    }
    heed_gemm g = {.m = rows, .n = a->classes, .k = d, .a_row = d, .a_col = 1, .c = j->logits};
    g.a = (const heed_real *)w->in[X].data + j->from * d;
    g.packed = w->in[LOGITS_B].data;
    g.kind = a->way.kind;
    g.ldc = a->classes;
    g.bias = w->in[BIAS].data;
    heed_gemm_run(w, &g);
}

/* The logits of a piece of classes at a time. */
static void make_logits_packing(const xent_job *j, int64_t rows) {
    const heed_work *w = j->w;
    const xent_attr *a = w->attr;
    int64_t d = w->in[X].cols, piece = piece_of(w);
    const heed_real *weights = w->in[W].data, *bias = w->in[BIAS].data;
    heed_packing p = {.k = d, .b_row = 1, .b_col = d, .kind = a->way.kind, .packed = j->packed};
    heed_gemm g = {.m = rows, .k = d, .a_row = d, .a_col = 1, .packed = j->packed};
    g.a = (const heed_real *)w->in[X].data + j->from * d;
    g.kind = a->way.kind;
    g.ldc = a->classes;
    for (int64_t from = 0; from < a->classes; from += piece) {
        p.n = g.n = heed_min(piece, a->classes - from);
        p.b = weights + from * d;
        heed_pack_run(w, &p);
        g.c = j->logits + from;
        g.bias = bias ? bias + from : NULL;
        heed_gemm_run(w, &g);
    }
}

/* Each element's chain runs through the pieces in order. */
static void make_dx(const xent_job *j, int64_t rows) {
    const heed_work *w = j->w;
    int64_t d = w->in[X].cols, classes = w->in[W].rows, piece = piece_of(w);
    heed_packing p = {.n = d, .b_row = d, .b_col = 1, .packed = j->packed};
    heed_gemm g = {.m = rows, .n = d, .a_row = classes, .a_col = 1, .packed = j->packed};
    p.kind = g.kind = ((const xent_attr *)w->attr)->way.kind; /* W' is packed as W is */
    g.c = (heed_real *)w->out[DX].data + j->from * d;
    g.ldc = d;
    for (int64_t from = 0; from < classes; from += piece) {
        p.k = g.k = heed_min(piece, classes - from);
        p.b = (const heed_real *)w->in[W].data + from * d;
        heed_pack_run(w, &p);
        g.a = j->logits + from;
        g.accumulate = from > 0;
        heed_gemm_run(w, &g);
    }
}

static void add_dw(const xent_job *j, int64_t rows) {
    const heed_work *w = j->w;
    int64_t d = w->in[X].cols, classes = w->in[W].rows;
    const heed_real *x = (const heed_real *)w->in[X].data + j->from * d;
    heed_packing p = {.k = rows, .n = d, .b = x, .b_row = d, .b_col = 1, .packed = j->packed};
    p.kind = ((const xent_attr *)w->attr)->way.kind;
    heed_pack_run(w, &p);
    heed_gemm g = {.m = classes, .n = d, .k = rows, .a = j->logits, .a_row = 1, .a_col = classes};
    g.packed = j->packed;
    g.kind = p.kind;
    g.c = w->in[D_W].data;
    g.ldc = d;
    g.accumulate = true;
    heed_gemm_run(w, &g);
}

static void back_block(const xent_job *j, int64_t rows) {
    const heed_work *w = j->w;
    if (w->out[DX].data) {
        make_dx(j, rows);
    }
    if (w->in[D_W].data) {
        add_dw(j, rows);
    }
    if (w->in[D_BIAS].data) {
        heed_column_sums_run(w, rows, w->in[W].rows, j->logits, w->in[D_BIAS].data);
    }
}

enum { COST = 4 }; /* of an exponential, in numbers moved */

static void run(const heed_work *w) {
    const xent_attr *a = w->attr;
    int64_t rows = w->in[X].rows, block = block_rows(a->classes);
    xent_job j = {.w = w, .logits = w->scratch, .train = w->n_in == TRAIN_INPUTS};
    j.packed = j.logits + heed_min(block, rows) * a->classes;
    for (j.from = 0; j.from < rows; j.from += block) {
        int64_t n = heed_min(block, rows - j.from);
        if (j.train) {
            make_logits_packing(&j, n);
        } else {
            make_logits(&j, n);
        }
        heed_rows_run(w, n, a->classes * COST, loss_rows, &j);
        if (j.train) {
            back_block(&j, n);
        }
    }
    *(heed_real *)w->out[LOSS].data = (heed_real)w->kernels->sum(rows, w->out[ROWS].data);
}

/* ---- Recording ---- */

static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    (void)attr;
    if (d_out[ROWS].id || !heed_is_loss_gradient(b, d_out[LOSS])) {
        heed_refuse(b, HEED_VALUE, "the cross-entropy must be the plan's loss itself");
        return;
    }
    if (heed_wants_grad(b, in[X])) {
        heed_pass_gradient(b, in[X], out[DX], &d_in[X]);
    }
}

static const heed_op XENT = {
    .name = "cross-entropy", .run = run, .scratch = scratch, .kept = 1u << W};
static const heed_op XENT_TRAIN = {.name = "cross-entropy with gradient",
                                   .run = run,
                                   .grad = grad,
                                   .scratch = scratch,
                                   .effect = true,
                                   .optional = 1u << DX};

static bool fits(heed_build *b, heed_value x, heed_value w, heed_value bias, heed_value labels) {
    heed_shape xs = heed_shape_of(b, x), ws = heed_shape_of(b, w), ls = heed_shape_of(b, labels);
    heed_shape bs = heed_shape_of(b, bias);
    if (!heed_check_numbers(b, "cross-entropy", x) || !heed_check_numbers(b, "cross-entropy", w) ||
        !labels.id) {
        return false;
    }
    if (ws.extent != HEED_EXTENT_FIXED || xs.cols != ws.cols) {
        heed_refuse(b, HEED_SHAPE,
                    "cross-entropy of %" PRId64 " columns with weights of %" PRId64 " x %" PRId64,
                    xs.cols, ws.rows, ws.cols);
    } else if (bias.id && (bs.rows != 1 || bs.cols != ws.rows)) {
        heed_refuse(b, HEED_SHAPE,
                    "a bias of %" PRId64 " x %" PRId64 " does not fit %" PRId64 " classes", bs.rows,
                    bs.cols, ws.rows);
    } else if (ls.cell != HEED_CELL_INT || ls.cols != 1 || ls.space != xs.space) {
        heed_refuse(b, HEED_SHAPE, "labels must be one integer for each row of x");
    } else if (heed_wants_grad(b, w) && !heed_is_weight(b, w)) {
        heed_refuse(b, HEED_VALUE, "the output layer must be a weight where it is trained");
    } else {
        return true;
    }
    return false;
}

heed_value heed_xent(heed_build *b, heed_value x, heed_value w, heed_value bias, heed_value labels,
                     double smoothing) {
    if (!fits(b, x, w, bias, labels)) {
        return (heed_value){0};
    }
    if (!(smoothing >= 0 && smoothing < 1)) {
        return heed_refuse(b, HEED_VALUE,
                           "label smoothing must be at least 0 and less than 1, not %g", smoothing);
    }
    xent_attr attr = {.smoothing = smoothing, .classes = heed_shape_of(b, w).rows};
    heed_limit_ints(b, labels, 0, attr.classes, IGNORED, "the vocabulary");
    heed_shape out[] = {heed_fixed(1, 1), heed_like(b, x, 1), heed_shape_of(b, x)};
    heed_value in[INT_INPUTS] = {x, w, bias.id ? bias : heed_absent(), labels, heed_absent()};
    if (heed_build_trains(b)) {
        attr.way = heed_pack_way_of(b, w, true);
        in[D_W] = heed_gradient_or_absent(b, w);
        in[D_BIAS] = heed_gradient_or_absent(b, in[BIAS]);
        return heed_record(b, &XENT_TRAIN, &attr, sizeof attr, TRAIN_INPUTS, in, TRAIN_OUTPUTS,
                           out);
    }
    in[LOGITS_B] = heed_pack(b, w, true, &attr.way);
    if (attr.way.form.bits) {
        heed_value q = heed_quantize_rows(b, x, &attr.way.form);
        for (int i = 0; i < HEED_INT_PARTS; i++) {
            in[Q + i] = heed_output(q, i);
        }
        return heed_record(b, &XENT, &attr, sizeof attr, INT_INPUTS, in, OUTPUTS, out);
    }
    return heed_record(b, &XENT, &attr, sizeof attr, INPUTS, in, OUTPUTS, out);
}

heed_value heed_xent_rows(heed_build *b, heed_value loss) {
    (void)b;
    return heed_output(loss, ROWS);
}
