/* dtype.h: the element types of tensors in files, and conversions from them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_DTYPE_H
#define HEED_FILE_DTYPE_H

#include "heed.h"

/* The one list of element types: name (as safetensors writes it), bytes. The order is the one in
 * which the safetensors writer lays tensors out, last first: widest elements first keep all of them
 * aligned. */
#define HEED_TYPES(X)                                                                              \
    X(BOOL, 1)                                                                                     \
    X(U8, 1)                                                                                       \
    X(I8, 1)                                                                                       \
    X(F8_E5M2, 1)                                                                                  \
    X(F8_E4M3, 1)                                                                                  \
    X(I16, 2)                                                                                      \
    X(U16, 2)                                                                                      \
    X(F16, 2)                                                                                      \
    X(BF16, 2)                                                                                     \
    X(I32, 4)                                                                                      \
    X(U32, 4)                                                                                      \
    X(F32, 4)                                                                                      \
    X(F64, 8)                                                                                      \
    X(I64, 8)                                                                                      \
    X(U64, 8)

typedef enum {
#define HEED_TYPE_ENUM(name, bytes) HEED_##name,
    HEED_TYPES(HEED_TYPE_ENUM)
#undef HEED_TYPE_ENUM
        HEED_TYPE_COUNT
} heed_type;

size_t heed_type_bytes(heed_type type);     /* of one element */
const char *heed_type_name(heed_type type); /* "F32"; static storage */
bool heed_type_is_float(heed_type type);    /* F8 ... F64 */
bool heed_type_find(const char *name, heed_type *out);

/* n elements of `type` at `data` (any alignment, little endian) to floats: exact from every type
 * but F64, which rounds to nearest. False, with nothing written, where the type is no float. */
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
