/* Any bytes as a file of llama2.c: refused with a line, or every tensor can be read.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include "file/llama2c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    if (!heed_is_llama2c(data, n))
        return 0;
    heed_tensors *t = heed_tensors_from_bytes(NULL, "fuzz", data, n, &err);
    expect((t != NULL) == (err.code == HEED_OK));
    for (int64_t i = 0; t && i < heed_tensors_count(t); i++) {
        const heed_tensor *tensor = heed_tensors_at(t, i);
        expect((size_t)heed_tensor_elements(tensor) * sizeof(float) == tensor->bytes);
        touch(tensor->data, tensor->bytes);
    }
    heed_tensors_free(t);
    return 0;
}
