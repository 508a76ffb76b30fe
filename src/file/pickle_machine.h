/* pickle_machine.h: the stack machine of a pickle, for the files that hold its opcodes.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_PICKLE_MACHINE_H
#define HEED_FILE_PICKLE_MACHINE_H

#include "base/error.h"
#include "file/pickle.h"

typedef struct {
    heed_pickle *p;
    const unsigned char *data;
    size_t n, at;
    uint32_t *stack, *memo; /* of nodes; memo holds node + 1, 0 = empty */
    size_t depth, stack_cap, memo_cap, memos;
    bool stopped;
    heed_error *err;
} heed_machine;

typedef bool heed_pickle_op(heed_machine *m);

/* Opcodes that make one value, by their byte; NULL for the others. */
extern heed_pickle_op *const heed_pickle_values[256];

bool heed_pickle_wrong(heed_machine *m, const char *what); /* false, with the place */
/* The next bytes; NULL where the file ends before them. */
const unsigned char *heed_pickle_take(heed_machine *m, size_t bytes);
bool heed_pickle_number(heed_machine *m, int bytes, uint64_t *out); /* little endian */

heed_pickle_node *heed_pickle_at(const heed_machine *m, uint32_t id);
/* A new node on top of the stack; valid until the next one. */
heed_pickle_node *heed_pickle_new(heed_machine *m, heed_pickle_kind kind);
bool heed_pickle_push(heed_machine *m, uint32_t id);
bool heed_pickle_pop(heed_machine *m, uint32_t *id); /* a mark is not taken */
bool heed_pickle_add(heed_machine *m, uint32_t list, uint32_t item);

#endif
