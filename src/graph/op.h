/* op.h: what an op is, and what it gets to work with: the whole contract between graph/ and op/.
 *
 * An op is a descriptor in its own file; the graph calls it through the pointers and knows none by
 * name.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GRAPH_OP_H
#define HEED_GRAPH_OP_H

#include "base/dtype.h"
#include "base/thread.h"
#include "heed_build.h"
#include "kernel/kernel.h"

enum { HEED_MAX_IN = 10, HEED_MAX_OUT = 4, HEED_ATTR_BYTES = 96 };

/* How one run cuts a row space. */
typedef struct {
    int64_t n;                /* sequences */
    const int64_t *starts;    /* n + 1 */
    const int32_t *positions; /* one for each row */
    int64_t longest;
} heed_cut;

/* A matrix at run time. While planning, data is NULL and rows is the capacity. */
typedef struct {
    void *data;
    int64_t rows, cols;
    uint32_t space; /* 0: none (weights, fixed sizes) */
    heed_type kept; /* F32: numbers of the engine; else how data is kept, see heed_op.kept */
} heed_mat;

typedef struct heed_cache_view heed_cache_view;

/* One node at work. */
typedef struct {
    const heed_kernels *kernels;
    heed_pool *pool;
    const void *attr;
    int n_in, n_out;
    heed_mat in[HEED_MAX_IN];    /* data NULL where the value is absent (id 0) */
    heed_mat out[HEED_MAX_OUT];  /* data NULL where nobody needs it */
    void *scratch;               /* as many bytes as op->scratch asked for, aligned to 64 */
    uint64_t seed, step;         /* of heed_set_random */
    const heed_session *session; /* NULL while planning */
    const heed_plan *plan;
    uint32_t node; /* index in the plan */
} heed_work;

/* The cut of a space in this run; while planning, n, longest are the capacity and starts NULL. */
heed_cut heed_work_cut(const heed_work *w, uint32_t space);
/* join[i]: sequence of `keys` that sequence i of `queries` looks at; NULL: the same number. */
const int32_t *heed_work_join(const heed_work *w, uint32_t queries, uint32_t keys);
/* Capacity of query-key pairs. */
int64_t heed_work_pairs(const heed_work *w, uint32_t queries, uint32_t keys);

/* The key-value cache of an attention node in a plan with `cached`. The new rows of each sequence
 * have been given places before the run's first node: row r of the step space goes to row place[r]
 * of keys and values. */
struct heed_cache_view {
    heed_number *keys, *values; /* rows x their columns */
    const int32_t *place;       /* for each row of the step space */
    const int32_t *const *rows; /* for each sequence: its cache rows in order, new ones included */
    const int64_t *length;      /* for each sequence: how many, new ones included */
    const int32_t *const *positions; /* for each sequence: positions of those rows */
};
/* False where the node has no cache in this plan. While planning gives NULL pointers. */
bool heed_work_cache(const heed_work *w, heed_cache_view *view);
/* Longest sequence that the cache can hold. */
int64_t heed_work_cache_longest(const heed_work *w);

typedef struct heed_op {
    const char *name;
    /* Writes every element of out. Uses heed_pool_run with tasks split by the problem. Cannot fail.
     */
    void (*run)(const heed_work *w);
    /* Records nodes for the gradient. in, out: the node's values; d_out[i]: gradient of out i or id
     * 0; sets d_in[i] (already 0) for each input that heed_wants_grad. Gradients of weights are not
     * returned but added to heed_gradient(b, weight) by a recorded node with `effect`. NULL: not
     * differentiable. */
    void (*grad)(heed_build *b, const void *attr, const heed_value *in, const heed_value *out,
                 const heed_value *d_out, heed_value *d_in);
    /* Bytes of scratch for w's capacity; NULL: none. Must not depend on the number of threads. */
    size_t (*scratch)(const heed_work *w);
    /* bit i: out 0 may lie where in i lies; it does not where the value is a second input too. */
    uint32_t in_place;
    /* bit i: input i may be a weight as a file keeps it (heed_mat.kept); other ops get its numbers
     * as floats, which are made for them when the plan is. */
    uint32_t kept;
    bool effect; /* writes into an input (a gradient sum): is run although nobody reads an output */
    uint32_t optional; /* bit i: out i is left out (data NULL) where nobody reads it */
    bool passes_ints;  /* integers of out 0 are some of in 0's: limits of the one are the other's */
} heed_op;

/* ---- Recording, for ops ---- */

typedef enum { HEED_CELL_NUMBER, HEED_CELL_INT, HEED_CELL_BYTE } heed_cell;
typedef enum { HEED_EXTENT_FIXED, HEED_EXTENT_SPACE, HEED_EXTENT_PAIRS } heed_extent;

/* Rows: FIXED `rows`; SPACE one for each row of `space`; PAIRS one for each (query, key) of space x
 * keys. */
typedef struct {
    heed_extent extent;
    heed_cell cell;
    uint32_t space, keys;
    int64_t rows, cols;
} heed_shape;

heed_shape heed_shape_of(const heed_build *b, heed_value v); /* all zeros for a failed value */
heed_shape heed_fixed(int64_t rows, int64_t cols);
heed_shape heed_like(const heed_build *b, heed_value v,
                     int64_t cols); /* same rows, other columns */

/* Records a node; returns its first output. attr is copied (at most HEED_ATTR_BYTES). An input of
 * id 0 that the op calls absent must be given as heed_absent(); any other id 0 gives id 0. */
heed_value heed_record(heed_build *b, const heed_op *op, const void *attr, size_t attr_bytes,
                       int n_in, const heed_value *in, int n_out, const heed_shape *out);
/* The same, or what an earlier call of this with the same op, attr, inputs and shapes gave (packed
 * weights, tables). */
heed_value heed_record_shared(heed_build *b, const heed_op *op, const void *attr, size_t attr_bytes,
                              int n_in, const heed_value *in, int n_out, const heed_shape *out);
heed_value heed_absent(void);
bool heed_is_absent(heed_value v);
heed_value heed_output(heed_value first,
                       int i); /* output i of the node whose output 0 is `first` */
/* Records a node without outputs (op->effect). */
void heed_record_effect(heed_build *b, const heed_op *op, const void *attr, size_t attr_bytes,
                        int n_in, const heed_value *in);

/* True where a gradient for v is needed (it depends on a weight or input that wants one). */
bool heed_wants_grad(const heed_build *b, heed_value v);
bool heed_is_weight(const heed_build *b, heed_value v);
/* How a weight is kept: F32 where it has numbers of the engine, and in training. */
heed_type heed_kept_type(const heed_build *b, heed_value v);
/* The arithmetic that products with weights are asked for. */
heed_compute heed_build_compute(const heed_build *b);
/* The sum of gradients of a weight, as a value that effect nodes add to. */
heed_value heed_gradient(heed_build *b, heed_value weight);
/* True where d is the gradient of the plan's loss by itself, 1: the op may form its gradient in its
 * forward pass. */
bool heed_is_loss_gradient(const heed_build *b, heed_value d);
/* The run fails before its first node unless all of v's integers lie in [low, limit), or are
 * `other` (-1: none). low: at most 0. Integers that an op passes on are looked at where they come
 * in. */
void heed_limit_ints(heed_build *b, heed_value v, int64_t low, int64_t limit, int32_t other,
                     const char *what);
/* A copy of `bytes` of data that lives as long as the plan, for attributes to point at; the same
 * data kept before is found again, so that nodes with the same attributes can be shared. NULL: the
 * build has failed. */
const void *heed_keep_data(heed_build *b, const void *data, size_t bytes);
/* The key-value slot of an attention node about to be recorded: columns of keys and values. Call
 * before heed_record; ignored unless the plan is cached. */
void heed_want_cache(heed_build *b, const char *slot, int64_t key_cols, int64_t value_cols);
/* True where the value carries a gradient that flows on to weights: a build in HEED_TRAIN. */
bool heed_build_trains(const heed_build *b);
/* Hash of "scope.name": the stream of random numbers of a node, kept in its attr so that a
 * recomputed or a backward node draws the same. */
uint64_t heed_path_hash(const heed_build *b, const char *name);
const heed_kernels *heed_build_kernels(const heed_build *b);
/* The first failure of the recording so far, if any, into err. */
bool heed_build_check(const heed_build *b, heed_error *err);
/* Keeps an entry's numbers as they lie in a file, in whole blocks of a type that is a float's but
 * not F32; raw outlives w. A plan in HEED_TRAIN makes floats of what it reads and forgets raw, as
 * heed_weights_own does: plans that read raw are not run from then on. */
bool heed_weights_keep(heed_weights *w, const char *name, heed_type type, const void *raw,
                       heed_error *err);
/* n numbers (whole blocks) of what is so kept, as those of the engine; what they are as floats. */
void heed_widen(heed_type type, const void *kept, int64_t n, heed_number *out);
const heed_host *heed_engine_host(const heed_engine *engine);
heed_pool *heed_engine_pool(const heed_engine *engine);
const heed_kernels *heed_engine_kernels(const heed_engine *engine);

/* ---- Helpers for op bodies ---- */

/* Calls body(ctx, first row, end row) over blocks of rows; block size from `cost` (numbers touched
 * a row), so that small work stays on one thread. The split never depends on the pool. */
void heed_rows_run(const heed_work *w, int64_t rows, int64_t cost,
                   void (*body)(void *ctx, int64_t from, int64_t to), void *ctx);
/* The same over n sequences of `rows` rows in all; `cost` is of a row. */
void heed_sequences_run(const heed_work *w, int64_t n, int64_t rows, int64_t cost,
                        void (*body)(void *ctx, int64_t from, int64_t to), void *ctx);

#endif
