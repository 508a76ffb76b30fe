/* dequant.h: GGUF's quantised blocks to floats.
 *
 * n is a multiple of the block; `at` may stand anywhere.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_DEQUANT_H
#define HEED_FILE_DEQUANT_H

#include <stdint.h>

void heed_from_q4_0(const unsigned char *at, int64_t n, float *out);
void heed_from_q4_1(const unsigned char *at, int64_t n, float *out);
void heed_from_q5_0(const unsigned char *at, int64_t n, float *out);
void heed_from_q5_1(const unsigned char *at, int64_t n, float *out);
void heed_from_q8_0(const unsigned char *at, int64_t n, float *out);
void heed_from_q4_k(const unsigned char *at, int64_t n, float *out);
void heed_from_q5_k(const unsigned char *at, int64_t n, float *out);
void heed_from_q6_k(const unsigned char *at, int64_t n, float *out);

#endif
