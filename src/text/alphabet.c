/* alphabet.c: which characters get a piece of their own, and words as ids of those.
 *
 * Method: characters by how often they occur, ties by code point, until they make up the wished
 * share of the text; the space mark always.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/train.h"

typedef struct {
    uint32_t cp;
    int64_t count;
} letter;

static const uint32_t MARK = 0x2581;

/* Characters that the names of byte pieces are spelt with: as pieces they keep a text that says
 * <0x41> from being read as one. */
static const char spelling[] = "<>x0123456789ABCDEF";

static bool count_letter(heed_number_map *counts, uint32_t cp, int64_t count, heed_error *err) {
    uint64_t *value = heed_number_map_put(counts, cp, err);
    if (value) {
        *value += (uint64_t)count;
    }
    return value != NULL;
}

static bool count_letters(const heed_train *train, heed_number_map *counts) {
    for (size_t i = 0; i < train->words.count; i++) {
        const heed_map_entry *word = &train->words.entry[i];
        for (size_t at = 0; at < word->n;) {
            uint32_t cp = 0;
            at += (size_t)heed_utf8_next(word->key + at, word->n - at, &cp);
            if (!count_letter(counts, cp, word->value, train->err)) {
                return false;
            }
        }
    }
    return true;
}

static int by_count(const void *a, const void *b) {
    const letter *x = a, *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return x->cp < y->cp ? -1 : x->cp > y->cp;
}

static bool add_letter(heed_train *train, uint32_t cp) {
    char utf8[4];
    return heed_train_add(train, utf8, (size_t)heed_utf8_put(cp, utf8), 1) >= 0;
}

/* Adds letters until the wished share of the text is covered, or `room` are in beside the mark,
 * which has its piece already. */
static bool choose(heed_train *train, const letter *letters, size_t n, size_t room) {
    double total = (double)train->stats.characters, covered = 0;
    size_t i = 0;
    for (; i < n && covered < train->set.coverage * total; i++) {
        bool mark = letters[i].cp == MARK;
        if (!mark && room == 0) {
            break;
        }
        if (!add_letter(train, letters[i].cp)) {
            return false;
        }
        room -= !mark;
        covered += (double)letters[i].count;
    }
    for (; i < n; i++) {
        if (letters[i].cp != MARK) {
            train->stats.rare_characters += (uint64_t)letters[i].count;
        }
    }
    return true;
}

static bool add_letters(heed_train *train, const heed_number_map *counts) {
    letter *letters = heed_alloc(train->host, counts->n + 1, sizeof *letters, train->err);
    if (!letters) {
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < counts->slots; i++) {
        if (counts->slot[i].key != 0) { /* which is the code point plus 1 */
            letters[n++] =
                (letter){(uint32_t)counts->slot[i].key - 1, (int64_t)counts->slot[i].value};
            train->stats.characters += counts->slot[i].value;
        }
    }
    qsort(letters, n, sizeof *letters, by_count);
    /* A vocabulary of characters takes the commonest that fit; the others must hold them all. */
    bool ok = add_letter(train, MARK);
    size_t most = (size_t)train->set.vocab_size, room = n;
    if (train->set.kind == HEED_TOKENIZER_CHARS) {
        room = most > train->n_pieces ? most - train->n_pieces : 0;
    }
    ok = ok && choose(train, letters, n, room);
    bool spell = train->set.byte_fallback && train->set.kind == HEED_TOKENIZER_UNIGRAM;
    for (size_t i = 0; ok && spell && spelling[i]; i++) {
        ok = add_letter(train, (uint32_t)(unsigned char)spelling[i]);
    }
    heed_free(train->host, letters);
    return ok;
}

/* ---- Segments ------------------------------------------------------------------------------ */

static bool end_segment(heed_train *train, size_t from, int64_t count) {
    if (train->n_symbols == from) {
        return true;
    }
    if (!heed_reserve(train->host, (void **)&train->segment, &train->cap_segments,
                      train->n_segments + 1, sizeof *train->segment, train->err)) {
        return false;
    }
    train->segment[train->n_segments++] = (heed_segment){from, train->n_symbols - from, count};
    return true;
}

static bool add_word(heed_train *train, const heed_map_entry *word) {
    size_t from = train->n_symbols;
    for (size_t at = 0; at < word->n;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(word->key + at, word->n - at, &cp);
        const heed_map_entry *id = heed_map_find(&train->ids, word->key + at, n);
        at += n;
        if (!id || (size_t)id->value < train->first_char) {
            if (!end_segment(train, from, word->value)) {
                return false;
            }
            from = train->n_symbols;
            continue;
        }
        if (!heed_reserve(train->host, (void **)&train->symbol, &train->cap_symbols,
                          train->n_symbols + 1, sizeof *train->symbol, train->err)) {
            return false;
        }
        train->symbol[train->n_symbols++] = (int32_t)id->value;
    }
    return end_segment(train, from, word->value);
}

static bool check_size(heed_train *train) {
    size_t least = train->n_pieces;
    if (least > (size_t)train->set.vocab_size) {
        return heed_fail(train->err, HEED_VALUE,
                         "vocab_size %d is below the %zu that %zu specials, %zu bytes and %zu "
                         "characters take; raise it or lower the coverage",
                         (int)train->set.vocab_size, least, train->set.n_specials,
                         train->first_char - train->set.n_specials, least - train->first_char);
    }
    return true;
}

bool heed_train_alphabet(heed_train *train) {
    train->first_char = train->n_pieces;
    heed_number_map counts = {.host = train->host};
    bool ok = count_letters(train, &counts) && add_letters(train, &counts) && check_size(train);
    heed_number_map_free(&counts);
    train->first_learnt = train->n_pieces;
    train->stats.alphabet = (int32_t)(train->first_learnt - train->first_char);
    for (size_t i = 0; ok && i < train->words.count; i++) {
        ok = add_word(train, &train->words.entry[i]);
    }
    if (ok && train->n_symbols >= UINT32_MAX) {
        ok = heed_fail(train->err, HEED_LIMIT, "%zu characters in different words are too many",
                       train->n_symbols);
    }
    return ok;
}
