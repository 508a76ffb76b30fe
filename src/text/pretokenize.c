/* pretokenize.c: the pre-tokenizers: words of work->now, cut finer, or rewritten and cut.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
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

static bool apply_bert(const void *settings, heed_work *work) {
    (void)settings;
    return split_all(work, HEED_SPLIT_REMOVED, heed_is_space) &&
           split_all(work, HEED_SPLIT_ISOLATED, heed_is_punctuation);
}

typedef struct {
    const char *text; /* one character */
    size_t n;
} delimiter;

static bool read_delimiter(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    delimiter *d = settings;
    return heed_read_char(t, json, "delimiter", &d->text, &d->n, err);
}

static bool apply_delimiter(const void *settings, heed_work *work) {
    const delimiter *d = settings;
    const char *s = work->now.text;
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut word = work->words.item[i];
        size_t begin = word.from, at = word.from;
        while (word.to - at >= d->n) {
            if (memcmp(s + at, d->text, d->n) != 0) {
                at++;
                continue;
            }
            if (begin < at && !heed_cuts_add(work, &work->cuts, begin, at, false)) {
                return false;
            }
            begin = at += d->n;
        }
        if (begin < word.to && !heed_cuts_add(work, &work->cuts, begin, word.to, false)) {
            return false;
        }
    }
    heed_split_turn(work);
    return true;
}

/* 0: white space, 1: what words are made of, 2: anything else. */
static int class_of(uint32_t cp) {
    return heed_is_space(cp) ? 0 : heed_is_word(cp) ? 1 : 2;
}

/* Runs of word characters, and of what is neither that nor white space. */
static bool apply_words(const void *settings, heed_work *work) {
    (void)settings;
    const char *s = work->now.text;
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut word = work->words.item[i];
        size_t begin = word.from;
        int class = 0;
        for (size_t at = word.from; at < word.to;) {
            uint32_t cp = 0;
            size_t n = (size_t)heed_utf8_next(s + at, word.to - at, &cp);
            int next = class_of(cp);
            if (next != class) {
                if (class > 0 && !heed_cuts_add(work, &work->cuts, begin, at, false)) {
                    return false;
                }
                begin = at;
                class = next;
            }
            at += n;
        }
        if (class > 0 && !heed_cuts_add(work, &work->cuts, begin, word.to, false)) {
            return false;
        }
    }
    heed_split_turn(work);
    return true;
}

/* Words of one script each. What goes with every script stays with the word before it; in front of
 * the first word it is lost, as in the `tokenizers` library. */
static bool cut_scripts(heed_work *work, heed_cut word) {
    const char *s = work->now.text;
    size_t begin = word.from;
    int last = -1;
    for (size_t at = word.from; at < word.to;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(s + at, word.to - at, &cp);
        int script = heed_script_of(cp);
        if (script >= 0 && script != last) {
            if (last >= 0 && !heed_cuts_add(work, &work->cuts, begin, at, false)) {
                return false;
            }
            begin = at;
            last = script;
        }
        at += n;
    }
    return last < 0 || heed_cuts_add(work, &work->cuts, begin, word.to, false);
}

static bool apply_scripts(const void *settings, heed_work *work) {
    (void)settings;
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        if (!cut_scripts(work, work->words.item[i])) {
            return false;
        }
    }
    heed_split_turn(work);
    return true;
}

static bool read_length(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    (void)t;
    int64_t *length = settings;
    *length = 5;
    return heed_json_opt_int(json, "length", length, err) &&
           (*length > 0 ||
            heed_fail(err, HEED_FILE, "length %" PRId64 " must be above 0", *length));
}

static bool apply_length(const void *settings, heed_work *work) {
    const int64_t *length = settings;
    const char *s = work->now.text;
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut word = work->words.item[i];
        for (size_t at = word.from; at < word.to;) {
            size_t begin = at;
            for (int64_t k = 0; k < *length && at < word.to; k++) {
                uint32_t cp = 0;
                at += (size_t)heed_utf8_next(s + at, word.to - at, &cp);
            }
            if (!heed_cuts_add(work, &work->cuts, begin, at, false)) {
                return false;
            }
        }
    }
    heed_split_turn(work);
    return true;
}

static const heed_part_kind kinds[] = {
    {"Metaspace", sizeof(heed_metaspace), heed_metaspace_read, heed_metaspace_split},
    {"Split", sizeof(split), read_split, apply_split},
    {"WhitespaceSplit", 0, NULL, apply_whitespace},
    {"Punctuation", sizeof(heed_split), read_punctuation, apply_punctuation},
    {"Digits", sizeof(heed_split), read_digits, apply_digits},
    {"ByteLevel", sizeof(heed_byte_level), heed_byte_level_read, heed_byte_level_split},
    {"BertPreTokenizer", 0, NULL, apply_bert},
    {"Whitespace", 0, NULL, apply_words},
    {"CharDelimiterSplit", sizeof(delimiter), read_delimiter, apply_delimiter},
    {"Delimiter", sizeof(delimiter), read_delimiter, apply_delimiter}, /* its older name */
    {"UnicodeScripts", 0, NULL, apply_scripts},
    {"FixedLength", sizeof(int64_t), read_length, apply_length},
};
const heed_part_table heed_pre_tokenizers = {"pre_tokenizer", "pretokenizers", kinds,
                                             sizeof kinds / sizeof kinds[0]};
