/* Any bytes as a safetensors file: refused with a line, or every byte of every tensor can be read.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include "file/safetensors.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    heed_tensors *t = heed_tensors_from_bytes(NULL, "fuzz", data, n, &err);
    expect((t != NULL) == (err.code == HEED_OK));
    for (int64_t i = 0; t && i < heed_tensors_count(t); i++) {
        const heed_tensor *one = heed_tensors_at(t, i);
        char shape[180];
        touch(one->data, one->bytes);
        expect(heed_tensor_shape(one, shape)[0] == '(');
        expect(heed_tensors_find(t, one->name) == one);
        expect((size_t)heed_tensor_elements(one) * heed_type_bytes(one->type) == one->bytes);
    }
    heed_tensors_free(t);
    return 0;
}
