/* tokens.h: what must hold for whatever a tokenizer makes of a text.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_FUZZ_TOKENS_H
#define HEED_TESTS_FUZZ_TOKENS_H

#include "fuzz/fuzz.h"

#include <string.h>

#include "base/utf8.h"
#include "text/text.h"

/* Ids are of the vocabulary, places lie in the text, decoding gives UTF-8. */
static inline void check_tokens(const heed_tokenizer *t, const heed_tokens *tokens, size_t n) {
    heed_buf text = {0};
    heed_error err = {0};
    int32_t *ids = malloc((tokens->n + 1) * sizeof *ids);
    expect(ids != NULL);
    for (size_t i = 0; i < tokens->n; i++) {
        heed_token token = tokens->item[i];
        expect(token.begin <= token.end && token.end <= n);
        expect(heed_token_text(t, token.id) != NULL);
        ids[i] = token.id;
    }
    bool ok = heed_decode(t, ids, tokens->n, (n & 1) != 0, &text, &err);
    expect(ok == (err.code == HEED_OK) && (ok || err.text[0] != '\0'));
    expect(heed_utf8_check(text.data ? text.data : "", text.n) == text.n);
    free(ids);
    heed_buf_free(&text);
}

static inline void check_text(const heed_tokenizer *t, const char *text, size_t n) {
    heed_tokens tokens = {0};
    heed_error err = {0};
    bool ok = heed_encode(t, text, n, true, &tokens, &err);
    expect(ok == (err.code == HEED_OK) && (ok || err.text[0] != '\0'));
    check_tokens(t, &tokens, n);
    heed_tokens_free(&tokens);
}

/* A tokenizer or a line of error, never both; and what it makes of texts. Frees it. */
static inline void check_opened(heed_tokenizer *t, const heed_error *err, const char *text,
                                size_t n) {
    expect((t != NULL) == (err->code == HEED_OK));
    expect(t != NULL || err->text[0] != '\0');
    if (t) {
        static const char plain[] = " <s> Ab  ba\xe2\x96\x81\xef\xac\x81sh \xe4\xbd\xa0 12 ";
        check_text(t, plain, sizeof plain - 1);
        check_text(t, text, n);
    }
    heed_tokenizer_free(t);
}

#endif
