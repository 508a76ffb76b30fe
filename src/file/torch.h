/* torch.h: PyTorch's pytorch_model.bin: tensors from the records in a pickle; nothing is executed.
 *
 * Both forms of torch.save: the zip archive (since 1.6), and the plain one before it: pickles of a
 * magic number, a protocol, facts about the system, the object, the keys of its storages; then for
 * each key a count and the numbers. Read is a dict of name to tensor, or one that holds it under
 * "state_dict" or "model".
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_TORCH_H
#define HEED_FILE_TORCH_H

#include "file/tensors.h"

bool heed_is_torch(const unsigned char *data, size_t n); /* by the first bytes */
/* Appends the tensors of one file's bytes. What is no tensor in the dict is left out. A tensor
 * whose numbers do not lie in order (a transposed view) is copied. HEED_FILE names the tensor, or
 * what the pickle asks for. */
bool heed_tensors_parse_torch(heed_tensors *t, const char *label, const unsigned char *data,
                              size_t n, heed_error *err);

#endif
