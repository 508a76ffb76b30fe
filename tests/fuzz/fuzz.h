/* fuzz.h: what the fuzz targets share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_FUZZ_H
#define HEED_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static inline void expect(bool ok) {
    if (!ok) {
        abort();
    }
}

/* Reads every byte, so that a sanitizer sees each; the volatile keeps the reads. */
static inline void touch(const void *data, size_t n) {
    const unsigned char *byte = data;
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += byte[i];
    }
    volatile unsigned kept = sum;
    (void)kept;
}

#endif
