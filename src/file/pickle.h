/* pickle.h: a pickle as a tree of plain values. Nothing is imported, called or built.
 *
 * Source: the opcodes of Python's pickletools, protocols 2 to 5, without those that only classes of
 * the user's need. A call stays a node with the name of what would be called and its arguments;
 * names that the reader does not allow are refused at once.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_PICKLE_H
#define HEED_FILE_PICKLE_H

#include "base/mem.h"

typedef enum {
    HEED_PICKLE_NONE,
    HEED_PICKLE_BOOL,
    HEED_PICKLE_INTEGER,
    HEED_PICKLE_LONG, /* more than 64 bits: its bytes in `text`, little endian */
    HEED_PICKLE_REAL,
    HEED_PICKLE_TEXT,
    HEED_PICKLE_GLOBAL, /* "module name" */
    HEED_PICKLE_TUPLE,
    HEED_PICKLE_LIST,
    HEED_PICKLE_DICT, /* items: key, value, key, value ... */
    HEED_PICKLE_CALL, /* of `callee` with the tuple `args`; items set on the result, as DICT */
    HEED_PICKLE_PERSISTENT, /* what the writer kept elsewhere, described by `args` */
    HEED_PICKLE_MARK
} heed_pickle_kind;

/* Other nodes and lists are named by their index. */
typedef struct {
    heed_pickle_kind kind;
    uint32_t callee, args;
    uint32_t first, last, count; /* of the items: a chain of cells */
    int64_t integer;
    double real;
    const char *text; /* into the pickle, not NUL-terminated */
    size_t n;
} heed_pickle_node;

typedef struct {
    uint32_t node, next;
} heed_pickle_cell;

/* Starts as {.host = h, .allowed = names}: "module name" each, NULL at the end. */
typedef struct {
    const heed_host *host;
    const char *const *allowed;
    heed_pickle_node *node;
    heed_pickle_cell *cell;
    size_t node_cap, cell_cap, nodes, cells;
    uint32_t root;
} heed_pickle;

/* Reads one pickle from data[*at] on and moves *at behind it; HEED_FILE says what is wrong, and at
 * which byte. May be called again for the next one, which adds to the same tree. Free with
 * heed_pickle_free also after a failure. */
bool heed_pickle_read(heed_pickle *p, const unsigned char *data, size_t n, size_t *at,
                      heed_error *err);
void heed_pickle_free(heed_pickle *p);

/* Item i, in order; NULL where there are fewer. Walk a long list by its cells instead. */
const heed_pickle_node *heed_pickle_item(const heed_pickle *p, const heed_pickle_node *list,
                                         uint32_t i);
/* The next key and value of a dict, behind *cell, which starts as its `first`; false at the end. */
bool heed_pickle_pair(const heed_pickle *p, uint32_t *cell, const heed_pickle_node **key,
                      const heed_pickle_node **value);
/* The arguments of a call of that name; NULL for any other node. */
const heed_pickle_node *heed_pickle_call(const heed_pickle *p, const heed_pickle_node *node,
                                         const char *name);
bool heed_pickle_is(const heed_pickle_node *node, heed_pickle_kind kind, const char *text);

#endif
