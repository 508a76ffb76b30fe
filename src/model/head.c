/* head.c: what stands on the last layer: logits, and the loss through the same matrix.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>

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

/* Labels of one class, or of several at once, are numbers with a loss of their own. */
static bool loss_known(heed_build *b, const heed_config *c, const heed_want *want) {
    if (!want->loss || (c->labels > 1 && !c->other_loss))
        return true;
    heed_refuse(b, HEED_VALUE,
                "a loss of %" PRId64 " label%s%s is not known here; one class for each %s is",
                c->labels, c->labels > 1 ? "s" : "", c->other_loss ? " by \"problem_type\"" : "",
                c->head == HEED_HEAD_ROWS ? "row" : "sequence");
    return false;
}

void heed_record_classes(heed_build *b, heed_value x, const char *name, const heed_config *c,
                         const heed_want *want, heed_outputs *out) {
    if (c->head != HEED_HEAD_ROWS && c->head != HEED_HEAD_SEQUENCES)
        return;
    if (!loss_known(b, c, want))
        return;
    x = heed_dropout(b, x, "top", c->head_dropout);
    heed_enter(b, name, -1);
    heed_value table = heed_weight(b, "weight", c->labels, heed_columns(b, x),
                                   (heed_init){HEED_INIT_NORMAL, 0.02});
    heed_value bias = heed_weight_vector(b, "bias", c->labels, (heed_init){HEED_INIT_ZERO, 0});
    heed_leave(b);
    heed_record_vocab(b, x, table, bias, want, out);
}

heed_value heed_record_first(heed_build *b, heed_value x, heed_act_kind act, const heed_config *c) {
    x = heed_dropout(b, heed_pool_rows(b, x, HEED_POOL_FIRST), "first", c->head_dropout);
    return heed_act(b, heed_linear(b, x, "dense", heed_columns(b, x), true), act);
}
