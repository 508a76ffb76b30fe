/* cut.c: cuts of the spaces that are made of others: longer ones, one row for each sequence,
 * selected rows.
 *
 * They follow the cut that heed_set_rows gives. Which rows are selected is known when the integers
 * are: that cut is made as a run begins, and is empty until then.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

/* Cuts `cut` as `of`, with `more` rows before each sequence. */
static void cut_longer(heed_cut_store *cut, const heed_cut_store *of, int64_t more) {
    cut->longest = of->n ? of->longest + more : 0;
    for (int64_t i = 0; i <= of->n; i++)
        cut->starts[i] = of->starts[i] + i * more;
    for (int64_t i = 0; i < of->n; i++)
        for (int64_t r = cut->starts[i]; r < cut->starts[i + 1]; r++)
            cut->positions[r] = (int32_t)(r - cut->starts[i]);
}

/* `rows` rows for each sequence. */
static void cut_evenly(heed_cut_store *cut, int64_t n, int64_t rows) {
    cut->longest = rows;
    for (int64_t i = 0; i <= n; i++)
        cut->starts[i] = i * rows;
}

void heed_cut_followers(heed_session *s, uint32_t space) {
    const heed_record_book *k = &s->plan->book;
    for (size_t i = 0; i < k->spaces; i++) {
        if (k->space[i].of != space)
            continue;
        heed_cut_store *cut = &s->cut[i];
        const heed_cut_store *of = &s->cut[space - 1];
        cut->n = of->n;
        cut->set = true;
        if (k->space[i].more)
            cut_longer(cut, of, k->space[i].more);
        else
            cut_evenly(cut, of->n, k->space[i].chosen_by ? 0 : 1);
        heed_cut_followers(s, (uint32_t)i + 1);
    }
}

/* The rows whose integer is not `other`, with the positions that they have. */
static void cut_to_chosen(heed_cut_store *cut, const heed_cut_store *of, const int32_t *ints,
                          int32_t other) {
    int64_t n = 0;
    cut->longest = 0;
    for (int64_t i = 0; i < of->n; i++) {
        cut->starts[i] = n;
        for (int64_t r = of->starts[i]; r < of->starts[i + 1]; r++)
            if (ints[r] != other)
                cut->positions[n++] = of->positions[r];
        if (n - cut->starts[i] > cut->longest)
            cut->longest = n - cut->starts[i];
    }
    cut->starts[of->n] = n;
}

void heed_cut_selected(heed_session *s, bool once) {
    const heed_record_book *k = &s->plan->book;
    for (size_t i = 0; i < k->spaces; i++) {
        const heed_space_info *info = &k->space[i];
        if (!info->chosen_by || !s->cut[info->of - 1].set)
            continue;
        const heed_slot *v = heed_slot_at(k, info->chosen_by);
        if (v->part != (once ? HEED_PART_ONCE : HEED_PART_STEP))
            continue;
        const int32_t *ints = (const int32_t *)(const void *)(s->inputs + v->offset);
        cut_to_chosen(&s->cut[i], &s->cut[info->of - 1], ints, info->other);
        heed_cut_followers(s, (uint32_t)i + 1);
    }
}
