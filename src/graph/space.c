/* space.c: row spaces: those that a run cuts, and those made of them, which follow their cuts.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static heed_space add_space(heed_build *b, const char *name, uint32_t of, int64_t more) {
    heed_record_book *k = &b->book;
    for (size_t i = 0; i < k->spaces; i++)
        if (k->space[i].of == of && k->space[i].more == more && !strcmp(k->space[i].name, name))
            return (heed_space){(uint32_t)i + 1};
    if (!heed_reserve(k->host, (void **)&k->space, &k->space_cap, k->spaces + 1, sizeof *k->space,
                      &b->error))
        return (heed_space){0};
    const char *copy = heed_region_text(&k->region, name, strlen(name), &b->error);
    if (!copy)
        return (heed_space){0};
    k->space[k->spaces] = (heed_space_info){.name = copy, .of = of, .more = more};
    return (heed_space){(uint32_t)++k->spaces};
}

heed_space heed_rows(heed_build *b, const char *name) {
    return add_space(b, name, 0, 0);
}

heed_space heed_sequences(heed_build *b, heed_space of) {
    char name[HEED_SCOPE_BYTES];
    if (!of.id)
        return of;
    of.id = heed_shorter_space(&b->book, of.id);
    snprintf(name, sizeof name, "sequences of %s", b->book.space[of.id - 1].name);
    return add_space(b, name, of.id, 0);
}

heed_space heed_longer(heed_build *b, heed_space of, int64_t more) {
    char name[HEED_SCOPE_BYTES];
    if (!of.id)
        return of;
    if (more < 1 || more > INT32_MAX) {
        heed_refuse(b, HEED_SHAPE, "a row space cannot be %" PRId64 " rows longer", more);
        return (heed_space){0};
    }
    snprintf(name, sizeof name, "%s with %" PRId64 " before", b->book.space[of.id - 1].name, more);
    return add_space(b, name, of.id, more);
}
