/* small.h: a small untrained model with a tokenizer of characters: 2 and 3 layers of 2 heads.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_LOOK_SMALL_H
#define HEED_TESTS_LOOK_SMALL_H

#include "support.h"

#include "model/model.h"

typedef struct {
    int at;
} reader;

static inline bool next_line(void *ctx, const char **line, size_t *n, heed_error *err) {
    static const char *const lines[] = {"我爱中国", "I love China & <tea>", "</script> ok?",
                                        "我爱你"};
    reader *r = ctx;
    (void)err;
    if (r->at >= 8) { /* twice, so that every character has a piece */
        return false;
    }
    *line = lines[r->at++ % 4];
    *n = strlen(*line);
    return true;
}

static inline heed_model *small_model(heed_engine *engine, const heed_host *host, heed_error *err) {
    reader r = {0};
    heed_tokenizer_options t = {
        .kind = HEED_TOKENIZER_CHARS, .vocab_size = 60, .end_template = "$A </s>", .coverage = 1};
    heed_tokenizer *tokenizer = heed_tokenizer_train(host, &t, next_line, &r, NULL, err);
    if (!tokenizer) {
        return NULL;
    }
    heed_config c = heed_config_base();
    char why[100];
    c.encoder.width = c.decoder.width = 16;
    c.encoder.heads = c.decoder.heads = c.encoder.kv_heads = c.decoder.kv_heads = 2;
    c.encoder.layers = 2;
    c.decoder.layers = 3;
    c.encoder.feed_forward = c.decoder.feed_forward = 16;
    c.encoder.max_positions = c.decoder.max_positions = 40;
    c.vocab = c.source_vocab = heed_vocab_size(tokenizer);
    c.pad = c.decoder_start = heed_token_id(tokenizer, "<pad>");
    c.eos = heed_token_id(tokenizer, "</s>");
    c.max_length = 12;
    heed_config_choose_family(&c, why, sizeof why);
    return heed_model_new(engine, &c, tokenizer, 3, err);
}

#endif
