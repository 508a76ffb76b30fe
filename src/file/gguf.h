/* gguf.h: GGUF files, versions 2 and 3: typed settings and tensors, memory-mapped.
 *
 * Format (ggml, gguf.md): "GGUF", version, counts of tensors and settings; settings (key, type,
 * value); tensors (name, dimensions with the fastest first, type, place); padding; data. Everything
 * is checked before a value or a tensor is handed out: lengths against the file, places against
 * each other.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_GGUF_H
#define HEED_FILE_GGUF_H

#include "file/safetensors.h"

typedef enum {
    HEED_GGUF_INTEGER,
    HEED_GGUF_REAL,
    HEED_GGUF_BOOL,
    HEED_GGUF_TEXT,
    HEED_GGUF_ARRAY
} heed_gguf_kind;

typedef struct {
    const char *data; /* not NUL-terminated; may be any bytes */
    size_t n;
} heed_gguf_text;

/* A setting. Of `integer`, `real` and `text` the one that fits `kind` is filled (BOOL: integer 0 or
 * 1); an array has `count` items of kind `item`, read by heed_gguf_items_*. */
typedef struct {
    const char *key;
    heed_gguf_kind kind, item;
    int64_t integer; /* 64-bit unsigned ones beyond 2^63-1 are refused */
    double real;
    heed_gguf_text text;
    int64_t count;
    int type;                  /* as the file numbers it: of the value, or of an array's items */
    const unsigned char *data; /* of an array */
} heed_gguf_value;

/* Opens a file; of a split one ("-00001-of-00003.gguf") the first, and with it all, whose tensors
 * are then together. Settings, tensors and what they point at live until heed_gguf_free; after
 * opening, any number of threads may read. Failures (HEED_FILE) name the file and what is wrong in
 * it. */
typedef struct heed_gguf heed_gguf;
heed_gguf *heed_gguf_open(const heed_host *host, const char *path, heed_error *err);
/* The same from bytes of the caller, which must outlive it; `label` stands for the path. */
heed_gguf *heed_gguf_from_bytes(const heed_host *host, const char *label, const void *data,
                                size_t n, heed_error *err);
void heed_gguf_free(heed_gguf *g);   /* NULL allowed */
bool heed_is_gguf(const char *path); /* by the first bytes of a file; false where unreadable */

/* How many models a folder has as GGUF files, of which a split one is one; the name of one of them
 * into out, of a split one that of the first part. */
enum { HEED_GGUF_NAME = 256 };
int heed_gguf_in_folder(const char *folder, char out[HEED_GGUF_NAME]);

/* Dimensions are turned round, the fastest last, as everywhere else. In file order. */
const heed_tensors *heed_gguf_tensors(const heed_gguf *g);

int64_t heed_gguf_count(const heed_gguf *g);
const heed_gguf_value *heed_gguf_at(const heed_gguf *g, int64_t i);
const heed_gguf_value *heed_gguf_find(const heed_gguf *g, const char *key); /* NULL where absent */

/* The items of an array into out[count]; false with err where they are of another kind. */
bool heed_gguf_items_i64(const heed_gguf_value *v, int64_t *out, heed_error *err);
bool heed_gguf_items_f32(const heed_gguf_value *v, float *out, heed_error *err);
bool heed_gguf_items_text(const heed_gguf_value *v, heed_gguf_text *out, heed_error *err);

#endif
