/* opened.h: tensors of a sound file.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_OPENED_H
#define HEED_TESTS_OPENED_H

#include "file/safetensors.h"

#include "support.h"

static inline heed_tensors *opened(const char *path) {
    heed_error err = {0};
    heed_tensors *t = heed_tensors_open(NULL, path, &err);
    expect_no_error(&err);
    assert_non_null(t);
    return t;
}

#endif
