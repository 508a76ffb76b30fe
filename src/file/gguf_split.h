/* gguf_split.h: what gguf.c and gguf_split.c share: parts of a GGUF file.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_GGUF_SPLIT_H
#define HEED_FILE_GGUF_SPLIT_H

#include "file/gguf.h"

/* One file by itself, whatever it says of other parts. */
heed_gguf *heed_gguf_open_part(const heed_host *host, const char *path, heed_error *err);
/* Adds the tensors of a part, and takes it over, also where that fails. */
bool heed_gguf_join(heed_gguf *g, heed_gguf *part, heed_error *err);

#endif
