/* model.h: a model: what it is (config), its weights, its tokenizer; opened from a folder, or new.
 *
 * A family (families.def) is one file: a table of its config keys, a table of foreign weight names,
 * a table of foreign value names, and a function that records it. This header is all that other
 * floors see of families.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_MODEL_MODEL_H
#define HEED_MODEL_MODEL_H

#include "block/block.h"
#include "file/json.h"
#include "file/safetensors.h"
#include "text/text.h"

/* Which stacks a model has. A model of one stack has one row space: "source" for an encoder,
 * "target" for a decoder. */
typedef enum { HEED_ENCODER_DECODER, HEED_DECODER, HEED_ENCODER } heed_model_kind;

/* What stands on the last layer: nothing, logits over the vocabulary for each row, logits over
 * `labels` classes for each row, or for each sequence, or one number for each row (a yes or no), or
 * two numbers for each row (an answer begins, or ends, there), or one for each sequence (an answer
 * among several, which follow one another). TWO: of an architecture alone; a config says SEQUENCES
 * and two_heads. */
typedef enum {
    HEED_HEAD_NONE,
    HEED_HEAD_VOCAB,
    HEED_HEAD_ROWS,
    HEED_HEAD_SEQUENCES,
    HEED_HEAD_MARKS,
    HEED_HEAD_SPAN,
    HEED_HEAD_CHOICE,
    HEED_HEAD_TWO
} heed_head;

/* What a sequence's labels are ("problem_type"): AUTO: numbers where there is one class; else one
 * class as an integer, or a number of 0 to 1 for each class. */
typedef enum {
    HEED_PROBLEM_AUTO,
    HEED_PROBLEM_CLASS,   /* one integer; cross-entropy */
    HEED_PROBLEM_SEVERAL, /* `labels` numbers of 0 to 1; cross-entropy of yes or no */
    HEED_PROBLEM_NUMBERS  /* `labels` numbers; squared distance */
} heed_problem;

enum { HEED_ROPE_PAIRS = 256 };
typedef struct {
    int64_t n;
    double at[HEED_ROPE_PAIRS];
} heed_rope_list; /* longrope: a number for each pair of a head that turns */

enum { HEED_ENDS = 16, HEED_WINDOWED = 256, HEED_BANNED = 16 };

/* Everything a family needs to record itself; filled from config.json or from a recipe. */
typedef struct {
    char family[24]; /* model_type: "marian", "gpt2", "bert", "heed" */
    heed_model_kind kind;
    heed_head head;
    bool pooler;    /* an encoder's pooled row, a vector for each sequence, is an output */
    int64_t labels; /* classes of the head; num_labels in transformers */
    heed_problem problem;
    heed_stack encoder, decoder;
    int64_t vocab, source_vocab;  /* of the decoder (and the output), of the encoder */
    int64_t types;                /* token types (BERT's sentence A and B); 0: none */
    int64_t embed_width;          /* width of the tables where it is not the stack's; 0: the same */
    int64_t groups, group_layers; /* ALBERT: groups of layers that share weights, layers of each */
    bool share_embeddings;        /* source and target tokens have one table */
    bool tie_output;              /* the output matrix is the target's table */
    bool scale_embedding;         /* embeddings times sqrt(width) */
    bool logits_bias;             /* a bias of 1 x vocab on the logits, not trained */
    double embed_dropout, head_dropout; /* behind the tables, before the classes */
    bool qkv_bias, out_bias, feed_bias; /* Llama's kin: which products have a bias */
    bool norm_heads;                    /* Qwen3: a norm on each head's query and key */
    bool norm_one_plus;                 /* Gemma: gains are 1 + weight */
    double rotary_part; /* of each head that turns: partial_rotary_factor, rotary_pct */
    bool rope_truncate;
    heed_rope_list rope_short, rope_long;
    int64_t rope_original;      /* Phi-3: the length of the training */
    int64_t window;             /* keys that a row of a windowed layer sees; 0: all */
    uint64_t windowed[4];       /* a bit for each layer that has the window */
    bool use_window;            /* Qwen: else the window is not there */
    int64_t first_windowed;     /* Qwen: the first layer with the window */
    int64_t channels;           /* of pictures; 0: the model reads tokens */
    int64_t image[2], patch[2]; /* height and width, in pixels */
    int64_t pooler_width;
    heed_act_kind pooler_act;
    bool two_heads;       /* DeiT: logits are the mean of two heads */
    double feed_ratio;    /* DINOv2: the feed-forward's width over the stack's */
    double layer_scale;   /* DINOv2: what the gains of each block are at first */
    bool pad_still;       /* the pad token's row of the table gets no gradient */
    bool parallel;        /* GPT-NeoX: attention and feed-forward read the same rows */
    bool residual_normed; /* BLOOM: the sums begin with what the norm gives */
    bool no_final_norm;   /* OPT: although the norms stand before the blocks */
    bool norm_weights;    /* OPT: norms have weights */
    bool scale_attention; /* GPT-2: scores over the square root of the head's width */
    bool scale_by_layer;  /* GPT-2: and over the layer's number, from 1 */
    bool scale_output;    /* T5: rows times width^-0.5 before the output matrix */
    bool own_buckets;     /* umT5: a table of distances for each layer */
    bool labels_wrap;     /* mBART: decoder inputs made from labels begin with their last token */
    bool output_by_input; /* GPT-2: its matrices are not input by output, as in GGUF */
    int32_t pad, bos, eos, unk, decoder_start, forced_eos; /* -1: none */
    int32_t forced_bos;     /* the first token that is generated; -1: any */
    int32_t end[HEED_ENDS]; /* where several tokens end a text: all of them, eos first */
    int64_t ends;           /* 0: eos alone */
    /* How to generate by default (generation_config.json). */
    int64_t beam, max_length,
        min_length; /* max_length counts the start token, as in transformers */
    double length_penalty;
    double repetition_penalty;   /* 1: none */
    heed_stop stop;              /* early_stopping */
    bool renormalize;            /* renormalize_logits */
    int64_t no_repeat;           /* no_repeat_ngram_size; 0: all may come again */
    int64_t max_new;             /* max_new_tokens, which counts no start token; 0: max_length */
    int32_t banned[HEED_BANNED]; /* bad_words_ids and suppress_tokens */
    int64_t bans;
    int32_t begin_banned[HEED_BANNED]; /* begin_suppress_tokens: not as the first */
    int64_t begin_bans;
} heed_config;

/* The defaults of the 2017 base model: width 512, 8 heads, feed-forward 2048, 6+6 layers, dropout
 * 0.1, Post-LN. */
heed_config heed_config_base(void);

/* What a key of a family's config.json stands for that is left out, with the head of its first
 * class; the sizes are those of heed_config_base. `family` is one that there is. */
heed_config heed_config_of(const char *family);

/* Fills config->family: "marian" (Post-LN) or "pegasus" (Pre-LN) where they can express it, else
 * "heed"; `why` then says what stands in the way ("positions 'rope'"). Families other than "heed"
 * open in transformers. */
void heed_config_choose_family(heed_config *config, char *why, size_t size);

typedef struct heed_model heed_model;

/* HEED_VALUE, naming the family, unless the model is of this kind; `what` begins the message: "to
 * translate". */
bool heed_model_must_be(const heed_model *m, heed_model_kind kind, const char *what,
                        heed_error *err);

/* The same as heed_model_open; of both stacks the encoder alone, where a class of the family is
 * that (T5EncoderModel), whatever class the folder names. */
heed_model *heed_model_open_encoder(heed_engine *engine, const char *path,
                                    const heed_open_options *options, heed_error *err);
/* heed_model_open stands in heed.h. The same without tokenizer and the weights' numbers, of which
 * nothing is read: what of the file does not fit goes into the object `misfits`, as arrays
 * "missing", "misshaped" and "unused". Where something does not, *fits is false and err tells; the
 * model is there all the same. */
heed_model *heed_model_inspect(heed_engine *engine, const char *path, json_t *misfits, bool *fits,
                               heed_error *err);
/* A model whose weights have names and shapes, but no memory: for plans that are only measured, and
 * until heed_weights_init. Takes over the tokenizer (also on failure; may be NULL). */
heed_model *heed_model_sketch(heed_engine *engine, const heed_config *config,
                              heed_tokenizer *tokenizer, heed_error *err);
/* A model to train on: as heed_model_sketch, with settings, tokenizer and names of what is at
 * `path`; `folder`: where a GGUF file, or one of llama2.c, is first written as a folder of
 * transformers', in whose order and names the weights then are; NULL: it is not, and the model is
 * only to be planned with. heed_model_fill gives all weights their numbers, as floats of their
 * own. */
heed_model *heed_model_open_sketch(heed_engine *engine, const char *path, const char *folder,
                                   heed_error *err);
bool heed_model_fill(heed_model *m, heed_error *err);
/* Takes the tokenizer over, also on failure: HEED_SHAPE where it has more ids than the model. */
bool heed_model_take_tokenizer(heed_model *m, heed_tokenizer *tokenizer, heed_error *err);
/* Patterns with spaces between: of the weights' names in the checkpoint, * for any part between
 * dots. All other weights are frozen from here on. HEED_NAME for a pattern that no weight has. */
bool heed_model_train_only(heed_model *m, const char *patterns, heed_error *err);
/* A model with initial weights; `seed` decides them. Takes over the tokenizer as above. */
heed_model *heed_model_new(heed_engine *engine, const heed_config *config,
                           heed_tokenizer *tokenizer, uint64_t seed, heed_error *err);
void heed_model_free(heed_model *m);
/* Writes config.json, generation_config.json, model.safetensors, tokenizer.json and
 * tokenizer_config.json into `folder` (made if need be), each whole or not at all. */
bool heed_model_save(const heed_model *m, const char *folder, heed_error *err);

heed_engine *heed_model_engine(const heed_model *m);
const heed_host *heed_model_host(const heed_model *m);
const heed_config *heed_model_config(const heed_model *m);
heed_weights *heed_model_weights(const heed_model *m); /* training changes them */
const heed_tokenizer *heed_model_tokenizer(
    const heed_model *m); /* NULL where the folder has none */
const heed_tokenizer *heed_model_target_tokenizer(const heed_model *m);
/* Name of the file that the tokenizer is in, whether it was opened or not; NULL: there is none. */
const char *heed_model_vocabulary(const heed_model *m);
int64_t heed_model_parameters(const heed_model *m); /* trained numbers; tied ones once */

/* What a row's position is where position_ids are absent, as the family's forward in transformers
 * has it. */
typedef enum {
    HEED_PLACE_COLUMN, /* the column, padding counted */
    HEED_PLACE_ROW,    /* the number of real rows before it */
    HEED_PLACE_TOKEN   /* of rows before it whose id is not the pad token's; the pad token itself is
                          at -1 where encoder.first_position leaves room for it */
} heed_place;

heed_place heed_model_place(const heed_model *m);

/* What to record, and what was. Inputs of an encoder-decoder: "input_ids" over row space "source",
 * "decoder_input_ids" and, for the loss, "labels" over "target". Of a single stack: "input_ids",
 * "token_type_ids" where config.types, and "labels", all over its own space; with
 * HEED_HEAD_SEQUENCES "labels" has one for each sequence, or numbers (heed_problem_of); with
 * HEED_HEAD_SPAN there are "start_positions" and "end_positions" in its place, 1 at the row that is
 * right, else 0; with HEED_HEAD_CHOICE it is 1 at the right sequence. Where config.channels, in
 * place of ids "pixel_values": patches over "source" as data/patches.h cuts them; what is made of
 * them has the class tokens as rows more in each sequence. Row i predicts label i: who reads
 * transformers' labels of a causal model shifts them. */
typedef struct {
    bool logits, loss;
    bool last; /* logits of each sequence's last row alone, sequences x vocab */
    double smoothing;
    bool numbers;    /* labels are given as numbers, should the config leave that open */
    int64_t choices; /* HEED_HEAD_CHOICE: sequences of a question */
    bool no_dropout; /* in HEED_TRAIN: gradients of the model as it is used */
    int64_t grid[2]; /* rows and columns of patches in a picture; 0: of config's size */
} heed_want;
typedef struct {
    heed_value memory; /* encoder output, source x width */
    heed_value hidden; /* decoder output, target x width */
    heed_value pooled; /* sequences x width, where config.pooler */
    heed_value logits; /* rows x vocab (want.last: sequences x vocab), rows x labels or sequences x
                          labels */
    heed_value
        loss; /* 1 x 1, summed over labels and their numbers; heed_xent_rows(loss): each label's */
} heed_outputs;
/* Not AUTO. numbers: labels are given as numbers. */
heed_problem heed_problem_of(const heed_config *c, bool numbers);
heed_outputs heed_model_record(const heed_model *m, heed_build *b, const heed_want *want);

/* Names between ours and transformers' ("encoder.0.self.q.weight" <->
 * "model.encoder.layers.0.self_attn.q_proj.weight"; "decoder.1.cross.weights" ->
 * "cross_attentions.1"). A weight that came from a file is called as in the file. False where there
 * is none. */
bool heed_model_weight_name(const heed_model *m, const char *ours, char *theirs, size_t size);
/* The shape a weight has in the file it came from, else rows x columns, or columns of a vector;
 * gives the number of dimensions. */
int heed_model_weight_shape(const heed_model *m, const heed_weight_entry *w,
                            int64_t dim[HEED_TENSOR_RANK]);
bool heed_model_value_name(const heed_model *m, const char *ours, char *theirs, size_t size);

#endif
