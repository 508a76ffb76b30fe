/* train_unigram.c: many pieces, each with a probability; then ever fewer, the least missed first.
 *
 * Method: begin with the commonest substrings; twice over, count how often each piece is used on
 * average over all ways to cut the words, and set its probability by that; drop a quarter of the
 * pieces, those whose loss costs the least likelihood; again until the wished size is near. Pieces
 * of one character are never dropped.
 * Source: Kudo 2018, "Subword regularization", section 3.2; digamma in place of the logarithm as in
 * a variational estimate with a flat Dirichlet prior; the estimate of the loss as in SentencePiece.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/train_lattice.h"

enum { ROUNDS = 2, SEEDS_PER_PIECE = 20, LEAST_SEEDS = 100000, MOST_SEEDS = 1000000 };
static const double LEAST_EXPECTED = 0.5, KEEP = 0.75, SURPLUS = 1.1;

/* Below every piece and so below every way to spell a text: names of specials and bytes are in the
 * vocabulary, but a text that contains one is not to be read as it. */
static const double NAME_SCORE = -1000;

/* ---- Seeds --------------------------------------------------------------------------------- */

static bool add_piece(heed_lattice *l, size_t *cap, uint32_t at, uint32_t n, double count) {
    if (!heed_reserve(l->train->host, (void **)&l->piece, cap, l->n + 1, sizeof *l->piece,
                      l->train->err)) {
        return false;
    }
    l->piece[l->n++] = (heed_unigram_piece){.at = at, .n = n, .expected = count};
    return true;
}

/* The characters that occur, each at its first place. */
static bool add_singles(heed_lattice *l, size_t *cap) {
    const heed_train *t = l->train;
    int64_t *count = heed_alloc(t->host, t->n_pieces, sizeof *count, t->err);
    uint32_t *first = heed_alloc(t->host, t->n_pieces, sizeof *first, t->err);
    bool ok = count && first;
    for (size_t i = t->n_segments; ok && i-- > 0;) {
        for (size_t k = t->segment[i].n; k-- > 0;) {
            size_t at = t->segment[i].from + k;
            count[t->symbol[at]] += t->segment[i].count;
            first[t->symbol[at]] = (uint32_t)at;
        }
    }
    for (size_t id = t->first_char; ok && id < t->n_pieces; id++) {
        ok = count[id] == 0 || add_piece(l, cap, first[id], 1, (double)count[id]);
    }
    heed_free(t->host, count);
    heed_free(t->host, first);
    l->n_single = l->n;
    return ok;
}

static bool add_seeds(heed_lattice *l, heed_train *train, size_t *cap) {
    size_t most = (size_t)train->set.vocab_size * SEEDS_PER_PIECE, n = 0;
    most = most < LEAST_SEEDS ? LEAST_SEEDS : most > MOST_SEEDS ? MOST_SEEDS : most;
    heed_seed *seeds = NULL;
    bool ok = heed_train_seeds(train, most, &seeds, &n);
    for (size_t i = 0; ok && i < n; i++) {
        ok = add_piece(l, cap, seeds[i].at, seeds[i].n, (double)(seeds[i].count * seeds[i].n));
    }
    heed_free(train->host, seeds);
    return ok;
}

/* ---- Estimating ---------------------------------------------------------------------------- */

/* Scores from how often each is expected; those hardly ever used go. Logarithms for the seeds,
 * whose counts are only a guess. */
static void set_scores(heed_lattice *l, double (*log_of)(double)) {
    size_t kept = 0;
    double sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        heed_unigram_piece p = l->piece[i];
        if (p.expected < LEAST_EXPECTED) {
            if (i >= l->n_single) {
                continue;
            }
            p.expected = LEAST_EXPECTED;
        }
        sum += p.expected;
        l->piece[kept++] = p;
    }
    l->n = kept;
    double whole = log_of(sum);
    for (size_t i = 0; i < l->n; i++) {
        l->piece[i].score = log_of(l->piece[i].expected) - whole;
    }
}

static bool estimate(heed_lattice *l) {
    const heed_train *t = l->train;
    if (!heed_lattice_index(l)) {
        return false;
    }
    for (size_t i = 0; i < l->n; i++) {
        l->piece[i].expected = 0;
    }
    for (size_t i = 0; i < t->n_segments; i++) {
        heed_segment s = t->segment[i];
        if (!heed_lattice_expect(l, t->symbol + s.from, s.n, s.count)) {
            return false;
        }
    }
    set_scores(l, heed_portable_digamma);
    return true;
}

/* ---- Dropping ------------------------------------------------------------------------------ */

typedef struct {
    double loss;
    uint32_t piece;
} ranked;

static int by_loss(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->loss != y->loss) {
        return x->loss > y->loss ? -1 : 1;
    }
    return x->piece < y->piece ? -1 : x->piece > y->piece;
}

/* How often each piece stands in the best way to cut the words; their sum. */
static bool count_best(heed_lattice *l, double *used, double *sum) {
    const heed_train *t = l->train;
    for (size_t i = 0; i < t->n_segments; i++) {
        heed_segment s = t->segment[i];
        if (!heed_lattice_best(l, t->symbol + s.from, s.n, UINT32_MAX)) {
            return false;
        }
        for (size_t k = 0; k < l->n_way; k++) {
            used[l->way[k]] += (double)s.count;
        }
        *sum += (double)s.count * (double)l->n_way;
    }
    return true;
}

/* What the likelihood of an average word loses when this piece's next best way takes its place.
 * Infinite where there is no other way, below 0 where the piece is not worth its place. */
static bool loss_of(heed_lattice *l, uint32_t piece, const double *used, double sum, double *loss) {
    heed_unigram_piece p = l->piece[piece];
    if (!heed_lattice_best(l, l->train->symbol + p.at, p.n, piece)) {
        return false;
    }
    double other = 0;
    for (size_t k = 0; k < l->n_way; k++) {
        other += l->piece[l->way[k]].score;
    }
    if (l->n_way == 0 || used[piece] == 0 || other >= p.score) {
        *loss = l->n_way == 0 ? INFINITY : -1;
        return true;
    }
    double without = 0, log_sum = heed_portable_log(sum + used[piece] * (double)(l->n_way - 1));
    for (size_t k = 0; k < l->n_way; k++) {
        without += heed_portable_log(used[l->way[k]] + used[piece]) - log_sum;
    }
    double with = heed_portable_log(used[piece]) - heed_portable_log(sum);
    *loss = used[piece] * (with - without);
    return true;
}

static bool rank(heed_lattice *l, ranked *list, size_t *n) {
    const heed_train *t = l->train;
    double *used = heed_alloc(t->host, l->n, sizeof *used, t->err);
    double sum = 0;
    bool ok = used && count_best(l, used, &sum);
    for (size_t i = l->n_single; ok && i < l->n; i++) {
        double loss = 0;
        ok = loss_of(l, (uint32_t)i, used, sum, &loss);
        if (loss >= 0) {
            list[(*n)++] = (ranked){loss, (uint32_t)i};
        }
    }
    heed_free(t->host, used);
    return ok;
}

/* Keeps the single characters and the best of the rest, `most` in all. */
static bool drop(heed_lattice *l, size_t most) {
    const heed_train *t = l->train;
    if (!heed_lattice_index(l)) {
        return false;
    }
    ranked *list = heed_alloc(t->host, l->n, sizeof *list, t->err);
    heed_unigram_piece *kept = heed_alloc(t->host, l->n, sizeof *kept, t->err);
    size_t n = 0;
    bool ok = list && kept && rank(l, list, &n);
    if (ok) {
        qsort(list, n, sizeof *list, by_loss);
        size_t room = most > l->n_single ? most - l->n_single : 0;
        n = n < room ? n : room;
        for (size_t i = 0; i < n; i++) {
            kept[i] = l->piece[list[i].piece];
        }
        memcpy(l->piece + l->n_single, kept, n * sizeof *kept);
        l->n = l->n_single + n;
    }
    heed_free(t->host, list);
    heed_free(t->host, kept);
    return ok;
}

/* ---- The vocabulary ------------------------------------------------------------------------ */

static int by_score(const void *a, const void *b) {
    const heed_unigram_piece *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->n < y->n ? -1 : x->n > y->n);
}

static bool add_to_vocabulary(heed_train *train, const heed_unigram_piece *p) {
    heed_buf text = {.host = train->host};
    for (uint32_t i = 0; i < p->n; i++) {
        const heed_train_piece *letter = &train->piece[train->symbol[p->at + i]];
        heed_buf_add(&text, letter->text, letter->n);
    }
    int32_t id = -1;
    if (text.failed) {
        heed_fail(train->err, HEED_NOMEM, "out of memory: a piece of %u characters", p->n);
    } else {
        id = heed_train_add(train, text.data, text.n, (int32_t)p->n);
    }
    heed_buf_free(&text);
    if (id >= 0 && (size_t)id >= train->first_char) { /* below: spelt like a special or a byte */
        train->piece[id].score = p->score;
    }
    return id >= 0;
}

/* Characters keep their ids; the best of the rest follow, best first. */
static bool finish(heed_lattice *l, heed_train *train) {
    double lowest = 0;
    for (size_t i = 0; i < l->n; i++) {
        lowest = l->piece[i].score < lowest ? l->piece[i].score : lowest;
    }
    for (size_t id = 0; id < train->n_pieces; id++) { /* a character that never occurred: lowest */
        train->piece[id].score = id < train->first_char ? NAME_SCORE : lowest;
    }
    if (l->n > l->n_single) {
        qsort(l->piece + l->n_single, l->n - l->n_single, sizeof *l->piece, by_score);
    }
    for (size_t i = 0; i < l->n; i++) {
        if (i >= l->n_single && train->n_pieces >= (size_t)train->set.vocab_size) {
            break;
        }
        if (!add_to_vocabulary(train, &l->piece[i])) {
            return false;
        }
    }
    return true;
}

static bool shrink(heed_lattice *l, size_t wished) {
    for (;;) {
        for (int i = 0; i < ROUNDS; i++) {
            if (!estimate(l)) {
                return false;
            }
        }
        if ((double)l->n <= SURPLUS * (double)wished) {
            return true;
        }
        size_t before = l->n;
        double next = KEEP * (double)l->n, least = SURPLUS * (double)wished;
        if (!drop(l, (size_t)(next > least ? next : least))) {
            return false;
        }
        if (l->n == before) { /* nothing is left to drop but characters */
            return true;
        }
    }
}

bool heed_train_unigram(heed_train *train) {
    heed_lattice l = {.train = train, .edge = {.host = train->host}};
    size_t cap = 0;
    bool ok = add_singles(&l, &cap) && add_seeds(&l, train, &cap);
    if (ok) {
        set_scores(&l, heed_portable_log);
        ok = shrink(&l, (size_t)train->set.vocab_size - train->first_char) && finish(&l, train);
    }
    heed_lattice_free(&l);
    return ok;
}
