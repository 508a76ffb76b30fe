/* blocks.h: GGUF's quantised blocks: as whole numbers with scales, or as floats.
 *
 * What a number stands for is scale (q - zero), and least more where there are leasts; the layouts
 * stand in blocks.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_BLOCKS_H
#define HEED_BASE_BLOCKS_H

#include "base/dtype.h"

/* Numbers with a scale, and perhaps a least value, for each `block` of them. */
typedef struct {
    int bits;      /* of q, which is not negative: 8, or 4 */
    int zero;      /* 128 where 8 bits are signed ones */
    int64_t block; /* 16 or 32; the last may be cut short. 0: one for the whole row */
    bool half;     /* scales and leasts are such as binary16 holds */
    bool least;
} heed_int_form;

/* Columns rounded to 8 bits, one scale for each. */
#define HEED_INT_COLUMNS ((heed_int_form){.bits = 8, .zero = 128})

enum { HEED_BLOCK_MOST = 256, HEED_BLOCK_SCALES = 16 }; /* in a block of any type */

/* False where the type is not a quantised one. */
bool heed_block_form(heed_type type, heed_int_form *form);
/* One block of a quantised type (heed_type_block numbers): q, the scales, and where the form has
 * them the leasts. */
void heed_block_read(heed_type type, const unsigned char *at, uint8_t *q, float *scale,
                     float *least);
/* n numbers, whole blocks, as floats: scale times number, plus least, each rounded once. */
void heed_blocks_to_f32(heed_type type, const unsigned char *at, int64_t n, float *out);

#endif
