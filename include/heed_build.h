/* heed_build.h: make a model: record values, plan memory, run.
 *
 * A model is a C function whose calls only record. The planner adds gradients where a loss is
 * named, orders the nodes and lays out one arena; a session runs it. Everything is a matrix; its
 * rows belong to a row space ("source", "target"), which each run cuts into sequences. There is no
 * padding.
 *
 *     heed_build *b = heed_build_new(engine, HEED_INFER, weights, &err);
 *     heed_space src = heed_rows(b, "source");
 *     heed_value ids = heed_input(b, "input_ids", src);
 *     heed_value x = heed_embed(b, heed_weight(b, "tokens", 8000, 256, init), ids, 1);
 *     ...
 *     heed_plan *plan = heed_plan_new(b, &options, &err); // frees b; all shape errors are here
 *     heed_session *s = heed_session_new(plan, &err);     // all memory is here
 *     heed_set_rows(s, "source", n, starts, NULL, &err);  // fill heed_ints(s, "input_ids"), then
 *     heed_run(s, &err);
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BUILD_H
#define HEED_BUILD_H

#include "heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* float, or double in the build that checks gradients. */
#ifdef HEED_DOUBLE
typedef double heed_number;
#else
typedef float heed_number;
#endif

/* ---- Weights -------------------------------------------------------------------------------- */

/* Named matrices, outside any plan, shared by the plans made with them. A model's calls declare
 * what they want (name, shape, initial values); a loader or heed_weights_init then gives each its
 * numbers. Read-only while a run is going on, apart from training, which has them to itself. Must
 * outlive its plans. */
typedef struct heed_weights heed_weights;

typedef enum {
    HEED_INIT_ZERO,
    HEED_INIT_ONE,
    HEED_INIT_NORMAL,
    HEED_INIT_XAVIER,
    HEED_INIT_CONSTANT
} heed_init_kind;
/* NORMAL: mean 0, deviation `size`. XAVIER: uniform in +-size*sqrt(6/(rows+cols)) (Glorot and
 * Bengio 2010). CONSTANT: `size` everywhere. */
typedef struct {
    heed_init_kind kind;
    double size;
} heed_init;

typedef struct {
    const char *name; /* path in the model: "encoder.0.self.q.weight" */
    int64_t rows, cols;
    heed_init init;
    bool vector;       /* biases and norms (not decayed) */
    bool frozen;       /* no gradient */
    heed_number *data; /* rows*cols numbers, row-major; NULL until given */
    heed_number *grad; /* sums of gradients; NULL until a training plan is made */
    bool borrowed;     /* data belongs to somebody else (a mapped file) */
    const void *raw;   /* rows as a file keeps them in fewer bits (heed_weights_keep), or NULL */
    int type;          /* of raw: a heed_type of the library's own base/dtype.h */
    bool mapped;       /* what is borrowed or raw lies in a mapped file: its pages may be let go */
} heed_weight_entry;

HEED_API heed_weights *heed_weights_new(const heed_host *host, heed_error *err);
HEED_API void heed_weights_free(heed_weights *w);
HEED_API int64_t heed_weights_count(const heed_weights *w);
/* Entries in order of declaration; by name, NULL if not declared. */
HEED_API heed_weight_entry *heed_weights_at(heed_weights *w, int64_t i);
HEED_API heed_weight_entry *heed_weights_find(heed_weights *w, const char *name);
/* Uses data that outlives w and is never written (a mapped file), aligned to 4; instead of what the
 * entry had. */
HEED_API bool heed_weights_borrow(heed_weights *w, const char *name, const heed_number *data,
                                  heed_error *err);
/* Gives the entry memory of its own: copied from `data`, or zeros where data is NULL. This, too,
 * takes the place of what a file kept in fewer bits; plans made before read that and must not run
 * again. */
HEED_API bool heed_weights_own(heed_weights *w, const char *name, const heed_number *data,
                               heed_error *err);
/* Sees to it that the entry has `data`, though it was kept in fewer bits. */
HEED_API bool heed_weights_expand(heed_weights *w, heed_weight_entry *entry, heed_error *err);
/* Initial values for every entry without data: a function of (seed, name), whatever the order. */
HEED_API bool heed_weights_init(heed_weights *w, uint64_t seed, heed_error *err);
/* How products with these weights are computed in what is recorded from here on; HEED_COMPUTE_KEPT
 * until it is called. */
HEED_API void heed_weights_compute(heed_weights *w, heed_compute compute);
/* Sets all gradient sums to zero. */
HEED_API void heed_weights_zero_grad(heed_weights *w);

/* ---- Recording ------------------------------------------------------------------------------ */

typedef enum { HEED_INFER, HEED_TRAIN } heed_mode;
typedef struct heed_build heed_build; /* one thread; ends with heed_plan_new or heed_build_free */

/* A recorded value. id 0: an earlier call failed; every op takes it and returns it, and
 * heed_plan_new tells the first failure, so that model code carries no error branches. */
typedef struct {
    uint32_t id;
} heed_value;
typedef struct {
    uint32_t id;
} heed_space;

HEED_API heed_build *heed_build_new(heed_engine *engine, heed_mode mode, heed_weights *weights,
                                    heed_error *err);
HEED_API void heed_build_free(heed_build *b);
HEED_API heed_mode heed_build_mode(const heed_build *b);

/* Paths: values and weights are named "scope.name"; index < 0: no number. The outermost numbered
 * scope ("encoder.3") is the unit of recomputation. */
HEED_API void heed_enter(heed_build *b, const char *scope, int64_t index);
HEED_API void heed_leave(heed_build *b);
/* Until the current scope is left, its weights are those of the scope `path` (from the root):
 * layers that share all of them (ALBERT). Values keep the scope's own names. Not at the root, nor
 * inside such a scope (HEED_NAME). */
HEED_API void heed_share(heed_build *b, const char *path);
/* Names a value in the current scope, to be watched or traced as "scope.name"; returns it. */
HEED_API heed_value heed_name(heed_build *b, heed_value v, const char *name);
/* Fails the build with a line that starts with the current path; returns the failed value. */
HEED_API heed_value heed_refuse(heed_build *b, heed_code code, const char *format, ...)
    HEED_PRINTF(3, 4);

/* A row space; the same name gives the same space. */
HEED_API heed_space heed_rows(heed_build *b, const char *name);
/* The space that has one row for each sequence of `of` (pooling); the same for `of`, what is
 * made longer of it, and rows selected of it. */
HEED_API heed_space heed_sequences(heed_build *b, heed_space of);
/* The space whose sequences are those of `of` with `more` rows before each; more >= 1. It is cut
 * with `of`, its positions count from 0, and joins of `of` are its joins; its capacity follows, so
 * the plan is given none. */
HEED_API heed_space heed_longer(heed_build *b, heed_space of, int64_t more);
/* The rows whose integer in `ints`, a heed_input, is not `other`, in their order and with their
 * positions; sequences stay, also those that are left without rows. It is cut as a run begins. */
HEED_API heed_space heed_selected(heed_build *b, heed_value ints, int32_t other);
HEED_API heed_space heed_space_of(const heed_build *b, heed_value v);
/* 0 for a failed value: do not divide by it. */
HEED_API int64_t heed_columns(const heed_build *b, heed_value v);

/* One integer for each row: token ids, labels. Filled before each run through heed_ints. */
HEED_API heed_value heed_input(heed_build *b, const char *name, heed_space space);
/* `cols` numbers for each row, filled through heed_numbers. */
HEED_API heed_value heed_input_numbers(heed_build *b, const char *name, heed_space space,
                                       int64_t cols);
/* For each sequence, a byte for each (query row, key row): 1 = allowed; filled through heed_bytes
 * as consecutive blocks [queries][keys], one a sequence. */
HEED_API heed_value heed_input_mask(heed_build *b, const char *name, heed_space queries,
                                    heed_space keys);
/* The positions of a space's rows: given to heed_set_rows, by default 0, 1, ... (behind what is
 * cached). */
HEED_API heed_value heed_positions(heed_build *b, heed_space space);
/* A weight "scope.name" of rows x cols. The same name twice is the same weight (tied). */
HEED_API heed_value heed_weight(heed_build *b, const char *name, int64_t rows, int64_t cols,
                                heed_init init);
HEED_API heed_value heed_weight_vector(heed_build *b, const char *name, int64_t cols,
                                       heed_init init);
/* Asks for the gradient of an input (for checks and attribution); watch it as "grad.NAME". */
HEED_API heed_value heed_need_grad(heed_build *b, heed_value v);

/* ---- Planning ------------------------------------------------------------------------------- */

/* The most that a run may bring for one row space. pairs: sum over sequences of queries x keys,
 * needed only where weights are watched or a mask is given (0: sequences x longest x longest of its
 * keys' space). */
typedef struct {
    const char *space;
    int64_t rows, sequences, longest, pairs;
} heed_capacity;

typedef struct {
    /* One for each space that is not made of another; ends with space NULL. */
    const heed_capacity *capacity;
    /* HEED_TRAIN: the 1 x 1 value to differentiate; id 0: no gradients. */
    heed_value loss;
    /* Paths that stay readable after a run, and "grad.PATH"; NULL-terminated. A '*' stands for any
     * run of characters without a dot, "**" for any run; paths come in order of recording. */
    const char *const *watch;
    /* Values to keep without a name; ends with id 0. */
    const heed_value *keep;
    /* The row space that changes every step; what does not depend on it runs once. */
    const char *step;
    /* A scope ("encoder") whose numbered units drop their values and compute them again for the
     * gradient; "*": every unit. */
    const char *recompute;
    /* Attention keeps keys and values of the step space (HEED_INFER). */
    bool cached;
    int64_t cache_rows;    /* rows of the cache; 0: sequences x cache_longest */
    int64_t cache_longest; /* most rows of one cached sequence; 0: the step space's longest */
    /* Weights will not change while the plan lives: what depends on them alone (packed forms) is
     * made with the plan. */
    bool frozen;
    /* Takes no memory for gradients and packed weights, and weights need no numbers: only
     * heed_plan_memory. A session of it is refused. */
    bool measure;
    /* Most bytes a session may take; 0: no limit. HEED_LIMIT tells both numbers. */
    size_t limit;
} heed_plan_options;

typedef struct heed_plan heed_plan; /* immutable; shared by threads; must outlive its sessions */

/* Ends the build (frees b, also on failure). All shape and name errors come from here. */
HEED_API heed_plan *heed_plan_new(heed_build *b, const heed_plan_options *options, heed_error *err);
HEED_API void heed_plan_free(heed_plan *plan);

typedef struct {
    size_t weights;               /* own and borrowed */
    size_t gradients;             /* gradient sums (a training plan) */
    size_t constants;             /* packed weights and tables, owned by the plan */
    size_t arena;                 /* values of one session */
    size_t inputs;                /* inputs, positions, cuts of one session */
    size_t cache;                 /* keys and values of one session */
    int64_t nodes, values, steps; /* steps: nodes run each step */
} heed_memory;
HEED_API heed_memory heed_plan_memory(const heed_plan *plan);

/* ---- Running -------------------------------------------------------------------------------- */

/* One arena, one set of caches, for one user of a plan; one thread at a time. */
typedef struct heed_session heed_session;
HEED_API heed_session *heed_session_new(const heed_plan *plan, heed_error *err);
HEED_API void heed_session_free(heed_session *s);

/* Cuts a space into n sequences: rows starts[i] .. starts[i+1]; starts[0] = 0. positions: one for
 * each row, or NULL. Fails with HEED_LIMIT beyond the planned capacity, telling both numbers. */
HEED_API bool heed_set_rows(heed_session *s, const char *space, int64_t n, const int64_t *starts,
                            const int32_t *positions, heed_error *err);
/* Which sequence of `keys` each sequence of `queries` looks at: map[i] for number i. By default
 * number i looks at number i, and a run with more queries than keys is refused. Holds until one of
 * the two is cut anew: then a run is refused (HEED_VALUE) until they are joined again. */
HEED_API bool heed_set_join(heed_session *s, const char *queries, const char *keys,
                            const int32_t *map, heed_error *err);

/* Inputs by name: valid for the session's life, sized for the capacity. NULL: no such input of that
 * type. */
HEED_API int32_t *heed_ints(heed_session *s, const char *name);
HEED_API heed_number *heed_numbers(heed_session *s, const char *name);
HEED_API uint8_t *heed_bytes(heed_session *s, const char *name);

/* Dropout masks are a function of (seed, step, path, row, column). */
HEED_API void heed_set_random(heed_session *s, uint64_t seed, uint64_t step);
/* A flag that another thread may set to end a run with HEED_CANCEL; NULL: none. Must outlive the
 * session. */
HEED_API void heed_set_cancel(heed_session *s, const volatile bool *cancel);

/* Runs the part that does not depend on the step space: once, and again when another space was cut
 * anew or its inputs changed. A plan without `step` has none. */
HEED_API bool heed_run_once(heed_session *s, heed_error *err);
/* Runs the rest. Fails before its first node for an index out of range (says which input, row and
 * limit) or a full cache; between nodes when cancelled. Gradients add to the weights' sums. */
HEED_API bool heed_run(heed_session *s, heed_error *err);
/* The same, and ends at the first value that is not finite, with its path (HEED_NONFINITE). Slow:
 * it serves to find a fault. */
HEED_API bool heed_run_checked(heed_session *s, heed_error *err);

/* A watched or kept value of the last run, in the session's memory: it changes with the next run.
 * data NULL: not watched. */
typedef struct {
    const heed_number *data;
    int64_t rows, cols;
} heed_matrix;
HEED_API heed_matrix heed_read(const heed_session *s, const char *path);
HEED_API heed_matrix heed_read_value(const heed_session *s, heed_value v);
/* Number and paths of what is watched (a pattern's matches), in order of recording. */
HEED_API int64_t heed_watched_count(const heed_plan *plan);
HEED_API const char *heed_watched_path(const heed_plan *plan, int64_t i);

/* Caches (a plan with `cached`). Sequences are those of the step space's last cut. */
HEED_API void heed_cache_clear(heed_session *s);
HEED_API int64_t heed_cache_length(const heed_session *s, int64_t sequence);
/* New sequence i continues old sequence from[i]: beams, several answers to one prompt. Nothing is
 * copied. */
HEED_API bool heed_cache_reorder(heed_session *s, int64_t n, const int32_t *from, heed_error *err);
/* Forgets what is behind the first `length` rows of a sequence. */
HEED_API bool heed_cache_truncate(heed_session *s, int64_t sequence, int64_t length,
                                  heed_error *err);

#ifdef __cplusplus
}
#endif
#endif
