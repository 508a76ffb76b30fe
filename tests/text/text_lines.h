/* text_lines.h: lines for the trainers from memory, and encoding in one call.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_TEXT_LINES_H
#define HEED_TESTS_TEXT_LINES_H

#include "support.h"
#include "text/text.h"

#define GOLDEN "tests/golden/tokenizer"

typedef struct {
    const char *at, *end;
} memory_lines;

static inline bool next_memory_line(void *ctx, const char **line, size_t *n, heed_error *err) {
    memory_lines *lines = ctx;
    (void)err;
    if (lines->at == lines->end) {
        return false;
    }
    const char *stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    *line = lines->at;
    *n = (size_t)((stop ? stop : lines->end) - lines->at);
    lines->at = stop ? stop + 1 : lines->end;
    return true;
}

static inline heed_tokenizer *train_on(const heed_host *host, const char *text, size_t n,
                                       const heed_tokenizer_options *options,
                                       heed_tokenizer_stats *stats, heed_error *err) {
    memory_lines lines = {text, text + n};
    return heed_tokenizer_train(host, options, next_memory_line, &lines, stats, err);
}

/* The ids of a text as "1 2 3", in a static place. */
static inline const char *ids_of(const heed_tokenizer *t, const char *text, bool special) {
    static char out[4096];
    heed_tokens tokens = {0};
    heed_error err = {0};
    if (!heed_encode(t, text, strlen(text), special, &tokens, &err)) {
        fail_msg("'%s': %s", text, err.text);
    }
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < tokens.n && used < sizeof out - 16; i++) {
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%d", i > 0 ? " " : "",
                                 (int)tokens.item[i].id);
    }
    heed_tokens_free(&tokens);
    return out;
}

/* The pieces of a text with bars between, in a static place. */
static inline const char *pieces_of(const heed_tokenizer *t, const char *text) {
    static char out[4096];
    heed_tokens tokens = {0};
    heed_buf shown = {0};
    heed_error err = {0};
    if (!heed_encode(t, text, strlen(text), false, &tokens, &err)) {
        fail_msg("'%s': %s", text, err.text);
    }
    for (size_t i = 0; i < tokens.n; i++) {
        heed_buf_text(&shown, i > 0 ? "|" : "");
        heed_token_show(t, tokens.item[i].id, &shown);
    }
    snprintf(out, sizeof out, "%s", shown.data ? shown.data : "");
    heed_buf_free(&shown);
    heed_tokens_free(&tokens);
    return out;
}

/* What comes back of a text through its ids, without special tokens, in a static place. */
static inline const char *round_trip(const heed_tokenizer *t, const char *text) {
    static char out[4096];
    heed_tokens tokens = {0};
    heed_buf back = {0};
    heed_error err = {0};
    if (!heed_encode(t, text, strlen(text), true, &tokens, &err)) {
        fail_msg("'%s': %s", text, err.text);
    }
    int32_t *ids = malloc((tokens.n + 1) * sizeof *ids);
    assert_non_null(ids);
    for (size_t i = 0; i < tokens.n; i++) {
        ids[i] = tokens.item[i].id;
    }
    if (!heed_decode(t, ids, tokens.n, true, &back, &err)) {
        fail_msg("'%s': %s", text, err.text);
    }
    snprintf(out, sizeof out, "%s", back.data ? back.data : "");
    free(ids);
    heed_buf_free(&back);
    heed_tokens_free(&tokens);
    return out;
}

#endif
