/* dtype.h: the element types of tensors in files, and conversions from them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BASE_DTYPE_H
#define HEED_BASE_DTYPE_H

#include "heed.h"

/* The one list of element types: name, bytes of a block, elements in a block. Plain types, by the
 * names that safetensors writes, have blocks of one; their order is the one in which the
 * safetensors writer lays tensors out, last first: widest elements first keep all of them aligned.
 * The others are GGUF's quantised ones, a scale with each block (blocks.c). */
#define HEED_TYPES(X)                                                                              \
    X(BOOL, 1, 1)                                                                                  \
    X(U8, 1, 1)                                                                                    \
    X(I8, 1, 1)                                                                                    \
    X(F8_E5M2, 1, 1)                                                                               \
    X(F8_E4M3, 1, 1)                                                                               \
    X(I16, 2, 1)                                                                                   \
    X(U16, 2, 1)                                                                                   \
    X(F16, 2, 1)                                                                                   \
    X(BF16, 2, 1)                                                                                  \
    X(I32, 4, 1)                                                                                   \
    X(U32, 4, 1)                                                                                   \
    X(F32, 4, 1)                                                                                   \
    X(F64, 8, 1)                                                                                   \
    X(I64, 8, 1)                                                                                   \
    X(U64, 8, 1)                                                                                   \
    X(Q4_0, 18, 32)                                                                                \
    X(Q4_1, 20, 32)                                                                                \
    X(Q5_0, 22, 32)                                                                                \
    X(Q5_1, 24, 32)                                                                                \
    X(Q8_0, 34, 32)                                                                                \
    X(Q4_K, 144, 256)                                                                              \
    X(Q5_K, 176, 256)                                                                              \
    X(Q6_K, 210, 256)

typedef enum {
#define HEED_TYPE_ENUM(name, bytes, elements) HEED_##name,
    HEED_TYPES(HEED_TYPE_ENUM)
#undef HEED_TYPE_ENUM
        HEED_TYPE_COUNT
} heed_type;

size_t heed_type_bytes(heed_type type);  /* of one block */
int64_t heed_type_block(heed_type type); /* elements of one block; 1 for plain types */
/* Of n elements, whole blocks. */
size_t heed_elements_bytes(heed_type type, int64_t n);
const char *heed_type_name(heed_type type);            /* "F32"; static storage */
bool heed_type_is_float(heed_type type);               /* F8 ... F64 and the quantised ones */
bool heed_type_find(const char *name, heed_type *out); /* plain types only */

/* n elements (whole blocks) of `type` at `data` (any alignment, little endian) to floats: exact
 * from plain types but F64, which rounds to nearest; scale times number from quantised ones,
 * rounded once for each operation, as gguf 0.19 does. False, with nothing written, where the type
 * is no float. */
bool heed_type_to_f32(heed_type type, const void *data, int64_t n, float *out);
/* The same to integers, from BOOL and the integer types; false for the others. U64 beyond 2^63-1
 * wraps. */
bool heed_type_to_i64(heed_type type, const void *data, int64_t n, int64_t *out);

/* One element, round to nearest even; NaN stays NaN, too large becomes infinite. */
uint16_t heed_f16_from_f32(float x);
uint16_t heed_bf16_from_f32(float x);
float heed_f32_from_f16(uint16_t h);
float heed_f32_from_bf16(uint16_t h);

#endif
