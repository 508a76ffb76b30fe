/* Any bytes as lines and as a table of pairs: columns, trimming, keys, words and scores stand it.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include "data/parallel.h"

#include <stdlib.h>

#include "data/bleu.h"
#include "data/chrf.h"

static void score(heed_line hyp, heed_line ref) {
    const heed_line *refs[] = {&ref};
    heed_error err = {0};
    for (int tokens = HEED_BLEU_13A; tokens <= HEED_BLEU_NONE; tokens++) {
        heed_bleu_opts o = {.tokens = (heed_bleu_tokens)tokens, .lowercase = tokens % 2 == 0};
        heed_bleu_result r;
        expect(heed_bleu(NULL, &hyp, refs, 1, 1, &o, &r, NULL, &err));
        expect(r.score >= 0.0 && r.score <= 100.0001);
    }
    heed_chrf_opts o = {.word_order = 2, .lowercase = true};
    heed_chrf_result r;
    expect(heed_chrf(NULL, &hyp, refs, 1, 1, &o, &r, NULL, &err));
    expect(r.score >= 0.0 && r.score <= 100.0001);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_lines lines;
    heed_error err = {0};
    heed_buf key = {0};
    bool ok = heed_lines_parse(&lines, NULL, "fuzz", (const char *)data, n, &err);
    expect(ok == (err.code == HEED_OK));
    size_t bytes = 0;
    for (int64_t i = 0; i < lines.n; i++) {
        heed_line left = lines.line[i], right = {"", 0}, trimmed = heed_line_trim(left);
        bytes += left.n;
        expect(trimmed.s >= left.s && trimmed.n <= left.n);
        heed_line_column(lines.line[i], 1, &left);
        heed_line_column(lines.line[i], 2, &right);
        expect(heed_sentence_key(right, &key));
        if (i < 8)
            score(left, right);
    }
    expect(bytes <= n);
    heed_buf_free(&key);
    heed_lines_free(&lines);
    return 0;
}
