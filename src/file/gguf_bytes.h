/* gguf_bytes.h: a cursor over the bytes of a GGUF file.
 *
 * Invariant: `at` <= `n`; after the first failure every call fails, so a caller checks once.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_GGUF_BYTES_H
#define HEED_FILE_GGUF_BYTES_H

#include "file/gguf.h"

/* The types of settings, as the file numbers them. */
enum {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES
};
enum { GGUF_DIMS = 4, GGUF_ALIGNMENT = 32 }; /* the alignment where a file names none */

typedef struct {
    const unsigned char *data;
    size_t n, at;
    heed_error *err;
    bool failed;
} heed_gguf_cursor;

bool heed_gguf_wrong(heed_gguf_cursor *c, const char *format, ...) HEED_PRINTF(2, 3);
/* The next `bytes` bytes, NULL where the file ends before them. */
const unsigned char *heed_gguf_take(heed_gguf_cursor *c, uint64_t bytes);
uint32_t heed_gguf_u32(heed_gguf_cursor *c); /* 0 after a failure */
uint64_t heed_gguf_u64(heed_gguf_cursor *c);
bool heed_gguf_string(heed_gguf_cursor *c, heed_gguf_text *out);
/* A value of `type`, filled but for its key. */
bool heed_gguf_read_value(heed_gguf_cursor *c, uint32_t type, heed_gguf_value *v);
/* Element types of tensors and the file's numbers for them; false: there is none. */
bool heed_gguf_type_numbered(uint32_t number, heed_type *type);
bool heed_gguf_type_number(heed_type type, uint32_t *number);

#endif
