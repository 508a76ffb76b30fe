/* Any bytes as a pytorch_model.bin: refused with a line, or every byte of every tensor can be read.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include "file/torch.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    heed_tensors *t = heed_tensors_new(NULL, &err);
    expect(t != NULL);
    bool fine = heed_tensors_parse_torch(t, "fuzz", data, n, &err);
    expect(fine == (err.code == HEED_OK));
    for (int64_t i = 0; i < heed_tensors_count(t); i++) {
        const heed_tensor *one = heed_tensors_at(t, i);
        touch(one->data, one->bytes);
    }
    heed_tensors_free(t);
    return 0;
}
