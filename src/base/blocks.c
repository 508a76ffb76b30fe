/* blocks.c: quantised blocks to whole numbers with scales, and to floats.
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
#include "base/blocks.h"

#include <string.h>

static float half_at(const unsigned char *at) {
    return heed_f32_from_f16((uint16_t)(at[0] | at[1] << 8));
}

/* ---- Blocks of 32 ---- */

enum { SMALL = 32, HALF = SMALL / 2 };

/* 32 numbers of 4 bits from 16 bytes, or of 5 where `fifth` is given. */
static void small_block(const unsigned char *at, const unsigned char *fifth, uint8_t *q) {
    for (int i = 0; i < HALF; i++) {
        int first = at[i] & 15, second = at[i] >> 4;
        if (fifth) {
            first |= (fifth[i / 8] >> i % 8 & 1) << 4;
            second |= (fifth[2 + i / 8] >> i % 8 & 1) << 4;
        }
        q[i] = (uint8_t)first;
        q[HALF + i] = (uint8_t)second;
    }
}

static void read_q4_0(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    (void)least;
    *scale = half_at(at);
    small_block(at + 2, NULL, q);
}

static void read_q4_1(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    *scale = half_at(at);
    *least = half_at(at + 2);
    small_block(at + 4, NULL, q);
}

static void read_q5_0(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    (void)least;
    *scale = half_at(at);
    small_block(at + 6, at + 2, q);
}

static void read_q5_1(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    *scale = half_at(at);
    *least = half_at(at + 2);
    small_block(at + 8, at + 4, q);
}

static void read_q8_0(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    (void)least;
    *scale = half_at(at);
    for (int i = 0; i < SMALL; i++)
        q[i] = at[2 + i] ^ 0x80;
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
                        const unsigned char *four, uint8_t *q, float *times, float *least) {
    float all_scale = half_at(at), all_low = half_at(at + 2);
    for (int group = 0; group < LARGE / SMALL; group++, q += SMALL) {
        int scale, low;
        pair_of(at + 4, group, &scale, &low);
        times[group] = all_scale * (float)scale;
        least[group] = -(all_low * (float)low);
        const unsigned char *bytes = four + group / 2 * SMALL;
        for (int l = 0; l < SMALL; l++) {
            int upper = fifth ? (fifth[l] >> group & 1) << 4 : 0;
            q[l] = (uint8_t)((bytes[l] >> group % 2 * 4 & 15) | upper);
        }
    }
}

static void read_q4_k(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    large_block(at, NULL, at + 16, q, scale, least);
}

static void read_q5_k(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    large_block(at, at + 16, at + 48, q, scale, least);
}

/* 128 numbers: quarter h of them has its low four bits in half h / 2 of byte h % 2 * 32 + l, its
 * upper two in pair h of byte l. */
static void six_bits(const unsigned char *low, const unsigned char *high, uint8_t *q) {
    for (int h = 0; h < 4; h++)
        for (int l = 0; l < SMALL; l++)
            q[h * SMALL + l] =
                (uint8_t)((low[h % 2 * SMALL + l] >> h / 2 * 4 & 15) | (high[l] >> 2 * h & 3) << 4);
}

static void read_q6_k(const unsigned char *at, uint8_t *q, float *scale, float *least) {
    (void)least;
    float all = half_at(at + 208);
    for (int i = 0; i < LARGE / HALF; i++)
        scale[i] = all * (float)(at[192 + i] < 128 ? at[192 + i] : at[192 + i] - 256);
    six_bits(at, at + 128, q);
    six_bits(at + 64, at + 160, q + LARGE / 2);
}

/* ---- All types ---- */

static const struct {
    heed_int_form form; /* bits 0: not a quantised type */
    void (*read)(const unsigned char *at, uint8_t *q, float *scale, float *least);
} kinds[HEED_TYPE_COUNT] = {
    [HEED_Q4_0] = {{.bits = 4, .zero = 8, .block = 32, .half = true}, read_q4_0},
    [HEED_Q4_1] = {{.bits = 4, .block = 32, .half = true, .least = true}, read_q4_1},
    [HEED_Q5_0] = {{.bits = 8, .zero = 16, .block = 32, .half = true}, read_q5_0},
    [HEED_Q5_1] = {{.bits = 8, .block = 32, .half = true, .least = true}, read_q5_1},
    [HEED_Q8_0] = {{.bits = 8, .zero = 128, .block = 32, .half = true}, read_q8_0},
    [HEED_Q4_K] = {{.bits = 4, .block = 32, .least = true}, read_q4_k},
    [HEED_Q5_K] = {{.bits = 8, .block = 32, .least = true}, read_q5_k},
    [HEED_Q6_K] = {{.bits = 8, .zero = 32, .block = 16}, read_q6_k},
};

bool heed_block_form(heed_type type, heed_int_form *form) {
    *form = kinds[type].form;
    return form->bits != 0;
}

void heed_block_read(heed_type type, const unsigned char *at, uint8_t *q, float *scale,
                     float *least) {
    kinds[type].read(at, q, scale, least);
}

void heed_blocks_to_f32(heed_type type, const unsigned char *at, int64_t n, float *out) {
    const heed_int_form *form = &kinds[type].form;
    const int64_t numbers = heed_type_block(type);
    const size_t bytes = heed_type_bytes(type);
    uint8_t q[HEED_BLOCK_MOST];
    float scale[HEED_BLOCK_SCALES], least[HEED_BLOCK_SCALES] = {0};
    for (; n > 0; n -= numbers, at += bytes, out += numbers) {
        kinds[type].read(at, q, scale, least);
        for (int64_t i = 0; i < numbers; i++) {
            float x = (float)(q[i] - form->zero) * scale[i / form->block];
            out[i] = form->least ? x + least[i / form->block] : x;
        }
    }
}
