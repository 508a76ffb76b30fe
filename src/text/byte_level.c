/* byte_level.c: bytes that print stand for themselves, the other 68 take the code points from
 * U+0100 on (Radford et al. 2019, "Language models are unsupervised multitask learners", code).
 * SPDX-License-Identifier: MIT
 */
#include "text/byte_level.h"

#include "base/utf8.h"
#include "text/pattern.h"
#include "text/scan.h"
#include "text/split.h"

/* The bytes that do not print: 0 to 32, 127 to 160, and 173, the soft hyphen. */
enum { LOW = 33, MIDDLE = 127, MIDDLES = 34, HYPHEN = 173, OTHERS = 0x100 };

static uint32_t letter_of(unsigned byte) {
    if (byte < LOW) {
        return OTHERS + byte;
    }
    if (byte >= MIDDLE && byte < MIDDLE + MIDDLES) {
        return OTHERS + LOW + (byte - MIDDLE);
    }
    return byte == HYPHEN ? OTHERS + LOW + MIDDLES : byte;
}

/* -1 where the code point is no letter of the alphabet. */
static int byte_of(uint32_t cp) {
    if (cp < OTHERS) {
        return letter_of(cp) == cp ? (int)cp : -1;
    }
    uint32_t other = cp - OTHERS;
    if (other < LOW) {
        return (int)other;
    }
    if (other < LOW + MIDDLES) {
        return (int)(other - LOW + MIDDLE);
    }
    return other == LOW + MIDDLES ? HYPHEN : -1;
}

bool heed_byte_level_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    static const char gpt2[] = HEED_REGEX_GPT2;
    heed_byte_level *b = settings;
    bool regex = true;
    t->byte_level = true;
    if (!heed_json_bool(json, "add_prefix_space", &b->prefix_space, err) ||
        !heed_json_bool(json, "trim_offsets", &b->trim, err) ||
        !heed_json_opt_bool(json, "use_regex", &regex, err)) {
        return false;
    }
    b->words = regex ? heed_pattern_regex(t, gpt2, sizeof gpt2 - 1, err) : NULL;
    return !regex || b->words;
}

bool heed_byte_level_mark(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    (void)json, (void)settings, (void)err;
    t->byte_level = true;
    return true;
}

static bool write_letters(heed_work *work, size_t from, size_t to) {
    const char *s = work->now.text;
    for (size_t at = from; at < to; at++) {
        char utf8[4];
        size_t n = (size_t)heed_utf8_put(letter_of((unsigned char)s[at]), utf8);
        if (!heed_strand_put(work, &work->next, utf8, n, heed_work_origin(work, at))) {
            return false;
        }
    }
    return true;
}

bool heed_byte_level_letters(const void *settings, heed_work *work) {
    (void)settings;
    if (!write_letters(work, 0, work->now.n)) {
        return false;
    }
    heed_work_turn(work);
    return true;
}

/* The words with the space that is put in front, as they are: letters come after splitting. */
static bool add_space(heed_work *work) {
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut *word = &work->words.item[i];
        size_t from = work->next.n;
        if (work->now.text[word->from] != ' ' &&
            !heed_strand_put(work, &work->next, " ", 1, heed_work_origin(work, word->from))) {
            return false;
        }
        if (!heed_strand_copy(work, &work->next, &work->now, word->from, word->to)) {
            return false;
        }
        *word = (heed_cut){from, work->next.n, false};
    }
    heed_work_turn(work);
    return true;
}

static bool cut_words(const heed_byte_level *b, heed_work *work) {
    work->cuts.n = 0;
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut word = work->words.item[i];
        work->pieces.n = 0;
        if (!heed_pattern_cut(b->words, work, work->now.text + word.from, word.to - word.from,
                              &work->pieces) ||
            !heed_split_words_of(work, HEED_SPLIT_ISOLATED, word.from)) {
            return false;
        }
    }
    heed_split_turn(work);
    return true;
}

bool heed_byte_level_split(const void *settings, heed_work *work) {
    const heed_byte_level *b = settings;
    if ((b->prefix_space && !add_space(work)) || (b->words && !cut_words(b, work))) {
        return false;
    }
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut *word = &work->words.item[i];
        size_t from = work->next.n;
        if (!write_letters(work, word->from, word->to)) {
            return false;
        }
        *word = (heed_cut){from, work->next.n, false};
    }
    heed_work_turn(work);
    return true;
}

void heed_byte_level_bytes(const char *s, size_t n, heed_buf *out) {
    size_t begin = out->n;
    for (size_t at = 0; at < n;) {
        uint32_t cp = 0;
        at += (size_t)heed_utf8_next(s + at, n - at, &cp);
        int byte = byte_of(cp);
        char c = (char)byte;
        if (byte < 0) {
            out->n = begin;
            heed_buf_add(out, s, n);
            return;
        }
        heed_buf_add(out, &c, 1);
    }
}
