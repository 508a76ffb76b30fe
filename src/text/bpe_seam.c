/* bpe_seam.c: where a long word can be cut before it is merged.
 *
 * Where a vocabulary has no split into words, a whole text is one word. But a merge that joins
 * across two characters has the one at the end of its left token and the other at the beginning of
 * its right token, since a token's text is that of the symbols it is made of. Two characters of
 * which this is true for no merge stay apart whatever else is merged, so what lies on the two sides
 * can be merged alone, with the same result.
 * Invariant: a bit that is not set means that no merge joins; one that is set may be another's.
 * SPDX-License-Identifier: MIT
 */
#include "text/bpe.h"

enum { BITS_FOR_EACH = 16, FEWEST = 1 << 12, MOST = 1 << 20 };

bool heed_seams_init(heed_seams *seams, heed_region *region, size_t n, heed_error *err) {
    uint32_t bits = FEWEST;
    while (bits < MOST && bits / BITS_FOR_EACH < n) {
        bits *= 2;
    }
    seams->mask = bits - 1;
    seams->bits = heed_region_alloc(region, bits / 64, sizeof *seams->bits, err);
    return seams->bits != NULL;
}

static bool continues(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The bytes of a text's first or last character as one number. The text is not empty. */
static uint32_t first_of(heed_line text) {
    uint32_t c = (unsigned char)text.s[0];
    for (size_t i = 1; i < text.n && continues(text.s[i]); i++) {
        c = c << 8 | (unsigned char)text.s[i];
    }
    return c;
}

static uint32_t last_of(heed_line text) {
    size_t at = text.n - 1;
    while (at > 0 && continues(text.s[at])) {
        at--;
    }
    return first_of((heed_line){text.s + at, text.n - at});
}

static uint32_t bit_of(const heed_seams *seams, uint32_t last, uint32_t first) {
    uint64_t mixed = heed_key_of_two(last, first) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(mixed >> 40) & seams->mask;
}

void heed_seams_add(heed_seams *seams, heed_line left, heed_line right) {
    if (!seams->bits || left.n == 0 || right.n == 0) {
        seams->bits = NULL; /* an empty token has neither end */
        return;
    }
    uint32_t bit = bit_of(seams, last_of(left), first_of(right));
    seams->bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

static heed_line text_of(const heed_bpe *b, heed_symbol symbol) {
    const heed_piece *piece = &b->tokenizer->piece[symbol.id];
    return (heed_line){piece->text, piece->n};
}

size_t heed_seams_run(const heed_bpe *b, const heed_symbol *symbols, size_t from, size_t n) {
    const heed_seams *seams = &b->seams;
    if (!seams->bits) {
        return n;
    }
    heed_line text = text_of(b, symbols[from]);
    for (size_t i = from + 1; i < n; i++) {
        heed_line next = text_of(b, symbols[i]);
        if (text.n > 0 && next.n > 0) {
            uint32_t bit = bit_of(seams, last_of(text), first_of(next));
            if (!(seams->bits[bit / 64] >> bit % 64 & 1)) {
                return i;
            }
        }
        text = next;
    }
    return n;
}
