/* dequant.c: quantised blocks to floats.
 *
 * Layout of a block, all little endian, f16 where a scale or low is meant:
 *   Q4_0  scale, 16 bytes
 *   Q4_1  scale, low, 16 bytes: number i is the low half of byte i, number 16 + i its high half
 *   Q5_0  scale, 4 bytes of fifth bits, 16 bytes
 *   Q5_1  scale, low, 4 bytes of fifth bits, 16 bytes
 *   Q8_0  scale, 32 signed bytes
 *   Q4_K  scale, low, 12 bytes of eight 6-bit pairs (scale, low), 128 bytes: 256 numbers, a pair
 *         for each 32; 64 numbers share 32 bytes, the first 32 of them the low halves
 *   Q5_K  the same with 32 bytes of fifth bits before the 128
 *   Q6_K  128 bytes of low halves, 64 of upper pairs of bits, 16 signed scales, scale: a scale for
 *         each 16 numbers
 * A number q stands for scale * (q - middle), or scale * q + low; in Q4_K and Q5_K low is taken
 * off.
 * Source: the format's definition in ggml, k-quants by Kawrakow 2023.
 * SPDX-License-Identifier: MIT
 */
#include "file/dequant.h"

#include <string.h>

#include "file/dtype.h"

static float half_at(const unsigned char *at) {
    return heed_f32_from_f16((uint16_t)(at[0] | at[1] << 8));
}

/* ---- Blocks of 32 ---- */

enum { SMALL = 32, HALF = SMALL / 2 };

/* Numbers of 4 bits, or of 5 where `fifth` is given, from 16 bytes: (q - middle) scale + low. */
static void small_block(const unsigned char *at, const unsigned char *fifth, float scale,
                        int middle, float low, float *out) {
    for (int i = 0; i < HALF; i++) {
        int first = at[i] & 15, second = at[i] >> 4;
        if (fifth) {
            first |= (fifth[i / 8] >> i % 8 & 1) << 4;
            second |= (fifth[2 + i / 8] >> i % 8 & 1) << 4;
        }
        out[i] = (float)(first - middle) * scale + low;
        out[HALF + i] = (float)(second - middle) * scale + low;
    }
}

void heed_from_q4_0(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= SMALL, at += 18, out += SMALL)
        small_block(at + 2, NULL, half_at(at), 8, 0, out);
}

void heed_from_q4_1(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= SMALL, at += 20, out += SMALL)
        small_block(at + 4, NULL, half_at(at), 0, half_at(at + 2), out);
}

void heed_from_q5_0(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= SMALL, at += 22, out += SMALL)
        small_block(at + 6, at + 2, half_at(at), 16, 0, out);
}

void heed_from_q5_1(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= SMALL, at += 24, out += SMALL)
        small_block(at + 8, at + 4, half_at(at), 0, half_at(at + 2), out);
}

void heed_from_q8_0(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= SMALL, at += 34, out += SMALL) {
        float scale = half_at(at);
        for (int i = 0; i < SMALL; i++)
            out[i] = (float)(int8_t)at[2 + i] * scale;
    }
}

/* ---- Blocks of 256 ---- */

enum { LARGE = 256 };

/* The 6-bit scale and low of group i of 8: the first four lie in the low six bits of bytes i and
 * 4 + i; the others in the halves of byte 4 + i, with their upper two bits atop the first ones'. */
static void pair_of(const unsigned char *pairs, int i, int *scale, int *low) {
    if (i < 4) {
        *scale = pairs[i] & 63;
        *low = pairs[4 + i] & 63;
    } else {
        *scale = (pairs[4 + i] & 15) | pairs[i - 4] >> 6 << 4;
        *low = pairs[4 + i] >> 4 | pairs[i] >> 6 << 4;
    }
}

/* Q4_K, and Q5_K where `fifth` is given: bit g of its byte l belongs to number l of group g. */
static void large_block(const unsigned char *at, const unsigned char *fifth,
                        const unsigned char *four, float *out) {
    float all_scale = half_at(at), all_low = half_at(at + 2);
    for (int group = 0; group < LARGE / SMALL; group++, out += SMALL) {
        int scale, low;
        pair_of(at + 4, group, &scale, &low);
        float times = all_scale * (float)scale, less = all_low * (float)low;
        const unsigned char *bytes = four + group / 2 * SMALL;
        for (int l = 0; l < SMALL; l++) {
            int q = bytes[l] >> group % 2 * 4 & 15;
            if (fifth)
                q |= (fifth[l] >> group & 1) << 4;
            out[l] = times * (float)q - less;
        }
    }
}

void heed_from_q4_k(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= LARGE, at += 144, out += LARGE)
        large_block(at, NULL, at + 16, out);
}

void heed_from_q5_k(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= LARGE, at += 176, out += LARGE)
        large_block(at, at + 16, at + 48, out);
}

/* 128 numbers: quarter h of them has its low four bits in half h / 2 of byte h % 2 * 32 + l, its
 * upper two in pair h of byte l. */
static void six_bits(const unsigned char *low, const unsigned char *high, const signed char *scale,
                     float all, float *out) {
    for (int h = 0; h < 4; h++) {
        for (int l = 0; l < SMALL; l++) {
            int q = (low[h % 2 * SMALL + l] >> h / 2 * 4 & 15) | (high[l] >> 2 * h & 3) << 4;
            out[h * SMALL + l] = all * (float)scale[2 * h + l / HALF] * (float)(q - 32);
        }
    }
}

void heed_from_q6_k(const unsigned char *at, int64_t n, float *out) {
    for (; n > 0; n -= LARGE, at += 210, out += LARGE) {
        signed char scale[16];
        memcpy(scale, at + 192, sizeof scale);
        six_bits(at, at + 128, scale, half_at(at + 208), out);
        six_bits(at + 64, at + 160, scale + 8, half_at(at + 208), out + LARGE / 2);
    }
}
