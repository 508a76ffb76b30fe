/* heed_generate.h: continue texts with a decoder.
 *
 *     heed_generator *g = heed_generator_new(model, NULL, &err);
 *     heed_generation out;
 *     if (g && heed_generate(g, prompt, n, &out, &err)) // out.id[0 .. out.n): what follows
 *     heed_generator_free(g);
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_H
#define HEED_GENERATE_H

#include "heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a text came to its end: by a token that ends texts (it is the last of the ids), by max_new,
 * by the rows that the generator or the model has, or by the caller's own `token`. */
typedef enum {
    HEED_GENERATED_END,
    HEED_GENERATED_MOST,
    HEED_GENERATED_FULL,
    HEED_GENERATED_ENOUGH
} heed_generated_why;

typedef struct {
    int32_t id;
    double log_prob; /* of this token, given all before it */
} heed_generated_token;

/* Zero is usable. Tokens are the likeliest ones (greedy; of equal ones that with the lowest id),
 * but for what the model's generation_config.json forbids: bad_words_ids, suppress_tokens,
 * begin_suppress_tokens, no_repeat_ngram_size, an end before min_length. */
typedef struct {
    int64_t max_new; /* tokens at most; 0: 256 */
    int64_t longest; /* rows of prompt and answer together at most; 0: the model's positions, but
                        no more than 2048 */
    int64_t piece;   /* rows of a prompt worked on at once; results do not depend on it; 0: 512 */
    double repetition_penalty; /* as in heed_translate_options; 0: the model's own */
    bool uncached;             /* every step runs all rows again: the same bits */
    size_t limit;              /* most bytes that it may take; 0: no limit */
    bool plan_only;            /* take no memory: heed_generator_need tells how much it would be */
    /* Told of every token as it comes; false: it is enough. NULL: none. */
    bool (*token)(void *ctx, const heed_generated_token *token);
    void *ctx;
    const volatile bool *cancel; /* a flag that another thread may set; NULL: none */
} heed_generate_options;

typedef struct {
    const int32_t *id; /* what follows the prompt; lives until the next call */
    int64_t n;
    double log_prob; /* sum over them */
    heed_generated_why why;
} heed_generation;

/* A plan and a session for continuing texts with a decoder that has an output layer (HEED_VALUE
 * elsewhere). options NULL: {0}. A continuation depends on its prompt alone, bit for bit: not on
 * the number of threads, the pieces, or the cache. The model must outlive it. */
typedef struct heed_generator heed_generator;
HEED_API heed_generator *heed_generator_new(heed_model *model, const heed_generate_options *options,
                                            heed_error *err);
HEED_API void heed_generator_free(heed_generator *generator);
HEED_API heed_need heed_generator_need(const heed_generator *generator);
/* Continues a prompt of n ids, taken as they are. HEED_LIMIT for one that leaves no room,
 * HEED_VALUE for an empty one, HEED_NONFINITE where no token is likeliest. */
HEED_API bool heed_generate(heed_generator *generator, const int32_t *prompt, int64_t n,
                            heed_generation *out, heed_error *err);

/* Appends the ids of a prompt: those of heed_encode with special tokens, or, where that gives none,
 * the token that begins texts. HEED_NAME where the model has no tokenizer, or no such token. */
HEED_API bool heed_prompt_ids(const heed_model *model, const char *text, size_t n, heed_tokens *out,
                              heed_error *err);

#ifdef __cplusplus
}
#endif
#endif
