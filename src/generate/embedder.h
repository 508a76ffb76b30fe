/* embedder.h: what an embedder keeps. Inside of generate/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_EMBEDDER_H
#define HEED_GENERATE_EMBEDDER_H

#include "data/pairs.h"
#include "generate/dense.h"
#include "generate/sentence.h"
#include "model/model.h"

struct heed_embedder {
    const heed_host *host;
    heed_engine *engine;
    heed_model *model;
    heed_embed_options options;
    heed_sentence_rules rules;
    int64_t width, most; /* of a row; tokens of a text */
    heed_dense *dense;   /* NULL: a vector is what pooling makes */
    const char *most_from;
    /* One plan for batches of these sizes; a larger one takes its place when a text wants it. */
    heed_plan *plan;
    heed_session *session;
    heed_value rows;
    int64_t plan_rows, plan_longest;
    double *sum; /* width: scratch of pooling */
};

/* A stretch of ids that is run as one sequence: a text, or a window of one. */
typedef struct {
    int64_t text, start, n;
    int64_t weight; /* tokens of the text in it */
    float *vector;  /* where its vector goes */
} heed_piece;

typedef struct {
    heed_ragged ids; /* start is not used */
    int64_t n_ids;
    heed_piece *piece;
    size_t piece_cap;
    int64_t n;
} heed_pieces;

/* embed_pieces.c: texts to pieces, none longer than the embedder's most; fills out->text. */
bool heed_cut_texts(const heed_embedder *e, const heed_line *texts, int64_t n, heed_pieces *pieces,
                    heed_vectors *out, heed_error *err);
void heed_pieces_free(heed_pieces *pieces, const heed_host *host);

#endif
