/* train_bpe.c: the commonest pair becomes a piece, again and again.
 *
 * Method: counts of all pairs are kept as merges change them; a heap holds pairs by count, ties by
 * ids, and a count that has changed since is put right when it comes out. For each pair a list of
 * segments where it occurred says where to look.
 * Invariant: a pair's count is the sum of the counts of the places where it stands now.
 * Source: Sennrich, Haddow and Birch 2016, algorithm 1.
 * SPDX-License-Identifier: MIT
 */

#include "base/error.h"
#include "text/train.h"

typedef struct {
    int32_t left, right;
    int64_t count;
    uint32_t places; /* first in the pool, NONE: none */
    bool touched;    /* its count rose in this merge */
} pair;

typedef struct {
    uint32_t segment, after;
} place;

typedef struct {
    int64_t count;
    uint32_t pair;
} entry;

typedef struct {
    heed_train *train;
    heed_number_map index; /* two ids to place in pair */
    pair *pair;
    size_t n_pairs, cap_pairs;
    place *place;
    size_t n_places, cap_places;
    entry *heap;
    size_t n_heap, cap_heap;
    uint32_t *touched;
    size_t n_touched, cap_touched;
} learner;

static const uint32_t NONE = UINT32_MAX;

/* ---- The heap ------------------------------------------------------------------------------ */

static bool comes_first(const learner *l, entry a, entry b) {
    if (a.count != b.count) {
        return a.count > b.count;
    }
    const pair *p = &l->pair[a.pair], *q = &l->pair[b.pair];
    return p->left != q->left ? p->left < q->left : p->right < q->right;
}

static bool push(learner *l, entry e) {
    if (!heed_reserve(l->train->host, (void **)&l->heap, &l->cap_heap, l->n_heap + 1,
                      sizeof *l->heap, l->train->err)) {
        return false;
    }
    size_t at = l->n_heap++;
    while (at > 0 && comes_first(l, e, l->heap[(at - 1) / 2])) {
        l->heap[at] = l->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    l->heap[at] = e;
    return true;
}

static entry pop(learner *l) {
    entry top = l->heap[0], last = l->heap[--l->n_heap];
    size_t at = 0;
    for (size_t child = 1; child < l->n_heap; child = 2 * at + 1) {
        if (child + 1 < l->n_heap && comes_first(l, l->heap[child + 1], l->heap[child])) {
            child++;
        }
        if (!comes_first(l, l->heap[child], last)) {
            break;
        }
        l->heap[at] = l->heap[child];
        at = child;
    }
    l->heap[at] = last;
    return top;
}

/* ---- Counts -------------------------------------------------------------------------------- */

static pair *find_pair(learner *l, int32_t left, int32_t right) {
    heed_train *t = l->train;
    uint64_t *at =
        heed_number_map_put(&l->index, heed_key_of_two((uint32_t)left, (uint32_t)right), t->err);
    if (!at) {
        return NULL;
    }
    if (*at == 0) {
        if (!heed_reserve(t->host, (void **)&l->pair, &l->cap_pairs, l->n_pairs + 1,
                          sizeof *l->pair, t->err)) {
            return NULL;
        }
        l->pair[l->n_pairs++] = (pair){.left = left, .right = right, .places = NONE};
        *at = l->n_pairs; /* one more than its place, 0 being new */
    }
    return &l->pair[*at - 1];
}

static bool touch(learner *l, pair *p) {
    if (p->touched) {
        return true;
    }
    if (!heed_reserve(l->train->host, (void **)&l->touched, &l->cap_touched, l->n_touched + 1,
                      sizeof *l->touched, l->train->err)) {
        return false;
    }
    p->touched = true;
    l->touched[l->n_touched++] = (uint32_t)(p - l->pair);
    return true;
}

static bool count_more(learner *l, int32_t left, int32_t right, uint32_t segment) {
    heed_train *t = l->train;
    pair *p = find_pair(l, left, right);
    if (!p) {
        return false;
    }
    p->count += t->segment[segment].count;
    if (p->places == NONE || l->place[p->places].segment != segment) {
        if (l->n_places >= NONE) {
            return heed_fail(t->err, HEED_LIMIT, "%zu places of pairs are too many", l->n_places);
        }
        if (!heed_reserve(t->host, (void **)&l->place, &l->cap_places, l->n_places + 1,
                          sizeof *l->place, t->err)) {
            return false;
        }
        l->place[l->n_places] = (place){segment, p->places};
        p->places = (uint32_t)l->n_places++;
    }
    return touch(l, p);
}

static bool count_less(learner *l, int32_t left, int32_t right, uint32_t segment) {
    pair *p = find_pair(l, left, right);
    if (p) {
        p->count -= l->train->segment[segment].count;
    }
    return p != NULL;
}

/* Pairs whose count rose go into the heap, each once. */
static bool push_touched(learner *l) {
    for (size_t i = 0; i < l->n_touched; i++) {
        pair *p = &l->pair[l->touched[i]];
        p->touched = false;
        if (!push(l, (entry){p->count, l->touched[i]})) {
            return false;
        }
    }
    l->n_touched = 0;
    return true;
}

static bool count_all(learner *l) {
    const heed_train *t = l->train;
    for (uint32_t s = 0; s < t->n_segments; s++) {
        const int32_t *symbol = t->symbol + t->segment[s].from;
        for (size_t i = 0; i + 1 < t->segment[s].n; i++) {
            if (!count_more(l, symbol[i], symbol[i + 1], s)) {
                return false;
            }
        }
    }
    return push_touched(l);
}

/* ---- Merging ------------------------------------------------------------------------------- */

/* The pair at symbol i of a segment becomes `id`; `last` is what now stands before it, -1: nothing.
 * The pairs on both sides change with it. */
static bool count_merge(learner *l, uint32_t s, int32_t last, size_t i, int32_t id) {
    const heed_segment *segment = &l->train->segment[s];
    const int32_t *symbol = l->train->symbol + segment->from;
    int32_t left = symbol[i], right = symbol[i + 1];
    if (!count_less(l, left, right, s)) {
        return false;
    }
    if (last >= 0 && !(count_less(l, last, left, s) && count_more(l, last, id, s))) {
        return false;
    }
    return i + 2 >= segment->n ||
           (count_less(l, right, symbol[i + 2], s) && count_more(l, id, symbol[i + 2], s));
}

static bool merge_segment(learner *l, uint32_t s, int32_t left, int32_t right, int32_t id) {
    heed_segment *segment = &l->train->segment[s];
    int32_t *symbol = l->train->symbol + segment->from;
    size_t kept = 0;
    for (size_t i = 0; i < segment->n;) {
        bool here = i + 1 < segment->n && symbol[i] == left && symbol[i + 1] == right;
        if (here && !count_merge(l, s, kept > 0 ? symbol[kept - 1] : -1, i, id)) {
            return false;
        }
        int32_t next = here ? id : symbol[i];
        i += here ? 2 : 1;
        symbol[kept++] = next;
    }
    segment->n = kept;
    return true;
}

/* The id of the two texts joined: a new piece, or one that another pair has made; -1 where there
 * may be none: too long, or the name of a special or a byte. *ok is false when memory fails. */
static int32_t join(learner *l, const pair *p, bool *ok) {
    heed_train *t = l->train;
    heed_train_piece left = t->piece[p->left], right = t->piece[p->right];
    int32_t characters = left.characters + right.characters;
    if (characters > t->set.max_piece) {
        return -1;
    }
    heed_buf both = {.host = t->host};
    heed_buf_add(&both, left.text, left.n);
    int32_t id = -1;
    if (heed_buf_add(&both, right.text, right.n)) {
        id = heed_train_add(t, both.data, both.n, characters);
    } else {
        heed_fail(t->err, HEED_NOMEM, "out of memory: a piece of %zu bytes", left.n + right.n);
    }
    heed_buf_free(&both);
    *ok = id >= 0;
    return id >= 0 && (size_t)id < t->first_char ? -1 : id;
}

static bool keep_merge(heed_train *t, int32_t left, int32_t right) {
    if (!heed_reserve(t->host, (void **)&t->merge, &t->cap_merges, t->n_merges + 1,
                      sizeof *t->merge, t->err)) {
        return false;
    }
    t->merge[t->n_merges++] = (heed_train_merge){left, right};
    return true;
}

static bool merge_pair(learner *l, uint32_t number) {
    pair p = l->pair[number]; /* a copy: the array grows below */
    bool ok = true;
    int32_t id = join(l, &p, &ok);
    if (id < 0) {
        return ok;
    }
    if (!keep_merge(l->train, p.left, p.right)) {
        return false;
    }
    for (uint32_t at = p.places; at != NONE; at = l->place[at].after) {
        if (!merge_segment(l, l->place[at].segment, p.left, p.right, id)) {
            return false;
        }
    }
    return push_touched(l);
}

static bool learn(learner *l) {
    heed_train *t = l->train;
    while (l->n_heap > 0 && t->n_pieces < (size_t)t->set.vocab_size) {
        entry top = pop(l);
        int64_t now = l->pair[top.pair].count;
        if (now < t->set.min_count) {
            continue;
        }
        bool ok = top.count == now ? merge_pair(l, top.pair) : push(l, (entry){now, top.pair});
        if (!ok) {
            return false;
        }
    }
    return true;
}

bool heed_train_bpe(heed_train *train) {
    learner l = {.train = train, .index = {.host = train->host}};
    bool ok = count_all(&l) && learn(&l);
    heed_number_map_free(&l.index);
    heed_free(train->host, l.pair);
    heed_free(train->host, l.place);
    heed_free(train->host, l.heap);
    heed_free(train->host, l.touched);
    return ok;
}
