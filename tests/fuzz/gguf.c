/* Any bytes as a GGUF file: refused with a line, or every setting and every tensor can be read.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include "file/gguf.h"

#include <stdlib.h>

static void read_texts(const heed_gguf_value *v) {
    heed_gguf_text *text = calloc((size_t)v->count + 1, sizeof *text);
    expect(text && heed_gguf_items_text(v, text, NULL));
    for (int64_t i = 0; i < v->count; i++)
        touch(text[i].data, text[i].n);
    free(text);
}

static void read_numbers(const heed_gguf_value *v) {
    int64_t *integer = calloc((size_t)v->count + 1, sizeof *integer);
    float *real = calloc((size_t)v->count + 1, sizeof *real);
    expect(integer && real);
    expect(heed_gguf_items_i64(v, integer, NULL) != heed_gguf_items_f32(v, real, NULL));
    free(integer);
    free(real);
}

static void read_value(const heed_gguf *g, const heed_gguf_value *v) {
    expect(heed_gguf_find(g, v->key) == v);
    if (v->kind == HEED_GGUF_TEXT)
        touch(v->text.data, v->text.n);
    else if (v->kind == HEED_GGUF_ARRAY && v->item == HEED_GGUF_TEXT)
        read_texts(v);
    else if (v->kind == HEED_GGUF_ARRAY)
        read_numbers(v);
}

static void read_tensor(const heed_tensor *t) {
    int64_t n = heed_tensor_elements(t);
    expect(heed_elements_bytes(t->type, n) == t->bytes);
    float *out = calloc((size_t)n + 1, sizeof *out);
    expect(out != NULL);
    expect(heed_type_to_f32(t->type, t->data, n, out) == heed_type_is_float(t->type));
    free(out);
    touch(t->data, t->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    heed_gguf *g = heed_gguf_from_bytes(NULL, "fuzz", data, n, &err);
    expect((g != NULL) == (err.code == HEED_OK));
    for (int64_t i = 0; g && i < heed_gguf_count(g); i++)
        read_value(g, heed_gguf_at(g, i));
    for (int64_t i = 0; g && i < heed_tensors_count(heed_gguf_tensors(g)); i++)
        read_tensor(heed_tensors_at(heed_gguf_tensors(g), i));
    heed_gguf_free(g);
    return 0;
}
