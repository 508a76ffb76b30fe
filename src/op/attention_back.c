/* attention_back.c: gradients of attention, with the weights computed again from the kept log-sums.
 *
 * Method: a task owns one key sequence and one key-value head, and walks over the query sequences
 * that look at it, the heads of the group and their blocks of queries in order: each gradient is
 * summed by one task in one order. With T5 buckets a task owns a key-value head over all sequences,
 * since these share the table. Source: Dao et al. 2022, algorithm 4.
 * SPDX-License-Identifier: MIT
 */
#include "op/attention.h"

#include "op/accumulate.h"
#include "op/gemm.h"

#include <string.h>

static void clear_rows(void *ctx, int64_t from, int64_t to) {
    const heed_mat *m = ctx;
    memset((heed_real *)m->data + from * m->cols, 0,
           (size_t)((to - from) * m->cols) * sizeof(heed_real));
}

static void back_block(const heed_attend_frame *f, heed_attend_block *block, int64_t head,
                       int64_t lane) {
    const heed_work *w = f->w;
    const heed_attend_attr *a = f->a;
    heed_attention c = heed_attend_call(f, block, head, lane);
    int64_t row = f->q.starts[block->s] + block->from;
    int64_t key = f->k.starts[heed_attend_keys_of(f, block->s)];
    int64_t kv_head = head / (a->heads / a->kv_heads);
    c.out_stride = c.d_out_stride = w->in[HEED_ATTEND_OUT].cols;
    int64_t out = row * c.out_stride + head * a->value_width;
    c.out = (heed_real *)w->in[HEED_ATTEND_OUT].data + out;
    c.d_out = (const heed_real *)w->in[HEED_ATTEND_D_OUT].data + out;
    c.lse = (heed_real *)w->in[HEED_ATTEND_LSE].data + head * w->in[HEED_ATTEND_Q].rows + row;
    c.d_q_stride = c.q_stride;
    c.d_k_stride = c.k_stride;
    c.d_v_stride = c.v_stride;
    c.d_q = (heed_real *)w->out[0].data + row * c.q_stride + head * a->width;
    c.d_k = (heed_real *)w->out[1].data + key * c.k_stride + kv_head * a->width;
    c.d_v = (heed_real *)w->out[2].data + key * c.v_stride + kv_head * a->value_width;
    if (f->d_bias) {
        c.d_bias = f->d_bias + head * (2 * f->reach + 1) + f->reach;
    }
    w->kernels->attention_back(&c);
}

/* One query sequence against its keys, for the heads of one group. */
static void back_sequence(const heed_attend_frame *f, int64_t s, int64_t kv_head, int64_t lane) {
    int64_t group = f->a->heads / f->a->kv_heads,
            blocks = f->first_block[s + 1] - f->first_block[s];
    heed_attend_block block;
    for (int64_t i = 0; i < blocks; i++) {
        heed_attend_block_make(f, s, i, &block);
        for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++) {
            back_block(f, &block, h, lane);
        }
    }
}

static void back_keys(const heed_attend_frame *f, int64_t k, int64_t kv_head, int64_t lane) {
    if (!f->join) {
        if (k < f->q.n) {
            back_sequence(f, k, kv_head, lane);
        }
        return;
    }
    for (int64_t s = 0; s < f->q.n; s++) {
        if (f->join[s] == k) {
            back_sequence(f, s, kv_head, lane);
        }
    }
}

static void back_lane(void *ctx, int64_t lane) {
    const heed_attend_frame *f = ctx;
    int64_t kv_heads = f->a->kv_heads;
    for (int64_t item = lane; item < f->k.n * kv_heads; item += HEED_ATTEND_LANES) {
        back_keys(f, item / kv_heads, item % kv_heads, lane);
    }
}

static void back_head_lane(void *ctx, int64_t lane) {
    const heed_attend_frame *f = ctx;
    int64_t group = f->a->heads / f->a->kv_heads;
    for (int64_t kv_head = lane; kv_head < f->a->kv_heads; kv_head += HEED_ATTEND_LANES) {
        for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++) {
            heed_attend_clear_d_bias(f, h);
        }
        for (int64_t k = 0; k < f->k.n; k++) {
            back_keys(f, k, kv_head, lane);
        }
        for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++) {
            heed_attend_add_d_bias(f, h);
        }
    }
}

static void run_back(const heed_work *w) {
    heed_attend_frame f;
    heed_attend_frame_make(&f, w);
    bool learns_bias = w->in[HEED_ATTEND_D_BUCKETS].data != NULL;
    if (!learns_bias) {
        f.d_bias = NULL;
    }
    for (int i = 0; i < 3; i++) {
        heed_rows_run(w, w->out[i].rows, w->out[i].cols, clear_rows, (void *)&w->out[i]);
    }
    int64_t items = learns_bias ? f.a->kv_heads : f.k.n * f.a->kv_heads;
    int64_t lanes = heed_min(HEED_ATTEND_LANES, items);
    heed_pool_run(w->pool, lanes, learns_bias ? back_head_lane : back_lane, &f);
}

static const heed_op BACK = {
    .name = "attention (gradient)", .run = run_back, .scratch = heed_attend_scratch};
static const heed_op BACK_TO_BUCKETS = {.name = "attention (gradient, bucket table too)",
                                        .run = run_back,
                                        .scratch = heed_attend_scratch,
                                        .effect = true};

void heed_attend_grad(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                      const heed_value *d_out, heed_value *d_in) {
    heed_value from[HEED_ATTEND_BACK_INPUTS], d_buckets;
    if (!d_out[0].id || d_out[1].id || d_out[2].id) {
        heed_refuse(b, HEED_VALUE, "attention has a gradient through its output alone");
        return;
    }
    d_buckets = heed_gradient_or_absent(b, in[HEED_ATTEND_BUCKETS]);
    memcpy(from, in, HEED_ATTEND_INPUTS * sizeof *in);
    from[HEED_ATTEND_OUT] = out[0];
    from[HEED_ATTEND_LSE] = out[1];
    from[HEED_ATTEND_D_OUT] = d_out[0];
    from[HEED_ATTEND_D_BUCKETS] = d_buckets;
    const heed_op *op = heed_is_absent(d_buckets) ? &BACK : &BACK_TO_BUCKETS;
    heed_shape shape[3];
    for (int i = 0; i < 3; i++) {
        shape[i] = heed_shape_of(b, in[i]);
    }
    heed_value d =
        heed_record(b, op, attr, sizeof(heed_attend_attr), HEED_ATTEND_BACK_INPUTS, from, 3, shape);
    for (int i = 0; i < 3; i++) {
        if (heed_wants_grad(b, in[i])) {
            heed_pass_gradient(b, in[i], heed_output(d, i), &d_in[i]);
        }
    }
}
