/* sentence.h: what a folder says of how a text becomes one vector. Inside of generate/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_SENTENCE_H
#define HEED_GENERATE_SENTENCE_H

#include "base/mem.h"
#include "heed_embed.h"
#include "heed_ops.h"

enum { HEED_SENTENCE_PATH = 4096, HEED_PROMPT_BYTES = 4096, HEED_SENTENCE_LAYERS = 4 };

/* A Dense module: a layer behind pooling. */
typedef struct {
    char folder[HEED_SENTENCE_PATH];
    int64_t in, out;
    bool bias, plain; /* plain: no activation */
    heed_act_kind act;
} heed_sentence_dense;

typedef struct {
    char model[HEED_SENTENCE_PATH]; /* folder of the model: the folder itself or one inside */
    bool stated;                    /* there is a modules.json */
    heed_pooling pooling;           /* STATED where there is none */
    heed_sentence_dense dense[HEED_SENTENCE_LAYERS];
    int n_dense;
    bool normalize, lower;
    int64_t max_tokens;   /* 0: nobody says */
    const char *max_from; /* the file that says so */
    char prompt[HEED_PROMPT_BYTES];
    bool prompt_pooled; /* the prompt's rows are pooled too */
} heed_sentence_rules;

/* prompt: the name of one, NULL: the folder's default. HEED_NAME and HEED_VALUE name the file and
 * what is not known in it. */
bool heed_sentence_read(const heed_host *host, const char *folder, const char *prompt,
                        heed_sentence_rules *rules, heed_error *err);

const char *heed_pooling_name(heed_pooling pooling);
/* Pools n rows of `width` numbers into out; sum: scratch of `width`. Sums go through the rows in
 * order. */
void heed_pool_text(heed_pooling pooling, const float *rows, int64_t n, int64_t width, double *sum,
                    float *out);
/* To length 1; zeros stay. */
void heed_normalize_vector(float *x, int64_t width);

#endif
