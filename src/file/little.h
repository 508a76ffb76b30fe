/* little.h: little-endian numbers in bytes of any alignment.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_LITTLE_H
#define HEED_FILE_LITTLE_H

#include <stdint.h>

/* The number in `bytes` bytes at p, at most 8. */
static inline uint64_t heed_little(const unsigned char *p, int bytes) {
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--) {
        x = x << 8 | p[i];
    }
    return x;
}

#endif
