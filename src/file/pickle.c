/* pickle.c: the stack machine of a pickle, which only ever makes nodes.
 *
 * Method: each opcode is a short function in a table. A node is never changed but by items put into
 * it, and refers to others by index, so a pickle that puts a list into itself makes a circle that
 * costs nothing; whoever walks the tree must not follow it blindly.
 * Invariant: NODES_MAX bounds nodes, items and stack, whatever the pickle says; every byte is
 * asked for by heed_pickle_take.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "file/little.h"
#include "file/pickle_machine.h"

enum { NODES_MAX = 1 << 19, MEMO_MAX = 1 << 20 };
enum { NO_CELL = 0 }; /* cell 0 is never used */

/* ---- Bytes ---- */

bool heed_pickle_wrong(heed_machine *m, const char *what) {
    return heed_fail(m->err, HEED_FILE, "pickle, byte %zu: %s", m->at, what);
}

const unsigned char *heed_pickle_take(heed_machine *m, size_t bytes) {
    if (bytes > m->n - m->at) {
        heed_pickle_wrong(m, "the file ends inside of a value");
        return NULL;
    }
    const unsigned char *p = m->data + m->at;
    m->at += bytes;
    return p;
}

bool heed_pickle_number(heed_machine *m, int bytes, uint64_t *out) {
    const unsigned char *p = heed_pickle_take(m, (size_t)bytes);
    *out = p ? heed_little(p, bytes) : 0;
    return p != NULL;
}

/* ---- Nodes and the stack ---- */

heed_pickle_node *heed_pickle_new(heed_machine *m, heed_pickle_kind kind) {
    heed_pickle *p = m->p;
    if (p->nodes >= NODES_MAX) {
        heed_pickle_wrong(m, "more values than a file of tensors has");
        return NULL;
    }
    if (!heed_reserve(p->host, (void **)&p->node, &p->node_cap, p->nodes + 1, sizeof *p->node,
                      m->err) ||
        !heed_reserve(p->host, (void **)&m->stack, &m->stack_cap, m->depth + 1, sizeof *m->stack,
                      m->err)) {
        return NULL;
    }
    m->stack[m->depth++] = (uint32_t)p->nodes;
    heed_pickle_node *node = &p->node[p->nodes++];
    *node = (heed_pickle_node){.kind = kind};
    return node;
}

bool heed_pickle_push(heed_machine *m, uint32_t id) {
    if (m->depth >= NODES_MAX) {
        return heed_pickle_wrong(m, "a deeper stack than a file of tensors needs");
    }
    if (!heed_reserve(m->p->host, (void **)&m->stack, &m->stack_cap, m->depth + 1, sizeof *m->stack,
                      m->err)) {
        return false;
    }
    m->stack[m->depth++] = id;
    return true;
}

heed_pickle_node *heed_pickle_at(const heed_machine *m, uint32_t id) {
    return &m->p->node[id];
}

/* The value on top, taken off. */
bool heed_pickle_pop(heed_machine *m, uint32_t *id) {
    if (m->depth == 0 || heed_pickle_at(m, m->stack[m->depth - 1])->kind == HEED_PICKLE_MARK) {
        return heed_pickle_wrong(m, "a value is missing");
    }
    *id = m->stack[--m->depth];
    return true;
}

bool heed_pickle_add(heed_machine *m, uint32_t list, uint32_t item) {
    heed_pickle *p = m->p;
    if (p->cells >= NODES_MAX) {
        return heed_pickle_wrong(m, "more items than a file of tensors has");
    }
    size_t id = p->cells > 0 ? p->cells : 1;
    if (!heed_reserve(p->host, (void **)&p->cell, &p->cell_cap, id + 1, sizeof *p->cell, m->err)) {
        return false;
    }
    p->cells = id + 1;
    p->cell[id] = (heed_pickle_cell){item, NO_CELL};
    heed_pickle_node *node = heed_pickle_at(m, list);
    if (node->count++ == 0) {
        node->first = (uint32_t)id;
    } else {
        p->cell[node->last].next = (uint32_t)id;
    }
    node->last = (uint32_t)id;
    return true;
}

/* ---- Lists and dicts ---- */

static bool mark(heed_machine *m) {
    return heed_pickle_new(m, HEED_PICKLE_MARK) != NULL;
}

static bool empty_tuple(heed_machine *m) {
    return heed_pickle_new(m, HEED_PICKLE_TUPLE) != NULL;
}

static bool empty_list(heed_machine *m) {
    return heed_pickle_new(m, HEED_PICKLE_LIST) != NULL;
}

static bool empty_dict(heed_machine *m) {
    return heed_pickle_new(m, HEED_PICKLE_DICT) != NULL;
}

/* Place on the stack of the last mark. */
static bool find_mark(heed_machine *m, size_t *place) {
    for (*place = m->depth; *place > 0; --*place) {
        if (heed_pickle_at(m, m->stack[*place - 1])->kind == HEED_PICKLE_MARK) {
            --*place;
            return true;
        }
    }
    return heed_pickle_wrong(m, "a mark is missing");
}

/* The last `count` values become a tuple. */
static bool tuple_of(heed_machine *m, size_t count) {
    if (m->depth < count) {
        return heed_pickle_wrong(m, "a value is missing");
    }
    size_t start = m->depth - count;
    if (!heed_pickle_new(m, HEED_PICKLE_TUPLE)) {
        return false;
    }
    uint32_t id = m->stack[--m->depth];
    for (size_t i = 0; i < count; i++) {
        if (heed_pickle_at(m, m->stack[start + i])->kind == HEED_PICKLE_MARK) {
            return heed_pickle_wrong(m, "a value is missing");
        }
        if (!heed_pickle_add(m, id, m->stack[start + i])) {
            return false;
        }
    }
    m->depth = start;
    return heed_pickle_push(m, id);
}

static bool tuple_1(heed_machine *m) {
    return tuple_of(m, 1);
}

static bool tuple_2(heed_machine *m) {
    return tuple_of(m, 2);
}

static bool tuple_3(heed_machine *m) {
    return tuple_of(m, 3);
}

static bool tuple(heed_machine *m) {
    size_t place;
    if (!find_mark(m, &place) || !tuple_of(m, m->depth - place - 1)) {
        return false;
    }
    m->stack[place] = m->stack[place + 1]; /* over the mark */
    m->depth = place + 1;
    return true;
}

/* Values from `start` on are put into the one before them, or before the mark before them. */
static bool put(heed_machine *m, size_t start, bool marked, bool pairs) {
    size_t owner = start - (marked ? 1 : 0), count = m->depth - start;
    if (owner < 1 || start > m->depth || (pairs && count % 2 != 0)) {
        return heed_pickle_wrong(m, "a value is missing");
    }
    uint32_t id = m->stack[owner - 1];
    heed_pickle_kind kind = heed_pickle_at(m, id)->kind;
    bool fits =
        pairs ? kind == HEED_PICKLE_DICT || kind == HEED_PICKLE_CALL : kind == HEED_PICKLE_LIST;
    if (!fits) {
        return heed_pickle_wrong(m, "items for what takes none");
    }
    for (size_t i = start; i < m->depth; i++) {
        if (!heed_pickle_add(m, id, m->stack[i])) {
            return false;
        }
    }
    m->depth = owner;
    return true;
}

static bool append(heed_machine *m) {
    return m->depth < 2 ? heed_pickle_wrong(m, "a value is missing")
                        : put(m, m->depth - 1, false, false);
}

static bool set_item(heed_machine *m) {
    return m->depth < 3 ? heed_pickle_wrong(m, "a value is missing")
                        : put(m, m->depth - 2, false, true);
}

static bool appends(heed_machine *m) {
    size_t place;
    return find_mark(m, &place) && put(m, place + 1, true, false);
}

static bool set_items(heed_machine *m) {
    size_t place;
    return find_mark(m, &place) && put(m, place + 1, true, true);
}

/* ---- Memo ---- */

static bool remember(heed_machine *m, uint64_t place) {
    if (m->depth == 0) {
        return heed_pickle_wrong(m, "a value is missing");
    }
    if (place >= MEMO_MAX) {
        return heed_pickle_wrong(m, "more values to remember than a file of tensors has");
    }
    if (!heed_reserve(m->p->host, (void **)&m->memo, &m->memo_cap, (size_t)place + 1,
                      sizeof *m->memo, m->err)) {
        return false;
    }
    m->memo[place] = m->stack[m->depth - 1] + 1;
    m->memos++;
    return true;
}

static bool put_1(heed_machine *m) {
    uint64_t place;
    return heed_pickle_number(m, 1, &place) && remember(m, place);
}

static bool put_4(heed_machine *m) {
    uint64_t place;
    return heed_pickle_number(m, 4, &place) && remember(m, place);
}

static bool memoize(heed_machine *m) {
    return remember(m, m->memos);
}

static bool recall(heed_machine *m, int bytes) {
    uint64_t place;
    if (!heed_pickle_number(m, bytes, &place)) {
        return false;
    }
    if (place >= m->memo_cap || m->memo[place] == 0) {
        return heed_pickle_wrong(m, "a value is recalled that was never remembered");
    }
    return heed_pickle_push(m, m->memo[place] - 1);
}

static bool get_1(heed_machine *m) {
    return recall(m, 1);
}

static bool get_4(heed_machine *m) {
    return recall(m, 4);
}

/* Attributes of an object (a state dict's _metadata): left out. */
static bool build(heed_machine *m) {
    uint32_t state;
    return heed_pickle_pop(m, &state);
}

/* ---- The machine ---- */

static bool protocol(heed_machine *m) {
    uint64_t version;
    if (!heed_pickle_number(m, 1, &version)) {
        return false;
    }
    return version <= 5 || heed_pickle_wrong(m, "a protocol beyond 5");
}

static bool frame(heed_machine *m) {
    return heed_pickle_take(m, 8) != NULL;
}

static bool stop(heed_machine *m) {
    m->stopped = heed_pickle_pop(m, &m->p->root);
    return m->stopped;
}

static heed_pickle_op *const ops[256] = {
    [0x80] = protocol,  [0x95] = frame,     ['.'] = stop,     ['('] = mark,     [')'] = empty_tuple,
    [']'] = empty_list, ['}'] = empty_dict, ['t'] = tuple,    [0x85] = tuple_1, [0x86] = tuple_2,
    [0x87] = tuple_3,   ['a'] = append,     ['e'] = appends,  ['s'] = set_item, ['u'] = set_items,
    ['q'] = put_1,      ['r'] = put_4,      [0x94] = memoize, ['h'] = get_1,    ['j'] = get_4,
    ['b'] = build,
};

static bool run_all(heed_machine *m) {
    while (!m->stopped) {
        const unsigned char *op = heed_pickle_take(m, 1);
        if (!op) {
            return false;
        }
        heed_pickle_op *does = ops[*op] ? ops[*op] : heed_pickle_values[*op];
        if (!does) {
            return heed_fail(m->err, HEED_FILE,
                             "pickle, byte %zu: opcode 0x%02x is not one that tensors need",
                             m->at - 1, *op);
        }
        if (!does(m)) {
            return false;
        }
    }
    return true;
}

bool heed_pickle_read(heed_pickle *p, const unsigned char *data, size_t n, size_t *at,
                      heed_error *err) {
    heed_machine m = {.p = p, .data = data, .n = n, .at = *at, .err = err};
    bool fine = run_all(&m);
    *at = m.at;
    heed_free(p->host, m.stack);
    heed_free(p->host, m.memo);
    return fine;
}

void heed_pickle_free(heed_pickle *p) {
    heed_free(p->host, p->node);
    heed_free(p->host, p->cell);
}

const heed_pickle_node *heed_pickle_item(const heed_pickle *p, const heed_pickle_node *list,
                                         uint32_t i) {
    if (i >= list->count) {
        return NULL;
    }
    uint32_t cell = list->first;
    for (; i > 0; i--) {
        cell = p->cell[cell].next;
    }
    return &p->node[p->cell[cell].node];
}

bool heed_pickle_pair(const heed_pickle *p, uint32_t *cell, const heed_pickle_node **key,
                      const heed_pickle_node **value) {
    if (*cell == NO_CELL) {
        return false;
    }
    const heed_pickle_cell *first = &p->cell[*cell], *second = &p->cell[first->next];
    *key = &p->node[first->node];
    *value = &p->node[second->node];
    *cell = second->next;
    return true;
}

const heed_pickle_node *heed_pickle_call(const heed_pickle *p, const heed_pickle_node *node,
                                         const char *name) {
    bool is = node && node->kind == HEED_PICKLE_CALL &&
              heed_pickle_is(&p->node[node->callee], HEED_PICKLE_GLOBAL, name);
    return is ? &p->node[node->args] : NULL;
}

bool heed_pickle_is(const heed_pickle_node *node, heed_pickle_kind kind, const char *text) {
    size_t n = strlen(text);
    return node && node->kind == kind && node->n == n && memcmp(node->text, text, n) == 0;
}
