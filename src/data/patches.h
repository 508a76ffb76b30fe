/* patches.h: pictures as rows of patches.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_PATCHES_H
#define HEED_DATA_PATCHES_H

#include <stdint.h>

/* One picture of channels x height x width to (height/patch[0])*(width/patch[1]) rows, in reading
 * order, of channels*patch[0]*patch[1] numbers each, ordered as the picture is. What is left over
 * on the right and at the bottom belongs to no patch, as with a convolution that steps by a
 * patch. */
void heed_cut_patches(const float *picture, int64_t channels, int64_t height, int64_t width,
                      const int64_t patch[2], float *rows);

#endif
