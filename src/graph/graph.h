/* graph.h: what graph/ keeps of a recording, a plan and a session. Private to this folder.
 *
 * Invariants: value ids count from 1 in order of recording; a node's inputs have smaller ids than
 * its outputs; a node's outputs are consecutive ids. A plan keeps the build's arrays and adds
 * places.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GRAPH_GRAPH_H
#define HEED_GRAPH_GRAPH_H

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "graph/op.h"

struct heed_engine {
    const heed_host *host;
    heed_kernels kernels;
    heed_pool *pool;
};

struct heed_weights {
    const heed_host *host;
    heed_map names; /* name -> index */
    heed_weight_entry *entry;
    size_t count, cap;
    heed_compute compute;
    int64_t numbers; /* of all entries: so many bytes an int64_t can count */
};
/* Index of an entry, declared if new; -1 with err where the shape differs, the numbers of all
 * are too many to count, or memory fails. */
int64_t heed_weights_declare(heed_weights *w, const char *name, int64_t rows, int64_t cols,
                             heed_init init, bool vector, heed_error *err);
/* Bytes of an entry: as kept, as floats, or both; floats: it has them or will have them. */
size_t heed_weight_bytes(const heed_weight_entry *e, bool floats);
/* Its numbers will hardly be read again; where they lie in a mapped file, its pages are let go. */
void heed_weights_let_go(const heed_weight_entry *e);
bool heed_weights_make_grad(heed_weights *w, int64_t index, heed_error *err);

typedef enum {
    HEED_FROM_NODE,
    HEED_FROM_INPUT,
    HEED_FROM_POSITIONS,
    HEED_FROM_WEIGHT,
    HEED_FROM_GRADIENT
} heed_source;

/* When a node runs: with the plan, in heed_run_once, in heed_run. */
typedef enum { HEED_PART_PLAN, HEED_PART_ONCE, HEED_PART_STEP } heed_part;

typedef struct {
    heed_shape shape;
    heed_source source;
    uint32_t index; /* of the node, input, space, or weight it comes from */
    bool wants_grad;
    bool depends; /* on an input: not a function of weights and constants alone */
    /* planned: */
    bool kept, used;
    bool floats;          /* of a weight: a node reads its floats, however it is kept */
    heed_part part;       /* in which a node makes it, or an input is first read */
    size_t bytes, offset; /* in the arena, the plan's constants, or the session's inputs */
    int64_t last;         /* place in the order of its last reader */
} heed_slot;

typedef struct {
    const heed_op *op;
    unsigned char attr[HEED_ATTR_BYTES];
    size_t attr_bytes;
    int n_in, n_out;
    uint32_t in[HEED_MAX_IN]; /* value ids; UINT32_MAX: absent */
    uint32_t out;             /* id of output 0 */
    const char *scope;        /* path of the scope it was recorded in */
    uint32_t unit;            /* numbered scope it belongs to, 0: none */
    int32_t cache;            /* index of its cache slot, -1: none */
    bool needed;
    size_t scratch, scratch_offset;
} heed_node;

typedef struct {
    const char *name;
    uint32_t of;        /* space that this one is made of, 0: none */
    int64_t more;       /* > 0: `of` with so many rows before each sequence */
    uint32_t chosen_by; /* value: rows of `of` whose integer there is not `other` */
    int32_t other;      /* neither of both: the sequences of `of` are the rows */
    int64_t rows, sequences, longest, pairs; /* capacity */
} heed_space_info;

typedef struct {
    const char *name;
    uint32_t value;
    int64_t low, limit; /* limit 0: none */
    int32_t other;
    bool has_other;
    const char *what;
} heed_input_info;

typedef struct {
    const char *path;
    uint32_t value;
} heed_named;

typedef struct {
    const char *slot;
    int64_t key_cols, value_cols;
    size_t key_offset, value_offset;
} heed_cache_info;

typedef struct {
    const void *data;
    size_t bytes;
} heed_kept;

/* What a recording consists of; handed over to the plan whole. */
typedef struct {
    heed_engine *engine;
    const heed_host *host;
    heed_weights *weights;
    heed_mode mode;
    heed_region region; /* strings, kept data */
    heed_slot *value;   /* value[id - 1] */
    size_t values, value_cap;
    heed_node *node;
    size_t nodes, node_cap;
    heed_map shared;        /* what tells a node of heed_record_shared from others, to its output */
    heed_space_info *space; /* space[id - 1] */
    size_t spaces, space_cap;
    heed_input_info *input;
    size_t inputs, input_cap;
    heed_named *named;
    size_t nameds, named_cap;
    heed_cache_info *cache;
    size_t caches, cache_cap;
    heed_kept *kept;
    size_t kepts, kept_cap;
    const char **unit; /* unit[id - 1]: path of the numbered scope */
    size_t units, unit_cap;
    uint32_t *of_weight; /* of_weight[i]: the value that is weight i; 0: not recorded */
    size_t of_weight_cap;
} heed_record_book;

enum { HEED_SCOPE_BYTES = 256, HEED_SCOPE_DEPTH = 16 };

struct heed_build {
    heed_record_book book;
    heed_error error; /* first failure of the recording */
    char scope[HEED_SCOPE_BYTES];
    size_t depth, length[HEED_SCOPE_DEPTH]; /* length of the path before each heed_enter */
    uint32_t unit;
    size_t unit_depth;              /* depth at which the unit was entered */
    char shared[HEED_SCOPE_BYTES];  /* the scope whose weights are shared, while share_depth */
    size_t share_depth, share_from; /* depth, length of the path where sharing began */
    int32_t next_cache;
};

static inline heed_slot *heed_slot_at(const heed_record_book *book, uint32_t id) {
    return &book->value[id - 1];
}
/* The space whose sequences these are, too: that was made longer, or whose rows were selected. */
static inline uint32_t heed_whole_space(const heed_record_book *book, uint32_t space) {
    while (book->space[space - 1].more || book->space[space - 1].chosen_by)
        space = book->space[space - 1].of;
    return space;
}
/* The space that a cut is given for: what is made of a space follows it. */
static inline uint32_t heed_root_space(const heed_record_book *book, uint32_t space) {
    while (book->space[space - 1].of)
        space = book->space[space - 1].of;
    return space;
}
void heed_book_free(heed_record_book *book);
/* A value that no node makes (input, weight ...). */
heed_value heed_new_value(heed_build *b, heed_shape shape, heed_source source, uint32_t index);
bool heed_add_name(heed_build *b, const char *path, uint32_t value);
const heed_named *heed_find_name(const heed_record_book *book, const char *path);
bool heed_path_matches(const char *pattern,
                       const char *path); /* '*': any run of characters but '.' */

/* gradient.c: adds the nodes that carry the loss back to weights and wanted inputs. */
bool heed_add_gradients(heed_build *b, const heed_plan_options *options);

struct heed_plan {
    heed_record_book book;
    uint32_t *order; /* node indices: plan part, once part, step part */
    size_t in_plan, in_once, in_step;
    size_t arena, inputs, constants, cache_bytes, table_bytes, cut_bytes;
    void *constant;
    uint32_t step_space; /* 0: none */
    bool cached, trains, measured;
    int64_t cache_rows, cache_longest;
    const char **watched;
    size_t watches;
};
/* plan.c: every weight that is used has its numbers. */
bool heed_weights_ready(const heed_record_book *book, heed_error *err);
/* layout.c: a place for every value and scratch; false where it would take more than size_t holds.
 */
bool heed_lay_out(heed_plan *plan, heed_error *err);
size_t heed_shape_bytes(const heed_record_book *book,
                        const heed_shape *shape); /* SIZE_MAX: too large */
int64_t heed_shape_rows(const heed_record_book *book, const heed_shape *shape); /* capacity */

typedef struct {
    int64_t sequences;               /* now cached */
    int64_t sequences_before;        /* the last append */
    int64_t *length, *spare_length;  /* of each */
    int32_t *row_store, *spare_rows; /* sequences x longest, and the other half for reordering */
    int32_t *position_store, *spare_positions;
    int32_t **rows, **positions;    /* pointers into the stores */
    int32_t *references, *free_row; /* of each physical row; stack of free ones */
    int64_t free_rows;
    int32_t *place;
    char *data;
} heed_cache;

typedef struct {
    int64_t n;
    int64_t *starts;
    int32_t *positions;
    int64_t longest;
    bool set, own_positions;
} heed_cut_store;

typedef struct {
    int32_t *map; /* NULL: number i looks at number i */
    bool stale;   /* one of the two spaces was cut since */
} heed_join_store;

struct heed_session {
    const heed_plan *plan;
    char *arena, *inputs;
    heed_cut_store *cut;   /* one for each space */
    heed_join_store *join; /* [queries * spaces + keys] */
    heed_cache cache;
    uint64_t seed, step;
    const volatile bool *cancel;
    bool once_done;
};

/* cut.c: cuts all that is made of a space. */
void heed_cut_followers(heed_session *s, uint32_t space);
/* Cuts the spaces of selected rows whose integers are read in heed_run_once, or in heed_run. */
void heed_cut_selected(heed_session *s, bool once);
/* sound.c: all that can make a run fail, before its first node. once: of heed_run_once. */
bool heed_run_sound(const heed_session *s, bool once, heed_error *err);

bool heed_cache_make(heed_session *s, heed_error *err);
void heed_cache_drop(heed_session *s);
/* Gives the step space's new rows their places; false when full, nothing changed. */
bool heed_cache_append(heed_session *s, heed_error *err);
void heed_cache_forget(heed_session *s); /* takes the last append back */
/* work.c: fills what an op sees; s NULL while planning. */
void heed_fill_work(heed_work *w, const heed_plan *plan, const heed_session *s, uint32_t node);
heed_mat heed_mat_of(const heed_plan *plan, const heed_session *s, uint32_t id);

#endif
