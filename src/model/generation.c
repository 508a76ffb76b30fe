/* generation.c: how generation_config.json, or config.json without it, speaks of generating: every
 * key is obeyed, harmless or refused.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

const heed_key heed_generation_keys[] = {HEED_MAY("num_beams", INT, beam),
                                         HEED_MAY("max_length", INT, max_length),
                                         HEED_MAY("min_length", INT, min_length),
                                         HEED_MAY("length_penalty", NUMBER, length_penalty),
                                         HEED_MAY("early_stopping", STOP, stop),
                                         HEED_MAY("renormalize_logits", BOOL, renormalize),
                                         HEED_MAY("no_repeat_ngram_size", INT, no_repeat),
                                         HEED_MAY("pad_token_id", ID, pad),
                                         HEED_MAY("bos_token_id", ID, bos),
                                         HEED_MAY("eos_token_id", ID, eos),
                                         HEED_MAY("forced_eos_token_id", ID, forced_eos),
                                         HEED_MAY("forced_bos_token_id", ID, forced_bos),
                                         HEED_MAY("decoder_start_token_id", ID, decoder_start),
                                         {0}};

/* A list of tokens, each once. */
typedef struct {
    const char *key;
    int32_t *token;
    int64_t *n;
} bans;

static bool ban(const json_t *id, bans *b, heed_error *err) {
    if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX)
        return heed_fail(err, HEED_VALUE, "key '%s' holds something that is no token id", b->key);
    for (int64_t i = 0; i < *b->n; i++)
        if (b->token[i] == json_integer_value(id))
            return true;
    if (*b->n == HEED_BANNED)
        return heed_fail(err, HEED_LIMIT, "key '%s' bans more than %d tokens", b->key, HEED_BANNED);
    b->token[(*b->n)++] = (int32_t)json_integer_value(id);
    return true;
}

static bool read_bad_words(const json_t *value, heed_config *c, heed_error *err) {
    bans b = {"bad_words_ids", c->banned, &c->bans};
    bool fine = json_is_array(value);
    for (size_t i = 0; fine && i < json_array_size(value); i++) {
        const json_t *word = json_array_get(value, i);
        if (json_array_size(word) != 1)
            return heed_fail(err, HEED_VALUE,
                             "key 'bad_words_ids': item %zu is no list of one token, which alone "
                             "is possible here",
                             i + 1);
        if (!ban(json_array_get(word, 0), &b, err))
            return false;
    }
    return fine || heed_fail(err, HEED_VALUE, "key 'bad_words_ids' is no list");
}

static bool read_list(const json_t *value, bans *b, heed_error *err) {
    bool fine = json_is_array(value);
    for (size_t i = 0; fine && i < json_array_size(value); i++)
        if (!ban(json_array_get(value, i), b, err))
            return false;
    return fine || heed_fail(err, HEED_VALUE, "key '%s' is no list", b->key);
}

static bool read_suppressed(const json_t *value, heed_config *c, heed_error *err) {
    return read_list(value, &(bans){"suppress_tokens", c->banned, &c->bans}, err);
}

static bool read_late(const json_t *value, heed_config *c, heed_error *err) {
    return read_list(value, &(bans){"begin_suppress_tokens", c->begin_banned, &c->begin_bans}, err);
}

static bool read_max_new(const json_t *value, heed_config *c, heed_error *err) {
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return heed_fail(err, HEED_VALUE, "key 'max_new_tokens' is no number of tokens");
    c->max_new = json_integer_value(value);
    return true;
}

/* Read and not written: what a search obeys, what only sampling reads, and what has no other form
 * here than its default. */
const heed_key heed_generation_more_keys[] = {
    HEED_READ("max_new_tokens", read_max_new),
    HEED_READ("bad_words_ids", read_bad_words),
    HEED_READ("suppress_tokens", read_suppressed),
    HEED_KNOWN("_from_model_config"),
    HEED_KNOWN("do_sample"),
    HEED_KNOWN("temperature"),
    HEED_KNOWN("top_k"),
    HEED_KNOWN("top_p"),
    HEED_KNOWN("typical_p"),
    HEED_KNOWN("remove_invalid_values"),
    HEED_KNOWN("return_dict_in_generate"),
    HEED_KNOWN("output_scores"),
    HEED_ONLY("num_return_sequences", "1"),
    HEED_ONLY("num_beam_groups", "1"),
    HEED_ONLY("diversity_penalty", "0.0"),
    HEED_MAY("repetition_penalty", NUMBER, repetition_penalty),
    HEED_ONLY("encoder_no_repeat_ngram_size", "0"),
    HEED_ONLY("exponential_decay_length_penalty", "null"),
    HEED_READ("begin_suppress_tokens", read_late),
    {0}};
