/* accumulate.c: adds a gradient to the sum that its weight keeps: sum = sum + d.
 * SPDX-License-Identifier: MIT
 */
#include "op/accumulate.h"

static void add_block(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const heed_real *d = w->in[0].data;
    heed_real *sum = w->in[1].data;
    int64_t at = from * w->in[0].cols, n = (to - from) * w->in[0].cols;
    w->kernels->add(n, sum + at, d + at, sum + at);
}

static void run(const heed_work *w) {
    heed_rows_run(w, w->in[0].rows, w->in[0].cols, add_block, (void *)w);
}

static const heed_op ACCUMULATE = {.name = "accumulate", .run = run, .effect = true};

void heed_pass_gradient(heed_build *b, heed_value in, heed_value d, heed_value *d_in) {
    if (!heed_is_weight(b, in)) {
        *d_in = d;
        return;
    }
    heed_record_effect(b, &ACCUMULATE, NULL, 0, 2, (heed_value[]){d, heed_gradient(b, in)});
}

heed_value heed_gradient_or_absent(heed_build *b, heed_value v) {
    bool wanted = heed_is_weight(b, v) && heed_wants_grad(b, v);
    return wanted ? heed_gradient(b, v) : heed_absent();
}
