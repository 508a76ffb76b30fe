/* word_level.c: each word is one token, or unknown.
 * SPDX-License-Identifier: MIT
 */
#include "text/part.h"

typedef struct {
    const heed_tokenizer *tokenizer;
    int32_t unk;
} word_level;

static bool read_words(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    word_level *w = settings;
    w->tokenizer = t;
    return heed_json_string(json, "unk_token", NULL, err) && heed_vocab_read(t, json, err) &&
           heed_vocab_read_id(t, json, "unk_token", &w->unk, err);
}

static bool encode_word(const void *settings, heed_work *work, size_t from, size_t to) {
    const word_level *w = settings;
    int32_t id = heed_vocab_find(w->tokenizer, work->now.text + from, to - from);
    return heed_work_emit(work, id >= 0 ? id : w->unk, from, to);
}

static void free_words(void *settings) {
    (void)settings;
}

const heed_model_kind heed_model_words = {"WordLevel", sizeof(word_level), read_words, encode_word,
                                          free_words};
