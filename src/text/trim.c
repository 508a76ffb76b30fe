/* trim.c: places of byte-level tokens without their spaces.
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "text/post.h"
#include "text/unicode.h"

/* The space mark of the byte alphabet, or white space as it is in an added token. */
static bool is_blank(uint32_t cp) {
    return cp == 0x120 || heed_is_space(cp);
}

static size_t blanks_before(heed_line text) {
    size_t n = 0;
    for (size_t at = 0; at < text.n; n++) {
        uint32_t cp = 0;
        at += (size_t)heed_utf8_next(text.s + at, text.n - at, &cp);
        if (!is_blank(cp)) {
            break;
        }
    }
    return n;
}

static size_t blanks_behind(heed_line text) {
    size_t n = 0;
    for (size_t end = text.n; end > 0; n++) {
        size_t at = end;
        do {
            at--;
        } while (at > 0 && ((unsigned char)text.s[at] & 0xc0) == 0x80);
        uint32_t cp = 0;
        heed_utf8_next(text.s + at, end - at, &cp);
        if (!is_blank(cp)) {
            break;
        }
        end = at;
    }
    return n;
}

/* What the token is in the text: an added one with the spaces that it took along. */
static heed_line text_of(const heed_work *work, const heed_token *token) {
    const heed_piece *piece = &work->tokenizer->piece[token->id];
    if (piece->added && token->text >= 0) {
        const char *s = token->text == 0 ? work->texts_of[0] : work->texts_of[1];
        return (heed_line){s + token->begin, token->end - token->begin};
    }
    return (heed_line){piece->text, piece->n};
}

/* Moves the ends of a token's place inwards by whole characters, as far as they meet. */
static void shrink(const char *s, heed_token *token, size_t before, size_t behind) {
    for (; before > 0 && token->begin < token->end; before--) {
        do {
            token->begin++;
        } while (token->begin < token->end && ((unsigned char)s[token->begin] & 0xc0) == 0x80);
    }
    for (; behind > 0 && token->end > token->begin; behind--) {
        do {
            token->end--;
        } while (token->end > token->begin && ((unsigned char)s[token->end] & 0xc0) == 0x80);
    }
}

void heed_trim(heed_work *work, bool prefix_space) {
    for (size_t p = 0; p < work->parts.n; p++) {
        heed_cut part = work->parts.item[p];
        for (size_t i = part.from; i < part.to; i++) {
            heed_token *token = &work->out->item[i];
            heed_line text = text_of(work, token);
            size_t before = blanks_before(text), behind = blanks_behind(text);
            bool first = i == part.from || token->begin == 0;
            before = first && prefix_space && before == 1 ? 0 : before;
            if (token->text >= 0) {
                shrink(work->texts_of[token->text], token, before, behind);
            }
        }
    }
}
