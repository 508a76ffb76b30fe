/* Any bytes as a GGUF file: refused with a line, or every setting and every tensor can be read.
 * SPDX-License-Identifier: MIT
 */
#include "file/gguf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void expect(bool ok) {
    if (!ok)
        abort();
}

static unsigned sum_of(const void *data, size_t n) {
    const unsigned char *byte = data;
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += byte[i];
    return sum;
}

static unsigned read_texts(const heed_gguf_value *v) {
    heed_gguf_text *text = calloc((size_t)v->count + 1, sizeof *text);
    unsigned sum = 0;
    expect(text && heed_gguf_items_text(v, text, NULL));
    for (int64_t i = 0; i < v->count; i++)
        sum += sum_of(text[i].data, text[i].n);
    free(text);
    return sum;
}

static unsigned read_value(const heed_gguf *g, const heed_gguf_value *v) {
    expect(heed_gguf_find(g, v->key) == v);
    if (v->kind == HEED_GGUF_TEXT)
        return sum_of(v->text.data, v->text.n);
    if (v->kind != HEED_GGUF_ARRAY)
        return 0;
    if (v->item == HEED_GGUF_TEXT)
        return read_texts(v);
    int64_t *integer = calloc((size_t)v->count + 1, sizeof *integer);
    float *real = calloc((size_t)v->count + 1, sizeof *real);
    expect(integer && real);
    expect(heed_gguf_items_i64(v, integer, NULL) != heed_gguf_items_f32(v, real, NULL));
    free(integer);
    free(real);
    return 0;
}

static unsigned read_tensor(const heed_tensor *t) {
    int64_t n = heed_tensor_elements(t);
    expect((size_t)(n / heed_type_block(t->type)) * heed_type_bytes(t->type) == t->bytes);
    float *out = calloc((size_t)n + 1, sizeof *out);
    expect(out != NULL);
    expect(heed_type_to_f32(t->type, t->data, n, out) == heed_type_is_float(t->type));
    free(out);
    return sum_of(t->data, t->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    unsigned sum = 0;
    heed_gguf *g = heed_gguf_from_bytes(NULL, "fuzz", data, n, &err);
    expect((g != NULL) == (err.code == HEED_OK));
    for (int64_t i = 0; g && i < heed_gguf_count(g); i++)
        sum += read_value(g, heed_gguf_at(g, i));
    for (int64_t i = 0; g && i < heed_tensors_count(heed_gguf_tensors(g)); i++)
        sum += read_tensor(heed_tensors_at(heed_gguf_tensors(g), i));
    heed_gguf_free(g);
    volatile unsigned kept = sum; /* so that the reads stay */
    (void)kept;
    return 0;
}
