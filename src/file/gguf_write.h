/* gguf_write.h: GGUF files, version 3, written whole or not at all, one tensor at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_GGUF_WRITE_H
#define HEED_FILE_GGUF_WRITE_H

#include "file/safetensors.h"

/* Settings as they will stand in the file. Starts as {.bytes = {.host = h}}; heed_buf_free(&bytes)
 * frees them. A put that finds no memory is told by heed_gguf_write. Keys must differ. */
typedef struct {
    heed_buf bytes;
    uint64_t count;
} heed_gguf_settings;

/* In the narrowest type that other programs expect: 32 bits, unsigned unless it is negative, or
 * 64. */
void heed_gguf_put_integer(heed_gguf_settings *s, const char *key, int64_t value);
void heed_gguf_put_real(heed_gguf_settings *s, const char *key, double value); /* as float32 */
void heed_gguf_put_bool(heed_gguf_settings *s, const char *key, bool value);
void heed_gguf_put_text(heed_gguf_settings *s, const char *key, const char *text, size_t n);
void heed_gguf_put_texts(heed_gguf_settings *s, const char *key, const heed_line *item, int64_t n);
void heed_gguf_put_reals(heed_gguf_settings *s, const char *key, const float *item, int64_t n);
void heed_gguf_put_integers(heed_gguf_settings *s, const char *key, const int32_t *item, int64_t n);

/* Writes settings, then tensors in the order of `list`, dimensions the fastest last, each on a
 * multiple of 32 bytes; `bytes` may be 0 to have it computed. Their bytes come from `source` (NULL:
 * from `data`), which is called in that order. Any type that heed_gguf_open reads. Refuses
 * (HEED_NAME) a name twice, or longer than the 63 bytes that ggml reads, (HEED_SHAPE) other than 1
 * to 4 dimensions, or bytes that do not fit the shape. */
bool heed_gguf_write(const heed_host *host, const char *path, const heed_gguf_settings *settings,
                     const heed_tensor *list, int64_t n, heed_tensor_source *source, void *ctx,
                     heed_error *err);
/* The same into memory, without tensors: for whoever reads the settings back. */
bool heed_gguf_print(heed_buf *out, const heed_gguf_settings *settings, heed_error *err);

#endif
