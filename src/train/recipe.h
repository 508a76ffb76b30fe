/* recipe.h: what to train, on what, and how: the keys of a recipe and their values.
 *
 * A recipe is YAML of one shape (sections holding scalars) or `section.key=value` arguments over
 * it. One table, heed_recipe_keys(), gives parsing, defaults, ranges, arguments, writing and
 * documentation.
 * Invariant: after heed_recipe_finish() succeeds every value is in its range and the
 * keys agree.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_RECIPE_H
#define HEED_TRAIN_RECIPE_H

#include "model/model.h"

/* Choices are kept as int; the names stand beside these constants in recipe_keys.c. */
typedef enum {
    HEED_RECIPE_AUTO,
    HEED_RECIPE_MARIAN,
    HEED_RECIPE_PEGASUS,
    HEED_RECIPE_HEED,
    HEED_RECIPE_GPT2,
    HEED_RECIPE_LLAMA
} heed_recipe_family;
typedef enum { HEED_RECIPE_PAIRS, HEED_RECIPE_LM } heed_recipe_task;
typedef enum { HEED_RECIPE_LAYERNORM, HEED_RECIPE_RMSNORM } heed_recipe_norm;
typedef enum { HEED_RECIPE_POST, HEED_RECIPE_PRE } heed_recipe_norm_position;
typedef enum { HEED_RECIPE_TIE_ALL, HEED_RECIPE_TIE_OUTPUT, HEED_RECIPE_TIE_NONE } heed_recipe_tie;
typedef enum {
    HEED_RECIPE_BPE,
    HEED_RECIPE_UNIGRAM,
    HEED_RECIPE_CHAR,
    HEED_RECIPE_FILE,
    HEED_RECIPE_OF_MODEL
} heed_recipe_tokenizer;
typedef enum { HEED_RECIPE_NFKC, HEED_RECIPE_RAW } heed_recipe_normalization;
typedef enum { HEED_RECIPE_DROP, HEED_RECIPE_CUT } heed_recipe_on_long;
typedef enum {
    HEED_RECIPE_BY_TARGET,
    HEED_RECIPE_BY_SOURCE,
    HEED_RECIPE_BY_DOCUMENT,
    HEED_RECIPE_BY_END
} heed_recipe_split_by;
typedef enum { HEED_RECIPE_ADAM, HEED_RECIPE_ADAMW } heed_recipe_optimizer;
typedef enum { HEED_RECIPE_F32, HEED_RECIPE_BF16 } heed_recipe_precision;
typedef enum { HEED_RECIPE_BY_LOSS, HEED_RECIPE_BY_BLEU, HEED_RECIPE_BY_CHRF } heed_recipe_metric;
typedef enum {
    HEED_RECIPE_WEIGHTS_BEST,
    HEED_RECIPE_WEIGHTS_LAST,
    HEED_RECIPE_WEIGHTS_AVERAGE
} heed_recipe_weights;

/* A text that is not set is "". The field's type decides how its key is read: int64_t a whole
 * number, double a number, bool true or false, int a choice, const char * a text. */
typedef struct {
    int task, family, norm, norm_position, tie; /* the enums above */
    int activation;                             /* heed_act_kind */
    int positions;                              /* heed_position_kind */
    const char *from;                           /* a model to go on from */
    int64_t width, heads, kv_heads, feed_forward, encoder_layers, decoder_layers, layers,
        max_positions;
    bool gated, scale_embedding;
    double dropout, attention_dropout, activation_dropout;
} heed_recipe_model;

typedef struct {
    int type, normalization;
    int64_t vocab;
    bool shared, lowercase, byte_fallback, split_han;
    double coverage;
    const char *file;
} heed_recipe_text;

typedef struct {
    const char *train_source, *train_target, *valid_source, *valid_target, *test_source,
        *test_target;
    const char *train, *valid, *test; /* TSV */
    int64_t source_column, target_column;
    double split_valid, split_test; /* shares taken out of the training pairs */
    int split_by, on_long;
    int64_t max_source, max_target;
    const char *text, *valid_text, *text_column, *match; /* of a language model */
    int document;                                        /* heed_document_cut */
    bool join;
} heed_recipe_data;

typedef struct {
    int64_t seed;
    int optimizer, precision, schedule; /* schedule: heed_schedule_kind */
    double lr, beta1, beta2, eps, weight_decay, min_lr;
    int64_t warmup, epochs, steps;
    double minutes;
    int64_t batch_tokens, accumulate, context;
    const char *only; /* patterns of the weights that are trained; "": all */
    double label_smoothing, clip;
    int64_t valid_every, save_every, keep_last, average_last, early_stop, log_every, threads;
    bool recompute;
    int metric, bleu_tokens; /* bleu_tokens: heed_bleu_tokens */
    int64_t sample_every, sample_tokens;
    const char *sample_prompt;
} heed_recipe_train;

typedef struct {
    int64_t beam, batch_tokens, min_length;
    double length_penalty, max_length_ratio;
    int64_t max_length_extra;
} heed_recipe_translate;

typedef struct {
    const char *folder;
    int weights;
    bool tensorboard;
} heed_recipe_out;

typedef struct {
    const heed_host *host;
    heed_recipe_model model;
    heed_recipe_text tokenizer;
    heed_recipe_data data;
    heed_recipe_train train;
    heed_recipe_translate translate;
    heed_recipe_out out;
    heed_region texts; /* owns the texts */
    const char *
        *where; /* for each key of the table, what set it ("a.yaml:3:7"), or NULL: the default */
} heed_recipe;

/* All keys at their defaults; NULL with err when memory fails. */
heed_recipe *heed_recipe_new(const heed_host *host, heed_error *err);
void heed_recipe_free(heed_recipe *recipe);

/* Reads YAML over what is set. `name` stands in front of errors: "name:line:column: ...". */
bool heed_recipe_parse(heed_recipe *recipe, const char *name, const char *yaml, size_t n,
                       heed_error *err);
bool heed_recipe_read(heed_recipe *recipe, const char *path, heed_error *err);
/* One argument `section.key=value`; it wins over the file. Errors begin with "argument '...': ". */
bool heed_recipe_set(heed_recipe *recipe, const char *argument, heed_error *err);
/* Checks the keys against each other and fills in what follows from others (kv_heads, family, lr
 * ...). */
bool heed_recipe_finish(heed_recipe *recipe, heed_error *err);

/* What the model floor needs to know of a new model; vocabulary and token ids are the tokenizer's
 * to fill in. */
heed_config heed_recipe_config(const heed_recipe *recipe);

/* The recipe as YAML with every key, which reads back to the same recipe; only_set leaves out the
 * defaults. */
bool heed_recipe_print(const heed_recipe *recipe, bool only_set, heed_buf *out);
bool heed_recipe_write(const heed_recipe *recipe, const char *path, heed_error *err);

/* `text` with each ${NAME} replaced by that environment variable; heed_free it. An unset one is an
 * error. */
char *heed_recipe_path(const heed_host *host, const char *text, heed_error *err);

/* ---- The table ------------------------------------------------------------------------------- */

typedef enum {
    HEED_KEY_WHOLE,
    HEED_KEY_NUMBER,
    HEED_KEY_FLAG,
    HEED_KEY_CHOICE,
    HEED_KEY_TEXT
} heed_key_kind;

typedef struct {
    double low, high;
    bool above, below; /* low, high themselves are excluded */
} heed_key_range;

typedef struct {
    const char *section, *name;
    heed_key_kind kind;
    size_t offset;     /* in heed_recipe */
    const char *value; /* the default, as one would write it */
    heed_key_range range;
    const char *const *choices; /* ends with NULL */
    const char *help;
} heed_recipe_key;

const heed_recipe_key *heed_recipe_keys(size_t *count);
/* NULL where there is none; n bytes of `path` such as "train.lr". */
const heed_recipe_key *heed_recipe_find(const char *path, size_t n);
/* The path nearest to an unknown one by edits, or NULL where none is near. */
const heed_recipe_key *heed_recipe_nearest(const char *path, size_t n);
#endif
