/* heed_ops.h: the ops: what each computes, on which shapes. One file each under src/op/.
 *
 * Shapes are rows x columns; R is a row space, so R x d has one row of d numbers for each of its
 * rows. Every op has a backward made of recorded nodes. Every op takes a failed value and returns
 * one. Shape errors are told by heed_plan_new with the path and both numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OPS_H
#define HEED_OPS_H

#include "heed_build.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = x W' + bias.  x R x k -> R x out; weights "name.weight" out x k (Xavier) and, with bias,
 * "name.bias" (zeros). Each output element is one chain of multiply-adds over k in order. */
HEED_API heed_value heed_linear(heed_build *b, heed_value x, const char *name, int64_t out,
                                bool bias);
/* The same; "name.weight" is stored k x out (GPT-2's Conv1D), and so is its gradient. */
HEED_API heed_value heed_linear_in_out(heed_build *b, heed_value x, const char *name, int64_t out,
                                       bool bias);
/* heed_linear with weights already at hand: w out x k, bias 1 x out or id 0. For tied and shared
 * weights. */
HEED_API heed_value heed_product(heed_build *b, heed_value x, heed_value w, heed_value bias);

/* Rows of a table, times `scale`: table V x d, ids R x 1 -> R x d. An id outside [0, V) ends the
 * run before its first node. scale: sqrt(d) in Vaswani et al. 2017, section 3.4; else 1. */
HEED_API heed_value heed_embed(heed_build *b, heed_value table, heed_value ids, double scale);
/* The same; the table's row `still` gets no gradient through it (the pad token in PyTorch). */
HEED_API heed_value heed_embed_except(heed_build *b, heed_value table, heed_value ids, double scale,
                                      int64_t still);
/* Row id + offset of the table: learned positions that begin behind some other rows (OPT: 2,
 * RoBERTa: the pad id + 1, and -1 is the pad token). An id outside [-offset, V - offset) ends the
 * run before its first node. */
HEED_API heed_value heed_embed_from(heed_build *b, heed_value table, heed_value ids,
                                    int64_t offset);

/* a + b, element by element; shapes equal. */
HEED_API heed_value heed_add(heed_build *b, heed_value a, heed_value v);
/* a * b, element by element; shapes equal. */
HEED_API heed_value heed_mul(heed_build *b, heed_value a, heed_value v);
/* s * x. */
HEED_API heed_value heed_scale(heed_build *b, heed_value x, double s);

/* x + row in each row: x R x n, row 1 x n (a bias, a token type that all rows share). */
HEED_API heed_value heed_add_row(heed_build *b, heed_value x, heed_value row);
/* x * gain in each row: the weight "name", 1 x n, is `initial` at first (DINOv2's layer scale;
 * Touvron et al. 2021). */
HEED_API heed_value heed_scale_columns(heed_build *b, heed_value x, const char *name,
                                       double initial);
/* Pieces of columns beside each other: R x n -> R x count*width, piece i is columns [start +
 * i*stride, start + i*stride + width). Takes queries, keys and values out of one product. Pieces
 * must lie within x and not overlap (HEED_SHAPE). stride is not read where count is 1. */
HEED_API heed_value heed_pick_columns(heed_build *b, heed_value x, int64_t start, int64_t width,
                                      int64_t stride, int64_t count);

/* Columns beside each other: a R x m, v R x n -> R x (m + n). */
HEED_API heed_value heed_join_columns(heed_build *b, heed_value a, heed_value v);

/* LayerNorm (Ba et al. 2016) and RMSNorm (Zhang and Sennrich 2019) over each row; "name.weight"
 * (ones) and, LayerNorm only, "name.bias" (zeros). */
HEED_API heed_value heed_layernorm(heed_build *b, heed_value x, const char *name, double eps);
HEED_API heed_value heed_rmsnorm(heed_build *b, heed_value x, const char *name, double eps);
/* The same with options; the zero of each is its default. heads > 1: each head's n/heads columns
 * are a row of their own, and all heads share one gain of that width (Qwen3's norms of queries and
 * keys). one_plus: the gain is 1 + "name.weight", whose values are 0 at first (Gemma). bias: of
 * LayerNorm alone (HEED_VALUE). plain: no weights, so that the normalised row is all. */
typedef struct {
    double eps; /* above 0 */
    int64_t heads;
    bool one_plus, bias, plain;
} heed_norm_options;
HEED_API heed_value heed_layernorm_with(heed_build *b, heed_value x, const char *name,
                                        const heed_norm_options *options);
HEED_API heed_value heed_rmsnorm_with(heed_build *b, heed_value x, const char *name,
                                      const heed_norm_options *options);

/* Activations. gelu: x P(x) with the normal distribution's erf form; gelu_tanh: its tanh
 * approximation (Hendrycks and Gimpel 2016); silu: x sigmoid(x); quick_gelu: x sigmoid(1.702 x);
 * relu2: the square of relu (So et al. 2021). Of transformers' names gelu_new, gelu_fast,
 * gelu_accurate, gelu_pytorch_tanh and gelu_python_tanh are gelu_tanh; gelu_python is gelu; swish
 * is silu. */
typedef enum {
    HEED_ACT_RELU,
    HEED_ACT_GELU,
    HEED_ACT_GELU_TANH,
    HEED_ACT_SILU,
    HEED_ACT_TANH,
    HEED_ACT_SIGMOID,
    HEED_ACT_QUICK_GELU,
    HEED_ACT_RELU2
} heed_act_kind;
HEED_API heed_value heed_act(heed_build *b, heed_value x, heed_act_kind kind);
/* act(gate) * up: the gated feed-forward of Shazeer 2020. */
HEED_API heed_value heed_gated(heed_build *b, heed_value gate, heed_value up, heed_act_kind kind);

/* Softmax over each row. A row of -inf gives zeros. */
HEED_API heed_value heed_softmax(heed_build *b, heed_value x);

/* Each element is dropped with chance p, the others times 1/(1-p); x itself unless HEED_TRAIN. The
 * mask is a function (Philox) of the run's seed and step, the value's path, the element's place. */
HEED_API heed_value heed_dropout(heed_build *b, heed_value x, const char *name, double p);

/* Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).
 *   q Q x heads*d, k K x kv_heads*d, v K x kv_heads*e -> Q x heads*e
 *   each query row and head: softmax(scale q k' + bias) v over the allowed keys of its sequence
 * Head h of q uses key and value head h / (heads/kv_heads). Q and K the same space: self-attention;
 * otherwise sequences are joined by heed_set_join. Distances are those of the positions given to
 * heed_set_rows, whatever they are. A row with no allowed key gives zeros and zero
 * gradient. Fails with HEED_SHAPE where heads do not divide the width (both numbers are told). The
 * weights are the value "scope.weights" when watched: for each sequence a block
 * [heads][queries][keys], softmax before dropout. */
typedef struct {
    int64_t heads;
    int64_t kv_heads; /* 0: heads */
    /* Key position <= query position, aligned at the end: the last query sees every key. */
    bool causal;
    /* > 0: a query sees itself and window-1 keys before it, and as many behind if not causal. Rows
     * that a mask took out count: in self-attention the distance is that of positions, which must
     * ascend. */
    int64_t window;
    double scale;         /* 0: 1/sqrt(d) */
    const char *cache;    /* slot name: a plan with `cached` keeps k and v there; else ignored */
    heed_value mask;      /* heed_input_mask, or id 0 */
    double softcap;       /* > 0: scores become softcap * tanh(score / softcap) (Gemma 2) */
    bool alibi;           /* bias -slope * |distance| (Press et al. 2022) */
    heed_value buckets;   /* T5: table of buckets x heads (Raffel et al. 2020), or id 0 */
    int64_t max_distance; /* T5: where the last bucket begins; 0: 128 */
    double dropout;       /* on the weights, HEED_TRAIN only */
} heed_attention_options;
HEED_API heed_value heed_attend(heed_build *b, heed_value q, heed_value k, heed_value v,
                                const heed_attention_options *options);

/* How rotary positions are scaled so that a model reads further than it was trained to; names as in
 * `rope_scaling` of transformers (modeling_rope_utils), formulas in src/op/rope_angles.c. */
typedef enum {
    HEED_ROPE_PLAIN,
    HEED_ROPE_LINEAR,  /* factor */
    HEED_ROPE_DYNAMIC, /* factor, original (max_position_embeddings) */
    HEED_ROPE_LLAMA3,  /* factor, original, low_freq_factor, high_freq_factor */
    HEED_ROPE_YARN,    /* factor, original; the rest has defaults */
    HEED_ROPE_LONGROPE /* factor (max_position_embeddings / original), original, the two lists */
} heed_rope_kind;
typedef struct {
    heed_rope_kind kind;
    double factor;                            /* at least 1 */
    int64_t original;                         /* original_max_position_embeddings */
    double low_freq_factor, high_freq_factor; /* 0 < low < high */
    double beta_fast, beta_slow;              /* 0: 32 and 1 */
    double attention_factor;                  /* 0: from factor, mscale and mscale_all_dim */
    double mscale, mscale_all_dim;            /* read where both are not 0 */
    const double *short_factor, *long_factor; /* turned/2 numbers each; copied by heed_rope */
    bool untruncated;                         /* "truncate": false */
} heed_rope_scaling;
/* Rotary positions (Su et al. 2021) on each head of x: R x heads*d. The first `turned` numbers of a
 * head turn as pairs (i, i + turned/2), or (2i, 2i+1) interleaved; the others stay. Positions are
 * those of x's own space. DYNAMIC, LONGROPE: a sequence's angles depend on its largest position in
 * the run, so decoding step by step differs from one pass once it is beyond `original`, as in
 * transformers; there the longest sequence of the batch decides. */
typedef struct {
    int64_t heads;
    double base; /* above 0 */
    bool interleaved;
    int64_t turned; /* even; 0: all (rotary_pct, partial_rotary_factor times d) */
    heed_rope_scaling scaling;
} heed_rope_options;
HEED_API heed_value heed_rope(heed_build *b, heed_value x, heed_value positions,
                              const heed_rope_options *options);
/* Sinusoidal positions (Vaswani et al. 2017, section 3.5): R x 1 positions -> R x d. interleaved:
 * sin and cos take turns as in the paper; else sines fill the first half and cosines the second
 * (Marian, Pegasus). `longest`: positions in [0, longest), else the run is refused. */
HEED_API heed_value heed_sinusoid(heed_build *b, heed_value positions, int64_t d, int64_t longest,
                                  bool interleaved);

/* One row for each sequence: the mean of its rows, or its first or last row. R x d -> sequences(R)
 * x d. A sequence without rows gives zeros. */
typedef enum { HEED_POOL_MEAN, HEED_POOL_FIRST, HEED_POOL_LAST } heed_pool_kind;
HEED_API heed_value heed_pool_rows(heed_build *b, heed_value x, heed_pool_kind kind);
/* Row number `which`, from 0, of each sequence; zeros where it has fewer (DeiT's distillation token
 * is row 1). */
HEED_API heed_value heed_pool_row(heed_build *b, heed_value x, int64_t which);
/* The rows of x, numbers or integers, whose integer in `ints`, a heed_input of the same space, is
 * not `other`: R x d -> heed_selected(ints, other) x d. Labelled rows (other -100) before an output
 * layer, so that no other row pays for it; the labels are selected likewise. The gradient of a row
 * that was left out is 0. */
HEED_API heed_value heed_select(heed_build *b, heed_value x, heed_value ints, int32_t other);
/* The same rows before those of each sequence: x R x d, rows n x d -> heed_longer(R, n) x d (class
 * tokens: Dosovitskiy et al. 2021). */
HEED_API heed_value heed_prepend(heed_build *b, heed_value x, heed_value rows);

/* A table whose rows behind the first `before` stand on a grid, in reading order, for a grid of
 * another size: bicubic interpolation as PyTorch has it (align_corners=False, antialias=False); the
 * rows before it stay. before + rows*cols x d -> before + to_rows*to_cols x d. For positions of
 * patches in pictures of another size (Dosovitskiy et al. 2021, section 3.2). */
typedef struct {
    int64_t before, rows, cols, to_rows, to_cols; /* sides: 1 to 32768 */
} heed_grid;
HEED_API heed_value heed_resize_grid(heed_build *b, heed_value table, const heed_grid *grid);

/* Cross-entropy through the output layer, without the matrix of probabilities (made in blocks of
 * rows).
 *   x R x d, w V x d, bias 1 x V or id 0, labels R x 1 -> the loss summed over rows (1 x 1), and
 *   heed_xent_rows(loss): each row's loss (R x 1)
 * A row's loss: (1-smoothing) * -log p[label] + smoothing/V * sum_j -log p[j]; label -100: 0 and no
 * gradient. In HEED_TRAIN the gradient is formed in the same pass, so this value must be the plan's
 * loss itself. */
HEED_API heed_value heed_xent(heed_build *b, heed_value x, heed_value w, heed_value bias,
                              heed_value labels, double smoothing);
HEED_API heed_value heed_xent_rows(heed_build *b, heed_value loss);

/* Cross-entropy of yes or no: z R x 1, the logit of yes, labels R x 1 of 0 and 1 -> the loss summed
 * over rows (1 x 1), and heed_xent_rows(loss). A label of -100: 0 and no gradient. Or several such
 * questions beside each other: z R x L, labels R x L numbers, each 0 to 1. */
HEED_API heed_value heed_binary_xent(heed_build *b, heed_value z, heed_value labels);

/* Cross-entropy of one row chosen among those of its sequence (group 0) or of `group` rows in
 * order: z R x 1, its logit, marks R x 1, 1 at the row that is right, else 0 -> the loss summed
 * over sequences or groups (1 x 1), and heed_xent_rows(loss): that of each at its first row. Of
 * several marks the first counts; without one there is no loss and no gradient. */
HEED_API heed_value heed_choice_xent(heed_build *b, heed_value z, heed_value marks, int64_t group);

/* Sum of all elements, 1 x 1: a loss for checks. */
HEED_API heed_value heed_sum(heed_build *b, heed_value x);

#ifdef __cplusplus
}
#endif
#endif
