/* attention_frame.c: which keys each block of queries sees, and where everything lies.
 *
 * Rule: with Q new rows and L keys, row i of a sequence stands at place L - Q + i of the keys.
 * Causal: it sees keys [0, place]. Window w: keys (place - w, place], and as many behind where not
 * causal; of these, in self-attention, the keys whose position is less than w away.
 * SPDX-License-Identifier: MIT
 */
#include "op/attention.h"

#include "op/drop.h"
#include "op/gemm.h"

#include <math.h>

/* ---- Scratch ---- */

typedef struct {
    char *base; /* NULL: only measured */
    size_t used;
} arena;

static void *take(arena *m, int64_t count, size_t size) {
    void *p = m->base ? m->base + m->used : NULL;
    m->used += ((size_t)count * size + 63) / 64 * 64;
    return p;
}

/* The longest list of keys that the plan allows for. */
static int64_t most_keys(const heed_attend_frame *f) {
    return f->cached ? heed_work_cache_longest(f->w) : f->k.longest;
}

static void lay_out(heed_attend_frame *f, arena *m) {
    const heed_attend_attr *a = f->a;
    int64_t span = (2 * f->reach + 1) * a->heads;
    bool back = f->w->n_in == HEED_ATTEND_BACK_INPUTS;
    f->first_block = take(m, f->q.n + 1, sizeof *f->first_block);
    f->first_pair = take(m, f->q.n + 1, sizeof *f->first_pair);
    if (a->t5) {
        f->bias = take(m, span, sizeof *f->bias);
    }
    if (a->t5 && back) {
        f->d_bias = take(m, span, sizeof *f->d_bias);
    }
    if (a->dropout > 0) {
        f->keep = take(m, HEED_ATTEND_LANES * HEED_ATTEND_BLOCK * f->keep_stride, 1);
    }
}

/* The frame for the planned capacity: its reach and strides hold for every run. */
static heed_attend_frame capacity_frame(const heed_work *w) {
    heed_work planning = *w;
    planning.session = NULL;
    heed_attend_frame f = {.w = w, .a = w->attr};
    f.q = heed_work_cut(&planning, f.a->queries);
    f.k = heed_work_cut(&planning, f.a->keys);
    f.cached = heed_work_cache(&planning, &f.cache);
    f.reach = f.a->max_distance;
    f.keep_stride = most_keys(&f);
    return f;
}

size_t heed_attend_scratch(const heed_work *w) {
    heed_attend_frame f = capacity_frame(w);
    arena m = {0};
    lay_out(&f, &m);
    return m.used;
}

void heed_attend_frame_make(heed_attend_frame *f, const heed_work *w) {
    *f = capacity_frame(w);
    arena m = {.base = w->scratch};
    lay_out(f, &m);
    f->q = heed_work_cut(w, f->a->queries);
    f->k = heed_work_cut(w, f->a->keys);
    f->join = heed_work_join(w, f->a->queries, f->a->keys);
    heed_work_cache(w, &f->cache);
    f->drop = heed_drop_of(w, f->a->stream, f->a->dropout);
    f->first_block[0] = f->first_pair[0] = 0;
    for (int64_t s = 0; s < f->q.n; s++) {
        int64_t rows = f->q.starts[s + 1] - f->q.starts[s];
        f->first_block[s + 1] = f->first_block[s] + heed_panels(rows, HEED_ATTEND_BLOCK);
        f->first_pair[s + 1] = f->first_pair[s] + rows * heed_attend_key_count(f, s);
    }
    if (f->bias) {
        heed_attend_fill_bias(f);
    }
}

/* ---- Keys ---- */

int64_t heed_attend_keys_of(const heed_attend_frame *f, int64_t s) {
    int64_t k = f->join ? f->join[s] : s;
    return k >= 0 && k < f->k.n ? k : -1;
}

int64_t heed_attend_key_count(const heed_attend_frame *f, int64_t s) {
    int64_t k = heed_attend_keys_of(f, s);
    if (k < 0) {
        return 0;
    }
    return f->cached ? f->cache.length[k] : f->k.starts[k + 1] - f->k.starts[k];
}

/* Positions of the keys of a key sequence. */
static const int32_t *key_positions(const heed_attend_frame *f, int64_t keys_of) {
    return f->cached ? f->cache.positions[keys_of] : f->k.positions + f->k.starts[keys_of];
}

/* Positions ascend, so what the window holds lies within as many rows; rows that were left out
 * (holes of a mask) count in a distance. */
static void narrow(const heed_attend_attr *a, const int32_t *position, int64_t at, int64_t *from,
                   int64_t *to) {
    while (*from < *to && at - position[*from] >= a->window) {
        ++*from;
    }
    while (*from < *to && position[*to - 1] - at >= a->window) {
        --*to;
    }
}

static void set_range(const heed_attend_attr *a, int64_t place, int64_t keys, int64_t *from,
                      int64_t *to) {
    *from = a->window ? heed_max(0, place - a->window + 1) : 0;
    *to = keys;
    if (a->causal) {
        *to = heed_max(0, place + 1);
    } else if (a->window) {
        *to = heed_max(0, heed_min(keys, place + a->window));
    }
    *from = heed_min(*from, *to);
}

void heed_attend_block_make(const heed_attend_frame *f, int64_t s, int64_t i,
                            heed_attend_block *block) {
    int64_t rows = f->q.starts[s + 1] - f->q.starts[s], keys = heed_attend_key_count(f, s);
    const int32_t *at = f->q.positions + f->q.starts[s];
    block->s = s;
    block->from = i * HEED_ATTEND_BLOCK;
    block->queries = heed_min(HEED_ATTEND_BLOCK, rows - block->from);
    for (int64_t j = 0; j < block->queries; j++) {
        int64_t row = block->from + j, from, to;
        set_range(f->a, keys - rows + row, keys, &from, &to);
        if (f->a->window && f->a->queries == f->a->keys && from < to) {
            narrow(f->a, key_positions(f, heed_attend_keys_of(f, s)), at[row], &from, &to);
        }
        block->begin[j] = (int32_t)from;
        block->end[j] = (int32_t)to;
    }
}

/* ---- The call ---- */

static void set_keys(const heed_attend_frame *f, int64_t keys_of, int64_t kv_head,
                     heed_attention *c) {
    const heed_attend_attr *a = f->a;
    const heed_real *k = f->w->in[HEED_ATTEND_K].data, *v = f->w->in[HEED_ATTEND_V].data;
    c->k_stride = (int64_t)a->kv_heads * a->width;
    c->v_stride = (int64_t)a->kv_heads * a->value_width;
    if (f->cached) {
        k = f->cache.keys;
        v = f->cache.values;
        c->rows = f->cache.rows[keys_of];
    } else {
        int64_t row = f->k.starts[keys_of];
        k += row * c->k_stride;
        v += row * c->v_stride;
    }
    c->k_pos = key_positions(f, keys_of);
    c->k = k + kv_head * a->width;
    c->v = v + kv_head * a->value_width;
}

static void set_dropout(const heed_attend_frame *f, const heed_attend_block *block, int64_t head,
                        int64_t lane, heed_attention *c) {
    uint8_t *tile = f->keep + lane * HEED_ATTEND_BLOCK * f->keep_stride;
    int64_t row = f->q.starts[block->s] + block->from;
    for (int64_t i = 0; i < block->queries; i++) {
        f->w->kernels->drop_mask(&f->drop, (row + i) * f->a->heads + head, block->end[i],
                                 tile + i * f->keep_stride);
    }
    c->keep = tile;
    c->keep_stride = f->keep_stride;
    c->keep_scale = (heed_real)(1 / (1 - f->a->dropout));
}

heed_attention heed_attend_call(const heed_attend_frame *f, heed_attend_block *block, int64_t head,
                                int64_t lane) {
    const heed_attend_attr *a = f->a;
    int64_t row = f->q.starts[block->s] + block->from, keys_of = heed_attend_keys_of(f, block->s);
    heed_attention c = {
        .queries = block->queries, .width = a->width, .value_width = a->value_width};
    c.keys = heed_attend_key_count(f, block->s);
    c.scale = (heed_real)a->scale;
    c.q_stride = (int64_t)a->heads * a->width;
    c.q = (const heed_real *)f->w->in[HEED_ATTEND_Q].data + row * c.q_stride + head * a->width;
    c.begin = block->begin;
    c.end = block->end;
    c.lse = block->lse;
    c.q_pos = f->q.positions + row;
    if (keys_of >= 0) {
        set_keys(f, keys_of, head / (a->heads / a->kv_heads), &c);
    }
    if (f->w->in[HEED_ATTEND_MASK].data) {
        c.mask_stride = c.keys;
        c.mask = (const uint8_t *)f->w->in[HEED_ATTEND_MASK].data + f->first_pair[block->s] +
                 block->from * c.keys;
    }
    if (f->bias) {
        c.bias = f->bias + head * (2 * f->reach + 1) + f->reach;
        c.bias_reach = f->reach;
    }
    c.slope = a->alibi ? heed_attend_slope(a->heads, head) : 0;
    c.cap = (heed_real)a->cap;
    if (f->keep) {
        set_dropout(f, block, head, lane, &c);
    }
    return c;
}
