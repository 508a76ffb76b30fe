/* rope.c: rotary positions: pairs of a head's numbers turn by an angle that grows with the
 * position.
 *
 *   pair i of a head of width d turns by position * base^(-2i/d); pairs are (i, i + d/2), or (2i,
 * 2i+1) interleaved. The gradient turns back. Cosines and sines are a node of their own, shared by
 * queries and keys of all layers. Source: Su et al. 2021, "RoFormer".
 * SPDX-License-Identifier: MIT
 */
#include "heed_ops.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>
#include <math.h>

typedef struct {
    double base;
    int64_t d, back; /* back: 1 turns the other way */
} angle_attr;

/* in: positions; out: d/2 cosines, then d/2 sines for each row. */
static void angle_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const angle_attr *a = w->attr;
    int64_t half = a->d / 2;
    const int32_t *position = w->in[0].data;
    heed_real *out = w->out[0].data;
    for (int64_t i = 0; i < half; i++) {
        double speed = pow(a->base, -2.0 * (double)i / (double)a->d);
        for (int64_t r = from; r < to; r++) {
            double angle = (double)position[r] * (a->back ? -speed : speed);
            out[r * a->d + i] = (heed_real)cos(angle);
            out[r * a->d + half + i] = (heed_real)sin(angle);
        }
    }
}

enum { COST = 30 }; /* of a cosine, in numbers moved */

static void run_angles(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * COST, angle_rows, (void *)w);
}

static const heed_op ANGLES = {.name = "rope angles", .run = run_angles};

static heed_value angles(heed_build *b, heed_value positions, double base, int64_t d, bool back) {
    angle_attr attr = {.base = base, .d = d, .back = back};
    heed_shape shape = heed_like(b, positions, d);
    shape.cell = HEED_CELL_NUMBER;
    return heed_record_shared(b, &ANGLES, &attr, sizeof attr, 1, &positions, 1, &shape);
}

typedef struct {
    double base;
    int64_t heads, interleaved;
} rope_attr;

/* in: x, angles */
static void rope_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const rope_attr *a = w->attr;
    int64_t n = w->out[0].cols, d = w->in[1].cols;
    const heed_real *x = w->in[0].data, *turn = w->in[1].data;
    heed_real *out = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        const heed_real *cosine = turn + r * d, *sine = cosine + d / 2;
        w->kernels->rope(a->heads, d, a->interleaved, cosine, sine, x + r * n, out + r * n);
    }
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, 2 * w->out[0].cols, rope_rows, (void *)w);
}

static const heed_op BACK = {.name = "rope (gradient)", .run = run, .in_place = 1};

/* in: x, angles, positions (read by the backward pass alone) */
static void grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in) {
    const rope_attr *a = attr;
    (void)out;
    heed_shape shape = heed_shape_of(b, in[0]);
    heed_value back = angles(b, in[2], a->base, heed_columns(b, in[1]), true);
    heed_value from[] = {d_out[0], back};
    heed_value dx = heed_record(b, &BACK, attr, sizeof *a, 2, from, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op ROPE = {.name = "rope", .run = run, .grad = grad, .in_place = 1};

static bool fits(heed_build *b, heed_value x, heed_value positions, int64_t heads, double base) {
    int64_t width = heed_columns(b, x);
    if (!heed_check_numbers(b, "rope", x) || !positions.id) {
        return false;
    }
    if (heed_shape_of(b, positions).cell != HEED_CELL_INT ||
        heed_space_of(b, positions).id != heed_space_of(b, x).id) {
        heed_refuse(b, HEED_SHAPE, "rope wants the positions of its rows' own space");
        return false;
    }
    if (heads < 1 || width % heads || width / heads % 2) {
        heed_refuse(b, HEED_SHAPE,
                    "rope on width %" PRId64 " and %" PRId64
                    " heads: each head needs an even whole width",
                    width, heads);
        return false;
    }
    if (!(base > 0)) {
        heed_refuse(b, HEED_VALUE, "rope wants a base above 0, not %g", base);
        return false;
    }
    return true;
}

heed_value heed_rope(heed_build *b, heed_value x, heed_value positions, int64_t heads, double base,
                     bool interleaved) {
    if (!fits(b, x, positions, heads, base)) {
        return (heed_value){0};
    }
    rope_attr attr = {.base = base, .heads = heads, .interleaved = interleaved};
    heed_value turn = angles(b, positions, base, heed_columns(b, x) / heads, false);
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &ROPE, &attr, sizeof attr, 3, (heed_value[]){x, turn, positions}, 1,
                       &shape);
}
