/* pretokenize.c: the pre-tokenizers: words of work->now, cut finer, or rewritten and cut.
 * SPDX-License-Identifier: MIT
 */
#include "text/byte_level.h"
#include "text/metaspace.h"
#include "text/part.h"
#include "text/pattern.h"
#include "text/split.h"
#include "text/unicode.h"

typedef struct {
    const heed_pattern *pattern;
    heed_split behavior;
    bool invert;
} split;

static bool read_split(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    split *s = settings;
    if (!heed_json_string(json, "behavior", NULL, err) ||
        !heed_split_read(json, "behavior", &s->behavior, err) ||
        !heed_json_bool(json, "invert", &s->invert, err)) {
        return false;
    }
    s->pattern = heed_pattern_read(t, json, "pattern", err);
    return s->pattern != NULL;
}

static bool split_word(const split *s, heed_work *work, heed_cut word) {
    work->pieces.n = 0;
    if (!heed_pattern_cut(s->pattern, work, work->now.text + word.from, word.to - word.from,
                          &work->pieces)) {
        return false;
    }
    for (size_t i = 0; s->invert && i < work->pieces.n; i++) {
        work->pieces.item[i].match = !work->pieces.item[i].match;
    }
    return heed_split_words_of(work, s->behavior, word.from);
}

static bool apply_split(const void *settings, heed_work *work) {
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        if (!split_word(settings, work, work->words.item[i])) {
            return false;
        }
    }
    heed_split_turn(work);
    return true;
}

static bool split_all(heed_work *work, heed_split behavior, bool (*is)(uint32_t cp)) {
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut word = work->words.item[i];
        if (!heed_split_at(work, behavior, word.from, word.to, is)) {
            return false;
        }
    }
    heed_split_turn(work);
    return true;
}

static bool apply_whitespace(const void *settings, heed_work *work) {
    (void)settings;
    return split_all(work, HEED_SPLIT_REMOVED, heed_is_space);
}

static bool read_punctuation(heed_tokenizer *t, const json_t *json, void *settings,
                             heed_error *err) {
    (void)t;
    *(heed_split *)settings = HEED_SPLIT_ISOLATED;
    return heed_split_read(json, "behavior", settings, err);
}

static bool apply_punctuation(const void *settings, heed_work *work) {
    return split_all(work, *(const heed_split *)settings, heed_is_punctuation);
}

static bool read_digits(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    (void)t;
    bool single = false;
    if (!heed_json_bool(json, "individual_digits", &single, err)) {
        return false;
    }
    *(heed_split *)settings = single ? HEED_SPLIT_ISOLATED : HEED_SPLIT_CONTIGUOUS;
    return true;
}

static bool apply_digits(const void *settings, heed_work *work) {
    return split_all(work, *(const heed_split *)settings, heed_is_number);
}

static const heed_part_kind kinds[] = {
    {"Metaspace", sizeof(heed_metaspace), heed_metaspace_read, heed_metaspace_split},
    {"Split", sizeof(split), read_split, apply_split},
    {"WhitespaceSplit", 0, NULL, apply_whitespace},
    {"Punctuation", sizeof(heed_split), read_punctuation, apply_punctuation},
    {"Digits", sizeof(heed_split), read_digits, apply_digits},
    {"ByteLevel", sizeof(heed_byte_level), heed_byte_level_read, heed_byte_level_split},
};
const heed_part_table heed_pre_tokenizers = {"pre_tokenizer", "pretokenizers", kinds,
                                             sizeof kinds / sizeof kinds[0]};
