/* train_lattice.c: forward and backward sums, and the best way, over the pieces of a segment.
 *
 * Method: probabilities themselves, not their logarithms: where a sum falls below 2^-300 it and
 * what follows are raised by 2^300, and how often is kept beside it, so that nothing is lost
 * however long the segment.
 * Source: Kudo 2018, section 3.2; Rabiner 1989 for the sums.
 * SPDX-License-Identifier: MIT
 */
#include "text/train_lattice.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { SHIFT = 300 };
static const double LOW = 0x1p-300, RAISE = 0x1p300;

static uint32_t add_node(heed_lattice *l) {
    if (!heed_reserve(l->train->host, (void **)&l->ends, &l->cap_ends, l->n_ends + 1,
                      sizeof *l->ends, l->train->err)) {
        return 0;
    }
    l->ends[l->n_ends] = 0;
    return (uint32_t)l->n_ends++;
}

static bool index_piece(heed_lattice *l, uint32_t number) {
    const heed_unigram_piece *p = &l->piece[number];
    const int32_t *symbol = l->train->symbol + p->at;
    uint32_t node = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t key = heed_key_of_two(node, (uint32_t)symbol[i]);
        uint64_t *to = heed_number_map_put(&l->edge, key, l->train->err);
        if (!to) {
            return false;
        }
        if (*to == 0 && (*to = add_node(l)) == 0) {
            return false;
        }
        node = (uint32_t)*to;
    }
    l->ends[node] = number + 1;
    return true;
}

bool heed_lattice_index(heed_lattice *l) {
    const heed_train *t = l->train;
    heed_number_map_free(&l->edge);
    l->edge.host = t->host;
    l->n_ends = 0;
    add_node(l); /* the root is 0, as is a failure: what tells them apart is n_ends */
    for (size_t i = 0; i < l->n && l->n_ends > 0; i++) {
        if (!index_piece(l, (uint32_t)i)) {
            return false;
        }
    }
    if (l->n_ends == 0 || !heed_reserve(t->host, (void **)&l->chance, &l->cap_chance, l->n,
                                        sizeof *l->chance, t->err)) {
        return false;
    }
    for (size_t i = 0; i < l->n; i++) {
        l->chance[i] = heed_portable_exp(l->piece[i].score);
    }
    return true;
}

static bool add_edge(heed_lattice *l, size_t from, size_t to, uint32_t piece) {
    if (!heed_reserve(l->train->host, (void **)&l->edges, &l->cap_edges, l->n_edges + 1,
                      sizeof *l->edges, l->train->err)) {
        return false;
    }
    l->edges[l->n_edges++] = (heed_edge){(uint32_t)from, (uint32_t)to, piece};
    return true;
}

/* Fills edges, and clears the nodes. */
static bool find_edges(heed_lattice *l, const int32_t *symbol, size_t n) {
    l->n_edges = 0;
    for (size_t from = 0; from < n; from++) {
        uint32_t state = 0;
        for (size_t at = from; at < n; at++) {
            const uint64_t *to =
                heed_number_map_find(&l->edge, heed_key_of_two(state, (uint32_t)symbol[at]));
            if (!to) {
                break;
            }
            state = (uint32_t)*to;
            if (l->ends[state] > 0 && !add_edge(l, from, at + 1, l->ends[state] - 1)) {
                return false;
            }
        }
    }
    if (!heed_reserve(l->train->host, (void **)&l->node, &l->cap_nodes, n + 1, sizeof *l->node,
                      l->train->err)) {
        return false;
    }
    memset(l->node, 0, (n + 1) * sizeof *l->node);
    return true;
}

static double shifted(double x, int shifts) {
    return shifts == 0 ? x : ldexp(x, SHIFT * shifts);
}

/* Raises a sum that is complete and too low, and with it those that hold parts on its scale. */
static bool lift(heed_lattice *l, size_t n, size_t at) {
    if (l->node[at].forward >= LOW || l->node[at].forward == 0) {
        return false;
    }
    size_t last = at + (size_t)l->train->set.max_piece;
    for (size_t i = at; i <= n && i <= last; i++) {
        l->node[i].forward *= RAISE;
    }
    return true;
}

static void sum_forward(heed_lattice *l, size_t n) {
    l->node[0].forward = 1;
    int shift = 0;
    size_t e = 0;
    for (size_t at = 0; at <= n; at++) {
        shift += lift(l, n, at);
        l->node[at].forward_shift = shift;
        for (; e < l->n_edges && l->edges[e].from == at; e++) {
            heed_edge edge = l->edges[e];
            l->node[edge.to].forward += l->node[at].forward * l->chance[edge.piece];
        }
    }
}

static void sum_backward(heed_lattice *l, size_t n) {
    l->node[n].backward = 1;
    int shift = 0;
    size_t e = l->n_edges;
    for (size_t at = n; at-- > 0;) {
        double sum = 0;
        for (; e > 0 && l->edges[e - 1].from == at; e--) {
            heed_edge edge = l->edges[e - 1];
            const heed_lattice_node *to = &l->node[edge.to];
            sum += shifted(l->chance[edge.piece] * to->backward, shift - to->backward_shift);
        }
        if (sum < LOW && sum > 0) {
            sum *= RAISE;
            shift++;
        }
        l->node[at].backward = sum;
        l->node[at].backward_shift = shift;
    }
}

bool heed_lattice_expect(heed_lattice *l, const int32_t *symbol, size_t n, int64_t count) {
    if (!find_edges(l, symbol, n)) {
        return false;
    }
    sum_forward(l, n);
    sum_backward(l, n);
    const heed_lattice_node *end = &l->node[n];
    for (size_t e = 0; e < l->n_edges; e++) {
        heed_edge edge = l->edges[e];
        const heed_lattice_node *from = &l->node[edge.from], *to = &l->node[edge.to];
        double share = from->forward * l->chance[edge.piece] / end->forward * to->backward;
        int shift = end->forward_shift - from->forward_shift - to->backward_shift;
        l->piece[edge.piece].expected += (double)count * shifted(share, shift);
    }
    return true;
}

bool heed_lattice_best(heed_lattice *l, const int32_t *symbol, size_t n, uint32_t not ) {
    l->n_way = 0;
    if (!find_edges(l, symbol, n) || !heed_reserve(l->train->host, (void **)&l->way, &l->cap_way, n,
                                                   sizeof *l->way, l->train->err)) {
        return false;
    }
    for (uint32_t e = 0; e < l->n_edges; e++) {
        heed_edge edge = l->edges[e];
        const heed_lattice_node *from = &l->node[edge.from];
        heed_lattice_node *to = &l->node[edge.to];
        double score = from->best + l->piece[edge.piece].score;
        bool reached = edge.from == 0 || from->via > 0;
        if (edge.piece != not &&reached && (to->via == 0 || score > to->best)) {
            to->best = score;
            to->via = e + 1;
        }
    }
    for (size_t at = n; at > 0 && l->node[n].via > 0; at = l->edges[l->node[at].via - 1].from) {
        l->way[l->n_way++] = l->edges[l->node[at].via - 1].piece;
    }
    return true;
}

void heed_lattice_free(heed_lattice *l) {
    const heed_host *host = l->train->host;
    heed_number_map_free(&l->edge);
    heed_free(host, l->piece);
    heed_free(host, l->ends);
    heed_free(host, l->chance);
    heed_free(host, l->edges);
    heed_free(host, l->node);
    heed_free(host, l->way);
}
