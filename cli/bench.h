/* bench.h: the lines of `heed bench`: what each runs, and the least it could take.
 *
 * A line is an entry of bench_lines.c. Its maker prepares everything; a run does the work once and
 * tells how long it took. The least time follows from the operations and from the bytes that must
 * come out of memory, by the ceilings that were measured first.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_CLI_BENCH_H
#define HEED_CLI_BENCH_H

#include "cli/cli.h"

/* Of one run. */
typedef struct {
    double operations; /* two for each multiply-add */
    double bytes;      /* that no cache holds from one run, or token, to the next */
    double traffic;    /* bytes of weights, inputs and results, each once; in training of gradients
                          and moments, in and out */
    double units;      /* what the figure counts: tokens, sequences; 0: the figure is the time */
} bench_cost;

typedef struct {
    void *state;
    double (*run)(void *state, heed_error *err); /* seconds; negative: err tells */
    void (*free)(void *state);
    bench_cost cost;
    size_t memory; /* bytes beside weights, gradients, moments, inputs and results; 0: not known */
    size_t kept;   /* bytes of these */
} bench_work;

typedef struct bench_line bench_line;
struct bench_line {
    const char *name; /* "decode/gpt2-124m" */
    const char *type; /* "f32": of the products */
    const char *unit; /* "tokens/s", or "ms" */
    /* `path`: a model to use in place of the line's own of random weights; NULL: none. */
    bool (*make)(const bench_line *line, heed_engine *engine, const char *path, bench_work *out,
                 heed_error *err);
    const char *model; /* of bench_models.c; NULL: the line needs none */
    int64_t n[3];      /* sizes, as the maker has them */
    bool causal, back;
};
extern const bench_line bench_lines[]; /* ends with name NULL */

double bench_now(void); /* seconds */

/* ---- bench_models.c: the shapes ---- */

typedef struct {
    const char *name, *config; /* config: the text of a config.json */
    int64_t width, heads, feed, vocab, encoders, decoders;
    bool gated;
    int64_t shared; /* heads that share a head of keys; 0: none do */
} bench_model;
const bench_model *bench_model_called(const char *name);
double bench_bytes(const char *type);      /* of a number of such weights */
bool bench_stored(const bench_line *line); /* its weights are a file's own */
heed_compute bench_compute(const bench_line *line);
/* Opened from the path, or made of random weights where that is NULL. */
heed_model *bench_open(const bench_line *line, heed_engine *engine, const char *path,
                       heed_error *err);
/* Numbers in the matrices of one layer; cross-attention is the decoder's behind an encoder. */
double bench_layer(const bench_model *m, bool cross);
double bench_matrices(const bench_model *m); /* of all layers */
/* Operations of one layer's attention over sequences of n rows. */
double bench_attention(const bench_model *m, double sequences, double n, bool causal);

/* ---- Makers ---- */

/* bench_ops.c. n: rows, columns of the result, depth. */
bool bench_make_product(const bench_line *line, heed_engine *engine, const char *path,
                        bench_work *out, heed_error *err);
/* n: rows of queries and of keys. */
bool bench_make_attention(const bench_line *line, heed_engine *engine, const char *path,
                          bench_work *out, heed_error *err);
/* bench_text.c. n: rows of the prompt, new tokens. */
bool bench_make_decode(const bench_line *line, heed_engine *engine, const char *path,
                       bench_work *out, heed_error *err);
/* n: sentences at once, beams, sentences. */
bool bench_make_translate(const bench_line *line, heed_engine *engine, const char *path,
                          bench_work *out, heed_error *err);
/* bench_drill.c. n: sequences, rows of each. */
bool bench_make_encode(const bench_line *line, heed_engine *engine, const char *path,
                       bench_work *out, heed_error *err);
/* n: sentences, as long as real ones, and rows of a batch. */
bool bench_make_sentences(const bench_line *line, heed_engine *engine, const char *path,
                          bench_work *out, heed_error *err);
bool bench_make_train(const bench_line *line, heed_engine *engine, const char *path,
                      bench_work *out, heed_error *err);

#endif
