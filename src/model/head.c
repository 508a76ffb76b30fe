/* head.c: what stands on the last layer: logits, and the loss through the same matrix.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

void heed_record_vocab(heed_build *b, heed_value x, heed_value table, heed_value bias,
                       const heed_want *want, heed_outputs *out) {
    if (want->logits) {
        heed_value rows = want->last ? heed_pool_rows(b, x, HEED_POOL_LAST) : x;
        out->logits = heed_name(b, heed_product(b, rows, table, bias), "logits");
    }
    if (want->loss) {
        heed_value labels = heed_input(b, "labels", heed_space_of(b, x));
        out->loss = heed_name(b, heed_xent(b, x, table, bias, labels, want->smoothing), "loss");
    }
}

void heed_record_classes(heed_build *b, heed_value x, const char *name, const heed_config *c,
                         const heed_want *want, heed_outputs *out) {
    heed_enter(b, name, -1);
    heed_value table = heed_weight(b, "weight", c->labels, heed_columns(b, x),
                                   (heed_init){HEED_INIT_NORMAL, 0.02});
    heed_value bias = heed_weight_vector(b, "bias", c->labels, (heed_init){HEED_INIT_ZERO, 0});
    heed_leave(b);
    heed_record_vocab(b, x, table, bias, want, out);
}
