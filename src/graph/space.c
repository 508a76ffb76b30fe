/* space.c: row spaces: those that a run cuts, and those made of them, which follow their cuts.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool made_alike(const heed_space_info *a, const heed_space_info *c) {
    return a->of == c->of && a->more == c->more && a->chosen_by == c->chosen_by &&
           a->other == c->other && !strcmp(a->name, c->name);
}

/* The space that is made so, new or not; the name is copied. */
static heed_space add_space(heed_build *b, heed_space_info made) {
    heed_record_book *k = &b->book;
    for (size_t i = 0; i < k->spaces; i++)
        if (made_alike(&k->space[i], &made))
            return (heed_space){(uint32_t)i + 1};
    if (!heed_reserve(k->host, (void **)&k->space, &k->space_cap, k->spaces + 1, sizeof *k->space,
                      &b->error))
        return (heed_space){0};
    made.name = heed_region_text(&k->region, made.name, strlen(made.name), &b->error);
    if (!made.name)
        return (heed_space){0};
    k->space[k->spaces] = made;
    return (heed_space){(uint32_t)++k->spaces};
}

heed_space heed_rows(heed_build *b, const char *name) {
    return add_space(b, (heed_space_info){.name = name});
}

heed_space heed_sequences(heed_build *b, heed_space of) {
    char name[HEED_SCOPE_BYTES];
    if (!of.id)
        return of;
    of.id = heed_whole_space(&b->book, of.id);
    snprintf(name, sizeof name, "sequences of %s", b->book.space[of.id - 1].name);
    return add_space(b, (heed_space_info){.name = name, .of = of.id});
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
    return add_space(b, (heed_space_info){.name = name, .of = of.id, .more = more});
}

heed_space heed_selected(heed_build *b, heed_value ints, int32_t other) {
    char name[HEED_SCOPE_BYTES];
    if (!ints.id)
        return (heed_space){0};
    const heed_slot *v = heed_slot_at(&b->book, ints.id);
    if (v->source != HEED_FROM_INPUT || v->shape.cell != HEED_CELL_INT) {
        heed_refuse(b, HEED_SHAPE, "rows are selected by an input of one integer for each of them");
        return (heed_space){0};
    }
    uint32_t of = v->shape.space;
    snprintf(name, sizeof name, "%s by %s", b->book.space[of - 1].name,
             b->book.input[v->index].name);
    return add_space(
        b, (heed_space_info){.name = name, .of = of, .chosen_by = ints.id, .other = other});
}
