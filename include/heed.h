/* heed.h: use a Transformer from C: open a folder, translate, train, look inside.
 *
 *     #include <heed.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         heed_error err = {0};
 *         heed_translations out = {0};
 *         heed_line line = {"我爱中国", 12};
 *         heed_engine *engine = heed_engine_new(NULL, 0, NULL, &err);
 *         heed_model *model = engine ? heed_model_open(engine, "model", &err) : NULL;
 *         heed_translator *t = model ? heed_translator_new(model, NULL, &err) : NULL;
 *         if (t && heed_translate(t, &line, 1, &out, &err)) puts(out.item[0].text);
 *         else fprintf(stderr, "heed: %s\n", err.text);
 *         heed_translations_free(&out);
 *         heed_translator_free(t);
 *         heed_model_free(model);
 *         heed_engine_free(engine);
 *         return err.code != HEED_OK;
 *     }
 *
 * Every *_free takes NULL. Threads: an object is used by one thread at a time unless its comment
 * says that it is shared; there are no globals. Making models of one's own: heed_build.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_H
#define HEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HEED_API __attribute__((visibility("default")))
#define HEED_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HEED_API
#define HEED_PRINTF(f, a)
#endif

/* ---- Errors -------------------------------------------------------------------------------- */

/* The one list of error codes: name, what it means. Everything else about codes is derived from it.
 */
#define HEED_CODES(X)                                                                              \
    X(OK, "no error")                                                                              \
    X(NOMEM, "the host's alloc returned NULL")                                                     \
    X(SHAPE, "sizes that do not fit each other")                                                   \
    X(NAME, "a name nobody knows, or one that is missing")                                         \
    X(FILE, "a file that is missing, unreadable, damaged or of the wrong kind")                    \
    X(TEXT, "text that is not UTF-8, or lines that do not match")                                  \
    X(VALUE, "an argument or setting out of range")                                                \
    X(LIMIT, "more than the planned capacity, or than fits in memory")                             \
    X(NONFINITE, "a value became infinite or NaN")                                                 \
    X(CANCEL, "the caller asked to stop")                                                          \
    X(SYSTEM, "the operating system refused: disk full, no thread, no permission")

typedef enum {
#define HEED_CODE_ENUM(name, text) HEED_##name,
    HEED_CODES(HEED_CODE_ENUM)
#undef HEED_CODE_ENUM
} heed_code;

/* The caller owns the box and zeroes it before the first call ({0}). The library fills it once: the
 * first failure stays. text is one line without a newline: what failed, where, both numbers. Every
 * function that takes a heed_error * accepts NULL where the caller does not care why. */
typedef struct {
    heed_code code;
    char text[500];
} heed_error;

/* Name of a code ("NOMEM"); static storage. */
HEED_API const char *heed_code_name(heed_code code);

/* ---- Memory -------------------------------------------------------------------------------- */

/* Where memory comes from. alloc returns `bytes` bytes aligned to 64, contents undefined, or NULL;
 * release takes what alloc gave (NULL is allowed). Both may be called from several threads at once.
 * NULL instead of a host means the C library. The host must outlive everything made with it. */
typedef struct {
    void *(*alloc)(void *self, size_t bytes);
    void (*release)(void *self, void *p);
    void *self;
} heed_host;

/* ---- Engine -------------------------------------------------------------------------------- */

/* Where arithmetic happens: an instruction set, a pool of threads, the host's memory. Made once by
 * the caller, shared by everything made with it (callers on several threads wait for each other's
 * use of the pool), freed last. threads: 0 = physical cores this process may use; isa: NULL = the
 * best that the processor has, unless the environment names one in HEED_ISA ("ref", "avx2",
 * "avx512", "neon"); values have the same bits for any number of threads. Errors: HEED_VALUE (no
 * such set here, says why), HEED_SYSTEM (no thread), HEED_NOMEM. */
typedef struct heed_engine heed_engine;
HEED_API heed_engine *heed_engine_new(const heed_host *host, int threads, const char *isa,
                                      heed_error *err);
HEED_API void heed_engine_free(heed_engine *engine);
HEED_API const char *heed_engine_isa(const heed_engine *engine);
HEED_API int heed_engine_threads(const heed_engine *engine);

/* "0.1.0"; static storage. */
HEED_API const char *heed_version(void);

/* The instruction sets of this build, worst first; name NULL behind the last. */
typedef struct {
    const char *name;
    bool usable;
    const char *why; /* what the processor lacks; NULL where it is usable */
} heed_cpu_set;
HEED_API heed_cpu_set heed_cpu_isa(int i);
HEED_API int heed_cpu_cores(void);        /* physical ones that this process may use */
HEED_API size_t heed_machine_bytes(void); /* memory that it may have; 0: not known */
HEED_API size_t heed_most_bytes(void);    /* 15/16 of it: what a run may take where nobody says */

/* Bytes that something takes, by what they hold. */
typedef struct {
    size_t weights, packed;    /* packed: weights once more, as products want them */
    size_t gradients, moments; /* training */
    size_t values;             /* inputs, outputs and what is between */
    size_t cache;              /* keys and values of what was generated */
    size_t validation;         /* training: all that validating takes besides */
    size_t data;               /* training: pairs, tokenizer, batches */
    size_t total;              /* their sum; or the most while data is read, where that is more */
} heed_need;

/* ---- Text ---------------------------------------------------------------------------------- */

/* n bytes of UTF-8, not NUL-terminated; may hold NUL. */
typedef struct {
    const char *s;
    size_t n;
} heed_line;

/* A text file as lines: line[i] is line number i + 1. Only \n and \r\n end a line; a byte order
 * mark at the start is left out. */
typedef struct {
    const heed_host *host;
    heed_line *line;
    int64_t n;
    char *text; /* what the lines point into */
} heed_lines;

/* Reads a file, plain or gz. Text that is not UTF-8 is HEED_TEXT with file, line and byte. On
 * failure *lines is empty. `limit`: the largest size in bytes after unpacking, 0: 8 GiB. */
HEED_API bool heed_lines_read(heed_lines *lines, const heed_host *host, const char *path,
                              size_t limit, heed_error *err);
/* The same from memory, which is copied; `label` stands for the path. */
HEED_API bool heed_lines_parse(heed_lines *lines, const heed_host *host, const char *label,
                               const char *text, size_t n, heed_error *err);
HEED_API void heed_lines_free(heed_lines *lines);

/* A growing text, NUL-terminated once something is in it. Starts as {.host = h}; functions append.
 */
typedef struct {
    const heed_host *host;
    char *data;
    size_t n, cap;
    bool failed; /* an append found no memory; later ones do nothing */
} heed_buf;
HEED_API void heed_buf_free(heed_buf *buf);

/* Columns of a terminal that n bytes of text take: Chinese characters take two. */
HEED_API int heed_utf8_columns(const char *s, size_t n);

/* ---- Models -------------------------------------------------------------------------------- */

/* Opens a folder as transformers writes it: config.json, generation_config.json, model.safetensors
 * or pytorch_model.bin (or their shards), tokenizer.json where there is one; or a GGUF file, or a
 * folder that holds one and no config.json. Weights stay mapped as they are; those in fewer bits
 * are made wider only where they must be. The engine must outlive the model. Missing, unused and
 * mis-shaped tensors are an error that names the first of each and counts them. */
typedef struct heed_model heed_model;
HEED_API heed_model *heed_model_open(heed_engine *engine, const char *path, heed_error *err);
/* How products with weights are computed. Training: in float32, or with all products in bf16. */
typedef enum {
    HEED_COMPUTE_KEPT,  /* by the file: numbers of 16 bits are widened, exactly; with quantised
                           blocks, rows are rounded to 8 bits, block by block */
    HEED_COMPUTE_FLOAT, /* in float32, whatever the file keeps */
    HEED_COMPUTE_INT8,  /* weights are rounded to 8 bits, column by column, and rows to 8 bits */
    HEED_COMPUTE_BF16   /* weights and rows are rounded to bfloat16, sums are float32; float32
                           where the processor has no such products */
} heed_compute;
typedef struct {
    bool
        untie; /* a file may hold an output matrix that differs from the embedding which config.json
                   says it is: take both as they are */
    heed_compute compute;
} heed_open_options;
HEED_API heed_model *heed_model_open_with(heed_engine *engine, const char *path,
                                          const heed_open_options *options, heed_error *err);
/* A model of the settings that the n bytes of a config.json say, with initial weights, which `seed`
 * decides, and without a tokenizer. Errors are those of opening a folder. */
HEED_API heed_model *heed_model_random(heed_engine *engine, const char *config, size_t n,
                                       uint64_t seed, heed_compute compute, heed_error *err);
HEED_API void heed_model_free(heed_model *model);
/* Trained numbers; tied ones once. */
HEED_API int64_t heed_model_parameters(const heed_model *model);
/* Tokens that it was made for at once, those of the decoder where it has one; 0: any number. */
HEED_API int64_t heed_model_positions(const heed_model *model);
/* Appends what the model is, as a JSON object. */
HEED_API bool heed_model_describe(const heed_model *model, heed_buf *json, heed_error *err);

/* The same for what stands at a path, of whose weights and tokenizer nothing is read. Where tensors
 * are missing, unused or mis-shaped it fails, but has appended the description all the same, with
 * all of them under "misfits". */
HEED_API bool heed_path_describe(heed_engine *engine, const char *path, heed_buf *json,
                                 heed_error *err);

/* Appends what one file of tensors holds, safetensors, GGUF (versions 2 and 3), what torch.save
 * wrote or llama2.c's, as a JSON object: format, settings, numbers, bytes, tensors by name with
 * type and shape. Of the data nothing is read. Failures (HEED_FILE, HEED_SHAPE) name the file and
 * what is wrong in it. */
HEED_API bool heed_file_describe(const heed_host *host, const char *path, heed_buf *json,
                                 heed_error *err);

/* What a model is written as. */
typedef enum { HEED_TO_FOLDER, HEED_TO_GGUF } heed_convert_to;
typedef struct {
    heed_convert_to to;
    const char *type; /* "f32", "f16" or "bf16", rounded to nearest even; NULL: the one of these
                         that all tensors have, else f32 */
    bool over;        /* takes the place of a file, or of the model in a folder, that is there; else
                         that is refused */
    /* One line that the user should read: what GGUF leaves out. NULL: nobody reads. */
    void (*note)(void *ctx, const char *line);
    void *ctx;
} heed_convert_options;
/* Writes what heed_model_open opens at `path` to `out`, tensor by tensor: into a folder as
 * transformers has it (config.json, generation_config.json, the tokenizer's files,
 * model.safetensors last), made if need be, or into a GGUF file with its vocabulary. A folder
 * becomes a folder with the settings that it had; vectors, and tables that are added, stay float32
 * in GGUF. Errors: those of opening and of writing; HEED_VALUE names what the other format, or the
 * type, cannot hold. */
HEED_API bool heed_convert(heed_engine *engine, const char *path, const char *out,
                           const heed_convert_options *options, heed_error *err);

/* ---- Translating --------------------------------------------------------------------------- */

/* When the search for a line is over, for beam > 1 (transformers' early_stopping): AUTO once the
 * best open beam, at its present length, cannot beat the worst of `beam` ended ones (False); FIRST
 * once `beam` have ended (True); NEVER as AUTO, but counting on the best length that is still
 * possible ("never"). */
typedef enum { HEED_STOP_AUTO, HEED_STOP_FIRST, HEED_STOP_NEVER } heed_stop;

/* Lengths count the decoder's rows, its start token included, as transformers does. */
typedef struct {
    int64_t beam;   /* 1: greedy */
    int64_t n_best; /* translations for each line, at most `beam` */
    double
        length_penalty; /* score = sum of log-probabilities / generated tokens ^ length_penalty */
    heed_stop stop;
    int64_t max_length, min_length;
    int64_t no_repeat; /* no run of so many tokens comes twice; 0: it may (no_repeat_ngram_size) */
    /* Above 1, tokens that have come are less likely; 1: none, 0: the model's own. As in
     * transformers it divides a logit, or multiplies one below 0; with beams, the log-probability.
     */
    double repetition_penalty;
    /* Read when the translator is made; NULL: the model's own. start: what the decoder begins with
     * (decoder_start_token_id, else bos_token_id); first: the first token it says, -1: any
     * (forced_bos_token_id: a language). */
    const int32_t *start, *first;
    double max_ratio; /* > 0: also at most 1 + max_ratio * source tokens + max_extra */
    int64_t max_extra;
    bool no_unk;      /* never the unknown token; the padding token is never taken anyway */
    bool force_end;   /* what reaches max_length ends with the end token (forced_eos_token_id) */
    bool renormalize; /* probabilities over the tokens that are allowed (renormalize_logits) */
    int64_t batch_tokens; /* source tokens worked on at once; 0: 2048 */
    int64_t max_source;   /* longer sources are cut; 0: as many positions as the model has, or
                             batch_tokens */
    size_t limit;         /* most bytes that it may take; 0: no limit */
    bool plan_only;       /* take no memory: heed_translator_need tells how much it would be */
    bool live; /* weights may change between calls (in training): nothing is packed ahead */
    void (*progress)(void *ctx, int64_t done, int64_t total); /* lines; NULL: none */
    void *ctx;
    const volatile bool *cancel; /* a flag that another thread may set; NULL: none */
} heed_translate_options;
/* What the model's own files ask for (generation_config.json). */
HEED_API heed_translate_options heed_translate_defaults(const heed_model *model);

typedef struct {
    const int32_t
        *id; /* as generated: without the start token, with the end token where it was reached */
    int64_t n;
    double score, log_prob;
    bool ended;       /* by the end token; false: by max_length */
    const char *text; /* without special tokens; NULL where the model has no tokenizer */
} heed_translation;

typedef enum { HEED_SOURCE_FINE, HEED_SOURCE_EMPTY, HEED_SOURCE_CUT } heed_source_state;

/* item[i * n_best + j] is the j-th best of line i. An empty line gives an empty translation (n 0,
 * text ""), as do places for which no hypothesis was found. Starts as {0}. */
typedef struct {
    heed_translation *item;
    heed_source_state *source; /* of each line */
    int64_t lines, n_best;
    const heed_host *host;
    void *store; /* what ids and texts lie in */
} heed_translations;
HEED_API void heed_translations_free(heed_translations *translations);

/* A plan and a session for translating with one model; options NULL: the defaults. A translation
 * depends on its line alone, bit for bit: not on the other lines, their order, the budget or the
 * number of threads. */
typedef struct heed_translator heed_translator;
HEED_API heed_translator *heed_translator_new(heed_model *model,
                                              const heed_translate_options *options,
                                              heed_error *err);
HEED_API void heed_translator_free(heed_translator *translator);
HEED_API heed_need heed_translator_need(const heed_translator *translator);
/* One result for each line, in the order of the lines. *out is emptied first, and after a failure.
 */
HEED_API bool heed_translate(heed_translator *translator, const heed_line *lines, int64_t n,
                             heed_translations *out, heed_error *err);
/* The same for token ids, taken as they are: sequence i is id[start[i]] up to id[start[i + 1]]. */
HEED_API bool heed_translate_ids(heed_translator *translator, const int32_t *id,
                                 const int64_t *start, int64_t n, heed_translations *out,
                                 heed_error *err);

/* ---- Training ------------------------------------------------------------------------------ */

/* What a training may begin from. NEW refuses a folder that has checkpoints; RESUME goes on from
 * the newest one, to the bits of a run that was never stopped, or begins where there is none; OVER
 * takes old checkpoints away, once all else is ready. */
typedef enum { HEED_START_NEW, HEED_START_RESUME, HEED_START_OVER } heed_start;

/* What is known before the first update. Numbers of 0 are not known. */
typedef struct {
    const char *folder, *family; /* live as long as the trainer */
    int64_t parameters, vocab;
    int64_t pairs, source_tokens, target_tokens; /* of one pass over the training pairs */
    int64_t documents; /* of a language model: texts, whose tokens are target_tokens */
    int64_t updates, updates_an_epoch, done; /* all, and those of the resumed checkpoint */
    double start_loss;                       /* what a model that knows nothing has: ln vocab */
    heed_need need;
    double seconds; /* forecast for what is left, from one batch */
} heed_training_outlook;

typedef enum {
    HEED_TRAINING_STEP,  /* after each update: loss, lr, norm, tokens_per_second */
    HEED_TRAINING_VALID, /* after each validation: loss, score, best */
    HEED_TRAINING_SAVED, /* a checkpoint was written */
    HEED_TRAINING_DONE,  /* the model was written; loss and score as for VALID, where validated */
    HEED_TRAINING_SAMPLE /* a language model has continued train.sample_prompt: text */
} heed_training_kind;

typedef struct {
    heed_training_kind kind;
    int64_t step, updates, epoch;       /* updates: all, 0: not known; epoch counts from 1 */
    double loss;                        /* a token; STEP: with label smoothing, of this update */
    double lr, norm, tokens_per_second; /* tokens of the target side */
    double seconds, seconds_left;       /* seconds_left < 0: not known */
    size_t bytes;
    const char *metric; /* "bleu", "chrf", or NULL: score is not computed */
    double score;
    bool best;
    const char *text; /* SAMPLE: prompt and answer, as the tokenizer decodes them */
} heed_training_progress;

typedef struct {
    const heed_host *host;
    const char *recipe;          /* path of a YAML file (docs/training.md); NULL: settings alone */
    const char *const *settings; /* "train.lr=3e-4": they win over the file */
    int64_t n_settings;
    heed_start start;
    int threads;     /* 0: as the recipe says */
    size_t limit;    /* most bytes that it may take; 0: heed_most_bytes */
    bool plan_only;  /* takes no memory for training, writes nothing: only heed_trainer_look */
    const char *isa; /* as for heed_engine_new */
    /* One line that the user should read: empty or over-long pairs, characters without a piece. */
    void (*note)(void *ctx, const char *line);
    void (*progress)(void *ctx, const heed_training_progress *progress);
    void *ctx;
    const volatile bool *cancel; /* when set: a checkpoint is written and the run ends */
} heed_training_options;

/* A training, from the reading of the recipe to the written model; has an engine of its own. new
 * does all that can fail for the recipe, the data and memory. */
typedef struct heed_trainer heed_trainer;
HEED_API heed_trainer *heed_trainer_new(const heed_training_options *options, heed_error *err);
HEED_API heed_training_outlook heed_trainer_look(const heed_trainer *trainer);
/* Trains to the end and writes the model. HEED_CANCEL after a cancel; HEED_NONFINITE names the
 * update, the value and the lines of the batch. */
HEED_API bool heed_trainer_run(heed_trainer *trainer, heed_error *err);
HEED_API void heed_trainer_free(heed_trainer *trainer);

/* Appends the keys of a recipe with defaults, ranges and meanings, as Markdown tables. */
HEED_API bool heed_recipe_document(heed_buf *out);

#ifdef __cplusplus
}
#endif

#include "heed_text.h" /* IWYU pragma: export: tokenizers */

#endif
