/* encode.c: see encode.h.
 * SPDX-License-Identifier: MIT
 */
#include "generate/encode.h"

#include "base/error.h"
#include "data/lines.h"

#include <inttypes.h>

static bool append(heed_ragged *out, const heed_host *host, const heed_tokens *tokens, int64_t i,
                   heed_error *err) {
    size_t at = (size_t)out->start[i];
    if (!heed_reserve(host, (void **)&out->id, &out->id_cap, at + tokens->n + 1, sizeof *out->id,
                      err)) {
        return false;
    }
    for (size_t k = 0; k < tokens->n; k++) {
        out->id[at + k] = tokens->item[k].id;
    }
    out->start[i + 1] = (int64_t)(at + tokens->n);
    return true;
}

bool heed_encode_lines(const heed_tokenizer *tokenizer, const heed_host *host,
                       const heed_line *lines, int64_t n, bool special, const char *what,
                       heed_ragged *out, heed_error *err) {
    heed_tokens tokens = {.host = host};
    if (!tokenizer) {
        return heed_fail(err, HEED_NAME,
                         "the model's folder has no tokenizer: give token ids");
    }
    bool ok = heed_reserve(host, (void **)&out->start, &out->start_cap, (size_t)n + 1,
                           sizeof *out->start, err);
    for (int64_t i = 0; ok && i < n; i++) {
        heed_line line = heed_line_trim(lines[i]);
        tokens.n = 0;
        ok = line.n == 0 || heed_encode(tokenizer, line.s, line.n, special, &tokens, err);
        if (!ok) {
            heed_error_at(err, "%s %" PRId64, what, i + 1);
        }
        ok = ok && append(out, host, &tokens, i, err);
    }
    heed_tokens_free(&tokens);
    return ok;
}
