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
/* The same with weights already at hand: w out x k, bias 1 x out or id 0. For tied and shared
 * weights. */
HEED_API heed_value heed_product(heed_build *b, heed_value x, heed_value w, heed_value bias);

/* Rows of a table, times `scale`: table V x d, ids R x 1 -> R x d. An id outside [0, V) ends the
 * run before its first node. scale: sqrt(d) in Vaswani et al. 2017, section 3.4; else 1. */
HEED_API heed_value heed_embed(heed_build *b, heed_value table, heed_value ids, double scale);
/* The same; the table's row `still` gets no gradient through it (the pad token in PyTorch). */
HEED_API heed_value heed_embed_except(heed_build *b, heed_value table, heed_value ids, double scale,
                                      int64_t still);

/* a + b, element by element; shapes equal. */
HEED_API heed_value heed_add(heed_build *b, heed_value a, heed_value v);
/* a * b, element by element; shapes equal. */
HEED_API heed_value heed_mul(heed_build *b, heed_value a, heed_value v);
/* s * x. */
HEED_API heed_value heed_scale(heed_build *b, heed_value x, double s);

/* LayerNorm (Ba et al. 2016) and RMSNorm (Zhang and Sennrich 2019) over each row; "name.weight"
 * (ones) and, LayerNorm only, "name.bias" (zeros). */
HEED_API heed_value heed_layernorm(heed_build *b, heed_value x, const char *name, double eps);
HEED_API heed_value heed_rmsnorm(heed_build *b, heed_value x, const char *name, double eps);

/* Activations. gelu: x P(x) with the normal distribution's erf form; gelu_tanh: its tanh
 * approximation (Hendrycks and Gimpel 2016); silu: x sigmoid(x). */
typedef enum { HEED_ACT_RELU, HEED_ACT_GELU, HEED_ACT_GELU_TANH, HEED_ACT_SILU } heed_act_kind;
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
 * otherwise sequences are joined by heed_set_join. A row with no allowed key gives zeros and zero
 * gradient. Fails with HEED_SHAPE where heads do not divide the width (both numbers are told). The
 * weights are the value "scope.weights" when watched: for each sequence a block
 * [heads][queries][keys], softmax before dropout. */
typedef struct {
    int64_t heads;
    int64_t kv_heads; /* 0: heads */
    /* Key position <= query position, aligned at the end: the last query sees every key. */
    bool causal;
    /* > 0: a query sees itself and window-1 keys before it, and as many behind if not causal. */
    int64_t window;
    double scale;         /* 0: 1/sqrt(d) */
    const char *cache;    /* slot name: a plan with `cached` keeps k and v there; else ignored */
    heed_value mask;      /* heed_input_mask, or id 0 */
    bool alibi;           /* bias -slope * |distance| (Press et al. 2022) */
    heed_value buckets;   /* T5: table of buckets x heads (Raffel et al. 2020), or id 0 */
    int64_t max_distance; /* T5: where the last bucket begins; 0: 128 */
    double dropout;       /* on the weights, HEED_TRAIN only */
} heed_attention_options;
HEED_API heed_value heed_attend(heed_build *b, heed_value q, heed_value k, heed_value v,
                                const heed_attention_options *options);

/* Rotary positions (Su et al. 2021) on each head of x: R x heads*d. pairs (i, i+d/2), or (2i, 2i+1)
 * interleaved. */
HEED_API heed_value heed_rope(heed_build *b, heed_value x, heed_value positions, int64_t heads,
                              double base, bool interleaved);
/* Sinusoidal positions (Vaswani et al. 2017, section 3.5): R x 1 positions -> R x d. interleaved:
 * sin and cos take turns as in the paper; else sines fill the first half and cosines the second
 * (Marian, Pegasus). `longest`: positions in [0, longest), else the run is refused. */
HEED_API heed_value heed_sinusoid(heed_build *b, heed_value positions, int64_t d, int64_t longest,
                                  bool interleaved);

/* One row for each sequence: the mean of its rows, or its first or last row. R x d -> sequences(R)
 * x d. */
typedef enum { HEED_POOL_MEAN, HEED_POOL_FIRST, HEED_POOL_LAST } heed_pool_kind;
HEED_API heed_value heed_pool_rows(heed_build *b, heed_value x, heed_pool_kind kind);

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

/* Sum of all elements, 1 x 1: a loss for checks. */
HEED_API heed_value heed_sum(heed_build *b, heed_value x);

#ifdef __cplusplus
}
#endif
#endif
