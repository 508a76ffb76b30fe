/* rope.c: rotary positions: pairs of a head's numbers turn by an angle that grows with the
 * position.
 *
 *   the first `turned` numbers of a head are pairs (i, i + turned/2), or (2i, 2i+1) interleaved;
 *   pair i turns by position * base^(-2i/turned), scaled as rope_angles.c says. The rest stays.
 * The gradient turns back. Cosines and sines are a node of their own, shared by queries and keys of
 * all layers. Source: Su et al. 2021, "RoFormer".
 * SPDX-License-Identifier: MIT
 */
#include "op/rope.h"

#include "op/accumulate.h"
#include "op/shape.h"

#include <inttypes.h>
#include <math.h>

typedef struct {
    heed_rope_angles_attr angles;
    int32_t heads, interleaved;
} rope_attr;

/* in: x, angles */
static void rope_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const rope_attr *a = w->attr;
    int64_t n = w->out[0].cols, turned = w->in[1].cols;
    const heed_real *x = w->in[0].data, *turn = w->in[1].data;
    heed_real *out = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        const heed_real *cosine = turn + r * turned, *sine = cosine + turned / 2;
        w->kernels->rope(a->heads, n / a->heads, turned, a->interleaved, cosine, sine, x + r * n,
                         out + r * n);
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
    heed_value from[] = {d_out[0], heed_rope_angles(b, in[2], &a->angles, true)};
    heed_value dx = heed_record(b, &BACK, attr, sizeof *a, 2, from, 1, &shape);
    heed_pass_gradient(b, in[0], dx, &d_in[0]);
}

static const heed_op ROPE = {.name = "rope", .run = run, .grad = grad, .in_place = 1};

static bool fits(heed_build *b, heed_value x, heed_value positions, const heed_rope_options *o) {
    int64_t width = heed_columns(b, x), heads = o->heads;
    if (!heed_check_numbers(b, "rope", x) || !positions.id) {
        return false;
    }
    bool whole = heads >= 1 && heads <= INT32_MAX && width % heads == 0;
    int64_t head = whole ? width / heads : 0;
    if (heed_shape_of(b, positions).cell != HEED_CELL_INT ||
        heed_space_of(b, positions).id != heed_space_of(b, x).id) {
        heed_refuse(b, HEED_SHAPE, "rope wants the positions of its rows' own space");
    } else if (!whole || (!o->turned && head % 2)) {
        heed_refuse(b, HEED_SHAPE,
                    "rope on width %" PRId64 " and %" PRId64
                    " heads: each head needs an even whole width",
                    width, heads);
    } else if (o->turned < 0 || o->turned > head || o->turned % 2) {
        heed_refuse(b, HEED_SHAPE,
                    "rope cannot turn %" PRId64 " numbers of heads of %" PRId64
                    ": it wants an even part",
                    o->turned, head);
    } else if (!(o->base > 0)) {
        heed_refuse(b, HEED_VALUE, "rope wants a base above 0, not %g", o->base);
    } else {
        return true;
    }
    return false;
}

heed_value heed_rope(heed_build *b, heed_value x, heed_value positions,
                     const heed_rope_options *options) {
    const heed_rope_options *o = options;
    rope_attr attr = {.heads = 0};
    if (!fits(b, x, positions, o)) {
        return (heed_value){0};
    }
    int64_t turned = o->turned ? o->turned : heed_columns(b, x) / o->heads;
    if (!heed_rope_angles_of(b, o, turned, &attr.angles)) {
        return (heed_value){0};
    }
    attr.heads = (int32_t)o->heads;
    attr.interleaved = o->interleaved;
    heed_value in[] = {x, heed_rope_angles(b, positions, &attr.angles, false), positions};
    heed_shape shape = heed_shape_of(b, x);
    return heed_record(b, &ROPE, &attr, sizeof attr, 3, in, 1, &shape);
}
