/* heed_embed.h: texts to vectors that lie near each other where the texts mean the same.
 *
 *     heed_embedder *e = heed_embedder_new(engine, "all-MiniLM-L6-v2", NULL, &err);
 *     heed_vectors out = {0};
 *     heed_line texts[] = {{"It rains.", 9}, {"It is wet outside.", 18}};
 *     if (e && heed_embed_texts(e, texts, 2, &out, &err)) ... out.vector ...
 *     heed_vectors_free(&out);
 *     heed_embedder_free(e);
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_EMBED_H
#define HEED_EMBED_H

#include "heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the rows of a text become one vector. */
typedef enum {
    HEED_POOLING_STATED,    /* what the folder says; where it says nothing, the mean */
    HEED_POOLING_MEAN,      /* of all rows */
    HEED_POOLING_FIRST,     /* the first row */
    HEED_POOLING_LAST,      /* the last row */
    HEED_POOLING_MAX,       /* the largest number of each column */
    HEED_POOLING_MEAN_ROOT, /* the sum over the root of their number */
    HEED_POOLING_WEIGHTED   /* the mean where row i, from 1, counts i times */
} heed_pooling;

/* What becomes of a text that is longer than the model takes: its end is left out, and how much
 * that was is told; HEED_LIMIT; or it is embedded in consecutive windows and its vector is the mean
 * of theirs, each counting as many times as it has tokens of the text. */
typedef enum { HEED_EMBED_CUT, HEED_EMBED_ERROR, HEED_EMBED_WINDOWS } heed_embed_long;

/* {0} is what the folder says. */
typedef struct {
    heed_open_options open; /* of the model */
    heed_pooling pooling;
    bool normalize; /* to length 1, also where the folder does not say so */
    heed_embed_long on_long;
    int64_t max_tokens;   /* most tokens of a text, special ones included; 0: the folder's */
    int64_t batch_tokens; /* worked on at once; 0: 4096 */
    const char *prompt;   /* name of one of the folder's prompts; NULL: the folder's default */
    size_t limit;         /* most bytes that it may take; 0: no limit */
    void (*progress)(void *ctx, int64_t done, int64_t total); /* texts; NULL: none */
    void *ctx;
    const volatile bool *cancel; /* a flag that another thread may set; NULL: none */
} heed_embed_options;

/* What goes for every text. Strings live as long as the embedder. */
typedef struct {
    int64_t width, max_tokens;
    const char
        *max_from; /* who says so: "sentence_bert_config.json", "the model's positions" ... */
    heed_pooling pooling; /* never STATED */
    const char
        *pooling_name; /* as sentence-transformers calls it: "mean", "cls", "lasttoken" ... */
    bool normalized;
    bool stated;        /* by modules.json of the folder; false: there is none */
    const char *prompt; /* what stands in front of each text; "": nothing */
} heed_embedder_facts;

typedef struct {
    int64_t tokens;  /* that the vector was made of, special ones included */
    int64_t dropped; /* tokens of the text that were left out */
    int64_t windows; /* 1 unless HEED_EMBED_WINDOWS and the text is long */
} heed_embedded;

/* Row i of vector, n x width, is text i. Starts as {0}. */
typedef struct {
    int64_t n, width;
    float *vector;
    heed_embedded *text; /* n */
    const heed_host *host;
} heed_vectors;
HEED_API void heed_vectors_free(heed_vectors *vectors);

/* Opens a folder of an encoder, a decoder, or of T5, whose encoder is taken, as
 * sentence-transformers or transformers write it, and follows what it says of pooling, layers
 * behind it, length, lower case and prompts (modules.json and the files that it names,
 * config_sentence_transformers.json). What it asks for and is not known here is refused by name.
 * White space round a text is no part of it. A text's vector depends on the text alone, bit for
 * bit: not on the other texts, their order, the batch or the number of threads. options NULL: {0}.
 * The engine must outlive it. */
typedef struct heed_embedder heed_embedder;
HEED_API heed_embedder *heed_embedder_new(heed_engine *engine, const char *folder,
                                          const heed_embed_options *options, heed_error *err);
HEED_API void heed_embedder_free(heed_embedder *embedder);
HEED_API heed_embedder_facts heed_embedder_about(const heed_embedder *embedder);
/* A vector for each text. *out is emptied first, and after a failure; errors name the text. */
HEED_API bool heed_embed_texts(heed_embedder *embedder, const heed_line *texts, int64_t n,
                               heed_vectors *out, heed_error *err);

#ifdef __cplusplus
}
#endif
#endif
