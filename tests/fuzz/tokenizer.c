/* tokenizer.c: a tokenizer.json, a NUL, and a text: refused with a line, or encoded to ids of the
 * vocabulary with places in the text, in the same way twice, as a pair with its own second half,
 * cut as the file says, and decoded to UTF-8.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/text.h"

static void check_tokens(const heed_tokenizer *t, const heed_tokens *tokens, size_t n,
                         size_t pair_n) {
    heed_buf text = {0}, shown = {0};
    heed_error err = {0};
    int32_t *ids = malloc((tokens->n + 1) * sizeof *ids);
    expect(ids != NULL);
    for (size_t i = 0; i < tokens->n; i++) {
        heed_token token = tokens->item[i];
        expect(token.begin <= token.end && token.end <= (token.text == 1 ? pair_n : n));
        expect(token.text >= 0 || token.end == 0);
        expect(heed_token_text(t, token.id) != NULL);
        expect(heed_token_show(t, token.id, &shown));
        ids[i] = token.id;
    }
    expect(heed_decode(t, ids, tokens->n, (n & 1) != 0, &text, &err) || err.code == HEED_LIMIT);
    expect(heed_utf8_check(text.data ? text.data : "", text.n) == text.n);
    expect(heed_utf8_check(shown.data ? shown.data : "", shown.n) == shown.n);
    free(ids);
    heed_buf_free(&text);
    heed_buf_free(&shown);
}

static void encode(const heed_tokenizer *t, const char *text, size_t n) {
    heed_tokens first = {0}, second = {0};
    heed_error err = {0};
    bool ok = heed_encode(t, text, n, true, &first, &err);
    expect(ok == (err.code == HEED_OK));
    expect(heed_encode(t, text, n, true, &second, NULL) == ok && first.n == second.n);
    expect(first.n == 0 || memcmp(first.item, second.item, first.n * sizeof *first.item) == 0);
    check_tokens(t, &first, n, 0);
    first.n = 0;
    heed_line pair = {text + n / 2, n - n / 2}; /* cut within a character it is refused */
    heed_encode_options options = {.pair = pair, .no_special = (n & 2) != 0};
    ok = heed_encode_with(t, (heed_line){text, n}, &options, &first, NULL);
    size_t whole = first.n;
    check_tokens(t, &first, n, pair.n);
    first.n = 0;
    heed_tokenizer_truncation(t, &options.truncate);
    if (ok && heed_encode_with(t, (heed_line){text, n}, &options, &first, NULL)) {
        expect(first.n <= whole);
    }
    heed_tokens_free(&first);
    heed_tokens_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const uint8_t *end = n > 0 ? memchr(data, 0, n) : NULL;
    size_t json = end ? (size_t)(end - data) : n;
    heed_error err = {0};
    heed_tokenizer *t = heed_tokenizer_parse(NULL, (const char *)data, json, "fuzz", &err);
    expect((t != NULL) == (err.code == HEED_OK));
    if (!t) {
        expect(err.text[0] != '\0');
        return 0;
    }
    if (end) {
        encode(t, (const char *)end + 1, n - json - 1);
    }
    heed_tokenizer_free(t);
    return 0;
}
