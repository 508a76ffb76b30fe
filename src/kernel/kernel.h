/* kernel.h: the arithmetic, as one table of function pointers for each instruction set.
 *
 * Contracts stand here; kernel/ref.c is the definition. Kernels know pointers and lengths only:
 * they never allocate, never fail, never touch memory outside what they are given, accept any
 * alignment and any length from 0 up. A result depends on the values alone, never on alignment, on
 * the thread, or on what else is computed in the same call: element i of a long call equals element
 * i of a short one, bit for bit. Each sum is taken in one fixed order for each output element, so
 * one row gives the bits it gives among many. Error bounds use u = 2^-24 (float) or 2^-53 (double);
 * tests derive their tolerances from them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_KERNEL_H
#define HEED_KERNEL_KERNEL_H

#include "base/blocks.h"
#include "kernel/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Matrix product ------------------------------------------------------------------------- */

/* B (k x n) lies packed in panels of nr columns: panel p holds, for each of k rows, the nr columns
 * from p*nr on, zeros behind column n. Packed size: heed_packed_size(k, n, nr) numbers. */
static inline int64_t heed_panels(int64_t n, int64_t nr) {
    return (n + nr - 1) / nr;
}
static inline int64_t heed_packed_size(int64_t k, int64_t n, int64_t nr) {
    return heed_panels(n, nr) * nr * k;
}

/* How the numbers of a packed B are kept. Those of 16 bits are widened, exactly, when they are
 * read: the product has the bits that it has with the same numbers as floats. */
typedef enum {
    HEED_PANELS_REAL,
    HEED_PANELS_BF16,
    HEED_PANELS_F16,
    HEED_PANELS_PAIRS /* of gemm_pairs alone */
} heed_panel_kind;

/* For the columns of panels [panel0, panel1):  C = (accumulate ? C : 0) + A B, then + bias[column]
 * where bias is not NULL.
 * A is m x k, element (i, l) at a[i*a_row + l*a_col] (strides in numbers); C is row-major, ldc >=
 * n. Each element is one chain of multiply-adds in order of l = 0, 1, 2 ..., starting from 0 or
 * from the old C; the bias is added to the finished sum. */
typedef struct {
    int64_t m, n, k;
    const heed_real *a;
    int64_t a_row, a_col;
    const void *packed;
    heed_panel_kind kind;
    int64_t panel0, panel1;
    heed_real *c;
    int64_t ldc;
    const heed_real *bias; /* n numbers or NULL */
    bool accumulate;
} heed_gemm;

/* ---- Matrix product with narrow weights ------------------------------------------------------ */

/* B (k x n) as whole numbers in blocks along k (base/blocks.h):
 * B(l, j) = scale(l / block, j) (q(l, j) - zero) + least(l / block, j). */
enum { HEED_INT_STEP = 32 }; /* k is filled up to a multiple of it, with numbers that count 0 */

static inline int64_t heed_int_depth(int64_t k) {
    return (k + HEED_INT_STEP - 1) / HEED_INT_STEP * HEED_INT_STEP;
}
static inline int64_t heed_int_blocks(const heed_int_form *f, int64_t k) {
    return f->block ? heed_int_depth(k) / f->block : 1;
}
/* Bytes of a packed panel of nr columns. */
static inline int64_t heed_int_panel_bytes(const heed_int_form *f, int64_t k, int64_t nr) {
    int64_t scales = heed_int_blocks(f, k) * (f->half ? 2 : 4) * (f->least ? 2 : 1);
    return nr * (heed_int_depth(k) * f->bits / 8 + scales);
}

/* Some columns of B: column j of at most nr has its q at q[j*depth], depth = heed_int_depth(k), and
 * for block i scale[j*blocks + i] and, where there are leasts, least[j*blocks + i]. */
typedef struct {
    int64_t k, columns;
    const uint8_t *q; /* beyond k anything below 2^bits */
    const float *scale, *least;
} heed_int_columns;

/* Rows of A as whole numbers: A(i, l) = scale[i*blocks + l/block] q[i*depth + l], zeros beyond k.
 * For the sum s of a block's numbers, start is a set's own multiple of it, and part = scale s. */
typedef struct {
    int8_t *q;
    heed_real *scale, *part;
    int32_t *start;
} heed_int_rows;

/* Those from row i on. */
static inline heed_int_rows heed_int_row(const heed_int_rows *a, int64_t i, int64_t depth,
                                         int64_t blocks) {
    return (heed_int_rows){a->q + i * depth, a->scale + i * blocks, a->part + i * blocks,
                           a->start + i * blocks};
}

/* Numbers that share a scale count as zeros where the greatest is not above this: 127 over it would
 * be infinite. */
#define HEED_INT_TINY 0x1p-119f

/* C = A B + bias for the columns of panels [panel0, panel1). With dot = sum over a block of
 * a (q - zero), which is exact, an element is the chain over blocks in order of
 * c = fma(dot, b_scale a_scale, c)  and, where there are leasts,  c = fma(least, part, c);  then
 * + bias. The product of scales is rounded. */
typedef struct {
    int64_t m, n, k;
    heed_int_form form;
    heed_int_rows a;
    const uint8_t *packed; /* panels of heed_int_panel_bytes each */
    int64_t panel0, panel1;
    heed_real *c;
    int64_t ldc;
    const heed_real *bias; /* n numbers or NULL */
} heed_int_gemm;

/* ---- Attention ------------------------------------------------------------------------------ */

enum { HEED_KEY_PIECE = 64 }; /* keys are reduced in pieces [64 i, 64 i + 64) of the sequence */

/* One head of one sequence: queries [0, queries) against the sequence's keys.
 *
 *   score(i,j) = capped(scale * dot(q_i, k_j)) + bias[d] - slope |d|       for j allowed, where
 *   d = k_pos[j] - q_pos[i], capped(s) = cap tanh(s / cap), or s where cap is 0
 *   out_i = sum_j keep(i,j) softmax_j(score)(i,j) v_j,  lse_i = log sum_j exp score(i,j)
 *
 * Allowed: begin[i] <= j < end[i], and mask[i*mask_stride + j] != 0 where there is a mask. Keys and
 * values that are not allowed are never read (a NaN there changes nothing). No allowed key: out_i =
 * 0, lse_i = -inf, weights 0, all gradients 0. Pieces follow in order of
 * position; one that raises the maximum first scales what was summed. So a query gives the same
 * bits whatever other queries, and keys beyond its own, are in the call, and whether or not lse and
 * weights are wanted. Source: Vaswani et al. 2017 eq. 1; Milakov and Gimelshein 2018 (merge); Dao
 * et al. 2022, alg. 4. */
typedef struct {
    int64_t queries, keys;
    int64_t width, value_width; /* of a query and a key; of a value */
    const heed_real *q;
    int64_t q_stride;
    const heed_real *k, *v; /* key j at k + row(j)*k_stride, row(j) = rows ? rows[j] : j */
    int64_t k_stride, v_stride;
    const int32_t *rows;
    heed_real scale;
    const int32_t *begin, *end; /* for each query */
    const uint8_t *mask;        /* or NULL */
    int64_t mask_stride;
    heed_real cap;         /* 0: none */
    const heed_real *bias; /* or NULL; points at distance 0; beyond +-bias_reach its ends count */
    int64_t bias_reach;
    double slope;                 /* of ALiBi; 0: none. -slope |d| is rounded once */
    const int32_t *q_pos, *k_pos; /* read where there is a bias or a slope; any numbers */
    const uint8_t *keep;          /* dropout: keep[i*keep_stride + j] 0 or 1; NULL: keep all */
    int64_t keep_stride;
    heed_real keep_scale; /* 1/(1-p), see heed_drop_scale */
    heed_real *out;
    int64_t out_stride;
    heed_real *lse;     /* queries numbers, or NULL; backward reads it */
    heed_real *weights; /* or NULL: softmax without dropout at [i*weights_stride + j], j < keys */
    int64_t weights_stride;
    /* Backward only; reads out and lse. d_q, d_k, d_v are added to, each with its own stride; rows
     * of d_k and d_v are those of k and v without `rows`. Order of the sums: d_k_j and d_v_j over
     * i = 0, 1 ...; d_q_i over j = 0, 1 .... */
    const heed_real *d_out;
    int64_t d_out_stride;
    heed_real *d_q, *d_k, *d_v;
    int64_t d_q_stride, d_k_stride, d_v_stride;
    heed_real *d_bias; /* or NULL: like bias, added to */
} heed_attention;

/* ---- Randomness ----------------------------------------------------------------------------- */

/* Element e of row r is kept if word e%4 of Philox(key; counter = {e/4, r, stream low, stream
 * high}) is >= threshold = p * 2^32, p the share dropped. */
typedef struct {
    uint32_t key[2];
    uint64_t stream;
    uint32_t threshold;
} heed_drop;

/* 1/(1-p): what a kept element is multiplied by. */
static inline heed_real heed_drop_scale(uint32_t threshold) {
    return (heed_real)(1.0 / (1.0 - (double)threshold * 0x1p-32));
}

typedef enum {
    HEED_RELU,
    HEED_GELU,
    HEED_GELU_TANH,
    HEED_SILU,
    HEED_TANH,
    HEED_SIGMOID,
    HEED_QUICK_GELU,
    HEED_RELU2
} heed_activation;

/* One parameter's share of an Adam step (Kingma and Ba 2015; decay decoupled: Loshchilov and Hutter
 * 2019):
 *   g = grad * grad_scale + l2 * w;  m = b1 m + rest1 g;  v = b2 v + rest2 g^2;
 *   w = w - lr*decay*w - lr / bias1 * m / (sqrt(v) / sqrt(bias2) + eps)
 * rest1 = 1 - beta1 and bias1 = 1 - beta1^t, formed in double and rounded once: 1 - 0.999f is
 * 0.00099998713. */
typedef struct {
    heed_real lr, beta1, beta2, rest1, rest2, eps, decay, l2, bias1, bias2, grad_scale;
} heed_adam;

/* What products of a type are made of. */
typedef enum { HEED_PROBE_F32, HEED_PROBE_BF16, HEED_PROBE_INT8, HEED_PROBES } heed_probe;

typedef struct {
    const char *isa;
    int64_t mr, nr; /* tile of the product: rows, columns of a panel */

    /* Writes panels [panel0, panel1) of the packed form of B, (l, j) at b[l*b_row + j*b_col]. */
    void (*pack)(int64_t k, int64_t n, const heed_real *b, int64_t b_row, int64_t b_col,
                 int64_t panel0, int64_t panel1, heed_real *packed);
    /* The same for numbers of 16 bits, whose bits stay what they are. */
    void (*pack_half)(int64_t k, int64_t n, const uint16_t *b, int64_t b_row, int64_t b_col,
                      int64_t panel0, int64_t panel1, uint16_t *packed);
    void (*gemm)(const heed_gemm *g); /* |error| <= (k+2) u sum |a b| */

    /* The product of numbers that are rounded to bfloat16, A's by the product itself: 8 bits of
     * precision, twice the speed of floats where the processor has it (fast_pairs). Panels hold two
     * rows of B together, in each column row 2 l in the low half of 32 bits and row 2 l + 1 in the
     * high one, zeros behind row k. Sums are of floats, each element one chain over the pairs in
     * order; numbers below the normal ones may count as 0. |error| <= (k+2) u sum |a b| for the
     * rounded a and b. */
    void (*pack_pairs)(int64_t k, int64_t n, const heed_real *b, int64_t b_row, int64_t b_col,
                       int64_t panel0, int64_t panel1, uint32_t *packed);
    void (*gemm_pairs)(const heed_gemm *g);
    bool fast_pairs;
    int64_t pairs_nr; /* columns of its panels */

    int64_t int_mr, int_nr; /* tile of the product with whole numbers, as mr and nr */
    /* Writes one panel; columns that are not there become zeros. */
    void (*pack_ints)(const heed_int_form *f, const heed_int_columns *b, uint8_t *panel);
    /* One row of k numbers as heed_int_gemm reads it: scale = max |x| / 127, q = x 127 /
     * max |x| to the nearest, ties to even; a block with a number that is not finite gets a scale
     * that is not finite. */
    void (*quantize)(const heed_int_form *f, int64_t k, const heed_real *x,
                     const heed_int_rows *row);
    void (*int_gemm)(const heed_int_gemm *g);

    void (*attention)(const heed_attention *a);
    void (*attention_back)(const heed_attention *a);

    /* Element-wise; out may be one of the inputs. act: |error| <= 4 u |x| (RELU: none, SIGMOID: 6 u
     * of the result, RELU2: u of the result). */
    void (*add)(int64_t n, const heed_real *a, const heed_real *b, heed_real *out);
    void (*mul)(int64_t n, const heed_real *a, const heed_real *b, heed_real *out);
    void (*scale)(int64_t n, heed_real s, const heed_real *a, heed_real *out);
    void (*act)(heed_activation f, int64_t n, const heed_real *x, heed_real *out);
    /* out = dy * f'(x) */
    void (*act_back)(heed_activation f, int64_t n, const heed_real *x, const heed_real *dy,
                     heed_real *out);
    /* Relative error <= 4 u; results below the smallest normal number may be 0. */
    void (*exp)(int64_t n, const heed_real *x, heed_real *out);

    /* One row of n. */
    void (*softmax)(int64_t n, const heed_real *x, heed_real *out); /* all -inf: zeros */
    /* dx = y (dy - sum y dy) */
    void (*softmax_back)(int64_t n, const heed_real *y, const heed_real *dy, heed_real *dx);
    /* y = (x - mean) rstd gain + shift, rstd = 1/sqrt(variance + eps), both moments in two passes;
     * shift may be NULL. */
    void (*layernorm)(int64_t n, heed_real eps, const heed_real *x, const heed_real *gain,
                      const heed_real *shift, heed_real *y, heed_real *mean, heed_real *rstd);
    void (*layernorm_back)(int64_t n, const heed_real *x, const heed_real *gain, heed_real mean,
                           heed_real rstd, const heed_real *dy, heed_real *dx);
    void (*rmsnorm)(int64_t n, heed_real eps, const heed_real *x, const heed_real *gain,
                    heed_real *y, heed_real *rstd);
    void (*rmsnorm_back)(int64_t n, const heed_real *x, const heed_real *gain, heed_real rstd,
                         const heed_real *dy, heed_real *dx);
    /* Gradients of gain and shift: for columns [0, n) of a block of `rows` rows (row stride
     * `stride`), added to d_gain and d_shift in order of rows: d_gain += dy (x - mean) rstd,
     * d_shift += dy. mean, d_gain or d_shift may be NULL. */
    void (*norm_params_back)(int64_t rows, int64_t n, int64_t stride, const heed_real *x,
                             const heed_real *mean, const heed_real *rstd, const heed_real *dy,
                             heed_real *d_gain, heed_real *d_shift);
    /* sum[j] += x[i*stride + j] in order of i. */
    void (*column_sums)(int64_t rows, int64_t n, int64_t stride, const heed_real *x,
                        heed_real *sum);

    /* out_e = (base ? base_e : 0) + (kept(row, e) ? x_e * 1/(1-p) : 0) for one row of n; out may be
     * x or base. */
    void (*dropout)(const heed_drop *d, int64_t row, int64_t n, const heed_real *x,
                    const heed_real *base, heed_real *out);
    /* keep[e] = 1 or 0 for one row of n. */
    void (*drop_mask)(const heed_drop *d, int64_t row, int64_t n, uint8_t *keep);

    /* Cross-entropy of one row of logits with label smoothing (Szegedy et al. 2016, in the form
     * (1-eps) * -log p[target] + eps/n * sum_j -log p[j], PyTorch's). Returns the loss; where d is
     * not NULL, d_j = p_j - (1-eps) [j = target] - eps/n. d may be the row of logits. */
    heed_real (*xent)(int64_t n, heed_real eps, const heed_real *logits, int64_t target,
                      heed_real *d);

    /* Rotary positions (Su et al. 2021) on one row of `heads` heads of width d: of the first
     * `turned` numbers of each, an even number, pairs (2i, 2i+1) where interleaved, else (i, i +
     * turned/2); pair i turns by angle[i] given as cos and sin; the others are copied. out may be
     * x. */
    void (*rope)(int64_t heads, int64_t d, int64_t turned, bool interleaved,
                 const heed_real *cosine, const heed_real *sine, const heed_real *x,
                 heed_real *out);

    void (*adam)(const heed_adam *a, int64_t n, const heed_real *grad, heed_real *w, heed_real *m,
                 heed_real *v);
    double (*sum_squares)(int64_t n, const heed_real *x); /* in double, one fixed order */
    double (*sum)(int64_t n, const heed_real *x);         /* in double, one fixed order */
    bool (*all_finite)(int64_t n, const heed_real *x);

    /* `rounds` rounds of multiply-adds that wait for no memory and little for each other: what one
     * core can do. Returns the number of operations, two for each multiply-add. NULL: the set has
     * no such instruction (F32 always has). */
    double (*probe[HEED_PROBES])(int64_t rounds);
} heed_kernels;

/* The instruction sets of this build, worst first: "ref", "avx2", "avx512" ...; each is listed once
 * in kernel/isa.def. usable: the processor and the system have it; otherwise `why` says what is
 * missing. */
typedef struct {
    const char *name;
    bool usable;
    const char *why;
    void (*init)(heed_kernels *);
} heed_isa;
int heed_isa_count(void);
heed_isa heed_isa_at(int i);

/* Fills the table: starts from the reference, then each usable set up to `name` overrides what it
 * has. name NULL: the best usable. False if no such set is in the build, or this processor lacks it
 * (heed_isa_at says why). */
bool heed_kernels_init(heed_kernels *k, const char *name);

#endif
