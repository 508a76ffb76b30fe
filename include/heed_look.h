/* heed_look.h: measure a model and look inside it: scores, every value of a run, attention.
 *
 * What a run computed is watched, never computed a second time.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_LOOK_H
#define HEED_LOOK_H

#include "heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scores -------------------------------------------------------------------------------- */

/* Zero is sacreBLEU's default. */
typedef struct {
    bool lowercase;
    const char *tokens; /* of BLEU: "13a" (NULL), "zh", "char", "intl", "none" */
    int words;          /* of chrF: 2 for chrF++ */
} heed_score_options;

/* BLEU and chrF as sacreBLEU 2.6.0 computes them, in percent. */
typedef struct {
    double bleu, chrf;
    char bleu_detail[160]; /* "71.0/46.6/31.9/21.9 (BP = 1.000 ratio = 1.01 hyp_len = ...)" */
    char bleu_signature[120], chrf_signature[120];
    char chrf_name[16]; /* "chrF2", "chrF2++" */
} heed_scores;

/* n hypotheses against n references. */
HEED_API bool heed_score(const heed_host *host, const heed_line *hypotheses,
                         const heed_line *references, int64_t n, const heed_score_options *options,
                         heed_scores *out, heed_error *err);

/* [0] is the baseline, [1] the system. mean and ci (half the width of the 95 % interval) are those
 * of the resamples; p: how likely luck alone makes such a difference. */
typedef struct {
    double score[2], mean[2], ci[2];
    double p;
} heed_paired;

/* Paired bootstrap resampling as sacreBLEU does it (1,000 samples, seed 12345). */
HEED_API bool heed_score_paired(const heed_host *host, const heed_line *baseline,
                                const heed_line *system, const heed_line *references, int64_t n,
                                const heed_score_options *options, heed_paired *bleu,
                                heed_paired *chrf, heed_error *err);

/* How likely a model finds given translations, without dropout and label smoothing. */
typedef struct {
    int64_t labels;    /* target tokens, the end token included */
    double loss;       /* mean of -log p over labels */
    double perplexity; /* e to the loss */
    int64_t left_out;  /* pairs that are longer than the model or the budget holds, or empty */
} heed_likelihood;
HEED_API bool heed_likelihood_of(heed_model *model, const heed_line *sources,
                                 const heed_line *targets, int64_t n, heed_likelihood *out,
                                 heed_error *err);

/* Zero is usable. */
typedef struct {
    int64_t window; /* tokens that the model sees at once; 0: 512 */
    /* Begin of each window behind that of the one before; a window scores the tokens behind the end
     * of the one before it. 0: the window. */
    int64_t stride;
    /* As llama.cpp's perplexity tool counts: whole windows alone, of each its second half is
     * scored; a text that begins with the token that begins texts has it in front of each. */
    bool llama;
    int64_t windows; /* at most; 0: all */
    void (*progress)(void *ctx, int64_t done, int64_t total, double perplexity); /* NULL: none */
    void *ctx;
    const volatile bool *cancel; /* NULL: none */
} heed_perplexity_options;
/* How likely a decoder finds a text. left_out: tokens that are not scored. options NULL: {0}.
 * HEED_VALUE for a text too short to score anything, a window that the model cannot hold. */
HEED_API bool heed_perplexity_of(heed_model *model, heed_line text,
                                 const heed_perplexity_options *options, heed_likelihood *out,
                                 heed_error *err);
/* The same for token ids. */
HEED_API bool heed_perplexity_of_ids(heed_model *model, const int32_t *id, int64_t n,
                                     const heed_perplexity_options *options, heed_likelihood *out,
                                     heed_error *err);

/* ---- Traces -------------------------------------------------------------------------------- */

/* What to write besides logits, encoder_last_hidden_state and, where there are labels, loss. */
typedef struct {
    bool attention; /* encoder_attentions.N, decoder_attentions.N, cross_attentions.N */
    bool hidden;    /* encoder_hidden_states.N, decoder_hidden_states.N */
    bool grads;     /* grad.NAME of each trained tensor of the checkpoint; wants labels */
} heed_trace_options;

/* Runs the model on padded tensors of a safetensors file, named as transformers names them, and
 * writes padded tensors. In (B rows, padded): input_ids; decoder_input_ids or labels or both;
 * attention_mask and decoder_attention_mask (absent: all rows are real), position_ids (absent: the
 * column). Decoder inputs that are absent are the labels shifted right, -100 replaced by the
 * padding id. Rows at padding are zeros. loss is the mean over labels other than -100 whose row is
 * real; gradients are of that mean, without dropout.
 *   Labels of a class that tells of whole sequences: labels (one integer each, or numbers where the
 * model has several labels at once or numbers to tell); of one that finds answers:
 * start_positions and end_positions (columns; behind the rows: none), and start_logits and
 * end_logits come out, the softmax being over real rows; of one that chooses: input_ids and masks
 * are questions x choices x length, labels one for each question.
 *   In, for encoders of pictures: pixel_values (pictures x channels x height x width, scaled as the
 * model's image processor does), labels (one for each). All pictures of a run have one size; where
 * it is not that of config.json, positions are resized as transformers does it (ViT and DeiT: with
 * interpolate_pos_encoding). */
HEED_API bool heed_trace(heed_model *model, const char *input, const char *output,
                         const heed_trace_options *options, heed_error *err);

/* ---- Differences ---------------------------------------------------------------------------- */

/* Ids of the only stack, or of the encoder; `target`: those of the decoder behind an encoder. */
typedef struct {
    const int32_t *id, *target;
    int64_t n, targets;
} heed_diff_input;

/* One named value in both runs. Where shapes differ, difference is infinite and nothing else is
 * known. */
typedef struct {
    const char *path; /* "decoder.0.self.weights" */
    int64_t rows, cols, other_rows, other_cols;
    bool same_shape;
    double largest;    /* absolute number of the first run's value */
    double difference; /* largest absolute one, at (row, col), between a and b */
    int64_t row, col;
    double a, b;
} heed_difference;

/* Every value that has the same path in both, in order of the run. */
typedef struct {
    heed_difference *item;
    int64_t n;
    int64_t first;  /* the first beyond the bound; -1: none is */
    int64_t lonely; /* values that one of the two alone has */
    const heed_host *host;
} heed_differences;

/* Runs two models on the same ids (HEED_VALUE for one that reads pictures). bound: of a difference,
 * as a part of the value's largest number. */
HEED_API bool heed_diff(heed_model *a, heed_model *b, const heed_diff_input *input, double bound,
                        heed_differences *out, heed_error *err);
HEED_API void heed_differences_free(heed_differences *out);

/* ---- Attention ------------------------------------------------------------------------------ */

/* A token as a reader sees it. begin, end: bytes of the sentence; equal where it stands for none.
 */
typedef struct {
    const char *shown;
    int32_t id;
    uint32_t begin, end;
} heed_shown_token;

/* The order in which a page offers them. */
typedef enum {
    HEED_ATTENTION_CROSS,
    HEED_ATTENTION_ENCODER,
    HEED_ATTENTION_DECODER
} heed_attention_kind;

/* weight[layer][head][query][key]: where row `query` looks. Queries of the decoder are the tokens
 * that it writes, keys of its self-attention those that it has read. */
typedef struct {
    const heed_shown_token *query, *key;
    int64_t layers, heads, queries, keys;
    const float *weight;
} heed_attention_map;

/* All attention weights of one sentence pair. */
typedef struct heed_attention heed_attention;
/* target NULL: the model's own translation. HEED_NONFINITE names the first value that is none. */
HEED_API heed_attention *heed_attention_new(heed_model *model, heed_line source,
                                            const heed_line *target, heed_error *err);
HEED_API void heed_attention_free(heed_attention *a);
HEED_API heed_attention_map heed_attention_of(const heed_attention *a, heed_attention_kind kind);
HEED_API const char *heed_attention_source(const heed_attention *a);
HEED_API const char *heed_attention_target(const heed_attention *a);

/* Weights of one head, or with head < 0 the mean over heads; with layer < 0 the mean over layers
 * too: queries x keys numbers into out. HEED_VALUE for a layer or head that is not there. */
HEED_API bool heed_attention_mean(const heed_attention_map *map, int64_t layer, int64_t head,
                                  float *out, heed_error *err);

/* How well cross-attention aligns words. A file holds, a line each and divided by tabs, a source,
 * its translation, and for each word of the translation "word=1,2": the characters of the source
 * that it stands for, from 0, or "-". A head is right about a word when the source token that the
 * word's tokens look at most covers one of its characters. hits[layer * heads + head] of `words`.
 */
typedef struct {
    int64_t layers, heads, words;
    int64_t *hits;
    const heed_host *host;
} heed_alignment;
HEED_API bool heed_alignment_of(heed_model *model, const char *path, heed_alignment *out,
                                heed_error *err);
HEED_API void heed_alignment_free(heed_alignment *a);

/* A heat map for a terminal of `width` columns: shades, or colours; Chinese takes two columns. */
typedef struct {
    heed_attention_kind kind;
    int64_t layer, head; /* as for heed_attention_mean */
    int width;           /* 0: 80 */
    bool colour;
} heed_attention_style;
HEED_API bool heed_attention_print(const heed_attention *a, const heed_attention_style *style,
                                   heed_buf *out, heed_error *err);
/* One page that needs nothing else: every kind, layer and head to choose from. */
HEED_API bool heed_attention_html(const heed_attention *a, heed_buf *out, heed_error *err);

#ifdef __cplusplus
}
#endif
#endif
