/* sentencepiece.c: the bytes of a .model file: refused with a line, or a tokenizer whose tokens
 * hold for the file's own pieces as a text.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/tokens.h"
#include "text/open.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    heed_tokenizer *t = heed_spm_parse(NULL, (const char *)data, n, &err);
    check_opened(t, &err, (const char *)data, n < 256 ? n : 256);
    return 0;
}
