/* patches.c: pictures as rows of patches: the product of such a row with a matrix is what a
 * convolution that steps by a patch gives.
 * SPDX-License-Identifier: MIT
 */
#include "data/patches.h"

#include <string.h>

static float *cut_one(const float *corner, int64_t channels, int64_t height, int64_t width,
                      const int64_t patch[2], float *out) {
    for (int64_t c = 0; c < channels; c++)
        for (int64_t y = 0; y < patch[0]; y++) {
            memcpy(out, corner + (c * height + y) * width, (size_t)patch[1] * sizeof *out);
            out += patch[1];
        }
    return out;
}

void heed_cut_patches(const float *picture, int64_t channels, int64_t height, int64_t width,
                      const int64_t patch[2], float *rows) {
    for (int64_t y = 0; y + patch[0] <= height; y += patch[0])
        for (int64_t x = 0; x + patch[1] <= width; x += patch[1])
            rows = cut_one(picture + y * width + x, channels, height, width, patch, rows);
}
