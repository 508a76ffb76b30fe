/* word_level.c: each word is one token, or unknown.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "text/part.h"

typedef struct {
    const heed_tokenizer *tokenizer;
    const char *unk_text;
    int32_t unk; /* -1: not in vocab; then an unknown word is an error */
} word_level;

static bool read_words(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    word_level *w = settings;
    w->tokenizer = t;
    size_t n = 0;
    const char *unk = heed_json_string(json, "unk_token", &n, err);
    w->unk_text = unk ? heed_region_text(&t->region, unk, n, err) : NULL;
    if (!w->unk_text || !heed_vocab_read(t, json, err)) {
        return false;
    }
    w->unk = heed_vocab_find(t, unk, n);
    return true;
}

static bool encode_word(const void *settings, heed_work *work, size_t from, size_t to) {
    const word_level *w = settings;
    int32_t id = heed_vocab_find(w->tokenizer, work->now.text + from, to - from);
    if (id < 0 && w->unk < 0) {
        return heed_fail(work->err, HEED_TEXT,
                         "a word is unknown, and unk_token '%s' is not in vocab", w->unk_text);
    }
    return heed_work_emit(work, id >= 0 ? id : w->unk, from, to);
}

static void free_words(void *settings) {
    (void)settings;
}

const heed_model_kind heed_model_words = {"WordLevel", sizeof(word_level), read_words, encode_word,
                                          free_words};
