/* norm.c: weights of the norms, and their gradients: sums over rows, column block by column block.
 * SPDX-License-Identifier: MIT
 */
#include "op/norm.h"

#include "op/gemm.h"
#include "op/shape.h"

#include <stdio.h>

bool heed_check_norm(heed_build *b, const char *op, heed_value x, double eps) {
    if (!heed_check_numbers(b, op, x)) {
        return false;
    }
    if (eps > 0) {
        return true;
    }
    heed_refuse(b, HEED_VALUE, "%s wants an epsilon above 0, not %g", op, eps);
    return false;
}

static heed_value vector(heed_build *b, heed_value x, const char *name, const char *kind,
                         heed_init_kind init) {
    char path[128];
    if (snprintf(path, sizeof path, "%s.%s", name, kind) >= (int)sizeof path) {
        return heed_refuse(b, HEED_NAME, "the name '%s' is too long", name);
    }
    return heed_weight_vector(b, path, heed_columns(b, x), (heed_init){.kind = init});
}

heed_value heed_norm_gain(heed_build *b, heed_value x, const char *name) {
    return vector(b, x, name, "weight", HEED_INIT_ONE);
}

heed_value heed_norm_shift(heed_build *b, heed_value x, const char *name) {
    return vector(b, x, name, "bias", HEED_INIT_ZERO);
}

enum { BLOCK = 64, SMALL = 16384 };

/* in: x, mean or absent, rstd, dy, sum for gain or absent, sum for shift or absent */
static void params_task(void *ctx, int64_t i) {
    const heed_work *w = ctx;
    int64_t n = w->in[0].cols, col = i * BLOCK;
    const heed_real *x = w->in[0].data, *dy = w->in[3].data;
    heed_real *gain = w->in[4].data, *shift = w->in[5].data;
    w->kernels->norm_params_back(w->in[0].rows, heed_min(BLOCK, n - col), n, x + col, w->in[1].data,
                                 w->in[2].data, dy + col, gain ? gain + col : NULL,
                                 shift ? shift + col : NULL);
}

static void run_params(const heed_work *w) {
    bool small = w->in[0].rows * w->in[0].cols < SMALL;
    heed_pool_run(small ? NULL : w->pool, heed_panels(w->in[0].cols, BLOCK), params_task,
                  (void *)w);
}

static const heed_op PARAMS = {
    .name = "norm (gradient of its weights)", .run = run_params, .effect = true};

void heed_norm_params(heed_build *b, heed_value x, heed_value mean, heed_value rstd, heed_value dy,
                      heed_value gain, heed_value shift) {
    heed_value d_gain = heed_gradient_or_absent(b, gain);
    heed_value d_shift = heed_gradient_or_absent(b, shift);
    if (heed_is_absent(d_gain) && heed_is_absent(d_shift)) {
        return;
    }
    heed_record_effect(b, &PARAMS, NULL, 0, 6, (heed_value[]){x, mean, rstd, dy, d_gain, d_shift});
}
