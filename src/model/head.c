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

heed_problem heed_problem_of(const heed_config *c, bool numbers) {
    if (c->head != HEED_HEAD_SEQUENCES)
        return HEED_PROBLEM_CLASS;
    if (c->problem != HEED_PROBLEM_AUTO)
        return c->problem;
    return c->labels == 1 ? HEED_PROBLEM_NUMBERS
           : numbers      ? HEED_PROBLEM_SEVERAL
                          : HEED_PROBLEM_CLASS;
}

/* The rows chosen of each sequence, from column `column` of the logits. */
static heed_value span(heed_build *b, heed_value logits, int64_t column, const char *marks) {
    heed_value z = heed_pick_columns(b, logits, column, 1, 1, 1);
    return heed_choice_xent(b, z, heed_input(b, marks, heed_space_of(b, z)), 0);
}

static heed_value of_numbers(heed_build *b, heed_value logits, heed_problem problem) {
    heed_space each = heed_space_of(b, logits);
    heed_value wanted = heed_input_numbers(b, "labels", each, heed_columns(b, logits));
    if (problem == HEED_PROBLEM_SEVERAL)
        return heed_binary_xent(b, logits, wanted);
    heed_value far = heed_add(b, logits, heed_scale(b, wanted, -1));
    return heed_sum(b, heed_mul(b, far, far));
}

static heed_value loss_of(heed_build *b, heed_value logits, const heed_config *c,
                          const heed_want *want) {
    if (c->head == HEED_HEAD_SPAN)
        return heed_add(b, span(b, logits, 0, "start_positions"),
                        span(b, logits, 1, "end_positions"));
    if (c->head == HEED_HEAD_CHOICE) {
        heed_value marks = heed_input(b, "labels", heed_space_of(b, logits));
        return heed_choice_xent(b, logits, marks, want->choices);
    }
    return of_numbers(b, logits, heed_problem_of(c, want->numbers));
}

void heed_record_labels(heed_build *b, heed_value x, heed_value table, heed_value bias,
                        const heed_config *c, const heed_want *want, heed_outputs *out) {
    bool one_class = c->head == HEED_HEAD_ROWS || c->head == HEED_HEAD_SEQUENCES;
    if (one_class && heed_problem_of(c, want->numbers) == HEED_PROBLEM_CLASS) {
        heed_record_vocab(b, x, table, bias, want, out);
        return;
    }
    heed_value logits = heed_name(b, heed_product(b, x, table, bias), "logits");
    if (want->logits)
        out->logits = logits;
    if (want->loss)
        out->loss = heed_name(b, loss_of(b, logits, c, want), "loss");
}

bool heed_per_sequence(const heed_config *c) {
    return c->head == HEED_HEAD_SEQUENCES || c->head == HEED_HEAD_CHOICE;
}

/* Columns of the logits; 0: the head is none of these. */
static int64_t outputs(const heed_config *c) {
    if (c->head == HEED_HEAD_ROWS || c->head == HEED_HEAD_SEQUENCES)
        return c->labels;
    return c->head == HEED_HEAD_SPAN ? 2 : c->head == HEED_HEAD_CHOICE;
}

void heed_record_classes(heed_build *b, heed_value x, const char *name, const heed_config *c,
                         const heed_want *want, heed_outputs *out) {
    bool of_span = c->head == HEED_HEAD_SPAN;
    int64_t n = outputs(c);
    if (!n)
        return;
    if (!of_span)
        x = heed_dropout(b, x, "top", c->head_dropout);
    heed_enter(b, of_span ? "span" : name, -1);
    heed_value table =
        heed_weight(b, "weight", n, heed_columns(b, x), (heed_init){HEED_INIT_NORMAL, 0.02});
    heed_value bias = heed_weight_vector(b, "bias", n, (heed_init){HEED_INIT_ZERO, 0});
    heed_leave(b);
    heed_record_labels(b, x, table, bias, c, want, out);
}

heed_value heed_record_first(heed_build *b, heed_value x, heed_act_kind act, const heed_config *c) {
    x = heed_dropout(b, heed_pool_rows(b, x, HEED_POOL_FIRST), "first", c->head_dropout);
    return heed_act(b, heed_linear(b, x, "dense", heed_columns(b, x), true), act);
}
