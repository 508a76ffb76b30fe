/* shape.c: shape rules that several ops share.
 * SPDX-License-Identifier: MIT
 */
#include "op/shape.h"

#include <inttypes.h>

bool heed_check_numbers(heed_build *b, const char *op, heed_value v) {
    if (!v.id || heed_is_absent(v)) {
        return false;
    }
    if (heed_shape_of(b, v).cell != HEED_CELL_NUMBER) {
        heed_refuse(b, HEED_SHAPE, "%s wants numbers, not integers", op);
        return false;
    }
    return true;
}

static bool same_rows(const heed_shape *a, const heed_shape *v) {
    if (a->extent != v->extent) {
        return false;
    }
    if (a->extent == HEED_EXTENT_FIXED) {
        return a->rows == v->rows;
    }
    return a->space == v->space && (a->extent != HEED_EXTENT_PAIRS || a->keys == v->keys);
}

bool heed_check_alike(heed_build *b, const char *op, heed_value a, heed_value v) {
    if (!heed_check_numbers(b, op, a) || !heed_check_numbers(b, op, v)) {
        return false;
    }
    heed_shape as = heed_shape_of(b, a), vs = heed_shape_of(b, v);
    if (!same_rows(&as, &vs)) {
        heed_refuse(b, HEED_SHAPE, "%s wants two values with the same rows", op);
        return false;
    }
    if (as.cols != vs.cols) {
        heed_refuse(b, HEED_SHAPE, "%s of %" PRId64 " and %" PRId64 " columns", op, as.cols,
                    vs.cols);
        return false;
    }
    return true;
}
