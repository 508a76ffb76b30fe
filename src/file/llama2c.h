/* llama2c.h: the model files of karpathy/llama2.c: a header of integers, then matrices.
 *
 * Layouts, by export.py there:
 *   0 (legacy)  7 int32: dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size (negative: the
 *               output matrix is its own), max_seq_len; float32: embeddings, then of all layers
 *               each kind (attention norms, wq, wk, wv, wo, feed-forward norms, w1, w2, w3), the
 *               last norm, a table of sines that is not read, the output matrix
 *   1           "ak42" as an int32, 1, the 7, a byte that says whether the output is the
 *               embedding; zeros up to 256 bytes; float32: norms, embeddings, wq ... w3, output
 *   2           the same header with a group size behind that byte; norms in float32; each matrix
 *               as int8 with a float32 scale for each group
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_LLAMA2C_H
#define HEED_FILE_LLAMA2C_H

#include "file/tensors.h"

/* By the first bytes: the magic number, or seven sizes that a model may have and that a safetensors
 * header has not. */
bool heed_is_llama2c(const unsigned char *data, size_t n);
/* Tokens of its vocabulary; 0: it is no such file. */
int64_t heed_llama2c_tokens(const unsigned char *data, size_t n);
/* Appends the tensors, named as in llama2.c's Python ("layers.0.attention.wq.weight"), and the
 * header as metadata ("dim"; "tied" is 0 or 1). int8 matrices become float32 of their own. The
 * file's size must be what its header says (HEED_FILE). */
bool heed_tensors_parse_llama2c(heed_tensors *t, const char *label, const unsigned char *data,
                                size_t n, heed_error *err);

#endif
