/* vocab.c: a letter that says which format, then the bytes of a file of it: llama2.c's
 * tokenizer.bin (l), GGUF (g), vocab.txt (b), or vocab.json, a NUL and merges.txt (m).
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/tokens.h"
#include "text/open.h"

static heed_tokenizer *open_gguf(const char *data, size_t n, heed_error *err) {
    heed_gguf *gguf = heed_gguf_from_bytes(NULL, "fuzz", data, n, err);
    heed_tokenizer *t = gguf ? heed_open_gguf(NULL, gguf, err) : NULL;
    heed_gguf_free(gguf);
    return t;
}

static heed_tokenizer *open_any(char kind, const char *data, size_t n, heed_error *err) {
    heed_folder none = {.path = "fuzz"};
    const char *end = memchr(data, 0, n);
    size_t first = end ? (size_t)(end - data) : n;
    switch (kind) {
    case 'l':
        return heed_llama2c_parse(NULL, data, n, err);
    case 'g':
        return open_gguf(data, n, err);
    case 'b':
        return heed_bert_parse(&none, data, n, err);
    default:
        return heed_merges_parse(&none, data, first, data + (end ? first + 1 : n),
                                 end ? n - first - 1 : 0, err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    if (n == 0) {
        return 0;
    }
    const char *file = (const char *)data + 1;
    heed_tokenizer *t = open_any((char)data[0], file, n - 1, &err);
    check_opened(t, &err, file, n - 1 < 256 ? n - 1 : 256);
    return 0;
}
