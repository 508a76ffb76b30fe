/* optimizer.h: Adam and AdamW over a list of parameters, with clipping by the global norm.
 *
 * Work is cut into blocks of fixed length, whatever the pool, and the norm is the sum of the
 * blocks' sums of squares in their order: weights and norm have the same bits for any number of
 * threads. Sources: Kingma and Ba 2015; Loshchilov and Hutter 2019; the order of operations is that
 * of PyTorch's Adam, AdamW (bias corrections outside, eps outside the root) and clip_grad_norm_
 * (1e-6 in the divisor).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_OPTIMIZER_H
#define HEED_TRAIN_OPTIMIZER_H

#include "base/thread.h"
#include "kernel/kernel.h"

/* A parameter: weight and grad belong to the caller, the moments to the optimizer. */
typedef struct {
    const char *name; /* as in the checkpoint; belongs to the caller */
    heed_real *weight;
    const heed_real *grad;
    int64_t n;
    bool decay;       /* false for biases and norms */
    heed_real *m, *v; /* set by heed_optimizer_new */
} heed_param;

typedef struct {
    double beta1, beta2, eps, weight_decay;
    bool decoupled; /* true: AdamW; false: Adam, where the decay is a part of the gradient */
    double clip;    /* largest global norm of the gradient; 0: no clipping */
} heed_optimizer_options;

typedef struct {
    double norm; /* of the scaled gradient, before clipping */
    double clip; /* what the gradient was multiplied with for clipping, at most 1 */
    bool finite; /* false: nothing was changed */
    int64_t
        bad; /* index of the first parameter with a non-finite gradient; -1 where there is none */
} heed_step_report;

typedef struct heed_optimizer heed_optimizer;

/* Copies the list; moments start at zero. The kernels and what the list points at must outlive it.
 */
heed_optimizer *heed_optimizer_new(const heed_host *host, const heed_kernels *kernels,
                                   const heed_param *params, int64_t count,
                                   const heed_optimizer_options *options, heed_error *err);
void heed_optimizer_free(heed_optimizer *optimizer);

/* One update number `step` (from 1) with gradients grad * scale: scale is 1 / target tokens of the
 * update. Where the norm is not finite, nothing is changed and the report says where. */
heed_step_report heed_optimizer_step(heed_optimizer *optimizer, heed_pool *pool, int64_t step,
                                     double lr, double scale);

/* The list with its moments, for checkpoints; valid as long as the optimizer. */
const heed_param *heed_optimizer_params(const heed_optimizer *optimizer, int64_t *count);
/* Bytes of the moments of that many numbers, for the forecast. */
size_t heed_optimizer_bytes(int64_t numbers);

#endif
