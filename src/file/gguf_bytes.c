/* gguf_bytes.c: numbers, strings, values and arrays of a GGUF file.
 * SPDX-License-Identifier: MIT
 */
#include "file/gguf_bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/little.h"

bool heed_gguf_wrong(heed_gguf_cursor *c, const char *format, ...) {
    if (c->failed)
        return false;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->failed = true;
    return heed_fail(c->err, HEED_FILE, "%s", text);
}

/* ---- Numbers and strings ---- */

const unsigned char *heed_gguf_take(heed_gguf_cursor *c, uint64_t bytes) {
    if (c->failed)
        return NULL;
    if (bytes > c->n - c->at) {
        heed_gguf_wrong(c,
                        "byte %zu: %" PRIu64 " bytes are to follow, the file has %zu more: "
                        "download incomplete, or damaged",
                        c->at, bytes, c->n - c->at);
        return NULL;
    }
    const unsigned char *p = c->data + c->at;
    c->at += (size_t)bytes;
    return p;
}

uint32_t heed_gguf_u32(heed_gguf_cursor *c) {
    const unsigned char *p = heed_gguf_take(c, 4);
    return p ? (uint32_t)heed_little(p, 4) : 0;
}

uint64_t heed_gguf_u64(heed_gguf_cursor *c) {
    const unsigned char *p = heed_gguf_take(c, 8);
    return p ? heed_little(p, 8) : 0;
}

bool heed_gguf_string(heed_gguf_cursor *c, heed_gguf_text *out) {
    uint64_t n = heed_gguf_u64(c);
    const unsigned char *p = heed_gguf_take(c, n);
    *out = (heed_gguf_text){(const char *)p, (size_t)n};
    return p != NULL;
}

/* ---- Values ---- */

static const struct {
    int bytes; /* of one, 0 where that differs */
    heed_gguf_kind kind;
} types[GGUF_TYPES] = {
    [GGUF_U8] = {1, HEED_GGUF_INTEGER},  [GGUF_I8] = {1, HEED_GGUF_INTEGER},
    [GGUF_U16] = {2, HEED_GGUF_INTEGER}, [GGUF_I16] = {2, HEED_GGUF_INTEGER},
    [GGUF_U32] = {4, HEED_GGUF_INTEGER}, [GGUF_I32] = {4, HEED_GGUF_INTEGER},
    [GGUF_U64] = {8, HEED_GGUF_INTEGER}, [GGUF_I64] = {8, HEED_GGUF_INTEGER},
    [GGUF_F32] = {4, HEED_GGUF_REAL},    [GGUF_F64] = {8, HEED_GGUF_REAL},
    [GGUF_BOOL] = {1, HEED_GGUF_BOOL},   [GGUF_STRING] = {0, HEED_GGUF_TEXT},
    [GGUF_ARRAY] = {0, HEED_GGUF_ARRAY},
};

static int64_t integer_at(const unsigned char *p, int type) {
    uint64_t x = heed_little(p, types[type].bytes);
    switch (type) {
    case GGUF_I8:
        return (int8_t)x;
    case GGUF_I16:
        return (int16_t)x;
    case GGUF_I32:
        return (int32_t)x;
    default:
        return (int64_t)x;
    }
}

static double real_at(const unsigned char *p, int type) {
    float narrow;
    double wide;
    if (type == GGUF_F64) {
        memcpy(&wide, p, sizeof wide);
        return wide;
    }
    memcpy(&narrow, p, sizeof narrow);
    return (double)narrow;
}

/* Strings are walked, so that whoever asks for them later need not check. */
static bool skip_items(heed_gguf_cursor *c, int type, uint64_t count) {
    heed_gguf_text text;
    if (type != GGUF_STRING)
        return heed_gguf_take(c, count * (uint64_t)types[type].bytes) != NULL;
    for (uint64_t i = 0; i < count; i++)
        if (!heed_gguf_string(c, &text))
            return false;
    return true;
}

static bool read_array(heed_gguf_cursor *c, heed_gguf_value *v) {
    uint32_t type = heed_gguf_u32(c);
    uint64_t count = heed_gguf_u64(c);
    if (c->failed)
        return false;
    if (type >= GGUF_TYPES || type == GGUF_ARRAY)
        return heed_gguf_wrong(c, "an array of type %" PRIu32 ", which is not read", type);
    uint64_t least = type == GGUF_STRING ? 8 : (uint64_t)types[type].bytes;
    if (count > (c->n - c->at) / least)
        return heed_gguf_wrong(c, "an array of %" PRIu64 " items is longer than the file", count);
    v->item = types[type].kind;
    v->type = (int)type;
    v->count = (int64_t)count;
    v->data = c->data + c->at;
    return skip_items(c, v->type, count);
}

bool heed_gguf_read_value(heed_gguf_cursor *c, uint32_t type, heed_gguf_value *v) {
    if (c->failed)
        return false;
    if (type >= GGUF_TYPES)
        return heed_gguf_wrong(c, "type %" PRIu32 " is unknown", type);
    v->kind = types[type].kind;
    v->type = (int)type;
    if (v->kind == HEED_GGUF_TEXT)
        return heed_gguf_string(c, &v->text);
    if (v->kind == HEED_GGUF_ARRAY)
        return read_array(c, v);
    const unsigned char *p = heed_gguf_take(c, (uint64_t)types[type].bytes);
    if (!p)
        return false;
    if (v->kind == HEED_GGUF_REAL)
        v->real = real_at(p, v->type);
    else
        v->integer = integer_at(p, v->type);
    if (type == GGUF_U64 && v->integer < 0)
        return heed_gguf_wrong(c, "%" PRIu64 " is beyond 63 bits", (uint64_t)v->integer);
    if (type == GGUF_BOOL && v->integer > 1)
        return heed_gguf_wrong(c, "%" PRId64 " is neither false nor true", v->integer);
    return true;
}

/* ---- Types of tensors ---- */

static const struct {
    uint32_t number;
    heed_type type;
} tensor_types[] = {
    {0, HEED_F32},   {1, HEED_F16},   {2, HEED_Q4_0}, {3, HEED_Q4_1},
    {6, HEED_Q5_0},  {7, HEED_Q5_1},  {8, HEED_Q8_0}, {12, HEED_Q4_K},
    {13, HEED_Q5_K}, {14, HEED_Q6_K}, {24, HEED_I8},  {25, HEED_I16},
    {26, HEED_I32},  {27, HEED_I64},  {28, HEED_F64}, {30, HEED_BF16},
};
enum { TENSOR_TYPES = sizeof tensor_types / sizeof *tensor_types };

bool heed_gguf_type_numbered(uint32_t number, heed_type *type) {
    for (int i = 0; i < TENSOR_TYPES; i++)
        if (tensor_types[i].number == number) {
            *type = tensor_types[i].type;
            return true;
        }
    return false;
}

bool heed_gguf_type_number(heed_type type, uint32_t *number) {
    for (int i = 0; i < TENSOR_TYPES; i++)
        if (tensor_types[i].type == type) {
            *number = tensor_types[i].number;
            return true;
        }
    return false;
}

/* ---- Items of arrays ---- */

static bool fits(const heed_gguf_value *v, bool fine, const char *wanted, heed_error *err) {
    if (v->kind == HEED_GGUF_ARRAY && fine)
        return true;
    return heed_fail(err, HEED_FILE, "setting '%s' is no array of %s", v->key, wanted);
}

bool heed_gguf_items_i64(const heed_gguf_value *v, int64_t *out, heed_error *err) {
    if (!fits(v, v->item == HEED_GGUF_INTEGER || v->item == HEED_GGUF_BOOL, "integers", err))
        return false;
    for (int64_t i = 0; i < v->count; i++)
        out[i] = integer_at(v->data + i * types[v->type].bytes, v->type);
    return true;
}

bool heed_gguf_items_f32(const heed_gguf_value *v, float *out, heed_error *err) {
    if (!fits(v, v->item == HEED_GGUF_REAL, "real numbers", err))
        return false;
    for (int64_t i = 0; i < v->count; i++)
        out[i] = (float)real_at(v->data + i * types[v->type].bytes, v->type);
    return true;
}

bool heed_gguf_items_text(const heed_gguf_value *v, heed_gguf_text *out, heed_error *err) {
    if (!fits(v, v->item == HEED_GGUF_TEXT, "strings", err))
        return false;
    const unsigned char *p = v->data;
    for (int64_t i = 0; i < v->count; i++) {
        uint64_t n = heed_little(p, 8); /* checked when the file was opened */
        out[i] = (heed_gguf_text){(const char *)p + 8, (size_t)n};
        p += 8 + n;
    }
    return true;
}
