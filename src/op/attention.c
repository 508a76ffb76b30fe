/* attention.c: scaled dot-product attention: shape rules and the forward pass.
 *
 *   out_i = sum over allowed j of softmax_j(capped(scale q_i k_j') + bias) v_j, for each head
 * Method: a task is a block of queries of one sequence and head; the kernel walks over its keys in
 * pieces and never builds the matrix of weights unless somebody watches it. With a cache the new
 * keys and values are put into their rows first, and the keys are the sequence's rows of the cache.
 * Source: Vaswani et al. 2017, section 3.2.1; Ainslie et al. 2023 (grouped heads); Dao et al. 2022
 * (tiling).
 * SPDX-License-Identifier: MIT
 */
#include "op/attention.h"

#include "heed_ops.h"
#include "op/drop.h"
#include "op/gemm.h"
#include "op/shape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Forward ---- */

/* New keys and values into the cache. */
static void store_rows(void *ctx, int64_t from, int64_t to) {
    const heed_attend_frame *f = ctx;
    const heed_mat *k = &f->w->in[HEED_ATTEND_K], *v = &f->w->in[HEED_ATTEND_V];
    const heed_real *keys = k->data, *values = v->data;
    for (int64_t r = from; r < to; r++) {
        int64_t place = f->cache.place[r];
        memcpy(f->cache.keys + place * k->cols, keys + r * k->cols, (size_t)k->cols * sizeof *keys);
        memcpy(f->cache.values + place * v->cols, values + r * v->cols,
               (size_t)v->cols * sizeof *values);
    }
}

/* The sequence that block number `item` belongs to. */
static int64_t sequence_of(const heed_attend_frame *f, int64_t item) {
    int64_t low = 0, high = f->q.n - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (f->first_block[middle] <= item) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static void attend_block(const heed_attend_frame *f, heed_attend_block *block, int64_t head,
                         int64_t lane) {
    const heed_work *w = f->w;
    heed_attention c = heed_attend_call(f, block, head, lane);
    int64_t row = f->q.starts[block->s] + block->from;
    int64_t rows = f->q.starts[block->s + 1] - f->q.starts[block->s];
    heed_real *lse = w->out[1].data, *weights = w->out[2].data;
    c.out_stride = w->out[0].cols;
    c.out = (heed_real *)w->out[0].data + row * c.out_stride + head * f->a->value_width;
    if (lse) {
        c.lse = lse + head * w->out[0].rows + row; /* heads x rows, so that a head's lie together */
    }
    if (weights) {
        c.weights_stride = c.keys;
        c.weights =
            weights + f->first_pair[block->s] * f->a->heads + (head * rows + block->from) * c.keys;
    }
    w->kernels->attention(&c);
}

static void attend_lane(void *ctx, int64_t lane) {
    const heed_attend_frame *f = ctx;
    int64_t heads = f->a->heads, items = f->first_block[f->q.n] * heads;
    heed_attend_block block;
    for (int64_t item = lane; item < items; item += HEED_ATTEND_LANES) {
        int64_t s = sequence_of(f, item / heads);
        heed_attend_block_make(f, s, item / heads - f->first_block[s], &block);
        attend_block(f, &block, item % heads, lane);
    }
}

enum { SMALL = 1 << 15 }; /* multiply-adds that one thread does sooner than two */

static void run(const heed_work *w) {
    heed_attend_frame f;
    heed_attend_frame_make(&f, w);
    const heed_attend_attr *a = f.a;
    if (f.cached) {
        heed_rows_run(w, w->in[HEED_ATTEND_K].rows, 2 * w->in[HEED_ATTEND_K].cols, store_rows, &f);
    }
    int64_t work = f.first_pair[f.q.n] * a->heads * (a->width + a->value_width);
    int64_t lanes = heed_min(HEED_ATTEND_LANES, f.first_block[f.q.n] * a->heads);
    heed_pool_run(work < SMALL ? NULL : w->pool, lanes, attend_lane, &f);
}

static const heed_op ATTEND = {.name = "attention",
                               .run = run,
                               .grad = heed_attend_grad,
                               .scratch = heed_attend_scratch,
                               .optional = 6};

/* ---- Shape rules ---- */

static bool heads_fit(heed_build *b, heed_value q, heed_value k, heed_value v, int64_t heads,
                      int64_t kv_heads) {
    int64_t width = heed_columns(b, q), key = heed_columns(b, k), value = heed_columns(b, v);
    if (heads < 1 || heads > INT32_MAX || width % heads) {
        heed_refuse(b, HEED_SHAPE, "width %" PRId64 " is not a multiple of %" PRId64 " heads",
                    width, heads);
    } else if (kv_heads < 1 || heads % kv_heads) {
        heed_refuse(b, HEED_SHAPE,
                    "%" PRId64 " heads are not a multiple of %" PRId64 " key-value heads", heads,
                    kv_heads);
    } else if (key != width / heads * kv_heads) {
        heed_refuse(b, HEED_SHAPE,
                    "keys have %" PRId64 " columns, %" PRId64 " key-value heads of width %" PRId64
                    " need %" PRId64,
                    key, kv_heads, width / heads, width / heads * kv_heads);
    } else if (value % kv_heads) {
        heed_refuse(b, HEED_SHAPE,
                    "values have %" PRId64 " columns, not a multiple of %" PRId64
                    " key-value heads",
                    value, kv_heads);
    } else {
        return true;
    }
    return false;
}

static bool rows_fit(heed_build *b, heed_value q, heed_value k, heed_value v, heed_value mask) {
    uint32_t queries = heed_space_of(b, q).id, keys = heed_space_of(b, k).id;
    if (!queries || !keys || heed_space_of(b, v).id != keys) {
        heed_refuse(b, HEED_SHAPE,
                    "attention wants rows of row spaces, keys and values of the same");
        return false;
    }
    heed_shape m = heed_shape_of(b, mask);
    if (mask.id && (m.extent != HEED_EXTENT_PAIRS || m.cell != HEED_CELL_BYTE ||
                    m.space != queries || m.keys != keys)) {
        heed_refuse(b, HEED_SHAPE, "the mask is not one of these queries and keys");
        return false;
    }
    return true;
}

static bool buckets_fit(heed_build *b, heed_value buckets, int64_t heads) {
    heed_shape shape = heed_shape_of(b, buckets);
    if (!buckets.id) {
        return true;
    }
    if (shape.extent != HEED_EXTENT_FIXED || shape.cols != heads) {
        heed_refuse(b, HEED_SHAPE,
                    "the bucket table has %" PRId64 " columns, attention has %" PRId64 " heads",
                    shape.cols, heads);
        return false;
    }
    if (heed_wants_grad(b, buckets) && !heed_is_weight(b, buckets)) {
        heed_refuse(b, HEED_VALUE, "the bucket table must be a weight where it is trained");
        return false;
    }
    return true;
}

static bool options_fit(heed_build *b, const heed_attention_options *o) {
    if (o->window < 0 || o->max_distance < 0 || o->max_distance > INT32_MAX) {
        heed_refuse(b, HEED_VALUE,
                    "a window of %" PRId64 " and a distance of %" PRId64 " must not be negative",
                    o->window, o->max_distance);
        return false;
    }
    if (!isfinite(o->scale)) {
        heed_refuse(b, HEED_VALUE, "the scale of attention is not finite");
        return false;
    }
    if (!(o->softcap >= 0) || !isfinite(o->softcap)) {
        heed_refuse(b, HEED_VALUE, "scores cannot be capped at %g", o->softcap);
        return false;
    }
    return heed_check_share(b, "dropout on attention weights", o->dropout);
}

static bool numbers(heed_build *b, heed_value q, heed_value k, heed_value v) {
    return heed_check_numbers(b, "attention", q) && heed_check_numbers(b, "attention", k) &&
           heed_check_numbers(b, "attention", v);
}

/* ---- Recording ---- */

static heed_attend_attr attr_of(heed_build *b, heed_value q, heed_value k, heed_value v,
                                const heed_attention_options *o) {
    heed_attend_attr a = {.window = o->window, .causal = o->causal, .alibi = o->alibi};
    a.heads = (int32_t)o->heads;
    a.kv_heads = (int32_t)(o->kv_heads ? o->kv_heads : o->heads);
    a.width = (int32_t)(heed_columns(b, q) / a.heads);
    a.value_width = (int32_t)(heed_columns(b, v) / a.kv_heads);
    a.scale = o->scale != 0 ? o->scale : 1 / sqrt((double)a.width);
    a.cap = o->softcap;
    a.dropout = heed_build_trains(b) ? o->dropout : 0;
    a.stream = heed_path_hash(b, "weights");
    a.t5 = o->buckets.id != 0;
    a.max_distance = o->max_distance ? o->max_distance : 128;
    a.queries = heed_space_of(b, q).id;
    a.keys = heed_space_of(b, k).id;
    return a;
}

heed_value heed_attend(heed_build *b, heed_value q, heed_value k, heed_value v,
                       const heed_attention_options *options) {
    const heed_attention_options *o = options;
    int64_t kv_heads = o->kv_heads ? o->kv_heads : o->heads;
    if (!numbers(b, q, k, v) || !heads_fit(b, q, k, v, o->heads, kv_heads) ||
        !rows_fit(b, q, k, v, o->mask) || !buckets_fit(b, o->buckets, o->heads) ||
        !options_fit(b, o)) {
        return (heed_value){0};
    }
    heed_attend_attr a = attr_of(b, q, k, v, o);
    heed_value in[HEED_ATTEND_INPUTS] = {q, k, v};
    in[HEED_ATTEND_MASK] = o->mask.id ? o->mask : heed_absent();
    in[HEED_ATTEND_BUCKETS] = in[HEED_ATTEND_BUCKET_OF] = heed_absent();
    if (a.t5) {
        in[HEED_ATTEND_BUCKETS] = o->buckets;
        in[HEED_ATTEND_BUCKET_OF] =
            heed_attend_bucket_of(b, heed_shape_of(b, o->buckets).rows, a.max_distance, a.causal);
    }
    if (o->cache && a.queries == a.keys && !heed_build_trains(b)) {
        heed_want_cache(b, o->cache, heed_columns(b, k), heed_columns(b, v));
    }
    heed_shape weights = heed_like(b, q, a.heads);
    weights.extent = HEED_EXTENT_PAIRS;
    weights.keys = a.keys;
    heed_shape out[] = {heed_like(b, q, (int64_t)a.heads * a.value_width), heed_like(b, q, a.heads),
                        weights};
    heed_value first = heed_record(b, &ATTEND, &a, sizeof a, HEED_ATTEND_INPUTS, in, 3, out);
    if (first.id) {
        heed_name(b, heed_output(first, 2), "weights");
    }
    return first;
}
