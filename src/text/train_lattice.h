/* train_lattice.h: the ways to cut a segment into the pieces of a unigram model in the making.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_TRAIN_LATTICE_H
#define HEED_TEXT_TRAIN_LATTICE_H

#include "text/train.h"

typedef struct {
    uint32_t at, n;  /* symbols, in train->symbol */
    double score;    /* log probability */
    double expected; /* how often it is used, from the last count */
} heed_unigram_piece;

typedef struct {
    uint32_t from, to; /* symbols of the segment */
    uint32_t piece;
} heed_edge;

/* One position between symbols. */
typedef struct {
    double forward, backward; /* sums over all ways to here, and from here on */
    int forward_shift, backward_shift;
    double best;
    uint32_t via; /* edge of the best way to here, plus one */
} heed_lattice_node;

typedef struct {
    const heed_train *train;
    heed_unigram_piece *piece; /* those of one symbol first: they are never dropped */
    size_t n, n_single;
    heed_number_map edge; /* trie: node and symbol to node */
    uint32_t *ends;       /* of each node of the trie: piece that ends there, plus one */
    size_t n_ends, cap_ends;
    double *chance; /* of each piece */
    size_t cap_chance;
    heed_edge *edges; /* of the segment at hand, by where they begin */
    size_t n_edges, cap_edges;
    heed_lattice_node *node; /* of the segment at hand */
    size_t cap_nodes;
    uint32_t *way; /* pieces of the best way, last first */
    size_t n_way, cap_way;
} heed_lattice;

/* Indexes the pieces again after they have changed. */
bool heed_lattice_index(heed_lattice *lattice);
/* Adds count times the expected use of each piece in the segment to its `expected`. */
bool heed_lattice_expect(heed_lattice *lattice, const int32_t *symbol, size_t n, int64_t count);
/* Finds the best way to cut the segment, without the piece `not` (UINT32_MAX: with all), and leaves
 * it in lattice->way; n_way is 0 where there is none. */
bool heed_lattice_best(heed_lattice *lattice, const int32_t *symbol, size_t n, uint32_t not );
void heed_lattice_free(heed_lattice *lattice);

#endif
