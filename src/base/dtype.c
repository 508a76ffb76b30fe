/* dtype.c: element types and their conversions, bit by bit.
 *
 * Half floats are read by exact scaling: their bits in a float's places, times a power of two,
 * which float holds exactly, subnormals included. 8-bit floats are read as half ones. Writing
 * rounds to nearest even. Source: IEEE 754-2008 (binary16); Micikevicius et al. 2022 (E4M3 without
 * infinities, E5M2).
 * SPDX-License-Identifier: MIT
 */
#include "base/dtype.h"

#include "base/blocks.h"

#include <math.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensor files are little endian and are mapped as they stand: so must this machine be"
#endif

static const struct {
    const char *name;
    size_t bytes;
    int64_t elements;
} types[] = {
#define HEED_TYPE_ROW(name, bytes, elements) {#name, bytes, elements},
    HEED_TYPES(HEED_TYPE_ROW)
#undef HEED_TYPE_ROW
};

size_t heed_type_bytes(heed_type type) {
    return types[type].bytes;
}

int64_t heed_type_block(heed_type type) {
    return types[type].elements;
}

size_t heed_elements_bytes(heed_type type, int64_t n) {
    return (size_t)(n / types[type].elements) * types[type].bytes;
}

const char *heed_type_name(heed_type type) {
    return types[type].name;
}

bool heed_type_find(const char *name, heed_type *out) {
    for (int i = 0; i < HEED_TYPE_COUNT; i++)
        if (types[i].elements == 1 && strcmp(types[i].name, name) == 0) {
            *out = (heed_type)i;
            return true;
        }
    return false;
}

/* ---- Small floats ---- */

/* Shifted into a float's places, a finite one is 2^112 times too small. */
float heed_f32_from_f16(uint16_t h) {
    uint32_t rest = h & 0x7fffu, bits = rest << 13;
    float x;
    if (rest >= 0x7c00)
        bits |= 0x7f800000;
    memcpy(&x, &bits, sizeof x);
    if (rest < 0x7c00)
        x *= 0x1p112f;
    return h & 0x8000 ? -x : x;
}

/* The upper half of a half float. */
static float from_e5m2(uint8_t b) {
    return heed_f32_from_f16((uint16_t)(b << 8));
}

/* Shifted into a half float's places it is 2^8 times too small; the top exponent is ordinary. */
static float from_e4m3(uint8_t b) {
    bool none = (b & 0x7f) == 0x7f;
    return none ? NAN : 0x1p8f * heed_f32_from_f16((uint16_t)((b & 0x80) << 8 | (b & 0x7f) << 7));
}

float heed_f32_from_bf16(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint16_t heed_bf16_from_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t heed_f16_from_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    float size = fabsf(x);
    if (isnan(x))
        return sign | 0x7e00;
    if (size >= 65520.0f)
        return sign | 0x7c00; /* halfway from the largest finite value rounds up */
    if (size < 0x1p-14f) { /* a whole number of the smallest steps, in the low bits of 2^23 + it */
        size = size * 0x1p24f + 0x1p23f;
        memcpy(&bits, &size, sizeof bits);
        return (uint16_t)(sign | (bits & 0x7ff));
    }
    /* the lower 13 bits are rounded away, and the exponent counts from another bias */
    bits = (bits & 0x7fffffff) + 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | ((bits - ((127u - 15u) << 23)) >> 13));
}

/* ---- Arrays ---- */

/* A function that reads n elements of one stored type; memcpy, since they may stand anywhere. */
#define HEED_READER(name, stored, result, expression)                                              \
    static void name(const unsigned char *at, int64_t n, result *out) {                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            stored v;                                                                              \
            memcpy(&v, at + (size_t)i * sizeof v, sizeof v);                                       \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }

HEED_READER(f32_from_f32, float, float, v)
HEED_READER(f32_from_f64, double, float, (float)v)
HEED_READER(f32_from_f16, uint16_t, float, heed_f32_from_f16(v))
HEED_READER(f32_from_bf16, uint16_t, float, heed_f32_from_bf16(v))
HEED_READER(f32_from_e5m2, uint8_t, float, from_e5m2(v))
HEED_READER(f32_from_e4m3, uint8_t, float, from_e4m3(v))

HEED_READER(i64_from_bool, uint8_t, int64_t, v != 0)
HEED_READER(i64_from_u8, uint8_t, int64_t, v)
HEED_READER(i64_from_i8, int8_t, int64_t, v)
HEED_READER(i64_from_u16, uint16_t, int64_t, v)
HEED_READER(i64_from_i16, int16_t, int64_t, v)
HEED_READER(i64_from_u32, uint32_t, int64_t, v)
HEED_READER(i64_from_i32, int32_t, int64_t, v)
HEED_READER(i64_from_u64, uint64_t, int64_t, (int64_t)v)
HEED_READER(i64_from_i64, int64_t, int64_t, v)

static void (*const to_f32[HEED_TYPE_COUNT])(const unsigned char *, int64_t, float *) = {
    [HEED_F32] = f32_from_f32,   [HEED_F64] = f32_from_f64,      [HEED_F16] = f32_from_f16,
    [HEED_BF16] = f32_from_bf16, [HEED_F8_E5M2] = f32_from_e5m2, [HEED_F8_E4M3] = f32_from_e4m3,
};

static void (*const to_i64[HEED_TYPE_COUNT])(const unsigned char *, int64_t, int64_t *) = {
    [HEED_BOOL] = i64_from_bool, [HEED_U8] = i64_from_u8,   [HEED_I8] = i64_from_i8,
    [HEED_U16] = i64_from_u16,   [HEED_I16] = i64_from_i16, [HEED_U32] = i64_from_u32,
    [HEED_I32] = i64_from_i32,   [HEED_U64] = i64_from_u64, [HEED_I64] = i64_from_i64,
};

bool heed_type_is_float(heed_type type) {
    heed_int_form form;
    return to_f32[type] || heed_block_form(type, &form);
}

bool heed_type_to_f32(heed_type type, const void *data, int64_t n, float *out) {
    if (!heed_type_is_float(type))
        return false;
    if (to_f32[type])
        to_f32[type](data, n, out);
    else
        heed_blocks_to_f32(type, data, n, out);
    return true;
}

bool heed_type_to_i64(heed_type type, const void *data, int64_t n, int64_t *out) {
    if (!to_i64[type])
        return false;
    to_i64[type](data, n, out);
    return true;
}
